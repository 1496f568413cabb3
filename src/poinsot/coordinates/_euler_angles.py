"""Euler angles as coordinates of a rotating body."""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import InputError, quoted
from poinsot.core.types import Scalar
from poinsot.rotation import (
    EULER_SEQUENCES,
    euler_angles,
    euler_quaternion,
    multiply,
    sincos,
    to_matrix,
)

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
from ._sigma import checked_number


class _Rates(NamedTuple):
    """Numbers of the map from the rates of the angles to the body angular velocity; see `EulerAngles`."""

    across: Scalar
    along: Scalar
    sine: Scalar
    cosine: Scalar


class EulerAngles(AbstractCoordinates):
    r"""Euler angles of any of the twelve sequences: three coordinates, no constraints.

    $R = R_a(\alpha)\,R_b(\beta)\,R_c(\gamma)$ for the sequence "abc". With $k$ the axis that is neither $b$
    nor $c$ and a sign $\eta$,

    $$ \Omega_b = w S\,\dot\alpha + C\,\dot\beta, \qquad
       \eta\,\Omega_k = w C\,\dot\alpha - S\,\dot\beta, \qquad
       \Omega_c = u\,\dot\alpha + \dot\gamma, $$

    where $(w, u) = (\sin\beta, \cos\beta)$ and $S = \sin\gamma$ if $c = a$; $(w, u) = (\cos\beta,
    \varepsilon\sin\beta)$ and $S = -\varepsilon\sin\gamma$ otherwise; $C = \cos\gamma$, and
    $\varepsilon = \pm 1$ as the axes $a, b$ are in cyclic order or not. At $w = 0$ the first and the last
    axis coincide (gimbal lock) and the angles are no coordinates. The scaling parameter sigma of other
    coordinates drops out of $M = B^T J B$.

    Args:
        sequence: one of `poinsot.rotation.EULER_SEQUENCES`.
        margin: distance from gimbal lock, in radians of the middle angle, within which a run is refused or
            ended. Rates of the angles grow like one over this distance.
    """

    sequence: str = eqx.field(static=True)
    margin: float = eqx.field(static=True)

    def __init__(self, sequence: str = "zxz", margin: float = 0.01):
        if sequence not in EULER_SEQUENCES:
            known = ", ".join(EULER_SEQUENCES)
            raise InputError(f"sequence = {quoted(sequence)} is not known; choose one of {known}")
        self.sequence = sequence
        self.margin = checked_number("margin", margin)
        if self.margin >= 0.5 * math.pi:
            raise InputError(
                f"margin = {margin!r} leaves no angle at all; give radians below pi/2, for instance 0.01"
            )

    @property
    def size(self) -> int:
        """Three."""
        return 3

    @property
    def constraints(self) -> int:
        """None."""
        return 0

    @property
    def singular(self) -> bool:
        """Gimbal lock."""
        return True

    @property
    def bilinear(self) -> bool:
        """No: the angles enter through sines and cosines."""
        return False

    @property
    def _proper(self) -> bool:
        """Whether the first and the last axis are the same."""
        return self.sequence[0] == self.sequence[2]

    @property
    def _parity(self) -> float:
        """Plus one when the first two axes are in cyclic order, minus one otherwise."""
        return 1.0 if self.sequence[:2] in ("xy", "yz", "zx") else -1.0

    @property
    def _order(self) -> tuple[int, int, int]:
        """Body axes b, k and c."""
        b, c = ("xyz".index(letter) for letter in self.sequence[1:])
        return b, 3 - b - c, c

    @property
    def _sign(self) -> float:
        """Sign of the component along the axis k."""
        return self._parity if self._proper else 1.0

    def _rates(self, q: Position) -> _Rates:
        sine_b, cosine_b = sincos(q[1])
        sine_c, cosine_c = sincos(q[2])
        if self._proper:
            return _Rates(sine_b, cosine_b, sine_c, cosine_c)
        return _Rates(cosine_b, self._parity * sine_b, -self._parity * sine_c, cosine_c)

    def _split(self, body: BodyVector) -> tuple[Scalar, Scalar, Scalar]:
        """Components along b, k (with its sign) and c."""
        b, k, c = self._order
        return body[b], self._sign * body[k], body[c]

    def _joined(self, along_b: Scalar, along_k: Scalar, along_c: Scalar) -> BodyVector:
        """Inverse of `_split`."""
        parts = dict(zip(self._order, (along_b, self._sign * along_k, along_c), strict=True))
        return jnp.stack([parts[axis] for axis in range(3)])

    def gimbal_distance(self, q: Position) -> Scalar:
        """Distance of the middle angle from the nearest value at which two axes coincide, in radians."""
        beta = q[1] if self._proper else q[1] - 0.5 * math.pi
        return jnp.abs(beta - math.pi * jnp.round(beta / math.pi))

    def clearance(self, q: Position) -> Scalar:
        """Distance from gimbal lock less the margin; negative where a run must not go."""
        return self.gimbal_distance(q) - self.margin

    def rotation(self, q: Position) -> Float[Array, "3 3"]:
        r"""Matrix $R_a(\alpha)\,R_b(\beta)\,R_c(\gamma)$."""
        return to_matrix(euler_quaternion(self.sequence, q))

    def from_quaternion(self, quat: Float[Array, "4"]) -> Position:
        r"""Angles of a rotation, the outer ones within $[-\pi, \pi]$."""
        return euler_angles(self.sequence, to_matrix(quat))

    def turn(self, q: Position, turn: Float[Array, "4"]) -> Position:
        """Angles of the product; whole turns of the outer angles are lost."""
        return self.from_quaternion(multiply(euler_quaternion(self.sequence, q), turn))

    def velocity(self, q: Position, Omega: BodyVector) -> Velocity:
        r"""Rates of the angles, $B^{-1}\Omega$."""
        w, u, S, C = self._rates(q)
        b, k, c = self._split(Omega)
        alpha = (S * b + C * k) / w
        return jnp.stack([alpha, C * b - S * k, c - u * alpha])

    def omega(self, q: Position, v: Velocity) -> BodyVector:
        r"""Body angular velocity $B\,\dot q$."""
        w, u, S, C = self._rates(q)
        alpha, beta, gamma = v
        return self._joined(w * S * alpha + C * beta, w * C * alpha - S * beta, u * alpha + gamma)

    def free_momentum(self, q: Position, p: Momentum) -> BodyVector:
        r"""Body angular momentum $B^{-T} p$."""
        w, u, S, C = self._rates(q)
        alpha = (p[0] - u * p[2]) / w
        return self._joined(S * alpha + C * p[1], C * alpha - S * p[1], p[2])

    def _dual(self, q: Position, body: BodyVector) -> Momentum:
        r"""Generalised force $B^T \mu$ of a moment in the body frame."""
        w, u, S, C = self._rates(q)
        b, k, c = self._split(body)
        return jnp.stack([w * (S * b + C * k) + u * c, C * b - S * k, c])

    def momentum(self, q: Position, v: Velocity, J: Moments) -> Momentum:
        r"""Momentum $B^T J B\,v$."""
        return self._dual(q, J * self.omega(q, v))

    def velocity_force(self, q: Position, v: Velocity, J: Moments) -> Force:
        r"""Force of inertia $-B^T (\Omega \times J\Omega + J\,\dot B\,\dot q)$."""
        Omega, bend = jax.jvp(lambda x: self.omega(x, v), (q,), (v,))
        return -self._dual(q, jnp.cross(Omega, J * Omega) + J * bend)

    def quasi_momentum(self, q: Position, p: Momentum) -> BodyVector:
        """Body angular momentum."""
        return self.free_momentum(q, p)

    def quasi_inertia(self, J: Moments) -> Moments:
        """The moments themselves."""
        return J

    def constraint(self, q: Position) -> Multipliers:
        """Nothing."""
        return jnp.zeros(0)

    def constraint_rate(self, q: Position, v: Velocity) -> Multipliers:
        """Nothing."""
        return jnp.zeros(0)

    def constraint_force(self, q: Position, multipliers: Multipliers) -> Force:
        """Zero."""
        return jnp.zeros_like(q)

    def normal_acceleration(self, q: Position, v: Velocity) -> Velocity:
        """Zero."""
        return jnp.zeros_like(q)

    def multipliers(self, q: Position, force: Force) -> Multipliers:
        """Nothing."""
        return jnp.zeros(0)

    def project_position(self, q: Position) -> Position:
        """The angles themselves."""
        return q

    def project_velocity(self, q: Position, v: Velocity) -> Velocity:
        """The rates themselves."""
        return v
