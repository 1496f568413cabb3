"""Optional packages, imported where they are used."""

import importlib
import importlib.util
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
        raise _missing(module, extra, purpose) from error


def check_installed(package: str, extra: str, purpose: str) -> None:
    """Refuse what needs a package that is not installed, without the time to import it; see `optional`."""
    if importlib.util.find_spec(package) is None:
        raise _missing(package, extra, purpose)


def _missing(module: str, extra: str, purpose: str) -> MissingPackageError:
    package = module.partition(".")[0]
    return MissingPackageError(
        f"{purpose} needs {package}, which is not installed: pip install 'poinsot[{extra}]'"
    )
