r"""The canonical form: positions and conjugate momenta, no multiplier."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from poinsot.core import AbstractEnergy, LocalField, Projection
from poinsot.equations._bodies import Bodies, Flat
from poinsot.equations._discrete import kinetic_gradient, potential_gradient
from poinsot.equations._row_field import RowField


class BodiesEnergy(AbstractEnergy):
    r"""The Hamiltonian of bodies whose rotations have coordinates $q$ with null space $T(q)$.

    $$ H = \sum \frac{|p_x|^2}{2 m} + \tfrac12 \sum_k \frac{(T(q)^T p)_k^2}{J_k} + V(x, R(q)) $$

    For Euler angles this is the usual canonical form. In quaternions $T^T p = \tfrac12 G(q)\,p$, and $V$ is
    taken at $R(q)/|q|^2$: then $|q|^2$ and $q\cdot p$ are quadratic invariants of the equations in all of
    $\mathbb R^8$, so that every symplectic Runge-Kutta method keeps the unit quaternion to round-off, without
    multiplier and without projection. In directors $R R^T$ is such an invariant.
    """

    bodies: Bodies

    @property
    def takes_time(self) -> bool:
        """Whether time enters the potential or a prescribed motion."""
        return not self.bodies.autonomous

    def quasi_momentum(self, q: Flat, p: Flat) -> Flat:
        """Linear momenta and body angular momenta."""
        bodies = self.bodies
        c = bodies.split(q)[1]
        x_momentum, c_momentum = bodies.split(p)
        return bodies.join(x_momentum, bodies.each(bodies.coordinates.free_momentum)(c, c_momentum))

    @property
    def inertia(self) -> Flat:
        """Masses and moments that belong to the quasi-momenta."""
        bodies = self.bodies
        masses = jnp.broadcast_to(bodies.system.masses[None], (3, bodies.moving))
        return bodies.join(masses, bodies.system.inertia)

    def kinetic(self, q: Flat, p: Flat) -> Array:
        """Kinetic energy in momenta."""
        return self._kinetic(self.bodies.split(q)[1], *self.bodies.split(p))

    def _kinetic(self, c: Array, x_momentum: Array, c_momentum: Array) -> Array:
        moving = 0.5 * jnp.sum(x_momentum**2 / self.bodies.system.masses[None])
        return moving + self._turning(c, c_momentum)

    def _turning(self, c: Array, c_momentum: Array) -> Array:
        """Kinetic energy of the rotations."""
        return self.bodies.turning_energy(c, c_momentum, self.bodies.system.inertia)

    def value(self, t, q: Flat, p: Flat, params: Any) -> Array:
        """The energy."""
        return self.kinetic(q, p) + self.bodies.free_potential(t, *self.bodies.split(q))

    def dq(self, t, q: Flat, p: Flat, params: Any) -> Flat:
        """Gradient in the positions."""
        c_momentum = self.bodies.split(p)[1]
        return self.bodies.gradient(
            lambda x, c: self._turning(c, c_momentum) + self.bodies.free_potential(t, x, c), q
        )

    def dp(self, t, q: Flat, p: Flat, params: Any) -> Flat:
        """Gradient in the momenta."""
        return self.velocity(q, p)

    def velocity(self, q: Flat, p: Flat) -> Flat:
        """Rates of the positions, which time and the potential do not enter."""
        c = self.bodies.split(q)[1]
        return self.bodies.gradient(lambda *momenta: self._kinetic(c, *momenta), p)

    @property
    def row(self) -> Int[np.ndarray, " n"] | None:
        """That of the bodies."""
        row = self.bodies.system.row
        return None if row is None else row[self.bodies.places()]

    @property
    def local_field(self) -> LocalField | None:
        """That of equal bodies in a row, in coordinates without singularity.

        A body that is held, or fills up a window, may stand at a singularity: rates are not numbers there.
        """
        local = None if self.bodies.coordinates.singular else self.bodies.system.local_wrench
        return None if local is None else RowField(self.bodies, local)

    def clearance(self, q: Flat) -> Array | None:
        """Distance from a singularity of the coordinates."""
        return self.bodies.clearance(q)

    @property
    def projectable(self) -> bool:
        """Whether the coordinates have constraints."""
        return self.bodies.projectable

    def project(self, q: Flat, p: Flat, what: Projection) -> tuple[Flat, Flat]:
        r"""Coordinates of rotations, and momenta without a part across them, $p = T (T^T T)^{-1} m$."""
        return self.bodies.project(q, p, what)

    def discrete_gradient(self, t, q0: Flat, p0: Flat, q1: Flat, p1: Flat, params: Any) -> tuple[Flat, Flat]:
        """Of the kinetic energy by its bilinear momenta, of the potential by its invariants."""
        bodies = self.bodies
        if not bodies.coordinates.bilinear:
            return super().discrete_gradient(t, q0, p0, q1, p1, params)
        along_q, along_p = kinetic_gradient(self.quasi_momentum, self.inertia, q0, p0, q1, p1)
        force = potential_gradient(bodies, t, q0, q1)
        force_x, force_c = bodies.split(force)
        middle = bodies.split(0.5 * (q0 + q1))[1]
        across = bodies.each(bodies.coordinates.free_slope)(middle, force_c)
        return along_q + bodies.join(force_x, across), along_p


class BodiesLoad(eqx.Module):
    """Generalised force of the loads at positions and momenta."""

    energy: BodiesEnergy

    def __call__(self, t, q: Flat, p: Flat, params: Any) -> Flat:
        """The loads at the rate that belongs to the momenta."""
        return self.energy.bodies.load(t, q, self.energy.dp(t, q, p, params))
