"""Potential energies that are a sum over bodies, each by itself."""

import equinox as eqx
import numpy as np
from jaxtyping import Array


class OfEachBody(eqx.Module):
    """What such terms have in common: the bodies they act on, and that they couple none of them."""

    places: eqx.AbstractVar[tuple[int, ...] | None]

    @property
    def bodies(self) -> tuple[int, ...] | None:
        """The bodies it acts on."""
        return self.places

    @property
    def separable(self) -> bool:
        """It is a sum over bodies."""
        return True

    def chosen(self, of_all: Array) -> Array:
        """The rows of these bodies."""
        return of_all if self.places is None else of_all[np.asarray(self.places)]
