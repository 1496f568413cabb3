"""Ordinary differential equations of bodies, in positions and velocities."""

from typing import Any, ClassVar, Protocol

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import (
    AbstractImplicit,
    AbstractProblem,
    Blocks,
    Packed,
    Projection,
    State,
    UserFunction,
    joined,
    largest_component,
)
from poinsot.equations._bodies import Bodies, Flat


class Rates(Protocol):
    """The right-hand side of one form."""

    bodies: Bodies

    @property
    def height(self) -> int:
        """Velocities of one rotation."""
        ...

    @property
    def pivots(self) -> bool:
        """Whether they come from linear equations, solved with a choice of pivots."""
        ...

    def __call__(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Rates of positions and velocities."""
        ...

    def project(self, t, q: Flat, v: Flat, what: Projection) -> tuple[Flat, Flat]:
        """Positions and velocities on the constraints."""
        ...

    def energy(self, t, q: Flat, v: Flat) -> Array:
        """Kinetic plus potential energy."""
        ...

    def implicit_form(self) -> AbstractImplicit | None:
        """The equations with multipliers, if the form has them."""
        ...


class SecondOrder(AbstractProblem):
    r"""Positions $q$ and velocities $v$, which may be rates of $q$, angular velocities or momenta.

    $$ \dot q = a(t, q, v), \qquad \dot v = b(t, q, v) $$
    """

    kind: ClassVar[str] = "ode"
    labels: ClassVar[tuple[str, ...]] = ("q", "v")

    rates: Rates
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)

    def __init__(self, rates: Rates, invariants: dict[str, UserFunction] | None = None):
        self.rates, self.params = rates, None
        self.invariants, self.vectorised = invariants or {}, False

    @property
    def conservative(self) -> bool:
        """Whether no load acts."""
        return self.rates.bodies.conservative

    @property
    def looped(self) -> bool:
        """Whether bodies are gone through one after the other, because joints are."""
        return self.rates.bodies.looped

    @property
    def pivots(self) -> bool:
        """Whether the rates come from a linear system that is solved with pivots."""
        return self.rates.pivots

    def pack(self, state: State) -> Packed:
        """Positions, then velocities."""
        return joined((state.q, state.v))

    def unpack(self, y: Packed) -> State:
        """Parts of the packed array."""
        q, v = self.split(y)
        return State(q=q, v=v)

    def split(self, y: Packed) -> tuple[Flat, Flat]:
        """Positions and velocities of a packed state."""
        size = self.rates.bodies.size
        return y[:size], y[size:]

    def vector_field(self, t, y: Packed) -> Packed:
        """The rates of both."""
        return jnp.concatenate(self.rates(t, *self.split(y)))

    def blocks(self, unknowns: str, *, forces: bool = True) -> Blocks | None:
        """Each body's positions and velocities together, in the row of the system."""
        bodies = self.rates.bodies
        if bodies.system.row is None:
            return None
        places = np.concatenate([bodies.places(), bodies.places(self.rates.height)])
        return Blocks.of(bodies.system.row[places], coupled=True).repeated(len(unknowns))

    def energy(self, t, y: Packed) -> Array:
        """Kinetic plus potential energy."""
        return self.rates.energy(t, *self.split(y))

    def magnitude(self, y: Packed) -> Packed:
        """The largest position for all positions, the largest velocity for all velocities."""
        return jnp.concatenate([largest_component(part, False) for part in self.split(y)])

    def clearance(self, y: Packed) -> Array | None:
        """Distance from a singularity of the coordinates."""
        return self.rates.bodies.clearance(self.split(y)[0])

    @property
    def projectable(self) -> bool:
        """Whether the coordinates have constraints."""
        return self.rates.bodies.projectable

    def project(self, t, y: Packed, what: Projection) -> Packed:
        """Positions and velocities as the form projects them."""
        return jnp.concatenate(self.rates.project(t, *self.split(y), what)) if self.projectable else y

    def implicit_form(self, size: int) -> AbstractImplicit | None:
        """What the form says: with multipliers or without."""
        return self.rates.implicit_form()

    def first_integrals(self, t, y: Packed) -> dict[str, Array]:
        """The energy, when neither time nor loads enter."""
        return {"energy": self.energy(t, y)} if self.rates.bodies.autonomous and self.conservative else {}
