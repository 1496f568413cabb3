"""A physical state of all bodies from what people give, checked against what the bodies may do."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, State, as_array, check_all_finite, concrete, on_device, quoted
from poinsot.kernels import at_once
from poinsot.rotation import from_matrix, multiply, to_matrix

from ._checks import shown, stacked
from ._placement import Placement, Places, in_order, take
from ._rotations import as_quaternion, quaternions_of_matrices, unit_quaternions

CONSISTENT = 1e-9
"""How far a value may be from what the freedom of a body asks of it, relative to one plus its size."""
HANDMADE = 1e-6
"""The same of a whole state, whose numbers may be those of a run to fewer digits."""
DRIFTED = 0.1
"""The same of the end of a run, which may have drifted from its constraints."""
WIDTHS = {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3}
"""Labels of a physical state, with the numbers each has for a body."""


def vectors(value: Any, field: str, names: Sequence[str]) -> tuple[Array, list[bool]]:
    """One vector for each body, zero where none was given, and for which bodies one was given.

    Args:
        value: None, three numbers for a single body, (body, 3), or a list with None for some bodies.
        field: what it was given as.
        names: of the bodies.
    """
    count = len(names)
    if value is None:
        return on_device(np.zeros((count, 3))), [False] * count
    if _one_by_one(value, count):
        rows = [
            on_device(np.zeros(3)) if row is None else as_array(row, f"{field} of {name!r}", (3,))
            for row, name in zip(value, names, strict=True)
        ]
        return stacked(rows, (3,)), [row is not None for row in value]
    array = as_array(value, field)
    if count == 1 and array.shape == (3,):
        array = stacked([array], array.shape)
    if array.shape != (count, 3):
        raise InputError(f"{field} has shape {array.shape}; it must be {_wanted(count, '(3,)', '3')}")
    return array, [True] * count


def quaternions(value: Any, names: Sequence[str], normalise: bool) -> tuple[Array, list[bool]]:
    """One unit quaternion for each body, and for which bodies one was given.

    Args:
        value: None, a quaternion or a matrix for a single body, (body, 4), (body, 3, 3), or a list of these
            with None for some bodies.
        names: of the bodies.
        normalise: take the nearest rotation to each.
    """
    count, fields = len(names), [f"rotation of {name!r}" for name in names]
    identity = on_device(np.array([1.0, 0.0, 0.0, 0.0]))
    if value is None:
        return stacked([identity] * count, (4,)), [False] * count
    if _one_by_one(value, count):
        rows = [
            identity if row is None else as_quaternion(row, field, normalise=normalise)
            for row, field in zip(value, fields, strict=True)
        ]
        return stacked(rows, (4,)), [row is not None for row in value]
    array = as_array(value, "rotation")
    if count == 1 and array.shape in ((4,), (3, 3)):
        array = stacked([array], array.shape)
    if array.shape == (count, 4):
        return unit_quaternions(array, fields, normalise), [True] * count
    if array.shape == (count, 3, 3):
        return quaternions_of_matrices(array, fields, normalise), [True] * count
    raise InputError(
        f"rotation has shape {array.shape}; it must be "
        f"{_wanted(count, 'a quaternion (4,) or a matrix (3, 3)', '4', '3, 3')}"
    )


def physical_state(
    placement: Placement,
    names: Sequence[str],
    t: Any,
    position: Any,
    rotation: Any,
    velocity: Any,
    angular_velocity: Any,
    normalise: bool,
) -> State:
    """Poses and velocities of all bodies; what the freedom of a body determines is filled in or checked."""
    places, placed = vectors(position, "position", names)
    quats, oriented = quaternions(rotation, names, normalise)
    speeds, moving = vectors(velocity, "velocity", names)
    spins, spinning = vectors(angular_velocity, "angular_velocity", names)
    given = State(position=places, quaternion=quats, velocity=speeds, angular_velocity=spins)
    state, orientation = _completed(placement, on_device(t, float), given)
    fixed, unturning = _others(placement.translating, names), _others(placement.rotating, names)
    _agree("position", places, state.position, [i for i in fixed if placed[i]], names)
    _agree("rotation", *orientation, [i for i in unturning if oriented[i]], names)
    _agree("velocity", speeds, state.velocity, [i for i in fixed if moving[i]], names)
    _agree("angular_velocity", spins, state.angular_velocity, [i for i in unturning if spinning[i]], names)
    return state


def check_physical(
    placement: Placement,
    names: Sequence[str],
    t: Any,
    state: Any,
    *,
    runs: bool = False,
    what: str = "the start",
) -> None:
    """Refuse what is not a physical state of these bodies, for instance the state of another system.

    Args:
        placement: of the bodies.
        names: of the bodies.
        t: time, for prescribed motions.
        state: with labels and shapes as `physical_state` makes them. Numbers are looked at where they are
            known.
        runs: whether a first axis of runs comes before those of a body.
        what: what messages call it.

    Raises:
        InputError: it lacks a label, is for other bodies, or contradicts their freedom.
    """
    if not isinstance(state, State):
        raise InputError(f"{what} must be a pt.State, got {quoted(state)}; take system.state(...)")
    if set(state.names) != set(WIDTHS):
        has = ", ".join(state.names) or "nothing"
        raise InputError(f"{what} has {has}, not {', '.join(WIDTHS)}; take system.state(...)")
    for label, width in WIDTHS.items():
        wanted, shape = (len(names), width), state[label].shape
        if (shape[1:] if runs else shape) != wanted:
            before, bodies = "runs, " if runs else "", "body" if len(names) == 1 else "bodies"
            raise InputError(
                f"{label} of {what} has shape {shape}, but this system has {len(names)} {bodies} and "
                f"needs ({before}{len(names)}, {width}); take state(...) of this system"
            )
    if not concrete(state, t):
        return
    for label in WIDTHS:
        check_all_finite(np.asarray(state[label]), label)
    quats = np.asarray(state.quaternion).reshape(-1, 4)
    worst = int(np.argmax(np.abs(np.linalg.norm(quats, axis=-1) - 1.0))) if len(quats) else 0
    name = names[worst % len(names)]
    unit_quaternions(on_device(quats[worst : worst + 1]), [f"rotation of {name!r}"], normalise=False)
    if not runs:
        check_freedom(placement, names, t, state)


def freedom_gaps(placement: Placement, t: Array, given: State) -> list[Array]:
    """How far a state is from what the freedom of its bodies asks of it, relative to one plus the size."""
    bodies = range(given.position.shape[0])
    fixed, unturning = _others(placement.translating, bodies), _others(placement.rotating, bodies)
    made, (rotation, needed) = _completed(placement, t, State(**dict(given.items())))
    pairs = [(given.position, made.position, fixed), (rotation, needed, unturning)]
    pairs += [(given.velocity, made.velocity, fixed)]
    pairs += [(given.angular_velocity, made.angular_velocity, unturning)]
    found = []
    for one, other, places in pairs:
        if places:
            off, size = (
                take(jnp.abs(part), places).reshape(len(places), -1) for part in (one - other, other)
            )
            found.append(jnp.max(jnp.max(off, axis=1) / (1.0 + jnp.max(size, axis=1))))
    return found


def check_freedom(placement: Placement, names: Sequence[str], t: Any, state: State, where: str = "") -> None:
    """Refuse a state whose bodies are not where their freedom holds them."""
    fixed, unturning = _others(placement.translating, names), _others(placement.rotating, names)
    if not fixed and not unturning:
        return
    given = State(**dict(state.items()))
    made, orientation = _completed(placement, on_device(t, float), given)
    near = HANDMADE if type(state) is State else DRIFTED
    _agree("position", given.position, made.position, fixed, names, near, where)
    _agree("rotation", *orientation, unturning, names, near, where)
    _agree("velocity", given.velocity, made.velocity, fixed, names, near, where)
    _agree("angular_velocity", given.angular_velocity, made.angular_velocity, unturning, names, near, where)


def completed(placement: Placement, t: Any, given: State) -> State:
    """The state that freedom makes of values given for all bodies."""
    return _completed(placement, on_device(t, float), given)[0]


@at_once
def _completed(placement: Placement, t: Array, given: State) -> tuple[State, tuple[Array, Array]]:
    """The state that freedom makes of given values, and the rotation matrices given and made."""
    x, quat, v, Omega = live(placement, given)
    R = jnp.moveaxis(to_matrix(quat.T), 0, -1)
    positions, rotations = placement.poses(t, x, R)
    velocities, spins = placement.rates(t, x, R, v, Omega)
    turning = placement.rotating
    others = _others(turning, range(given.position.shape[0]))
    still, kept = from_matrix(take(rotations, others)), take(given.angular_velocity, turning)
    # Rotations and angular velocities that are coordinates stay as they were given, to the last digit.
    state = State(
        position=positions,
        quaternion=in_order((turning, take(given.quaternion, turning)), (others, still)),
        velocity=velocities,
        angular_velocity=in_order((turning, kept), (others, take(spins, others))),
    )
    return state, (to_matrix(given.quaternion), rotations)


@at_once
def live(placement: Placement, state: State) -> tuple[Array, Array, Array, Array]:
    """Live `x` (3, Nx), `quaternion` (4, Nr), `v` (3, Nx) and `Omega` (3, Nr) of a physical state."""
    quats = take(state.quaternion, placement.rotating)
    Omega = take(state.angular_velocity, placement.rotating).T
    if placement.axes is not None:
        quats = multiply(quats, from_matrix(jnp.moveaxis(placement.axes, -1, 0)))
        Omega = jnp.sum(placement.axes * Omega[:, None], axis=0)
    x, v = take(state.position, placement.translating), take(state.velocity, placement.translating)
    return x.T, quats.T, v.T, Omega


def _agree(
    field: str,
    given: Array,
    needed: Array,
    places: Sequence[int],
    names: Sequence[str],
    tolerance: float = CONSISTENT,
    where: str = "",
) -> None:
    """Refuse given values that contradict the freedom of a body."""
    if not places or not concrete(given, needed):
        return
    gaps = np.abs(np.asarray(given) - np.asarray(needed))
    for i in places:
        value, wanted = np.asarray(given)[i], np.asarray(needed)[i]
        if np.max(gaps[i]) > tolerance * (1.0 + np.max(np.abs(wanted))):
            raise InputError(
                f"{field} of {names[i]!r}{where} = {shown(value)}, but its freedom and the other values "
                f"make it {shown(wanted)} (off by {np.max(gaps[i]):.3g}); leave it out, or None for this "
                "body"
            )


def _others(places: Places, bodies: Sequence) -> tuple[int, ...]:
    """Places of the bodies that are not among `places`."""
    among = set(places)
    return tuple(i for i in range(len(bodies)) if i not in among)


def _one_by_one(value: Any, count: int) -> bool:
    """Whether the value is a list for all bodies that leaves some out, or mixes quaternions and matrices."""
    if not isinstance(value, (list, tuple)) or len(value) != count:
        return False
    lengths = {(len(row),) if isinstance(row, (list, tuple)) else np.shape(row)[:1] for row in value}
    return any(row is None for row in value) or len(lengths) > 1


def _wanted(count: int, single: str, *each: str) -> str:
    """The shapes that are accepted, in words."""
    many = " or ".join(f"({count}, {shape})" for shape in each)
    return f"{single} or {many} for the one body" if count == 1 else f"{many} for the {count} bodies"
