"""Robots from files of any known kind."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from poinsot.core import InputError, check_parameters, checked, quoted
from poinsot.io._mjcf import mjcf_robot, read_mjcf
from poinsot.io._robot import Robot
from poinsot.io._urdf import read_urdf, urdf_robot
from poinsot.model import System

READERS: dict[str, Callable[..., System]] = {".urdf": read_urdf, ".xml": read_mjcf}
"""What reads robots, by the end of the file's name."""
ROBOTS: dict[str, Callable[..., Robot]] = {".urdf": urdf_robot, ".xml": mjcf_robot}


@checked
def read_robot(path: str | Path, **options: Any) -> System:
    """A robot from a URDF file, or from an MJCF file of MuJoCo, `.xml`.

    Args:
        path: of the file.
        options: those of `read_urdf` or `read_mjcf`.

    Raises:
        InputError: the file is of another kind, or its reader has no such option.
    """
    return _read(READERS, path, options)


def robot_of(path: str | Path, **options: Any) -> Robot:
    """The links and joints of a file, with meshes that are not to be had."""
    return _read(ROBOTS, path, options)


def _read(readers: Mapping[str, Callable[..., Any]], path: str | Path, options: Mapping[str, Any]) -> Any:
    """What the reader for a file returns."""
    reader = readers.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError(f"file = {quoted(str(path))}; its name must end in {', '.join(readers)}")
    check_parameters(reader, options, f"file = {quoted(str(path))}", "key", given=("path",))
    return reader(path, **options)
