"""Optional packages, imported where they are used."""

import importlib
from types import ModuleType

from poinsot.core._errors import InputError


class MissingPackageError(InputError, ImportError):
    """A part of Poinsot needs a package that is not installed; says which, and how to install it."""


def optional(module: str, extra: str, purpose: str) -> ModuleType:
    """Import a package that only some parts need.

    Args:
        module: name to import.
        extra: the extra of Poinsot that installs it.
        purpose: what needs it, for the message.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingPackageError(
            f"{purpose} needs {package}, which is not installed: pip install 'poinsot[{extra}]'"
        ) from error
