"""Bodies with joints and internal constraints of their coordinates left for the integrator to impose."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import (
    Blocks,
    Packed,
    Projection,
    Twist,
    UserFunction,
    corrected,
    whole_gradient,
)
from poinsot.core.types import Scalar
from poinsot.equations._bodies import Bodies, Flat, distinct
from poinsot.equations._discrete import kinetic_gradient, potential_gradient
from poinsot.equations._held import AbstractHeld
from poinsot.equations._joint_multipliers import joint_blocks, joint_refusal_of_many, joint_slack


class ConstrainedBodies(AbstractHeld):
    r"""The equations of index 3, or of index 2 where integrators hold velocities only.

    State: coordinates $q$ and momenta $p = M(q)\,v$, with the mass matrix of the coordinates. Constraints:
    the internal ones of the coordinates, then the gaps of the joints.
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
    def regular(self) -> bool:
        """Whether the mass matrix of the coordinates can be inverted."""
        refusal = self.bodies.coordinates.refusal
        return all(refusal("regular", moments) is None for moments in distinct(self.bodies.system.inertia))

    @property
    def separable(self) -> bool:
        """Whether the mass matrix of the coordinates is constant."""
        return self.bodies.coordinates.constant_mass

    @property
    def looped(self) -> bool:
        """Whether many joints are gone through in loops."""
        return self.bodies.looped

    def blocks(self, unknowns: str, *, forces: bool = True) -> Blocks | None:
        """Each body by itself, as its constraints and its inertia are; with forces in the row of the system.

        Without such a row nothing is known of the forces. Many bodies with joints are in a row of their own.
        """
        q = self.bodies.places()
        places = {"q": q, "y": np.tile(q, 2), "g": self.bodies.constraint_places}
        if self.bodies.system.linkage is not None:
            return joint_blocks(self.bodies, places, unknowns)
        bodies = np.concatenate([places[kind] for kind in unknowns])
        if not forces:
            return Blocks.of(bodies)
        row = self.bodies.system.row
        return None if row is None else Blocks.of(row[bodies], coupled=True)

    @property
    def dense_refusal(self) -> str | None:
        """With joints between many bodies."""
        return joint_refusal_of_many(self.bodies.system)

    def potential(self, t, q: Flat) -> Scalar:
        """Potential energy of the system."""
        return self.bodies.potential(t, q)

    @property
    def rheonomic(self) -> bool:
        """Whether time enters a joint."""
        linkage = self.bodies.system.linkage
        return linkage is not None and linkage.driven

    def constraint(self, t, q: Flat) -> Float[Array, " m"]:
        """Internal constraints of all rotating bodies, then the gaps of the joints."""
        internal = self.bodies.constraint(q)
        joined = self.bodies.system.linkage is not None
        return jnp.concatenate([internal, self.bodies.gaps(t, q)]) if joined else internal

    def slack(self, t, q: Flat) -> Float[Array, " m"] | None:
        r"""The diagonal of $G M^{-1} G^T$ of the joints, where some may be redundant: those of a loop."""
        of_joints = joint_slack(self.bodies, t, q)
        if of_joints is None:
            return None
        return jnp.concatenate([jnp.zeros_like(self.bodies.constraint(q)), of_joints])

    def discrete_normal(self, t, q0: Flat, q1: Flat, multipliers: Flat) -> Flat:
        """The direction at the midpoint, which is the discrete gradient of quadratic constraints.

        The internal ones are quadratic. Gaps of joints need not be: theirs is corrected.
        """
        middle = 0.5 * (q0 + q1)
        slope = self.normal(t, middle, multipliers)
        if self.bodies.system.linkage is None:
            return slope
        gaps, of_joints = self.bodies.gaps, multipliers[self.bodies.constraint(q0).size :]
        joint_slope = jax.vjp(lambda q: gaps(t, q), middle)[1](of_joints)[0]
        change = jnp.sum(of_joints * (gaps(t, q1) - gaps(t, q0)))
        noise = jnp.sum(jnp.abs(joint_slope * middle))
        return slope + corrected(joint_slope, q1 - q0, change, noise) - joint_slope

    def momentum(self, q: Flat, v: Flat) -> Flat:
        """Momentum of a velocity."""
        return self.bodies.momentum(q, v)

    def velocity(self, t, q: Flat, p: Flat) -> Flat:
        """Velocity of a momentum along the constraints, and with the joints."""
        along = self.bodies.tangent_velocity(q, p)
        if self.bodies.system.linkage is None:
            return along
        return along + self.bodies.rate(q, self._missing(t, q, along))

    def _missing(self, t, q: Flat, rate: Flat) -> Twist:
        """The least change of twist, in the metric of the mass, after which the joints stay closed."""
        twist = self.bodies.twist(q, rate)
        return self.bodies.along_joints(t, q, twist) - twist

    def tangent_momentum(self, t, q: Flat, p: Flat) -> Flat:
        """The momentum less its part across the constraints.

        That part is found, and what rounding puts along the surface into it is taken out again: so what lies
        along the surface passes through without an error, also for positions next to the surface.
        """
        bodies = self.bodies
        across = p - self.momentum(q, bodies.tangent_velocity(q, p))
        p = p - (across - self.momentum(q, bodies.tangent_velocity(q, across)))
        if bodies.system.linkage is None:
            return p
        return p + self.momentum(q, bodies.rate(q, self._missing(t, q, bodies.tangent_velocity(q, p))))

    def project(self, t, y: Packed, what: Projection) -> Packed:
        """Positions and momenta on the surface; joints are closed in the metric of the mass."""
        if self.bodies.system.linkage is None:
            return super().project(t, y, what)
        q, p = self.split(y)
        if what in ("position", "both"):
            q = self.bodies.on_surface(t, q)
        if what in ("velocity", "both"):
            p = self.tangent_momentum(t, q, p)
        return jnp.concatenate([q, p])

    def clearance(self, y: Packed) -> Array | None:
        """Distance from a singularity of the coordinates."""
        return self.bodies.clearance(self.split(y)[0])

    def kinetic(self, q: Flat, p: Flat) -> Scalar:
        """Kinetic energy in momenta, right on the constraints; next to them its slope along them is."""
        return self.bodies.kinetic_of_momentum(q, p)

    def discrete_gradient(self, t, q0: Flat, p0: Flat, q1: Flat, p1: Flat) -> tuple[Flat, Flat]:
        """Of the kinetic energy by its quasi-momenta, of the potential by its invariants."""
        bodies = self.bodies
        if not bodies.coordinates.bilinear:
            return whole_gradient(lambda q, p: self.hamiltonian(t, q, p), q0, p0, q1, p1)
        along_q, along_p = kinetic_gradient(bodies.quasi_momentum, bodies.quasi_inertia, q0, p0, q1, p1)
        return along_q + potential_gradient(bodies, t, q0, q1), along_p

    def acceleration(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Acceleration and multipliers in the closed form of the coordinates, body by body.

        Those of joints are the negative forces of the joints.
        """
        acceleration, multipliers, forces = self.bodies.acceleration(t, q, v)
        if self.bodies.joints is None:
            return acceleration, multipliers.reshape(-1)
        return acceleration, jnp.concatenate([multipliers.reshape(-1), -self.bodies.joints.flat(forces)])

    def extent(self, q: Flat) -> Scalar:
        """Angles may all be zero, where the gaps are sums of lengths that cancel."""
        return self.bodies.extent(q)

    def load(self, t, q: Flat, v: Flat) -> Flat:
        """Generalised force of the loads."""
        return self.bodies.load(t, q, v)
