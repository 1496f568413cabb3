"""Bodies with the internal constraints of their coordinates left for the integrator to impose."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import AbstractConstrained, Blocks, UserFunction, each_body
from poinsot.core.types import Scalar
from poinsot.equations._bodies import Bodies, Flat, distinct
from poinsot.equations._discrete import kinetic_gradient, potential_gradient


class ConstrainedBodies(AbstractConstrained):
    r"""The equations of index 3, or of index 2 where integrators hold velocities only.

    State: coordinates $q$ and momenta $p = M(q)\,v$, with the mass matrix of the coordinates.
    """

    bodies: Bodies
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)
    held: int = eqx.field(static=True)

    def __init__(self, bodies: Bodies, index: int = 3, invariants: dict[str, UserFunction] | None = None):
        self.bodies, self.held = bodies, index
        self.params, self.invariants, self.vectorised = None, invariants or {}, False

    @property
    def index(self) -> int:
        """As given."""
        return self.held

    @property
    def autonomous(self) -> bool:
        """Whether time does not enter."""
        return self.bodies.autonomous

    @property
    def regular(self) -> bool:
        """Whether the mass matrix of the coordinates can be inverted."""
        refusal = self.bodies.coordinates.refusal
        return all(refusal("regular", moments) is None for moments in distinct(self.bodies.system.inertia))

    @property
    def separable(self) -> bool:
        """Whether the mass matrix of the coordinates is constant."""
        return self.bodies.coordinates.constant_mass

    @property
    def conservative(self) -> bool:
        """Whether no load acts."""
        return self.bodies.conservative

    def blocks(self, unknowns: str, *, forces: bool = True) -> Blocks | None:
        """Each body by itself, as its constraints and its inertia are; with forces in the row of the system.

        Without such a row nothing is known of the forces.
        """
        q = self.bodies.places()
        places = {"q": q, "y": np.tile(q, 2), "g": self.bodies.constraint_places}
        bodies = np.concatenate([places[kind] for kind in unknowns])
        if not forces:
            return Blocks.of(bodies)
        row = self.bodies.system.row
        return None if row is None else Blocks.of(row[bodies], coupled=True)

    def potential(self, t, q: Flat) -> Scalar:
        """Potential energy of the system."""
        return self.bodies.potential(t, q)

    def constraint(self, t, q: Flat) -> Float[Array, " m"]:
        """Internal constraints of all rotating bodies."""
        return self.bodies.constraint(q)

    def discrete_normal(self, t, q0: Flat, q1: Flat, multipliers: Flat) -> Flat:
        """The direction at the midpoint: of quadratic constraints that is the discrete gradient."""
        return self.normal(t, 0.5 * (q0 + q1), multipliers)

    def momentum(self, q: Flat, v: Flat) -> Flat:
        """Momentum of a velocity."""
        return self.bodies.momentum(q, v)

    def velocity(self, t, q: Flat, p: Flat) -> Flat:
        """Velocity of a momentum along the constraints."""
        return self.bodies.tangent_velocity(q, p)

    def tangent_momentum(self, t, q: Flat, p: Flat) -> Flat:
        """The momentum less its part across the constraints.

        That part is found, and what rounding puts along the surface into it is taken out again: so what lies
        along the surface passes through without an error, also for positions next to the surface.
        """
        across = p - self.momentum(q, self.velocity(t, q, p))
        return p - (across - self.momentum(q, self.velocity(t, q, across)))

    def quasi_momentum(self, q: Flat, p: Flat) -> Flat:
        """Linear momenta, and momenta in which the rotational energy is a sum of squares."""
        bodies = self.bodies
        x_momentum, c_momentum = bodies.split(p)
        quasi = each_body(bodies.coordinates.quasi_momentum)(bodies.split(q)[1], c_momentum)
        return bodies.join(x_momentum, quasi)

    @property
    def quasi_inertia(self) -> Flat:
        """Inertia of each of them."""
        bodies = self.bodies
        masses = jnp.broadcast_to(bodies.system.masses[None], (3, bodies.moving))
        return bodies.join(masses, each_body(bodies.coordinates.quasi_inertia)(bodies.system.inertia))

    def kinetic(self, q: Flat, p: Flat) -> Scalar:
        """Kinetic energy in momenta, right on the constraints; next to them its slope along them is."""
        return 0.5 * jnp.sum(self.quasi_momentum(q, p) ** 2 / self.quasi_inertia)

    def discrete_gradient(self, t, q0: Flat, p0: Flat, q1: Flat, p1: Flat) -> tuple[Flat, Flat]:
        """Of the kinetic energy by its quasi-momenta, of the potential by its invariants."""
        along_q, along_p = kinetic_gradient(self.quasi_momentum, self.quasi_inertia, q0, p0, q1, p1)
        return along_q + potential_gradient(self.bodies, t, q0, q1), along_p

    def acceleration(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Acceleration and multipliers in the closed form of the coordinates, body by body."""
        acceleration, multipliers = self.bodies.acceleration(t, q, v)
        return acceleration, multipliers.reshape(-1)

    def load(self, t, q: Flat, v: Flat) -> Flat:
        """Generalised force of the loads."""
        return self.bodies.load(t, q, v)
