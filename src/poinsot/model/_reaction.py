r"""What joints do to their bodies: their forces at a state, and the wrench that each of them passes on."""

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Rows, Twist, body_torque, each_body, joint_solution

from ._compact import AnyLinkage
from ._linkage import Linkage
from .joints import AbstractJoint, Frames

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem

SMALL = 1e-7
r"""$\varepsilon$ of the solve: forces that redundant joints share are right to its inverse in round-off."""
REPETITIONS = 6
"""Corrections of it: a thousand links that hang straight are right to ten digits."""


class Passed(NamedTuple):
    """Force and torque on the first body of a joint by the second, about the point in the first."""

    force: Float[Array, "3"]
    torque: Float[Array, "3"]

    def seen_from(self, directions: Float[Array, "3 3"]) -> "Passed":
        """The same in other directions, given as columns."""
        return Passed(self.force @ directions, self.torque @ directions)


def free_wrench(system: "AbstractSystem", t, x: Array, R: Array, v: Array, Omega: Array) -> Twist:
    r"""The wrench $f$ of $M \dot u = f + G^T\lambda$: potential, loads and gyroscopic torques."""
    V_x, V_R = jax.grad(system.potential, argnums=(1, 2))(t, x, R)
    force, torque = -V_x, body_torque(R, V_R) + each_body(jnp.cross)(system.inertia * Omega, Omega)
    load = system.load(t, x, R, v, Omega)
    if load is not None:
        force, torque = force + load[0], torque + load[1]
    return jnp.concatenate([force.reshape(-1), torque.reshape(-1)])


def joint_forces(linkage: AnyLinkage, t, x: Array, R: Array, twist: Twist, wrench: Twist) -> Rows:
    r"""Forces $\lambda$ of all conditions that keep them closed, $G M^{-1}(f + G^T\lambda) = -\gamma$.

    Where conditions are redundant, those with the least $\sum_i A_{ii}\lambda_i^2$, $A = G M^{-1} G^T$: each
    condition counts by the acceleration it would cause alone, in whatever units it is written.
    """
    return joint_solution(linkage, t, x, R, twist, wrench, (linkage.at(t, x, R, SMALL), REPETITIONS))[0]


def passed_on(joint: AbstractJoint, frames: Frames, force: Float[Array, " rows"]) -> Passed:
    r"""What a joint does to its first body, in space, from the force $\lambda$ of its conditions.

    $$ F = -\sum_i \lambda_i \frac{\partial g_i}{\partial u}, \qquad
       T = \sum_i \lambda_i \sum_k d_k \times \frac{\partial g_i}{\partial d_k} $$

    with the vector $u$ between its points and its directions $d_k$ in the first body. On the second body act
    the opposite force and torque, about the same point.
    """
    pulled = jax.vjp(joint.residual, frames)[1](force)[0]
    turns = jnp.cross(frames.first, pulled.first, axis=0)
    return Passed(-pulled.apart, jnp.sum(turns, axis=1))


def passed_along(linkage: Linkage, t, x: Array, R: Array, wrench: Twist) -> list[Passed]:
    r"""What each joint of a tree does to its first body, in space, without a solve.

    A joint carries what all bodies beyond it need, so that bodies without mass need no care.

    Args:
        linkage: joints that form a tree, with no condition beyond them.
        t: time.
        x: live positions.
        R: live rotations.
        wrench: of the joints on the live bodies, $M\dot u - f$.
    """
    placement = linkage.placement
    force, torque = wrench[: x.size].reshape(x.shape), wrench[x.size :].reshape(3, R.shape[2])
    needed: dict[int, tuple[Array, Array]] = {}
    for branch in linkage.tree.branches:
        at, turn = (list(part).index(branch.child) for part in (placement.translating, placement.rotating))
        own = R[:, :, turn] @ torque[:, turn] + jnp.cross(x[:, at], force[:, at])
        needed[branch.child] = force[:, at], own
    passed: dict[int, Passed] = {}
    for branch in reversed(linkage.tree.branches):
        total, about = needed[branch.child]
        if branch.parent in needed:
            above = needed[branch.parent]
            needed[branch.parent] = above[0] + total, above[1] + about
        point = linkage.grips[branch.joint][0].at(placement, t, x, R).place
        side = -1.0 if branch.forward else 1.0
        passed[branch.joint] = Passed(side * total, side * (about - jnp.cross(point, total)))
    return [passed[joint] for joint in range(len(linkage.joints))]
