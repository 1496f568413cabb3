r"""How large the round-off of a conserved quantity is expected to be."""

from collections.abc import Mapping
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import AbstractProblem, State
from poinsot.kernels import by_blocks

SAMPLES = 64
"""States along the run at which the sensitivity is looked at."""
PROBES = 16
"""Directions in which it is probed."""
AT_ONCE = 2**18
"""Numbers of states, along directions, that are looked at in one go."""


def roundoff_scales(
    problem: AbstractProblem | None,
    t: np.ndarray,
    components: Mapping[str, np.ndarray],
    conserved: Mapping[str, np.ndarray],
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
    parts = [components[label] for label in problem.labels]
    if len(chosen) < len(t):
        parts = [part[chosen] for part in parts]
    numbers = max(1, sum(part[0].size for part in parts))
    block = int(np.clip(AT_ONCE // (PROBES * numbers), 1, SAMPLES))
    spread = by_blocks(partial(_sensitivity, problem), (t[chosen], *parts), block, block)
    return {name: size + (_largest(spread[name]) if name in spread else 0.0) for name, size in sizes.items()}


def _sensitivity(problem: AbstractProblem, times: np.ndarray, *parts: np.ndarray) -> dict[str, np.ndarray]:
    """Root mean square over the probes of the change along each, at each state."""
    states = State(**dict(zip(problem.labels, parts, strict=True)))
    y = jax.vmap(problem.pack)(states)
    draw, total = np.random.default_rng(0), None
    together = int(np.clip(AT_ONCE // y.size, 1, PROBES))
    together = next(count for count in range(together, 0, -1) if PROBES % count == 0)
    for _ in range(PROBES // together):
        signs = draw.choice([-1.0, 1.0], size=(together, *y.shape[1:]))
        squares = _squares(problem, times, y, signs)
        total = squares if total is None else jax.tree.map(jnp.add, total, squares)
    return jax.tree.map(lambda sums: np.sqrt(np.asarray(sums) / PROBES), total)


@eqx.filter_jit
def _squares(problem: AbstractProblem, times, states, signs):
    """Sum over some probes of the square of the change along each, at each state."""

    def at(t, y):
        magnitude = problem.magnitude(y)

        def quantities(y):
            return jax.tree.map(lambda value: jnp.asarray(value, dtype=float), problem.conserved(t, y))

        def along(signs):
            return jax.jvp(quantities, (y,), (signs * magnitude,))[1]

        return jax.tree.map(lambda changes: jnp.sum(changes**2, axis=0), jax.vmap(along)(signs))

    return jax.vmap(at)(times, states)


def _largest(values: np.ndarray) -> np.ndarray:
    """Largest along time; a place where it is not finite says nothing of the others."""
    return np.max(np.where(np.isfinite(values), values, 0.0), axis=0)
