"""Where an assembly starts: bodies that were given a pose, the others placed along their joints."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, State, as_array, concrete, known_names, on_device, plain, quoted
from poinsot.kernels import at_once
from poinsot.rotation import from_matrix, to_matrix

from ._joint_coordinate import JointCoordinate, chosen
from ._start import completed
from ._tree import SpanningTree
from .joints import Drive, wrapped
from .potentials._marker import Marker

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem

PARTS = ("position", "rotation", "velocity", "angular_velocity")
"""What can be given of a body."""
STAYS = 1e-9
"""What moved by less is said to stay."""


@jax.tree_util.register_pytree_with_keys_class
class Assembled(State):
    """A physical state with closed joints, and in `assembly` what was moved to get there."""

    assembly: str

    def __init__(self, state: State, assembly: str):
        super().__init__(**dict(state.items()))
        self.assembly = assembly

    @classmethod
    def tree_unflatten(cls, names, leaves):
        """A plain state: of other numbers the words are not true."""
        return State.tree_unflatten(names, leaves)


def told(names: Sequence[str], near: State, state: State, placed: Collection[str], corrections: int) -> str:
    """What was moved, in a line for each body."""
    before, after = ({label: np.asarray(part) for label, part in one.items()} for one in (near, state))
    moved = np.linalg.norm(after["position"] - before["position"], axis=1)
    quats = before["quaternion"], after["quaternion"]
    chords = np.min([np.linalg.norm(quats[0] - side * quats[1], axis=1) for side in (1.0, -1.0)], axis=0)
    turned = np.degrees(4.0 * np.arcsin(0.5 * chords))
    changed = np.max(
        np.abs(after["velocity"] - before["velocity"])
        + np.abs(after["angular_velocity"] - before["angular_velocity"]),
        axis=1,
    )
    lines = [f"joints closed in {corrections} correction{'' if corrections == 1 else 's'}"]
    for k, name in enumerate(names):
        said = ["placed along its joints"] if name in placed else []
        said += [f"moved by {moved[k]:.3g}"] if moved[k] > STAYS else []
        said += [f"turned by {turned[k]:.3g} degrees"] if turned[k] > 1e-6 else []
        said += [f"velocity changed by {changed[k]:.3g}"] if changed[k] > STAYS else []
        lines.append(f"{name}: {', '.join(said) or 'stays'}")
    return "\n".join(lines)


class Asked(Drive):
    """The value or the rate of a joint coordinate that an assembly is asked for."""

    def __init__(self, joint: str, coordinate: str, params: Any, name: str):
        super().__init__(joint, _line, coordinate, params=params, name=name)

    @property
    def label(self) -> str:
        """What people gave."""
        return self.name

    @property
    def value(self) -> float:
        """That of the coordinate."""
        return float(self.function.params["values"][0])


def drives_of(system: "AbstractSystem", given: Mapping[str, Any], level: int, t) -> list[Asked]:
    """Drives through given values of joint coordinates, or at given rates of them.

    Args:
        system: with the joints.
        given: by name of the joint a number, or a dictionary with a number for each of some coordinates.
        level: 0 for values, 1 for rates.
        t: time at which they hold.

    Raises:
        InputError: there is no such coordinate, or a drive of the system gives it another value.
    """
    what = ("coordinates", "velocity")[level]
    drives = []
    for joint, wanted in given.items():
        numbers = wanted if isinstance(wanted, Mapping) else {None: wanted}
        for coordinate, number in numbers.items():
            label = f"{what} of assemble"
            one = chosen(system.roster.joints, joint, coordinate, None, label)
            name = (one.joint.freedoms or ())[one.place]
            value = as_array(number, f"{what} of {one.joint.label}", ())
            own = _drive_of(system, one)
            if own is not None:
                _check_agrees(own, one, level, t, value)
                continue
            still = 0.0 * plain(value)
            params = {"t": t, "values": [value, still] if level == 0 else [still, value]}
            drives.append(Asked(joint, name, params, f"{label}, {name!r}"))
    return drives


def _drive_of(system: "AbstractSystem", coordinate: JointCoordinate) -> Drive | None:
    """The drive of the system that moves a coordinate."""
    linkage = system.linkage
    assert linkage is not None
    joint, place = coordinate.joint, coordinate.place
    drives = (one for one in linkage.conditions if isinstance(one, Drive))
    return next((one for one in drives if one.joint == joint.name and one.place_in(joint) == place), None)


def _check_agrees(drive: Drive, coordinate: JointCoordinate, level: int, t, value: Array) -> None:
    """Refuse a value or a rate other than that of the drive of the coordinate."""
    driven = drive.rate(t) if level else drive.function(t)
    off = wrapped(value - driven) if coordinate.angular and level == 0 else value - driven
    if not concrete(off) or abs(float(off)) <= STAYS * (1.0 + abs(float(driven))):
        return
    what, verb = (("coordinates", "is at"), ("velocity", "moves at"))[level]
    raise InputError(
        f"{what} of assemble: {coordinate.joint.label} {verb} {float(driven):.6g} by its {drive.label}, not "
        f"at {float(value):.6g}; leave it out, or change the function of the drive"
    )


def _line(t, params):
    start, rate = params["values"]
    return start + rate * (t - params["t"])


def placed_along_joints(
    system: "AbstractSystem", t, given: Mapping[str, Mapping[str, Any]]
) -> tuple[State, list[str], np.ndarray]:
    """A state near to closed joints: bodies as they are given, the others placed by joints to known ones.

    Returns:
        The state, the names of the bodies that were placed, and whether each number of the twist belongs to
        a position or a rotation that was given.
    """
    _check_given(system.names, given)
    own = [dict(given.get(name, {})) for name in system.names]
    state = system.state(*([one.get(part) for one in own] for part in PARTS), t=t)
    linkage = system.linkage
    if linkage is None:
        return state, [], np.zeros(0, dtype=bool)
    known = {body for body, one in enumerate(own) if {"position", "rotation"} <= set(one)}
    free = (set(system.translating) & set(system.rotating)) - known
    ends = [(first.body, second.body) for first, second in linkage.markers]
    able = [joint.freedoms is not None for joint in linkage.joints]
    tree = SpanningTree.of(system.count, free, ends, able)
    x, R = np.array(state.position), np.array(to_matrix(state.quaternion))

    def put(body: int, position: np.ndarray, rotation: np.ndarray) -> None:
        """Give a body a pose, as far as it has none of its own."""
        R[body] = R[body] if "rotation" in own[body] else rotation
        x[body] = x[body] if "position" in own[body] else position

    for body in free & set(tree.roots):
        # Nothing holds it: it is where it was when the joints were put together.
        if system.names[body] in linkage.reference:
            put(body, *map(np.asarray, linkage.reference[system.names[body]]))
    for joint, _, body, forward in tree.branches:
        inner, outer = linkage.markers[joint][:: 1 if forward else -1]
        put(body, x[body], np.asarray(_directions(inner, on_device(R))) @ _frame(outer).T)
        place = np.asarray(_place(inner, on_device(x), on_device(R)))
        put(body, place - R[body] @ np.asarray(outer.point), R[body])
    parts = dict(state.items()) | {
        "position": x,
        "quaternion": np.asarray(at_once(from_matrix)(on_device(R))),
    }
    placed = [system.names[body] for body in sorted(free) if not own[body]]
    kept = [
        np.array([part in own[body] for body in places] * 3, dtype=bool)
        for part, places in (("position", system.translating), ("rotation", system.rotating))
    ]
    return completed(system.placed, t, State(**parts)), placed, np.concatenate(kept)


_place, _directions = at_once(Marker.place), at_once(Marker.directions)


def _frame(marker: Marker) -> np.ndarray:
    return np.eye(3) if marker.rotation is None else np.asarray(marker.rotation)


def _check_given(names: Sequence[str], given: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse bodies and parts that are not there."""
    if not isinstance(given, Mapping):
        raise InputError(f"assemble({quoted(given)}); give system.state(...), or a dictionary of bodies")
    for name, parts in given.items():
        if name not in names:
            raise InputError(f"assemble: {quoted(name)} is no body; {known_names(name, names)}")
        if not isinstance(parts, Mapping) or not set(parts) <= set(PARTS):
            raise InputError(
                f"assemble: {name!r} is given {quoted(parts)}; give a dictionary of {', '.join(PARTS)}"
            )
