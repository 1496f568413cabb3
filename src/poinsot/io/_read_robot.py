"""Robots from files of any known kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from poinsot.core import InputError, check_parameters, quoted
from poinsot.io._mjcf import read_mjcf
from poinsot.io._urdf import read_urdf
from poinsot.model import System

READERS: dict[str, Callable[..., System]] = {".urdf": read_urdf, ".xml": read_mjcf}
"""What reads robots, by the end of the file's name."""


def read_robot(path: str | Path, **options: Any) -> System:
    """A robot from a URDF file, or from an MJCF file of MuJoCo, `.xml`.

    Args:
        path: of the file.
        options: those of `read_urdf` or `read_mjcf`.

    Raises:
        InputError: the file is of another kind, or its reader has no such option.
    """
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError(f"file = {quoted(str(path))}; its name must end in {', '.join(READERS)}")
    check_parameters(reader, options, f"file = {quoted(str(path))}", "key", given=("path",))
    return reader(path, **options)
