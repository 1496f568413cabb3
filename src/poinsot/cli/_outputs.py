"""The folder that results go to."""

import contextlib
import os
from pathlib import Path

from poinsot.core import InputError, shortened


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before anything long is computed for it."""
    shown = shortened(str(folder).replace("\0", "\\0"))
    try:
        _look(folder)
        existing = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
        if existing.is_dir():
            reason = None if os.access(existing, os.W_OK | os.X_OK) else "cannot be written to"
        else:
            reason = "is a file" if existing.exists() else "is a link to nothing"
    except (OSError, ValueError) as error:
        # A name that is too long, or has a character that no name has.
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"output folder {shown}: {said}; choose another with --out") from None
    if reason is not None:
        raise InputError(
            f"output folder {shown}: {shortened(str(existing))} {reason}; choose another with --out"
        )


def _look(folder: Path) -> None:
    """Look at a place, which need not exist: raises where no file could have this name."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        os.lstat(folder)
