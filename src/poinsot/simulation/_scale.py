r"""How large the round-off of a conserved quantity is expected to be."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import AbstractProblem, State

SAMPLES = 64
"""States along the run at which the sensitivity is looked at."""
PROBES = 16
"""Directions in which it is probed."""


def roundoff_scales(
    problem: AbstractProblem | None,
    t: np.ndarray,
    components: dict[str, np.ndarray],
    conserved: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    r"""The factor $S$ by which a relative rounding error of the state appears in each conserved quantity.

    $$ S = \max_i |I(y_i)| + \max_i \Big( \sum_j \big(\partial_j I(y_i)\, |y|_j \big)^2 \Big)^{1/2} $$

    with $|y|_j$ the largest component of the same kind as $y_j$. The second term is what matters when $I$ is
    a small difference of large terms, for instance the energy of a parabolic orbit, which is zero. The root
    is estimated from directional derivatives along random signs, which is cheap for states of any size.
    Without the problem only the first term is known.

    Returns:
        An array for each quantity, in the shape of the quantity.
    """
    sizes = {name: _largest(np.abs(values)) for name, values in conserved.items()}
    if problem is None:
        return sizes
    chosen = np.unique(np.linspace(0, len(t) - 1, SAMPLES).round().astype(int))
    # Repeating the last one keeps the shape, so that one compile serves runs of any length.
    chosen = np.pad(chosen, (0, SAMPLES - len(chosen)), mode="edge")
    states = State(**{label: components[label][chosen] for label in problem.labels})
    y = jax.vmap(problem.pack)(states)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(PROBES, *y.shape[1:]))
    spread = _sensitivity(problem, t[chosen], y, signs)
    return {
        name: size + (_largest(np.asarray(spread[name])) if name in spread else 0.0)
        for name, size in sizes.items()
    }


@eqx.filter_jit
def _sensitivity(problem: AbstractProblem, times, states, signs):
    """Root mean square over the probes of the change along each, at each state."""

    def at(t, y):
        magnitude = problem.magnitude(y)

        def quantities(y):
            return jax.tree.map(lambda value: jnp.asarray(value, dtype=float), problem.conserved(t, y))

        def along(signs):
            return jax.jvp(quantities, (y,), (signs * magnitude,))[1]

        return jax.tree.map(lambda changes: jnp.sqrt(jnp.mean(changes**2, axis=0)), jax.vmap(along)(signs))

    return jax.vmap(at)(times, states)


def _largest(values: np.ndarray) -> np.ndarray:
    """Largest along time; a place where it is not finite says nothing of the others."""
    return np.max(np.where(np.isfinite(values), values, 0.0), axis=0)
