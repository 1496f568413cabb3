"""Splitting and composition: words in simpler maps."""

from poinsot.integrators.splitting._composition import Composition
from poinsot.integrators.splitting._splitting import Splitting

__all__ = ["Composition", "Splitting"]
