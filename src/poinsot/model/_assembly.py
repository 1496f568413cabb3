"""States whose joints are closed: checked, or found."""

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import PLACING, PLACING_REPETITIONS, InputError, State, concrete
from poinsot.kernels import once
from poinsot.rotation import multiply, quat_exp, to_matrix

from ._linkage import Linkage

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem

CLOSED = 1e-8
"""How far joints may be open at the start, relative to one plus the size of positions or velocities."""
CORRECTIONS = 50
"""Largest number of corrections of an assembly."""
LONGEST = 0.5
"""Largest turn of a body in one of them, in radians: the Newton iteration starts anywhere."""


def check_closed(system: "AbstractSystem", t, state: State) -> None:
    """Refuse a state whose joints are open, or open up."""
    linkage = system.linkage
    if linkage is None or not concrete(state, t):
        return
    gaps, rates, sizes = _opening(linkage, *_live(system, t, state))
    for what, rows, size in (("open by", gaps, sizes[0]), ("opening at a rate of", rates, sizes[1])):
        worst = [float(np.max(np.abs(row))) for row in rows]
        joint = int(np.argmax(worst))
        if worst[joint] > CLOSED * (1.0 + float(size)):
            raise InputError(
                f"{linkage.conditions[joint].label} is {what} {worst[joint]:.3g} at the start; "
                "take system.assemble(state), the nearest state with closed joints"
            )


def assembled(system: "AbstractSystem", t, state: State) -> State:
    """The state with closed joints that a few corrections in the metric of the mass lead to.

    Raises:
        InputError: they lead to none.
    """
    linkage = system.linkage
    if linkage is None:
        return state
    t, x, quat, v, Omega = _live(system, t, state)
    for _ in range(CORRECTIONS):
        x, quat, largest = _corrected(linkage, t, x, quat)
        if float(largest) <= 1e-15 * (1.0 + float(jnp.max(jnp.abs(x), initial=0.0))):
            break
    gaps, _, sizes = _opening(linkage, t, x, quat, v, Omega)
    worst = [float(np.max(np.abs(row))) for row in gaps]
    if not max(worst) <= CLOSED * (1.0 + float(sizes[0])):
        joint = linkage.conditions[int(np.argmax(worst))]
        raise InputError(
            f"no consistent assembly was found: {joint.label} stays open by {max(worst):.3g}; start nearer "
            "to one, or look for joints that contradict each other"
        )
    v, Omega = _along(linkage, t, x, quat, v, Omega)
    return system.from_live(t, x, quat, v, Omega)


def _live(system: "AbstractSystem", t, state: State) -> tuple[Array, Array, Array, Array, Array]:
    return jnp.asarray(t, dtype=float), *system.live(t, state)


def _matrices(quat: Array) -> Array:
    return jnp.moveaxis(to_matrix(quat.T), 0, -1)


def _flat(v: Array, Omega: Array) -> Array:
    return jnp.concatenate([v.reshape(-1), Omega.reshape(-1)])


@once
def _opening(linkage: Linkage, t, x: Array, quat: Array, v: Array, Omega: Array):
    """Gaps and rates of all joints, and the sizes of positions and velocities."""
    R, twist = _matrices(quat), _flat(v, Omega)
    sizes = jnp.stack([jnp.max(jnp.abs(x), initial=0.0), jnp.max(jnp.abs(twist), initial=0.0)])
    return linkage.gaps(t, x, R), linkage.rates(t, x, R, twist), sizes


@once
def _corrected(linkage: Linkage, t, x: Array, quat: Array) -> tuple[Array, Array, Array]:
    """Live positions and rotations after a correction, and the largest gap before it."""
    R = _matrices(quat)
    gaps = linkage.gaps(t, x, R)
    reach = linkage.at(t, x, R, PLACING)
    move = linkage.weights * reach.pull(reach.solve([-gap for gap in gaps], PLACING_REPETITIONS))
    turns = move[x.size :].reshape(3, quat.shape[1])
    least = jnp.minimum(1.0, LONGEST / jnp.maximum(jnp.max(jnp.abs(turns), initial=0.0), 1e-300))
    x = x + least * move[: x.size].reshape(x.shape)
    quat = multiply(quat.T, quat_exp(least * turns.T)).T
    return x, quat, jnp.max(jnp.abs(jnp.concatenate(gaps)))


@once
def _along(linkage: Linkage, t, x: Array, quat: Array, v: Array, Omega: Array) -> tuple[Array, Array]:
    """Velocities along the joints, nearest in the metric of the mass."""
    R = _matrices(quat)
    rates, reach = linkage.rates(t, x, R, _flat(v, Omega)), linkage.at(t, x, R, PLACING)
    push = linkage.weights * reach.pull(reach.solve([-rate for rate in rates], PLACING_REPETITIONS))
    return v + push[: v.size].reshape(v.shape), Omega + push[v.size :].reshape(Omega.shape)
