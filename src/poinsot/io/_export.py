"""Runs of bodies in the formats of other programs, chosen by the name of the file."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from poinsot.core import InputError, checked, quoted
from poinsot.io._export_frames import Frames
from poinsot.io._export_gsd import write_gsd
from poinsot.io._export_lammps import write_lammps
from poinsot.io._export_xyz import write_xyz
from poinsot.simulation import Trajectory


def _as_text(write: Callable) -> Callable[[Frames, Path], None]:
    def to_path(frames: Frames, path: Path) -> None:
        with path.open("w", encoding="ascii", newline="\n") as file:
            write(frames, file)

    return to_path


WRITERS: dict[str, Callable[[Frames, Path], None]] = {
    ".xyz": _as_text(write_xyz),
    ".extxyz": _as_text(write_xyz),
    ".lammpstrj": _as_text(write_lammps),
    ".dump": _as_text(write_lammps),
    ".gsd": write_gsd,
}
"""How a file is written, by the end of its name."""


@checked
def export(run: Trajectory, path: str | Path) -> None:
    """Write particles and orientations of all saved states for other programs.

    The end of the name tells the format: `.xyz` or `.extxyz` is extended XYZ, `.lammpstrj` or `.dump` a text
    dump of LAMMPS, `.gsd` the format of HOOMD-blue (in single precision). A body that was not made of
    particles is one at its mass centre. A file of that name is replaced once the new one is complete.

    Args:
        run: a run of bodies, as it ended or as it was loaded.
        path: the file.

    Raises:
        InputError: another end of the name, something else than a file in the way, a run without particles.
    """
    path = Path(path)
    write = WRITERS.get(path.suffix)
    if write is None:
        known = ", ".join(WRITERS)
        raise InputError(f"{path}: the end of the name must be one of {known}, got {quoted(path.suffix)}")
    if os.path.lexists(path) and not path.is_file():
        raise InputError(f"{path} exists and is not a file; choose another place")
    frames = Frames(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as room:
        new = Path(room) / path.name
        write(frames, new)
        new.replace(path)
