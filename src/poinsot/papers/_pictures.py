"""What the pictures of reproductions share."""

from typing import TYPE_CHECKING, Any

from poinsot.viz._style import PALETTE, QUIET, file_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMPLECTIC, NOT_SYMPLECTIC = PALETTE[:2]
EXACT = QUIET


def canvas(rows: int, columns: int, size: tuple[float, float], title: str, **options) -> "tuple[Figure, Any]":
    """A figure and its axes, as `pyplot.subplots` makes them, for a file."""
    figure = file_figure(size)
    figure.suptitle(title)
    return figure, figure.subplots(rows, columns, **options)
