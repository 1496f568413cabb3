r"""Velocities along a spanning tree of joints: independent rates, and the twists they make."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Twist
from poinsot.rotation import vee

from ._grip import Grip
from ._linkage import Linkage
from ._tree import Branch
from .joints import AbstractJoint, Frames, Subspace

Rates = Float[Array, " n"]


class Moving(NamedTuple):
    """Where a point of a body is, how fast it moves, and how the body turns, all in space."""

    place: Float[Array, "3"]
    velocity: Float[Array, "3"]
    spin: Float[Array, "3"]

    def at(self, point: Float[Array, "3"]) -> Float[Array, "3"]:
        """Velocity of the body where another point is."""
        return self.velocity + jnp.cross(self.spin, point - self.place)


def rate_count(linkage: Linkage) -> int:
    """Number of rates along the tree: degrees of freedom when its loops are cut."""
    placement = linkage.placement
    own = sum(
        3 * (body in placement.translating) + 3 * (body in placement.rotating) for body in linkage.tree.roots
    )
    return own + sum(len(linkage.joints[branch.joint].freedoms or ()) for branch in linkage.tree.branches)


def expanded(linkage: Linkage, t, x: Array, R: Array, rates: Rates) -> Twist:
    r"""Twist $u = P(t, x, R)\,\nu + u_t$ of rates along the tree.

    The rates are velocity and body angular velocity of each root, as far as it has them, then those of each
    branch: the second body turns and moves against the first by the motion subspace of the joint. The outer
    body of a ball joint turns by its own body angular velocity, which varies less in time than that against
    the inner body does: adaptive solvers take longer steps.
    """
    placement, tree = linkage.placement, linkage.tree
    v = [jnp.zeros(3)] * len(placement.translating)
    Omega = [jnp.zeros(3)] * len(placement.rotating)
    begin = 0
    for body in tree.roots:
        for places, parts in ((placement.translating, v), (placement.rotating, Omega)):
            if body in places:
                parts[places.index(body)] = rates[begin : begin + 3]
                begin += 3
    for branch in tree.branches:
        joint, (parent, child) = linkage.joints[branch.joint], _grips(linkage, branch)
        assert child.moving is not None and child.turning is not None, joint.label
        own = rates[begin : begin + len(joint.freedoms or ())]
        begin += len(own)
        if _is_ball(linkage, branch):
            # Each body at its own point of the joint, so that no gap and no drift of coordinates opens it.
            rate = parent.path(placement, t, x, R, _joined(v, Omega))[1].place
            v[child.moving] = rate - R[:, :, child.turning] @ jnp.cross(own, child.arm)
            Omega[child.turning] = own
            continue
        subspace, point = _subspace(linkage, branch, t, x, R)
        side = 1.0 if branch.forward else -1.0
        carrier = _moving(linkage, parent, t, x, R, v, Omega)
        spin = carrier.spin + side * jnp.sum(subspace.turn * own[None], axis=1)
        velocity = carrier.at(point) + side * jnp.sum(subspace.slide * own[None], axis=1)
        v[child.moving] = velocity - jnp.cross(spin, point - x[:, child.moving])
        Omega[child.turning] = R[:, :, child.turning].T @ spin
    return _joined(v, Omega)


def reduced(linkage: Linkage, t, x: Array, R: Array, twist: Twist) -> Rates:
    r"""Rates along the tree of a twist that keeps its joints closed, the inverse of `expanded`."""
    placement, tree = linkage.placement, linkage.tree
    v, Omega = _columns(twist, x, R)
    parts: list[Array] = []
    for body in tree.roots:
        parts += [v[placement.translating.index(body)]] if body in placement.translating else []
        parts += [Omega[placement.rotating.index(body)]] if body in placement.rotating else []
    for branch in tree.branches:
        own = _grips(linkage, branch)[1].turning
        if own is not None and _is_ball(linkage, branch):
            parts.append(Omega[own])
        else:
            parts.append(joint_rates(linkage, branch.joint, t, x, R, twist))
    return jnp.concatenate(parts)


def joint_rates(linkage: Linkage, joint: int, t, x: Array, R: Array, twist: Twist) -> Float[Array, " k"]:
    """Rates of the coordinates of one joint, in the tree or not, at a twist that keeps it closed."""
    motion = joint_motion(linkage, joint, t, x, R, twist)
    subspace = linkage.joints[joint].subspace(linkage.frames(joint, t, x, R))
    return _along(subspace, motion.spin, motion.velocity)


def joint_motion(linkage: Linkage, joint: int, t, x: Array, R: Array, twist: Twist) -> Moving:
    """Motion of the second body of a joint against the first, at the joint's point in the second."""
    v, Omega = _columns(twist, x, R)
    first, second = (_moving(linkage, grip, t, x, R, v, Omega) for grip in linkage.grips[joint])
    point = linkage.grips[joint][1].at(linkage.placement, t, x, R).place
    return Moving(point, second.at(point) - first.at(point), second.spin - first.spin)


def seen_rates(joint: AbstractJoint, now: Frames, rate: Frames) -> Float[Array, " k"]:
    """The same from what the joint sees of its bodies, and the rate of that."""
    pairs = (rate.first, now.first), (rate.second, now.second)
    first, second = (vee(turning @ frame.T) for turning, frame in pairs)
    return _along(joint.subspace(now), second - first, rate.apart - jnp.cross(first, now.apart))


def _along(S: Subspace, turned: Array, slid: Array) -> Float[Array, " k"]:
    """Rates along a motion subspace of a relative spin, and a velocity of the point in the second body."""
    along = jnp.sum(S.turn * turned[:, None] + S.slide * slid[:, None], axis=0)
    # Columns are perpendicular to each other where the joint is closed.
    return along / jnp.sum(S.turn * S.turn + S.slide * S.slide, axis=0)


def _grips(linkage: Linkage, branch: Branch) -> tuple[Grip, Grip]:
    """On the parent and on the child."""
    first, second = linkage.grips[branch.joint]
    return (first, second) if branch.forward else (second, first)


def _is_ball(linkage: Linkage, branch: Branch) -> bool:
    """Whether the joint of a branch leaves all turns."""
    return linkage.joints[branch.joint].motions() is None


def _subspace(linkage: Linkage, branch: Branch, t, x: Array, R: Array):
    """Motion subspace of a branch, and the point of the joint in its second body."""
    frames = linkage.frames(branch.joint, t, x, R)
    point = linkage.grips[branch.joint][1].at(linkage.placement, t, x, R).place
    return linkage.joints[branch.joint].subspace(frames), point


def _columns(twist: Twist, x: Array, R: Array) -> tuple[list[Array], list[Array]]:
    """Velocities and angular velocities, body by body."""
    v, Omega = twist[: x.size].reshape(x.shape), twist[x.size :].reshape(3, R.shape[2])
    return [v[:, k] for k in range(v.shape[1])], [Omega[:, k] for k in range(Omega.shape[1])]


def _joined(v: list[Array], Omega: list[Array]) -> Twist:
    """The twist of velocities and angular velocities, body by body."""
    return jnp.concatenate([jnp.stack(parts, axis=1).reshape(-1) for parts in (v, Omega) if parts])


def _moving(
    linkage: Linkage, grip: Grip, t, x: Array, R: Array, v: list[Array], Omega: list[Array]
) -> Moving:
    """Motion of the body that a grip is on, from velocities of the live bodies."""
    t = jnp.asarray(t, dtype=float)
    given, rate = jax.jvp(lambda t: grip.given(linkage.placement, t), (t,), (jnp.ones_like(t),))
    place, velocity = given.place, rate.place
    spin = vee(rate.directions @ given.directions.T)
    if grip.moving is not None:
        place, velocity = x[:, grip.moving], v[grip.moving]
    if grip.turning is not None:
        spin = R[:, :, grip.turning] @ Omega[grip.turning]
    return Moving(place, velocity, spin)
