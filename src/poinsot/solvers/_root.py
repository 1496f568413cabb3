"""Solutions of equations, differentiable by the implicit function theorem."""

from collections.abc import Callable

import jax
import jax.numpy as jnp


def root(
    function: Callable,
    guess,
    solve: Callable,
    linear_solve: Callable,
    residual: Callable = lambda x, value: value,
    known: tuple = (),
) -> tuple:
    r"""A solution of $r(x, \theta) = 0$, with the derivatives of the equation and not of the way to it.

    $$ \dot x = -\left(\frac{\partial r}{\partial x}\right)^{-1}
       \frac{\partial r}{\partial\theta}\,\dot\theta $$

    where $\theta$ is all that the function is made of. The same as `jax.lax.custom_root`, but that writes out
    the programs of the derivatives at once, which takes several times as long as the equation itself; here
    they are written when somebody differentiates.

    Args:
        function: $f$, of a pytree like `guess`.
        guess: starting value; the solution does not depend on it.
        solve: takes $f$ and a starting value, and returns the solution and a `SolveInfo`.
        linear_solve: takes a linear function and a right-hand side, then `known`.
        residual: makes $r$ of $x$ and $f(x)$; without it, $r = f$.
        known: arrays that `linear_solve` needs. It is called when somebody differentiates, which may be
            outside of the loop that this is written in: what it has of that loop by itself is gone by then.

    Returns:
        What `solve` returns.
    """
    written, given = jax.closure_convert(function, guess)

    def way(start, given) -> tuple:
        return solve(lambda x: written(x, *given), start)

    way, helps = jax.closure_convert(way, guess, given)

    @jax.custom_jvp
    def found(start, given, helps, known):
        return way(start, given, *helps)

    @found.defjvp
    def change_of_found(primals, tangents):
        start, given, helps, known = primals
        x, info = found(start, given, helps, known)

        def equation(x, given):
            return residual(x, written(x, *given))

        change = jax.jvp(lambda given: equation(x, given), (given,), (tangents[1],))[1]
        slope = jax.linearize(lambda x: equation(x, given), x)[1]
        dx = linear_solve(slope, jax.tree.map(jnp.negative, change), *known)
        return (x, info), (dx, jax.tree.map(jnp.zeros_like, info))

    return found(guess, given, helps, known)
