"""Joint coordinates as people give them: by name, at random, of a state of bodies."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, State, as_array, concrete, did_you_mean, joined, on_device, quoted
from poinsot.rotation import conjugate, from_matrix, multiply, normalise, quat_exp, quat_log, to_matrix

from .._checks import Numbers
from .._tree_motion import joint_rates
from ._kinematics import Q, V
from ._structure import Slot, Structure

if TYPE_CHECKING:
    from ._open_chain import OpenChain

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def given_numbers(structure: Structure, values: Mapping[str, Any] | None, what: str) -> Array:
    """Coordinates or rates of some joints by name, with zeros and unturned quaternions for the others."""
    if values is not None and not isinstance(values, Mapping):
        raise InputError(f"{what} = {quoted(values)}; it must be a dictionary of numbers by joint")
    given = dict(values or {})
    parts = [_part(slot, given.pop(slot.name, None), what) for slot in structure.slots]
    if given:
        name, known = next(iter(given)), [slot.name for slot in structure.slots]
        hint = did_you_mean(name, known, f"there are {', '.join(known[:12])}")
        raise InputError(f"{what} of {quoted(name)}, which is no joint of the chain; {hint}")
    return joined(parts) if parts else on_device(np.zeros(0))


def _part(slot: Slot, value: Any, what: str) -> Array:
    """The numbers of one joint."""
    size, field = slot.v[1], f"{what} of {slot.name!r}"
    turned = slot.ball and what == "coordinates"
    if value is None:
        unmoved = np.zeros(size - 3 if turned else size)
        return on_device(np.concatenate([unmoved, IDENTITY]) if turned else unmoved)
    numbers = as_array(value, field).reshape(-1)
    if turned and numbers.shape == (size,):
        # A rotation vector in place of a quaternion.
        return jnp.concatenate([numbers[:-3], quat_exp(numbers[-3:])])
    if numbers.shape != (size + turned,):
        wanted = f"{size} numbers" if size > 1 else "one number"
        wanted = f"{wanted}, or {size + 1} with a quaternion" if turned else wanted
        raise InputError(f"{field} = {quoted(value)}; it must be {wanted}: {', '.join(slot.labels)}")
    if turned and concrete(numbers) and not np.any(np.asarray(numbers[-4:])):
        raise InputError(f"{field} has a quaternion that is zero; it must be a rotation")
    return jnp.concatenate([numbers[:-4], normalise(numbers[-4:])]) if turned else numbers


def random_numbers(structure: Structure, key: Array) -> tuple[Q, V]:
    """Angles and turns anywhere, ways between -1 and 1, rates with a normal distribution."""
    first, second = jax.random.split(key)
    parts = [jnp.zeros(0)]
    for slot, own in zip(structure.slots, jax.random.split(first, len(structure.slots)), strict=True):
        single = [label for label in slot.labels if "turn" not in label]
        reach = jnp.array([np.pi if "angle" in label else 1.0 for label in single])
        along, about = jax.random.split(own)
        parts.append(reach * jax.random.uniform(along, (len(single),), minval=-1.0))
        if slot.ball:
            parts.append(normalise(jax.random.normal(about, (4,))))
    return jnp.concatenate(parts), jax.random.normal(second, (structure.v_size,))


def moved_by(structure: Structure, q: Q, by: V) -> Q:
    """Coordinates moved by rates over a unit of time."""
    parts = [jnp.zeros(0)]
    for slot in structure.slots:
        (begin, count), (rate, rates) = slot.q, slot.v
        single = count - 4 if slot.ball else count
        parts.append(q[begin : begin + single] + by[rate : rate + single])
        if slot.ball:
            turn = quat_exp(by[rate + rates - 3 : rate + rates])
            parts.append(multiply(q[begin + single : begin + count], turn))
    return jnp.concatenate(parts)


def difference(structure: Structure, q: Q, to: Q) -> V:
    """Rates over a unit of time that move coordinates to others."""
    parts = [jnp.zeros(0)]
    for slot in structure.slots:
        begin, count = slot.q
        single = begin + (count - 4 if slot.ball else count)
        parts.append(to[begin:single] - q[begin:single])
        if slot.ball:
            turned = slice(single, begin + count)
            parts.append(quat_log(multiply(conjugate(q[turned]), to[turned])))
    return jnp.concatenate(parts)


def of_state(chain: "OpenChain", t: Numbers, state: State) -> tuple[Q, V]:
    """Coordinates and rates of a physical state whose joints are closed."""
    system = chain.system
    linkage = system.linkage
    q: list[Array] = [jnp.zeros(0)]
    v: list[Array] = [jnp.zeros(0)]
    for body in range(system.count) if linkage is None else linkage.tree.roots:
        moves, turns = body in system.translating, body in system.rotating
        q += [state.position[body]] if moves else []
        q += [state.quaternion[body]] if turns else []
        v += [state.velocity[body]] if moves else []
        v += [state.angular_velocity[body]] if turns else []
    if linkage is not None:
        x, quats, velocity, Omega = system.live(t, state)
        R = jnp.moveaxis(to_matrix(quats.T), 0, -1)
        twist = jnp.concatenate([velocity.reshape(-1), Omega.reshape(-1)])
        for branch in linkage.tree.branches:
            joint, frames = linkage.joints[branch.joint], linkage.frames(branch.joint, t, x, R)
            ball = joint.motions() is None
            q.append(from_matrix(frames.first.T @ frames.second) if ball else joint.coordinates(frames))
            v.append(joint_rates(linkage, branch.joint, t, x, R, twist))
    return jnp.concatenate(q), jnp.concatenate(v)
