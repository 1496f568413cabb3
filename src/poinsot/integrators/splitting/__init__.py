"""Splitting and composition: words in simpler maps."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.integrators.splitting._composition import Composition
    from poinsot.integrators.splitting._splitting import Splitting

__all__ = ["Composition", "Splitting"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Composition": "._composition",
        "Splitting": "._splitting",
    },
)
