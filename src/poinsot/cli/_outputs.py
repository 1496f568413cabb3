"""The folder that results go to."""

import os
from pathlib import Path

from poinsot.core import InputError


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before anything long is computed for it."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    writable = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    if not writable:
        reason = "cannot be written to" if existing.is_dir() else "is a file"
        raise InputError(f"output folder {folder}: {existing} {reason}; choose another with --out")
