"""Trajectories on disk, as Zarr stores."""

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from poinsot.core import InputError, check_installed, checked, optional, read_regular
from poinsot.io._dataset import FORMAT, READABLE, from_dataset, to_dataset
from poinsot.simulation import Trajectory, timed

if TYPE_CHECKING:
    import xarray

CHUNK = 2**20
"""Numbers in a chunk of a stored array."""


@checked
def save(trajectory: Trajectory, path: str | Path) -> None:
    """Write a trajectory to a Zarr store (format 3), which `load` reads back bit for bit.

    A trajectory already stored there is replaced, and only once the new one is complete: an interrupted
    save loses nothing. Anything else at that place is left alone.

    Args:
        trajectory: what to save.
        path: a folder, by custom with a name that ends in `.zarr`.

    Raises:
        InputError: if something that is not a stored trajectory is in the way, or a package is missing.
    """
    path = Path(path)
    check_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as room:
        new, old = Path(room) / "new", Path(room) / "old"
        with timed(trajectory.seconds, "saving"):
            dataset = to_dataset(trajectory)
            dataset.to_zarr(new, zarr_format=3, consolidated=False, encoding=_encoding(dataset))
        _note_seconds(new, trajectory)
        try:
            if path.exists():
                path.rename(old)
            new.rename(path)
        except BaseException:
            if old.exists() and not path.exists():
                old.rename(path)
            raise


def _note_seconds(store: Path, trajectory: Trajectory) -> None:
    """Add what saving took, which is known last."""
    if trajectory.seconds:
        group = optional("zarr", "data", "saving a trajectory").open_group(store, mode="r+")
        group.attrs["seconds"] = dict(trajectory.seconds)


@checked
def check_place(path: str | Path) -> None:
    """Raise `InputError` if a trajectory could not be saved there: worth a call before a long run."""
    for package in ("zarr", "xarray"):
        check_installed(package, "data", "saving a trajectory")
    if os.path.lexists(path) and _marker(Path(path)) is None:
        raise InputError(f"{path} exists and is not a stored trajectory; choose another place")


@checked
def load(path: str | Path) -> Trajectory:
    """Read a trajectory written by `save`.

    Its `problem` is None, since a store keeps numbers and no code; all else is as it was.

    Raises:
        InputError: if there is no such store, it cannot be read, or a package is missing.
    """
    path = Path(path)
    if not os.path.lexists(path):
        raise InputError(f"{path} does not exist")
    marker = _marker(path)
    if marker is None:
        raise InputError(f"{path} is not a stored trajectory")
    if marker not in READABLE:
        known = ", ".join(map(str, READABLE))
        raise InputError(f"{path} has layout {marker}; this version of Poinsot reads layouts {known}")
    optional("zarr", "data", "loading a trajectory")
    xarray = optional("xarray", "data", "loading a trajectory")
    try:
        with xarray.open_zarr(path, consolidated=False, decode_cf=False, chunks=None) as dataset:
            return from_dataset(dataset.load())
    except Exception as error:
        reason = str(error).strip().splitlines() or [""]
        raise InputError(f"{path} is damaged: {type(error).__name__}: {reason[0]}") from error


def _marker(path: Path) -> int | None:
    """Version of the layout of a stored trajectory, or None if it is not one."""
    try:
        return json.loads(read_regular(path / "zarr.json"))["attributes"][FORMAT]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _encoding(dataset: "xarray.Dataset") -> dict[str, dict]:
    """Chunks that are long in time; no fill value, so that every number is written as it is."""
    encoding = {}
    for name, variable in dataset.variables.items():
        row = max(1, variable.size // max(1, len(variable)))
        rows = max(1, min(len(variable), CHUNK // row))
        # Coordinates that have no constraints leave arrays of no numbers; a chunk has room for one.
        chunk = (rows, *(max(1, length) for length in variable.shape[1:]))
        encoding[str(name)] = {"chunks": chunk, "_FillValue": None}
    return encoding
