"""Forces in the joints as forces and torques on the bodies."""

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jaxtyping import Array

from .._vectors import turned_back
from ..joints._frames import Frames
from ..loads._base import on_body
from ._kinematics import V

if TYPE_CHECKING:
    from .._system import System
    from ._structure import Structure


def body_wrenches(
    system: "System", structure: "Structure", x: Array, R: Array, efforts: V
) -> tuple[Array, Array]:
    r"""Forces in space and torques in the body frames that do the work of forces along all rates.

    With the motion subspace $S$ of a joint, whose columns are perpendicular to each other, its second body
    feels at the point of the joint

    $$ F = \sum_a \frac{\tau_a}{|S_a|^2}\,S_{v,a}, \qquad M = \sum_a \frac{\tau_a}{|S_a|^2}\,S_{\omega,a} $$

    and its first body the opposite: their power is $\tau\cdot\nu$ at rates $\nu$.
    """
    held = {} if system.linkage is None else system.linkage.held
    forces, torques = jnp.zeros_like(x), jnp.zeros_like(x)
    for slot in structure.slots:
        own = efforts[slot.v[0] : slot.v[0] + slot.v[1]]
        if slot.name not in held:
            body = system.index(slot.name)
            moves, turns = body in system.translating, body in system.rotating
            forces = forces + on_body(len(x), body, own[:3]) if moves else forces
            torques = torques + on_body(len(x), body, own[-3:]) if turns else torques
            continue
        joint, first, second = held[slot.name]
        point = second.place(x, R)
        S = joint.subspace(Frames(point - first.place(x, R), first.directions(R), second.directions(R)))
        share = own / jnp.sum(S.turn * S.turn + S.slide * S.slide, axis=0)
        force, moment = jnp.sum(S.slide * share[None], axis=1), jnp.sum(S.turn * share[None], axis=1)
        for side, marker in ((1.0, second), (-1.0, first)):
            if marker.body is not None:
                about = moment + jnp.cross(point - x[marker.body], force)
                own_torque = turned_back(R[marker.body], about)
                forces = forces + on_body(len(x), marker.body, side * force)
                torques = torques + on_body(len(x), marker.body, side * own_torque)
    return forces, torques
