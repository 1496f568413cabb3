"""The interface of a potential energy: a term that knows which bodies it couples."""

import abc
from typing import TYPE_CHECKING

from jaxtyping import Array, Float

from poinsot.core import Checked, Printable
from poinsot.core.types import Scalar

if TYPE_CHECKING:
    from .._roster import Roster

Positions = Float[Array, "body 3"]
"""Mass centres of all bodies."""

Directors = Float[Array, "body 3 3"]
"""Rotation matrices of all bodies, body to space; the columns are the directors."""


class AbstractTerm(Printable, Checked):
    """Anything that can stand in the list `potentials` of a system, which makes it one of its own bodies."""

    @abc.abstractmethod
    def of_bodies(self, roster: "Roster") -> "AbstractPotential":
        """The potential energy for these bodies; references to bodies are places by now."""


class AbstractPotential(AbstractTerm):
    r"""A potential energy $V(t, x, R)$ of the poses of all bodies.

    It is a smooth function of the positions and of all nine director components, also where R is not a
    rotation: every formulation differentiates it along its own coordinates.
    """

    @property
    @abc.abstractmethod
    def takes_time(self) -> bool:
        """Whether time enters, so that the energy is not conserved."""

    @property
    @abc.abstractmethod
    def bodies(self) -> tuple[int, ...] | None:
        """Places of the bodies it couples in the list of bodies; None for all."""

    @property
    def separable(self) -> bool:
        r"""Whether it is a sum over bodies, $V = \sum_i u(t, x_i, R_i)$, with one u for equal bodies."""
        return self.bodies is not None and len(self.bodies) == 1

    @abc.abstractmethod
    def energy(self, t, x: Positions, R: Directors) -> Scalar:
        """The potential energy at one configuration of all bodies."""

    def of_bodies(self, roster: "Roster") -> "AbstractPotential":
        """Itself: it depends on poses alone."""
        return self


class AbstractInvariantPotential(AbstractPotential):
    r"""A potential energy that declares quadratic invariants, $V = v(c(x, R))$.

    The components of c are polynomials of degree two at most in positions and directors. Energy-momentum
    methods need them: with c known, they keep both the energy and the momenta that leave c unchanged.
    """

    @property
    def takes_time(self) -> bool:
        """Time does not enter."""
        return False

    @abc.abstractmethod
    def invariants(self, x: Positions, R: Directors) -> Float[Array, "k"]:
        """The invariants c, of degree two at most in `x` and `R`."""

    @abc.abstractmethod
    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """The energy v as a function of the invariants."""

    def energy(self, t, x: Positions, R: Directors) -> Scalar:
        """The potential energy at one configuration of all bodies."""
        return self.energy_of(self.invariants(x, R))
