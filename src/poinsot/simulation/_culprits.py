"""Which bodies a run has failed at, and whether its controller is why."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from poinsot.core import Group, Packed, Result, title
from poinsot.equations import Formulation
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import jitted
from poinsot.model.loads import AbstractControl
from poinsot.simulation._trajectory import Method, Record

FAILED = (Result.non_finite, Result.stage_equations_not_converged)
"""Ends of a run at which states may have become infinite or NaN."""
NAMED = 4
"""Bodies that are named one by one; beyond, the others are counted."""
PARTS = (0.0, 0.5, 1.0)
"""Parts of the step that failed at which controllers are looked at."""
NEAR = 1e-6
"""Such a step of an adaptive solver, relative to one plus the time."""
RUNAWAY = 1e100
"""Coordinates and rates beyond which no forces are expected to be finite."""


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


def faulty_controller(formulation: Formulation, record: Record) -> str | None:
    """Say which controller asks for forces that are not finite next to the last good state, and where."""
    if record.result not in FAILED:
        return None
    t = float(record.times[-1])
    return fault_at(formulation, t, record.packed[-1], record.told.get("dt") or NEAR * (1.0 + abs(t)))


def fault_at(formulation: Formulation, t: float, y: Packed, h: float = 0.0) -> str | None:
    """Say which controller asks for forces that are not finite in a step from a state, and where."""
    for load in formulation.bodies.system.loads:
        if not isinstance(load, AbstractControl):
            continue
        rows, near = (np.asarray(part) for part in _asked(formulation, load, t, h, y))
        places = np.flatnonzero(~np.all(np.isfinite(rows[near]), axis=0))
        if len(places):
            names = ", ".join(repr(load.chain.v_labels[place]) for place in places[:NAMED])
            others = f" and {len(places) - NAMED} others" if len(places) > NAMED else ""
            return f"{title(load)} asks for forces that are not finite in {names}{others}"
    return None


@jitted
def _asked(
    formulation: Formulation, control: AbstractControl, t, h, y: Packed
) -> tuple[Float[Array, "part nv"], Bool[Array, " part"]]:
    """Forces of a controller on the way through a step, and whether the motion is still finite there."""
    chain = control.chain
    q, v = formulation.joint_coordinates(t, y, chain)
    a = chain.forward_dynamics(q, v, control.efforts(t, q, v), t)
    a = jnp.where(jnp.isfinite(a), a, 0.0)

    def at(part):
        place, rate = chain.moved(q, part * h * v), v + part * h * a
        size = jnp.maximum(jnp.max(jnp.abs(place)), jnp.max(jnp.abs(rate)))
        return control.efforts(t + part * h, place, rate), size < RUNAWAY

    found = [at(part) for part in PARTS]
    return jnp.stack([forces for forces, _ in found]), jnp.stack([near for _, near in found])


@jitted
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
