r"""The equation of a rotation vector over a step, $J \xi = h\,T_r(\xi)\,m$, and its linearisation."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.rotation import hat, stumpff


def corrected(J: Array, m: Array, xi: Array, h) -> Float[Array, "3"]:
    r"""A rotation vector after a correction towards $J \xi = h\,T_r(\xi)\,m$."""
    return xi - _solve_linearised(J, -0.5 * h * m, J * xi - h * right_tangent(xi, m))


def _solve_linearised(J: Float[Array, "3"], a: Float[Array, "3"], b: Float[Array, "3"]) -> Float[Array, "3"]:
    r"""Solve $(\operatorname{diag} J + \hat a)\,x = b$.

    $$ x = \frac{\operatorname{adj}(J)\,b + (a \cdot b)\,a - (J a) \times b}{J_1 J_2 J_3 + a \cdot J a} $$
    """
    minors = jnp.stack([J[1] * J[2], J[2] * J[0], J[0] * J[1]])
    determinant = J[0] * minors[0] + jnp.sum(J * a * a)
    return (minors * b + jnp.sum(a * b) * a - jnp.cross(J * a, b)) / determinant


def right_tangent(xi: Float[Array, "3"], m: Float[Array, "3"]) -> Float[Array, "3"]:
    r"""$T_r(\xi)\,m = m - c_2\,\xi \times m + c_3\,\xi \times (\xi \times m)$."""
    x = jnp.sum(xi * xi)
    across = jnp.cross(xi, m)
    return m - stumpff(2, x) * across + stumpff(3, x) * jnp.cross(xi, across)


def tangent_of(xi: Float[Array, "3"]) -> Float[Array, "3 3"]:
    r"""The matrix $T_r(\xi)$."""
    x = jnp.sum(xi * xi)
    across = hat(xi)
    return jnp.eye(3) - stumpff(2, x) * across + stumpff(3, x) * (across @ across)


def linearised_inverse(J: Float[Array, "3"], a: Float[Array, "3"]) -> Float[Array, "3 3"]:
    r"""The inverse of $\operatorname{diag} J + \hat a$, see `_solve_linearised`."""
    minors = jnp.stack([J[1] * J[2], J[2] * J[0], J[0] * J[1]])
    determinant = J[0] * minors[0] + jnp.sum(J * a * a)
    return (jnp.diag(minors) + a[:, None] * a[None] - hat(J * a)) / determinant
