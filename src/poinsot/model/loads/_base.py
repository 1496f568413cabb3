"""The interface of a load: forces and torques that no potential energy describes."""

import abc
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import Checked, Printable, Use, title

if TYPE_CHECKING:
    from .._roster import Roster

Vectors = Float[Array, "body 3"]
Rotations = Float[Array, "body 3 3"]


class AbstractLoad(Printable, Checked):
    """Forces and torques on the bodies as a function of time, poses and velocities."""

    @property
    @abc.abstractmethod
    def takes_time(self) -> bool:
        """Whether time enters explicitly."""

    @property
    @abc.abstractmethod
    def bodies(self) -> tuple[int, ...] | None:
        """Places of the bodies it acts on; None for all."""

    @property
    def label(self) -> str:
        """What messages call it."""
        return title(self)

    def of_bodies(self, roster: "Roster") -> Self:
        """The load for these bodies and joints; references to bodies are places by now."""
        return self

    def uses(self) -> Sequence[Use]:
        """Calls of its functions, to be tried once."""
        return ()

    @abc.abstractmethod
    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """Forces at the mass centres in space, and torques about them in the body frames, of all bodies."""


def total_wrench(
    loads: Sequence[AbstractLoad], t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors
) -> tuple[Vectors, Vectors]:
    """Forces in space and torques in the body frames on all bodies, of several loads, one at least."""
    wrenches = [load.wrench(t, x, R, v, Omega) for load in loads]
    return jax.tree.map(lambda *parts: sum(parts[1:], start=parts[0]), *wrenches)


def marks(count: int, places: Iterable[int]) -> np.ndarray:
    """One at the given places, zero elsewhere."""
    return np.isin(np.arange(count), list(places)).astype(float)


def on_body(count: int, body: int, vec: Float[Array, "3"]) -> Vectors:
    """A vector for one body, zero for the others."""
    return jnp.asarray(marks(count, (body,)))[:, None] * vec[None]
