"""One compiled march behind the measurements: any number of steps of any size, with what they conserve."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from poinsot.core import AbstractProblem, Packed, Result
from poinsot.core.types import IntScalar
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import SHORT, Kernel
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
    """Take `steps` steps of size `h`; neither of them, nor `t0`, compiles anything anew.

    They run by the kernel that runs of this process have, so that what is measured is what runs.
    """
    kernel = Kernel()
    if y.size > SHORT and not problem.looped and kernel.choice != "native":
        kernel.give_up("a long state")
    grid = np.float64(t0), np.float64(h), np.int64(steps)
    return jax.tree.map(jnp.asarray, kernel(_travel, (problem, integrator), grid, jnp.asarray(y)))


def _travel(model, grid, y: Packed) -> Travel:
    (problem, integrator), (t0, h, steps) = model, grid
    marcher = Marcher(problem, integrator, t0, h)
    first = problem.conserved(t0, y)

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
