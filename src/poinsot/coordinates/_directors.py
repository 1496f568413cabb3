"""The nine components of the directors as coordinates of a rotating body."""

from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.rotation import to_matrix, unvec, vec
from poinsot.solvers import solve_small

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
from ._director_inertia import AbstractDirectorInertia, EulerTensor, ScaledInertia
from ._frame import (
    entries,
    extracted_frame,
    frame_moment,
    frame_rate,
    nearest_frame,
    product,
    reciprocal,
    row_products,
    solve,
    symmetric,
    turned,
)
from ._sigma import Sigma, checked_sigma

_PROJECTIONS = {"nearest": nearest_frame, "spurrier_klumpp": extracted_frame}


class Directors(AbstractCoordinates):
    r"""Directors: nine coordinates $q = \operatorname{vec} R = (d_1, d_2, d_3)$, six constraints.

    $$ T_d = \begin{pmatrix} 0 & -d_3 & d_2 \\ d_3 & 0 & -d_1 \\ -d_2 & d_1 & 0 \end{pmatrix}, \qquad
       g = \left(\tfrac{|r_1|^2-1}{2}, \tfrac{|r_2|^2-1}{2}, \tfrac{|r_3|^2-1}{2}, r_1\cdot r_2,
       r_3\cdot r_1, r_2\cdot r_3\right), $$

    where $r_1, r_2, r_3$ are the rows or the columns of R. With rows, $G\,T_d = 0$ for every matrix; with
    columns on rotations only. The mass matrix is the constant one of the Euler tensor, $M =
    \operatorname{diag}(d_1 I, d_2 I, d_3 I)$ with the planar moments $d_k = \tfrac12\operatorname{tr} J -
    J_k$, or with `sigma` the scaled one, $M_\sigma = \tfrac{\sigma}{2} I + L (J - \sigma I) L^T$, $L =
    \tfrac12 T_d$, which a flat body can have inverted.

    Args:
        sigma: None for the Euler tensor; a number, or "mean" for a third of the trace of J.
        constraints: whether the "columns" or the "rows" of R are kept orthonormal. Products of columns do not
            change when the body is turned in space, so that discrete forces of constraint exert no torque
            wherever they are taken; those of rows do not only on rotations.
        projection: "nearest" rotation, or the cheaper "spurrier_klumpp", by way of an extracted quaternion.
    """

    sigma: Sigma = eqx.field(static=True)
    constrained: Literal["rows", "columns"] = eqx.field(static=True)
    projection: Literal["nearest", "spurrier_klumpp"] = eqx.field(static=True)

    def __init__(
        self,
        sigma: float | Literal["mean"] | None = None,
        *,
        constraints: Literal["rows", "columns"] = "columns",
        projection: Literal["nearest", "spurrier_klumpp"] = "nearest",
    ):
        self.sigma = checked_sigma(sigma)
        self.constrained, self.projection = constraints, projection

    def __repr__(self) -> str:
        kept = f"constraints={self.constrained!r}, projection={self.projection!r}"
        return f"Directors(sigma={self.sigma!r}, {kept})"

    @property
    def size(self) -> int:
        """Nine."""
        return 9

    @property
    def constraints(self) -> int:
        """Six."""
        return 6

    @property
    def constant_mass(self) -> bool:
        """With the Euler tensor."""
        return self.sigma is None

    @property
    def inertia(self) -> AbstractDirectorInertia:
        """The mass matrix in use."""
        return EulerTensor() if self.sigma is None else ScaledInertia(self.sigma)

    def _vectors(self, q: Position) -> Float[Array, "3 3"]:
        """Matrix whose rows are the vectors kept orthonormal."""
        return unvec(q) if self.constrained == "rows" else q.reshape(3, 3)

    def _stacked(self, vectors: Float[Array, "3 3"]) -> Position:
        """Inverse of `_vectors`."""
        return vec(vectors) if self.constrained == "rows" else vectors.reshape(9)

    def rotation(self, q: Position) -> Float[Array, "3 3"]:
        """Matrix with the directors as columns."""
        return unvec(q)

    def free_rotation(self, q: Position) -> Float[Array, "3 3"]:
        r"""The matrix $\tfrac12 R\,(3 I - R^T R)$, which is R for a rotation.

        A potential of it has no slope across the rotations, at a rotation. With such a slope the symmetric
        part of $R^T P$, which moves nothing, would grow for ever and cost the momentum its digits.
        """
        R = unvec(q)
        square = jnp.sum(R[:, :, None] * R[:, None, :], axis=0)
        return 1.5 * R - 0.5 * jnp.sum(R[:, :, None] * square[None], axis=1)

    def free_slope(self, q: Position, slope: Force) -> Force:
        r"""The slope $s \times d_i$ that has the same torque $\sum d_i \times f_i$ in space."""
        d, f = q.reshape(3, 3), slope.reshape(3, 3)
        spread = jnp.sum(d * d) * jnp.eye(3) - jnp.sum(d[:, :, None] * d[:, None, :], axis=0)
        s = solve_small(spread, jnp.sum(jnp.cross(d, f), axis=0))
        return jnp.cross(s[None], d).reshape(9)

    def from_quaternion(self, quat: Float[Array, "4"]) -> Position:
        """Columns of the Euler map."""
        return vec(to_matrix(quat))

    def turn(self, q: Position, turn: Float[Array, "4"]) -> Position:
        """Product of the two rotation matrices."""
        return turned(q, turn)

    def velocity(self, q: Position, Omega: BodyVector) -> Velocity:
        r"""Rate $\operatorname{vec}(R\,\hat\Omega)$."""
        return frame_rate(q, Omega)

    def omega(self, q: Position, v: Velocity) -> BodyVector:
        r"""Body angular velocity $\tfrac12 T_d^T v$, the skew part of $R^T\dot R$."""
        return 0.5 * frame_moment(q, v)

    def free_momentum(self, q: Position, p: Momentum) -> BodyVector:
        r"""Body angular momentum $T_d^T p$."""
        return frame_moment(q, p)

    def momentum(self, q: Position, v: Velocity, J: Moments) -> Momentum:
        r"""Momentum $M(q)\,v$."""
        return self.inertia.momentum(q, v, J)

    def velocity_force(self, q: Position, v: Velocity, J: Moments) -> Force:
        r"""Force of inertia quadratic in the velocities: none for the Euler tensor."""
        return self.inertia.velocity_force(q, v, J)

    def quasi_momentum(self, q: Position, p: Momentum) -> Float[Array, "9"]:
        r"""The momentum itself for the Euler tensor, $(G p, T_d^T p)$ for the scaled mass matrix."""
        return self.inertia.quasi_momentum(q, p)

    def quasi_inertia(self, J: Moments) -> Float[Array, "9"]:
        """Inertia of each of the quasi-momenta."""
        return self.inertia.quasi_inertia(J)

    def constraint(self, q: Position) -> Multipliers:
        """Half the squares of the lengths less one half, then the three products."""
        vectors = self._vectors(q)
        return 0.5 * row_products(vectors, vectors) - jnp.array([0.5, 0.5, 0.5, 0.0, 0.0, 0.0])

    def constraint_rate(self, q: Position, v: Velocity) -> Multipliers:
        r"""Rate $G(q)\,v$."""
        return row_products(self._vectors(q), self._vectors(v))

    def constraint_force(self, q: Position, multipliers: Multipliers) -> Force:
        r"""Force $\Lambda R$ for rows, $R\Lambda$ for columns, with the symmetric matrix of multipliers."""
        return self._stacked(product(symmetric(multipliers), self._vectors(q)))

    def normal_acceleration(self, q: Position, v: Velocity) -> Velocity:
        r"""Acceleration $-\dot X \dot X^T X^{-T}$, X the matrix whose rows are kept orthonormal."""
        X, rate = self._vectors(q), self._vectors(v)
        return -self._stacked(product(product(rate, rate.T), reciprocal(X)))

    def tangent_response(self, q: Position, force: Force, J: Moments) -> Velocity:
        r"""Acceleration along the surface $X X^T = $ const, spanned by $S = T_d$ of a frame.

        It is the frame itself for rows and its reciprocal frame for columns. The two agree on rotations,
        where $S^T M S = J$; at any other matrix three linear equations are left.
        """
        return self._along(q, force, lambda v: self.momentum(q, v, J))

    def _along(self, q: Position, force: Force, mass: Callable[[Velocity], Momentum]) -> Velocity:
        r"""The vector $S (S^T M S)^{-1} S^T f$ along the surface, for any mass matrix."""
        frame = self._surface_frame(q)
        return frame_rate(frame, solve(_surface_inertia(frame, mass), frame_moment(frame, force)))

    def _surface_frame(self, q: Position) -> Position:
        """The directors of which $S$ is $T_d$."""
        return q if self.constrained == "rows" else reciprocal(q.reshape(3, 3)).reshape(9)

    def tangent(self, q: Position, u: BodyVector) -> Velocity:
        r"""Rate $S(q)\,u$ along the surface through any nine numbers."""
        return frame_rate(self._surface_frame(q), u)

    def tangent_frame(self, q: Position) -> Float[Array, "3 3"]:
        r"""The matrix itself for rows, $R^{-T}$ for columns."""
        return unvec(self._surface_frame(q))

    def tangent_mobility(self, q: Position, J: Moments) -> Float[Array, "3 3"]:
        r"""Inverse of the three by three matrix $S^T M S$."""
        inertia = _surface_inertia(self._surface_frame(q), lambda v: self.momentum(q, v, J))
        return reciprocal(inertia).T

    def multipliers(self, q: Position, force: Force) -> Multipliers:
        r"""Entries of $\Lambda = F X^{-1}$."""
        return entries(product(self._vectors(force), reciprocal(self._vectors(q)).T))

    def project_position(self, q: Position) -> Position:
        """Directors of a rotation next to `q`, by the chosen method."""
        return _PROJECTIONS[self.projection](q)

    def project_velocity(self, q: Position, v: Velocity) -> Velocity:
        r"""Orthogonal projection $S (S^T S)^{-1} S^T v$, at a rotation $\tfrac12 T_d T_d^T v$."""
        return self._along(q, v, lambda rate: rate)

    def refusal(self, form: str, J: Moments) -> str | None:
        """A singular mass matrix where momenta are unknowns; a flat body with the Euler tensor."""
        flat = self.sigma is None and form in ("index3", "index2")
        if form == "regular" or flat:
            return self.inertia.singular(J)
        return super().refusal(form, J)


def _surface_inertia(frame: Position, mass: Callable[[Velocity], Momentum]) -> Float[Array, "3 3"]:
    r"""The matrix $S^T M S$ with $S = T_d$ of a frame."""
    return jnp.stack([frame_moment(frame, mass(frame_rate(frame, axis))) for axis in jnp.eye(3)])
