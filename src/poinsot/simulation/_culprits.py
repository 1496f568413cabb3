"""Which bodies a run has failed at."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from poinsot.core import Group, Packed, Result
from poinsot.equations import Formulation
from poinsot.integrators import AbstractIntegrator
from poinsot.simulation._trajectory import Method, Record

FAILED = (Result.non_finite, Result.stage_equations_not_converged)
"""Ends of a run at which states may have become infinite or NaN."""
NAMED = 4
"""Bodies that are named one by one; beyond, the others are counted."""


def culprits(formulation: Formulation, method: Method, record: Record) -> str | None:
    """Names of the bodies whose state is not finite after the step that failed; None where all is finite.

    The step is taken once more from the last good state. Steps of an adaptive solver are not looked at: it
    shortens them until none fails in this way.
    """
    if record.result not in FAILED or not isinstance(method, AbstractIntegrator):
        return None
    h = record.told["dt"]
    broken = _broken(formulation, method, record.t0 + record.steps * h, h, jnp.asarray(record.packed[-1]))
    places = np.flatnonzero(np.asarray(broken))
    names = ", ".join(repr(formulation.bodies.system.names[place]) for place in places[:NAMED])
    others = f" and {len(places) - NAMED} others" if len(places) > NAMED else ""
    return names + others or None


@eqx.filter_jit
def _broken(formulation: Formulation, method: AbstractIntegrator, t, h, y: Packed) -> Bool[Array, " body"]:
    """Whether the state of each body is not finite after a step.

    Compiled with care: compiled quickly, a step evaluates its early turns again for every later one.
    """
    problem, bodies = formulation.problem, formulation.bodies
    after = method.step(problem, t, h, y, method.init(problem, t, h, y))[0]
    if bodies.nodes is not None or not isinstance(problem, Group) and after.size != 2 * bodies.size:
        # The numbers, or the rates among them, are those of joints; what they carry shows which.
        return ~jnp.all(jnp.isfinite(formulation.motion(t + h, after).velocity), axis=1)
    broken = jnp.zeros(bodies.system.count, dtype=bool)
    if isinstance(problem, Group):
        x, p, g, m = problem.split(after)
        halves = (x, g), (p, m)
    else:
        halves = bodies.split(after[: bodies.size]), bodies.split(after[bodies.size :])
    for moving, turning in halves:
        for places, part in ((bodies.system.translating, moving), (bodies.system.rotating, turning)):
            infinite = ~jnp.all(jnp.isfinite(part), axis=0)
            broken = broken.at[np.asarray(places, dtype=int)].max(infinite)
    return broken
