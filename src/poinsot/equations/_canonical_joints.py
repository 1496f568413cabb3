r"""The canonical form of bodies with joints: multipliers for the joints alone."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import AbstractConstrained, Blocks, Packed, Projection, Rows, UserFunction, placing
from poinsot.core.types import Scalar
from poinsot.equations._bodies import Bodies, Flat
from poinsot.equations._hamiltonian import BodiesEnergy
from poinsot.equations._joint_multipliers import joint_blocks, joint_refusal_of_many, joint_slack
from poinsot.model import AnyLinkage

CORRECTIONS = 2
"""Of the momenta by a solve that is right but for rounding."""


class CanonicalJoints(AbstractConstrained):
    r"""Positions and conjugate momenta with the Hamiltonian of `BodiesEnergy` and constraints of joints.

    $$ \dot q = H_p, \qquad \dot p = -H_q - G^T\lambda, \qquad g(t, x, R(q)) = 0 $$

    In quaternions the gaps are taken at $R(q)/|q|^2$, like the potential: joint forces have no part along
    $q$, so that $|q|^2$ and $q\cdot p$ stay quadratic invariants of the equations. Symplectic methods that
    keep these, such as `ConstrainedGauss`, need no multiplier for the length of quaternions.
    """

    bodies: Bodies
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)

    def __init__(self, bodies: Bodies, invariants: dict[str, UserFunction] | None = None):
        self.bodies, self.params, self.vectorised = bodies, None, False
        self.invariants = invariants or {}

    @property
    def free(self) -> BodiesEnergy:
        """The Hamiltonian."""
        return BodiesEnergy(self.bodies)

    @property
    def autonomous(self) -> bool:
        """Whether time does not enter."""
        return self.bodies.autonomous

    @property
    def regular(self) -> bool:
        """There is a Hamiltonian on the whole space."""
        return True

    @property
    def massive(self) -> bool:
        """Not where coordinates have constraints: the Hamiltonian does not see momenta across them."""
        return self.bodies.coordinates.constraints == 0

    @property
    def separable(self) -> bool:
        """Never."""
        return False

    @property
    def conservative(self) -> bool:
        """Whether no load acts."""
        return self.bodies.conservative

    @property
    def rheonomic(self) -> bool:
        """Whether time enters a joint."""
        linkage = self.bodies.system.linkage
        return linkage is not None and linkage.driven

    def _pose(self, q: Flat) -> tuple[Array, Array]:
        """Positions and rotations, those of quaternions the same for all their lengths."""
        x, c = self.bodies.split(q)
        return x, self.bodies.each(self.bodies.coordinates.free_rotation)(c)

    @property
    def looped(self) -> bool:
        """Whether many joints are gone through in loops."""
        return self.bodies.looped

    @property
    def joints(self) -> AnyLinkage:
        """The joints, in loops where there are many."""
        joints = self.bodies.joints
        assert joints is not None
        return joints

    def constraint(self, t, q: Flat) -> Float[Array, " k"]:
        """The gaps of the joints."""
        return self.joints.flat(self._gaps(t, q))

    def _gaps(self, t, q: Flat) -> Rows:
        """The same, joint by joint."""
        return self.joints.gaps(t, *self._pose(q))

    def slack(self, t, q: Flat) -> Float[Array, " k"] | None:
        r"""The diagonal of $G M^{-1} G^T$ where joints may be redundant."""
        return joint_slack(self.bodies, t, q)

    def blocks(self, unknowns: str, *, forces: bool = True) -> Blocks | None:
        """Many bodies in the row of their joints."""
        return joint_blocks(self.bodies, {"q": self.bodies.places(), "g": np.zeros(0, dtype=int)}, unknowns)

    @property
    def dense_refusal(self) -> str | None:
        """With joints between many bodies."""
        return joint_refusal_of_many(self.bodies.system)

    def potential(self, t, q: Flat) -> Scalar:
        """Potential energy, without slope along the length of a quaternion."""
        return self.bodies.free_potential(t, *self.bodies.split(q))

    def kinetic(self, q: Flat, p: Flat) -> Scalar:
        """Kinetic energy in momenta."""
        return self.free.kinetic(q, p)

    def momentum(self, q: Flat, v: Flat) -> Flat:
        """The momentum of a velocity without a part across the constraints of the coordinates."""
        system, c = self.bodies.system, self.bodies.split(q)[1]
        x_rate, Omega = self.bodies.split(self.bodies.twist(q, v))
        return self.bodies.join(system.masses[None] * x_rate, self.bodies.lifted(c, system.inertia * Omega))

    def tangent_momentum(self, t, q: Flat, p: Flat) -> Flat:
        r"""The momentum less $G^T\mu$, such that the joints stay closed."""
        joints, t = self.joints, jnp.asarray(t, dtype=float)
        epsilon, repetitions = placing(joints)
        reach = joints.at(t, *self._pose(q), epsilon)

        for _ in range(CORRECTIONS):
            rates = jax.jvp(self._gaps, (t, q), (jnp.ones_like(t), self.dHdp(q, p)))[1]
            p = p - jax.vjp(lambda q: self._gaps(t, q), q)[1](reach.solve(rates, repetitions))[0]
        return p

    def velocity(self, t, q: Flat, p: Flat) -> Flat:
        """The velocity of a momentum with which the joints stay closed."""
        return self.dHdp(q, self.tangent_momentum(t, q, p))

    def acceleration(self, t, q: Flat, v: Flat) -> tuple[Flat, Float[Array, " k"]]:
        """Acceleration in the closed form of the coordinates, and the negative forces of the joints."""
        acceleration, _, forces = self.bodies.acceleration(t, q, v)
        return acceleration, -self.joints.flat(forces)

    def vector_field(self, t, y: Packed) -> Packed:
        """Hamilton's equations with the forces of the joints."""
        q, p = self.split(y)
        v = self.velocity(t, q, p)
        push = self.normal(t, q, self.acceleration(t, q, v)[1])
        return jnp.concatenate([v, -self.dHdq(t, q, p) - push])

    def implicit_form(self, size: int) -> None:
        """Solvers of equations with multipliers find accelerations by a mass matrix."""
        return None

    def discrete_gradient(self, t, q0: Flat, p0: Flat, q1: Flat, p1: Flat) -> tuple[Flat, Flat]:
        """That of the form without joints."""
        return self.free.discrete_gradient(t, q0, p0, q1, p1, None)

    def extent(self, q: Flat) -> Scalar:
        """Angles may all be zero, where the gaps are sums of lengths that cancel."""
        return self.bodies.extent(q)

    def load(self, t, q: Flat, v: Flat) -> Flat:
        """Generalised force of the loads."""
        return self.bodies.load(t, q, v)

    def project(self, t, y: Packed, what: Projection) -> Packed:
        """Positions with closed joints, momenta with which they stay closed."""
        q, p = self.split(y)
        if what in ("position", "both"):
            q = self.bodies.on_surface(t, q)
        if what in ("velocity", "both"):
            p = self.tangent_momentum(t, q, self.bodies.project(q, p, "velocity")[1])
        return jnp.concatenate([q, p])

    def clearance(self, y: Packed) -> Array | None:
        """Distance from a singularity of the coordinates."""
        return self.bodies.clearance(self.split(y)[0])
