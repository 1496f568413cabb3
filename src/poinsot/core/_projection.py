"""Projection onto the surface of constraints: the nearest point and momentum, in the metric of a mass."""

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

Projection = Literal["none", "position", "velocity", "both"]
"""What of a state is put back onto the constraints."""

Vector = Float[Array, " n"]
Matrix = Float[Array, "n n"]

_ROUND_OFF = 8.0 * 2.0**-52
_MOST = 50


def nearest_on_surface(constraint: Callable, M: Matrix, q: Vector) -> Vector:
    r"""The point $x$ with $g(x) = 0$ nearest to $q$ in the metric of a mass matrix.

    $$ M (x - q) + G(x)^T \chi = 0, \qquad g(x) = 0 $$

    by repeated solution of the equations linearised at $x$, in which second derivatives of $g$ are left out:
    the error shrinks each time by a factor of the distance from the surface. $M$ may be singular across it.

    Args:
        constraint: the function $g$.
        M: the matrix, taken where the search starts.
        q: point near the surface.

    Returns:
        The point; NaN where the search did not converge, too far from the surface.
    """
    n = q.shape[0]

    def correction(x: Vector) -> Vector:
        return saddle_point(M, jax.jacfwd(constraint)(x), M @ (q - x), -constraint(x))[:n]

    def proceed(search):
        _, previous, change, count = search
        going = (change > _ROUND_OFF) & (change < previous)
        return (count < 2) | (going & (count < _MOST))

    def correct(search):
        x, _, previous, count = search
        dx = correction(x)
        change = jnp.max(jnp.abs(dx)) / jnp.maximum(jnp.max(jnp.abs(x)), 1.0)
        return x + dx, previous, change, count + 1

    far = jnp.asarray(jnp.inf)
    x, _, change, _ = lax.while_loop(proceed, correct, (q, far, far, jnp.int32(0)))
    return jnp.where(change <= 1e4 * _ROUND_OFF, x, jnp.nan)


def along_surface(constraint: Callable, M: Matrix, q: Vector, p: Vector, rate: Array) -> Vector:
    r"""The momentum whose velocity is along the surface, or goes with it, nearest to $p$.

    $$ M v + G(q)^T \eta = p, \qquad G(q)\,v = r, \qquad p \leftarrow p - G(q)^T \eta $$

    What lies along the surface passes through without round-off.

    Args:
        constraint: the function $g$.
        M: mass matrix at `q`.
        q: position.
        p: momentum.
        rate: what $G v$ shall be, zero for a surface at rest.
    """
    solution = saddle_point(M, jax.jacfwd(constraint)(q), p, rate)
    return p - jax.vjp(constraint, q)[1](solution[q.shape[0] :])[0]


def saddle_point(M: Matrix, G: Float[Array, "m n"], force: Vector, rate: Array) -> Array:
    r"""Velocity and multipliers of $M v + G^T \lambda = f$, $G v = r$, one after the other."""
    corner = jnp.zeros((G.shape[0], G.shape[0]))
    return jnp.linalg.solve(jnp.block([[M, G.T], [G, corner]]), jnp.concatenate([force, rate]))
