r"""Discrete gradients: differences of a function written as a product with the step taken."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

NOISE = 4.0 * 2.0**-52
"""Round-off of a difference, relative to its terms."""


def discrete_gradient(f: Callable, y0: Float[Array, " n"], y1: Float[Array, " n"]) -> Float[Array, " n"]:
    r"""Gonzalez' discrete gradient of a function, by the midpoint.

    $$ \bar\nabla f = \nabla f(y_m)
       + \frac{f(y_1) - f(y_0) - \nabla f(y_m)\cdot \Delta y}{|\Delta y|^2}\,\Delta y, \qquad
       y_m = \tfrac12(y_0 + y_1), \quad \Delta y = y_1 - y_0 $$

    so that $\bar\nabla f\cdot\Delta y = f(y_1) - f(y_0)$ to round-off. For a quadratic function the second
    term vanishes.

    Args:
        f: the function, of one vector.
        y0: where the step begins.
        y1: where it ends.
    """
    slope = jax.grad(f)(0.5 * (y0 + y1))
    before, after = f(y0), f(y1)
    return corrected(slope, y1 - y0, after - before, jnp.abs(after) + jnp.abs(before))


def whole_gradient(H: Callable, q0: Array, p0: Array, q1: Array, p1: Array) -> tuple[Array, Array]:
    """Gonzalez' discrete gradient of a function of positions and momenta, in all of them together."""
    n = q0.shape[0]
    slope = discrete_gradient(lambda y: H(y[:n], y[n:]), jnp.concatenate([q0, p0]), jnp.concatenate([q1, p1]))
    return slope[:n], slope[n:]


def composed_gradient(
    outer: Callable, inner: Callable, y0: Float[Array, " n"], y1: Float[Array, " n"]
) -> Float[Array, " n"]:
    r"""Discrete gradient of $v(c(y))$ that keeps what the functions $c$ are invariant to.

    $$ \bar\nabla (v \circ c) = \sum_k \bar\nabla_k v\;\bar\nabla c_k $$

    For quadratic $c$ the inner discrete gradients are plain gradients at the midpoint. A rotation that leaves
    every $c_k$ alone then leaves the result alone, which is how energy-momentum methods keep momentum.

    Args:
        outer: the function $v$ of the vector $c$.
        inner: the functions $c$, a vector of them.
        y0: where the step begins.
        y1: where it ends.
    """
    c0, c1 = inner(y0), inner(y1)
    weights = discrete_gradient(outer, c0, c1)
    (slope,) = jax.vjp(inner, 0.5 * (y0 + y1))[1](weights)
    before, after = jnp.sum(weights * c0), jnp.sum(weights * c1)
    return corrected(slope, y1 - y0, after - before, jnp.abs(after) + jnp.abs(before))


def corrected(slope: Array, dy: Array, change: Array, terms: Array) -> Array:
    """The vector nearest to `slope` whose product with `dy` is the change of a function.

    A correction below the round-off of that change is noise, which a short step would magnify: it is left
    out.

    Args:
        slope: of the function, in the middle of the step.
        dy: the step.
        change: of the function.
        terms: size of the terms that the change is a difference of.
    """
    along = jnp.sum(slope * dy)
    missing = change - along
    noise = NOISE * (terms + jnp.sum(jnp.abs(slope * dy)))
    real = jnp.abs(missing) > noise
    square = jnp.where(real, jnp.sum(dy * dy), 1.0)
    return slope + jnp.where(real, missing, 0.0) / square * dy
