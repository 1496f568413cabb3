"""Names of a package that load when they are first used (PEP 562)."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from poinsot._garbage import kept


def lazy(
    package: str, places: Mapping[str, str], folders: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package.

    Args:
        package: its name.
        places: the module of each name, or of several that blanks separate.
        folders: modules that are names of the package themselves, by name.
    """
    modules = {name: module for names, module in places.items() for name in names.split()}
    folders = folders or {}

    def load(name: str) -> Any:
        if name not in modules and name not in folders:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with kept():
            if name in folders:
                value = importlib.import_module(folders[name], package)
            else:
                value = getattr(importlib.import_module(modules[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted({*sys.modules[package].__all__})
