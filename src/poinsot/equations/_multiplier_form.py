r"""The canonical equations of seed 000 in quaternions, with the multiplier of the unit norm eliminated."""

import equinox as eqx
import jax
import jax.numpy as jnp

from poinsot.core import Projection
from poinsot.equations._bodies import Bodies, Flat


class MultiplierRates(eqx.Module):
    r"""Quaternions with radial inertia $I_0$ and conjugate momenta $g$: Chaurasia (2012), section 3.3.

    $$ \dot q = T_g(q, g), \qquad \dot g = -T_q(q, g) - V_q - 2\lambda q, \qquad
       \lambda = -\tfrac12\, q\cdot V_q, \qquad
       T = \tfrac18\, g^T Q(q) \operatorname{diag}(I_0, J)^{-1} Q(q)^T g $$

    For comparison only. The multiplier is exact on the sphere but nothing holds the motion there:
    $e = |q|^2 - 1$ obeys $\ddot e \approx (q\cdot V_q)\, e / (2 I_0)$ and grows exponentially where
    $q\cdot V_q > 0$, and no method is symplectic on these equations. The Hamiltonian form without radial
    inertia has neither fault.
    """

    bodies: Bodies

    def kinetic(self, q: Flat, p: Flat):
        """Kinetic energy in momenta, as for a unit quaternion."""
        return self.bodies.kinetic_of_momentum(q, p)

    def velocity(self, q: Flat, p: Flat) -> Flat:
        """Rates of the positions."""
        return jax.grad(self.kinetic, argnums=1)(q, p)

    @property
    def height(self) -> int:
        """Momenta of the coordinates."""
        return self.bodies.coordinates.size

    @property
    def pivots(self) -> bool:
        """No linear system is solved with pivots."""
        return False

    def __call__(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Rates of positions and of the momenta, which are the velocities of this form."""
        bodies = self.bodies
        q_rate = self.velocity(q, v)
        force = bodies.potential_force(t, q) + bodies.load(t, q, q_rate)
        force_x, force_c = bodies.split(force)
        c = bodies.split(q)[1]
        held = force_c - c * jnp.sum(c * force_c, axis=0, keepdims=True)
        return q_rate, bodies.join(force_x, held) - jax.grad(self.kinetic)(q, v)

    def project(self, t, q: Flat, v: Flat, what: Projection) -> tuple[Flat, Flat]:
        """Unit quaternions, and momenta across none of them: the mass keeps that direction."""
        return self.bodies.project(q, v, what)

    def energy(self, t, q: Flat, v: Flat):
        """Kinetic plus potential energy."""
        return self.kinetic(q, v) + self.bodies.potential(t, q)

    def implicit_form(self) -> None:
        """The multiplier is eliminated."""
        return None
