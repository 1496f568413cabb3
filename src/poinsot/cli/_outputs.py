"""What must be in order before a long computation, so that its results can be written at its end."""

import importlib.util
import os
from pathlib import Path

from poinsot.core import InputError


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    writable = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    if not writable:
        reason = "cannot be written to" if existing.is_dir() else "is a file"
        raise InputError(f"output folder {folder}: {existing} {reason}; choose another with --out")


def check_installed(packages: tuple[str, ...], extra: str, instead: str) -> None:
    """Refuse when an optional package is missing, naming the extra that brings it and a way without."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise InputError(f"{package} is not installed; pip install 'poinsot[{extra}]', or {instead}")
