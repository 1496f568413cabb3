"""Unit quaternions as coordinates of a rotating body."""

from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import InputError, quoted
from poinsot.core.types import Scalar
from poinsot.rotation import multiply, normalise, to_matrix

from ._base import (
    AbstractCoordinates,
    BodyVector,
    Force,
    Moments,
    Momentum,
    Multipliers,
    Position,
    Velocity,
)
from ._sigma import Sigma, checked_number, checked_sigma, sigma_value

Quat = Float[Array, "4"]


def _lift(q: Quat, w: BodyVector) -> Quat:
    r"""Product $q * (0, w) = G(q)^T w$."""
    a, b, c, d = q
    x, y, z = w
    return jnp.stack(
        [-b * x - c * y - d * z, a * x + c * z - d * y, a * y - b * z + d * x, a * z + b * y - c * x]
    )


def _imaginary(q: Quat, y: Quat) -> BodyVector:
    r"""Imaginary part of $\bar q * y$, the product $G(q)\,y$."""
    a, b, c, d = q
    s, t, u, w = y
    return jnp.stack(
        [a * t - b * s - c * w + d * u, a * u + b * w - c * s - d * t, a * w - b * u + c * t - d * s]
    )


def _dot(a: Array, b: Array) -> Scalar:
    return jnp.sum(a * b)


class Quaternions(AbstractCoordinates):
    r"""Unit quaternions: four coordinates, one constraint $\tfrac12(|q|^2 - 1)$.

    The rotation is the homogeneous Euler map, $R(s\,q) = s^2 R(q)$, and $T(q) = \tfrac12 G(q)^T$. A
    quaternion has one direction in which a body does not move, its length; the kinetic energy may give it any
    inertia. There are two ways to do so,

    $$ M = 4\,Q \operatorname{diag}(I_0, J)\,Q^T, \qquad
       M_\sigma = 4\sigma I + L\,J_\sigma L^T, \quad L = 2 G^T, \quad J_\sigma = J - \sigma I. $$

    They agree on the unit sphere for $I_0 = \sigma$ and differ off it, where the midpoints of discrete
    schemes lie. For zero both are $L J L^T$, without an inverse.

    Args:
        sigma: number, or "mean" for a third of the trace of J, which makes variational integrators far more
            accurate.
        I0: number, the radial inertia. Without either, half the trace of J, which is what the pull-back of
            the directors' kinetic energy gives.
    """

    sigma: Sigma = eqx.field(static=True)
    I0: float | None = eqx.field(static=True)

    def __init__(self, sigma: float | Literal["mean"] | None = None, *, I0: float | None = None):
        if sigma is not None and I0 is not None:
            raise InputError(
                f"sigma = {quoted(sigma)} and I0 = {I0!r} are two names of the same inertia; give one of them"
            )
        self.sigma = checked_sigma(sigma)
        self.I0 = None if I0 is None else checked_number("I0", I0)

    @property
    def size(self) -> int:
        """Four."""
        return 4

    @property
    def constraints(self) -> int:
        """One."""
        return 1

    def radial_inertia(self, J: Moments) -> Scalar:
        r"""Inertia of the length of the quaternion: $I_0$, $\sigma$, or $\tfrac12\operatorname{tr} J$."""
        if self.sigma is not None:
            return sigma_value(self.sigma, J)
        return 0.5 * jnp.sum(J) if self.I0 is None else jnp.asarray(self.I0)

    def _inertia(self, J: Moments) -> tuple[Scalar, Scalar, Moments]:
        r"""Numbers a, b, c of the mass matrix $M = 4\,(a I + b\,q q^T + G^T \operatorname{diag}(c)\,G)$."""
        radial = self.radial_inertia(J)
        if self.sigma is None:
            return jnp.zeros_like(radial), radial, J
        return radial, jnp.zeros_like(radial), J - radial

    def rotation(self, q: Position) -> Float[Array, "3 3"]:
        """Euler map, homogeneous of degree two."""
        return to_matrix(q)

    def free_rotation(self, q: Position) -> Float[Array, "3 3"]:
        r"""Euler map divided by $|q|^2$, the same for all lengths of the quaternion."""
        return to_matrix(q) / _dot(q, q)

    def free_slope(self, q: Position, slope: Force) -> Force:
        """The slope less its part along the quaternion."""
        return slope - (_dot(q, slope) / _dot(q, q)) * q

    def from_quaternion(self, quat: Quat) -> Position:
        """The quaternion itself."""
        return quat

    def turn(self, q: Position, turn: Quat) -> Position:
        r"""Product of the two quaternions, $q + q * (p - 1)$, with the length drawn back to one.

        Equal turns have equal rounding errors, which would add up in proportion to their number. So the
        scalar $p_0$ is changed by $\tfrac12 (1 - |q|^2)\,p_0$, and the sum is rounded once.
        """
        scalar = (turn[0] - 1.0) + 0.5 * (1.0 - _dot(q, q)) * turn[0]
        return q + multiply(q, jnp.concatenate([scalar[None], turn[1:]]))

    def velocity(self, q: Position, Omega: BodyVector) -> Velocity:
        r"""Rate $\dot q = \tfrac12\,q * \Omega$."""
        return 0.5 * _lift(q, Omega)

    def omega(self, q: Position, v: Velocity) -> BodyVector:
        r"""Body angular velocity $\Omega = 2 \operatorname{Im}(\bar q * \dot q)$."""
        return 2.0 * _imaginary(q, v)

    def free_momentum(self, q: Position, p: Momentum) -> BodyVector:
        r"""Body angular momentum $\tfrac12 \operatorname{Im}(\bar q * p)$."""
        return 0.5 * _imaginary(q, p)

    def momentum(self, q: Position, v: Velocity, J: Moments) -> Momentum:
        r"""Momentum $M(q)\,v$."""
        a, b, c = self._inertia(J)
        return 4.0 * (a * v + b * _dot(q, v) * q + _lift(q, c * _imaginary(q, v)))

    def velocity_force(self, q: Position, v: Velocity, J: Moments) -> Force:
        r"""Force of inertia $8\,G(v)^T C\,G(v)\,q - 4\,b\,|v|^2 q$.

        In the form with $I_0$, $C = \operatorname{diag} J$ and $b = I_0$; in the form with $\sigma$, $C =
        J_\sigma$ and $b = 0$.
        """
        _, b, c = self._inertia(J)
        return 8.0 * _lift(v, c * _imaginary(v, q)) - 4.0 * b * _dot(v, v) * q

    def tangent_response(self, q: Position, force: Force, J: Moments) -> Velocity:
        """Acceleration along the sphere."""
        return self.velocity(q, self.free_momentum(q, force) * self.tangent_mobility(q, J))

    def tangent_mobility(self, q: Position, J: Moments) -> BodyVector:
        r"""Inverse of $T^T M\,T = n\,(a + n\,c)$, with $n = |q|^2$ at any length."""
        a, _, c = self._inertia(J)
        square = _dot(q, q)
        return 1.0 / (square * (a + square * c))

    def quasi_momentum(self, q: Position, p: Momentum) -> Float[Array, "4"]:
        r"""Momenta $\tfrac12 Q(q)^T p$: one of the length, three of the body."""
        return jnp.concatenate([0.5 * _dot(q, p)[None], self.free_momentum(q, p)])

    def quasi_inertia(self, J: Moments) -> Float[Array, "4"]:
        r"""Inertia $(I_0, J_1, J_2, J_3)$."""
        return jnp.concatenate([self.radial_inertia(J)[None], J])

    def constraint(self, q: Position) -> Multipliers:
        r"""Constraint $\tfrac12(|q|^2 - 1)$."""
        return 0.5 * (_dot(q, q)[None] - 1.0)

    def constraint_rate(self, q: Position, v: Velocity) -> Multipliers:
        r"""Rate $q\cdot v$."""
        return _dot(q, v)[None]

    def constraint_force(self, q: Position, multipliers: Multipliers) -> Force:
        r"""Force $\lambda q$."""
        return multipliers * q

    def normal_acceleration(self, q: Position, v: Velocity) -> Velocity:
        r"""Centripetal acceleration $-|v|^2 q$.

        Off the unit sphere it lacks a factor $1/|q|^2$, and so turns a length that has drifted back towards
        one, $\ddot g = -2 |v|^2 g$, where with the factor it would drift on.
        """
        return -_dot(v, v) * q

    def multipliers(self, q: Position, force: Force) -> Multipliers:
        r"""Multiplier $q\cdot f/|q|^2$."""
        return (_dot(q, force) / _dot(q, q))[None]

    def project_position(self, q: Position) -> Position:
        r"""Nearest unit quaternion, $q/|q|$."""
        return normalise(q)

    def project_velocity(self, q: Position, v: Velocity) -> Velocity:
        r"""Velocity less its part along q, $v - (q\cdot v)\,q/|q|^2$."""
        return v - _dot(q, v) / _dot(q, q) * q

    def refusal(self, form: str, J: Moments) -> str | None:
        """A radial inertia of zero where the mass matrix must be inverted."""
        if form == "regular" and 0.0 in (self.sigma, self.I0):
            field = "I0" if self.sigma is None else "sigma"
            return (
                f"{field} = 0 makes the quaternion's mass matrix singular and its inverse is needed here; "
                f"take Quaternions(), Quaternions(sigma='mean') or a positive {field}"
            )
        return super().refusal(form, J)
