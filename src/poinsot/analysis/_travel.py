"""One compiled march behind the measurements: any number of steps of any size, with what they conserve."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from poinsot.core import AbstractProblem, Packed, Result
from poinsot.core.types import IntScalar
from poinsot.integrators import AbstractIntegrator
from poinsot.simulation._loop import Marcher


class Travel(eqx.Module):
    """Where a march ended."""

    y: Packed
    result: IntScalar
    steps: IntScalar
    iterations: IntScalar
    deviation: dict[str, Array]
    """Largest distance of each conserved quantity from its start value, over all steps."""

    @property
    def ok(self) -> bool:
        """Whether all steps succeeded."""
        return int(self.result) == Result.successful


def travel(
    problem: AbstractProblem, integrator: AbstractIntegrator, y: Packed, h, steps, t0: float = 0.0
) -> Travel:
    """Take `steps` steps of size `h`; neither of them, nor `t0`, compiles anything anew."""
    marcher = Marcher(problem, integrator, jnp.asarray(t0, dtype=float), jnp.asarray(h, dtype=float))
    return _travel(marcher, y, jnp.int64(steps))


@eqx.filter_jit
def _travel(marcher: Marcher, y: Packed, steps) -> Travel:
    problem = marcher.problem
    first = problem.conserved(marcher.t0, y)

    def proceed(carry):
        loop, _ = carry
        return (loop.n < steps) & (loop.result == Result.successful)

    def advance(carry):
        loop, deviation = carry
        loop = marcher.step(loop)
        now = problem.conserved(marcher.time(loop.n), loop.y)
        distance = {name: jnp.abs(now[name] - first[name]) for name in first}
        return loop, jax.tree.map(jnp.maximum, deviation, distance)

    start = (marcher.start(y), jax.tree.map(jnp.zeros_like, first))
    loop, deviation = lax.while_loop(proceed, advance, start)
    return Travel(loop.y, loop.result, loop.n, loop.iterations, deviation)
