r"""Equations of motion with multipliers, as differential-algebraic equations in all unknowns."""

import abc
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core._joints import PLACING

if TYPE_CHECKING:
    from poinsot.core._constrained import AbstractConstrained

Unknowns = Float[Array, " N"]
Vector = Float[Array, " n"]


class AbstractImplicit(eqx.Module):
    r"""Equations $F(t, z, \dot z) = 0$ of positions, velocities and, after these, multipliers."""

    system: eqx.AbstractVar["AbstractConstrained"]
    """The constrained system that they are the equations of."""
    positions: eqx.AbstractVar[int]
    """Number of positions, and of velocities."""

    @abc.abstractmethod
    def residual(self, t, z: Unknowns, rate: Unknowns) -> Unknowns:
        """What must vanish; rates of multipliers are not looked at."""

    @abc.abstractmethod
    def start(self, t, y: Vector) -> tuple[Unknowns, Unknowns]:
        """Consistent unknowns and rates of a packed state, zero for the rates of multipliers."""

    @abc.abstractmethod
    def state(self, z: Unknowns) -> Vector:
        """The packed state of the unknowns."""

    @abc.abstractmethod
    def shift(self, t, z: Unknowns, scale) -> Unknowns | None:
        r"""What the diagonal of $F_z + c F_{\dot z}$ needs where constraints depend on each other, or None.

        Args:
            t: time.
            z: unknowns.
            scale: the number $c$.
        """


class MultiplierForm(AbstractImplicit):
    r"""The equations of index 1 in positions, velocities and multipliers.

    $$ \dot q = v, \qquad \frac{d}{dt} M(q)\,v + G^T \lambda = L_q + F, \qquad
       G \dot v + \dot G v + \dot g_t = 0 $$

    Positions and velocities are not held to the constraints: they drift with the error of the solver. The
    packed state is $(q, v)$.
    """

    system: "AbstractConstrained"
    positions: int = eqx.field(static=True)

    def residual(self, t, z: Unknowns, rate: Unknowns) -> Unknowns:
        """The equations above, in their order."""
        q, v, multipliers = _parts(z, self.positions)
        q_rate, v_rate, _ = _parts(rate, self.positions)
        t = jnp.asarray(t, dtype=float)
        bend = jax.jvp(self.system.constraint_rate, (t, q, v), (jnp.ones_like(t), v, v_rate))[1]
        balance = _balance(self.system, t, q, v, v, v_rate, multipliers)
        return jnp.concatenate([q_rate - v, balance, bend])

    def start(self, t, y: Vector) -> tuple[Unknowns, Unknowns]:
        """Acceleration and multipliers from the equations themselves."""
        v = y[self.positions :]
        acceleration, multipliers = self.system.acceleration(t, y[: self.positions], v)
        rate = jnp.concatenate([v, acceleration, jnp.zeros_like(multipliers)])
        return jnp.concatenate([y, multipliers]), rate

    def state(self, z: Unknowns) -> Vector:
        """Positions and velocities."""
        return z[: 2 * self.positions]

    def shift(self, t, z: Unknowns, scale) -> Unknowns | None:
        """The slack of the constraints, for their multipliers."""
        q, v, _ = _parts(z, self.positions)
        diagonal = self.system.slack(t, q)
        return None if diagonal is None else jnp.concatenate([0.0 * q, 0.0 * v, -PLACING * diagonal])


class StabilisedForm(AbstractImplicit):
    r"""The form of Gear, Gupta and Leimkuhler: constraints of positions and of velocities side by side.

    $$ \dot q = v - G^T \mu, \qquad \frac{d}{dt} M(q)\,v + G^T \lambda = L_q + F, \qquad
       G v + g_t = 0, \qquad g(t, q) = 0 $$

    Its index is 2, and $\mu$ vanishes in the exact solution. The packed state is $(q, p)$ with $p = M(q)\,v$.

    Reference:
        Gear, Leimkuhler, Gupta: Automatic integration of Euler-Lagrange equations with constraints,
        J. Comput. Appl. Math. 12-13 (1985) 77-90.
    """

    system: "AbstractConstrained"
    positions: int = eqx.field(static=True)

    def residual(self, t, z: Unknowns, rate: Unknowns) -> Unknowns:
        r"""The equations above, in their order; the multipliers are $\lambda$, then $\mu$."""
        system = self.system
        q, v, multipliers = _parts(z, self.positions)
        q_rate, v_rate, _ = _parts(rate, self.positions)
        forces, shifts = jnp.split(multipliers, 2)
        balance = _balance(system, t, q, v, q_rate, v_rate, forces)
        held = [system.constraint_rate(t, q, v), system.constraint(t, q)]
        return jnp.concatenate([q_rate - v + system.normal(t, q, shifts), balance, *held])

    def start(self, t, y: Vector) -> tuple[Unknowns, Unknowns]:
        """The velocity along the surface, and what the equations differentiated to index 1 say of it."""
        q, p = y[: self.positions], y[self.positions :]
        v = self.system.velocity(t, q, p)
        acceleration, forces = self.system.acceleration(t, q, v)
        none = jnp.zeros_like(forces)
        return jnp.concatenate([q, v, forces, none]), jnp.concatenate([v, acceleration, none, none])

    def state(self, z: Unknowns) -> Vector:
        """Positions and momenta."""
        q, v, _ = _parts(z, self.positions)
        return jnp.concatenate([q, self.system.momentum(q, v)])

    def shift(self, t, z: Unknowns, scale) -> Unknowns | None:
        r"""The slack of the constraints for $\lambda$, and the same with unit masses for $\mu$."""
        q, v, _ = _parts(z, self.positions)
        diagonal = self.system.slack(t, q)
        if diagonal is None:
            return None
        G = jax.jacrev(lambda x: self.system.constraint(t, x))(q)
        plain = jnp.where(diagonal > 0.0, jnp.sum(G * G, axis=1), 0.0)
        return jnp.concatenate([0.0 * q, 0.0 * v, *(-PLACING / scale * part for part in (diagonal, plain))])


def _parts(z: Unknowns, n: int) -> tuple[Vector, Vector, Array]:
    return z[:n], z[n : 2 * n], z[2 * n :]


def _balance(system: "AbstractConstrained", t, q, v, q_rate, v_rate, multipliers) -> Vector:
    r"""Rate of momentum and constraint force less the other forces."""
    change = jax.jvp(system.momentum, (q, v), (q_rate, v_rate))[1]
    force = jax.grad(system.lagrangian, argnums=1)(t, q, v) + system.load(t, q, v)
    return change + system.normal(t, q, multipliers) - force
