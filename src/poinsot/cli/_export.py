"""The command `poinsot export`."""

from pathlib import Path

from poinsot.io import export, load


def export_run(store: Path, out: Path) -> None:
    """Write a stored run for another program.

    Args:
        store: a run written by `poinsot run` or `run.save`.
        out: the file, whose name tells the format.
    """
    export(load(store), out)
