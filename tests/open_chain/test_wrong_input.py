"""Wrong input to functions of a chain: one line that names the argument, what it is and what it must be."""

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest

import poinsot as pt

NAN, ZERO = float("nan"), np.zeros(2)


@cache
def arm() -> Any:
    return pt.OpenChain(pt.library.two_link_arm())


@cache
def ball() -> Any:
    rod = pt.RigidBody(1.0, (0.1, 0.1, 0.01), name="rod")
    joint = pt.joints.Spherical("ground", "rod", at=(0, 0, 0.5), name="ball")
    return pt.OpenChain(pt.System(rod, joints=[joint]))


def reached(target: Any = (1.0, 0.0, 0.0), frame: Any = "hand", start: Any = ZERO, **options: Any) -> Any:
    return arm().inverse_kinematics(target, frame, start, **options)


def turned(rotation: Any) -> Any:
    return reached((np.zeros(3), rotation))


def rows(count: int) -> pt.State:
    """A state of so many bodies."""
    parts = {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3}
    return pt.State(**{name: np.zeros((count, width)) for name, width in parts.items()})


def problem() -> Any:
    return pt.library.kepler()


def open_state() -> pt.State:
    state = arm().system.start
    return pt.State(
        **(dict(state.items()) | {"position": np.asarray(state.position) + [[0.0, 0, 0], [0, 0.1, 0]]})
    )


TWO = "it must be 2 numbers: shoulder, elbow"
BALL = "it must be 4 numbers: ball w, ball i, ball j, ball k"
CASES: dict[str, Any] = {
    "q": (lambda: arm().metric([0, 0, 0]), f"q has shape (3,); {TWO}"),
    "q of a ball": (lambda: ball().metric([0, 0, 0]), f"q has shape (3,); {BALL}"),
    "v of a ball": (lambda: ball().energy([1, 0, 0, 0], ZERO), "3 numbers: ball turn_x, ball turn_y"),
    "q is one number": (lambda: arm().metric(0.0), f"q has shape (); {TWO}"),
    "v": (lambda: arm().coriolis(ZERO, [1.0]), f"v has shape (1,); {TWO}"),
    "a": (lambda: arm().inverse_dynamics(ZERO, ZERO, [1.0]), f"a has shape (1,); {TWO}"),
    "tau": (lambda: arm().forward_dynamics(ZERO, ZERO, np.zeros(3)), f"tau has shape (3,); {TWO}"),
    "tau of linearise": (lambda: arm().linearise(ZERO, ZERO, [1.0]), f"tau has shape (1,); {TWO}"),
    "by": (lambda: arm().moved(ZERO, [1.0]), f"by has shape (1,); {TWO}"),
    "to": (lambda: arm().difference(ZERO, [1.0]), f"to has shape (1,); {TWO}"),
    "frame": (lambda: arm().jacobian(ZERO, "hnd"), "no frame is called 'hnd'; did you mean hand?"),
    "frame as a list": (lambda: arm().pose(ZERO, ["hand"]), "frame = ['hand']; it must be a text"),
    "frame to reach": (lambda: reached(frame="hnd"), "no frame is called 'hnd'; did you mean hand?"),
    "no place": (lambda: reached((1.0, NAN, 0.0)), "target[1] = nan; it must be finite"),
    "place": (lambda: reached(np.zeros(2)), "target has shape (2,); it must be 3 numbers"),
    "no rotation": (lambda: turned(NAN * np.eye(3)), "rotation of the target[0, 0] = nan; it must be finite"),
    "long rotation": (lambda: turned(2.0 * np.eye(3)), "rotation of the target is not a rotation matrix"),
    "mirror": (lambda: turned(-np.eye(3)), "rotation of the target is a reflection"),
    "zero quaternion": (lambda: turned(np.zeros(4)), "rotation of the target is the quaternion zero"),
    "three angles": (lambda: turned(np.zeros(3)), "rotation of the target has shape (3,); it must be a quat"),
    "start": (lambda: reached(start=[1.0]), f"start has shape (1,); {TWO}"),
    "start is NaN": (lambda: reached(start=[1.0, NAN]), "start[1] = nan; it must be finite"),
    "zero start": (
        lambda: ball().inverse_kinematics([0, 0, 1.0], "rod", np.zeros(4)),
        "start has a zero quaternion of 'ball'; it must be a rotation",
    ),
    "tolerance": (lambda: reached(tolerance=-1.0), "tolerance = -1; it must be positive"),
    "steps": (lambda: reached(steps=0), "steps = 0; it must be a whole number of at least 1"),
    "key": (lambda: arm().random("seed"), "key = 'seed'; it must be a key, jax.random.key(0), or a whole"),
    "state of another": (
        lambda: arm().of_state(rows(1)),
        "position of the state has shape (1, 3), but this system has 2 bodies",
    ),
    "state with open joints": (lambda: arm().of_state(open_state()), "of upper and lower is open by 0.1"),
    "state in joint coordinates": (lambda: arm().of_state(pt.State(q=ZERO, v=ZERO)), "the state has q, v,"),
    "array as a state": (lambda: arm().of_state(np.zeros(4)), "0., 0.]); it must be a pt.State"),
    "a problem": (lambda: pt.OpenChain(problem()), "system of OpenChain = Hamiltonian("),
    "a chain": (lambda: pt.OpenChain(arm()), "system of OpenChain = OpenChain("),
    "one name for a joint and a free body": (
        lambda: pt.OpenChain(
            pt.System(
                [pt.RigidBody(1.0, (1, 1, 1), name=name) for name in "ab"],
                joints=[pt.joints.Revolute("a", "b", at=(0, 0, 0), name="a")],
            )
        ),
        "joint 'a' has the name of a body that no joint carries",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_is_one_line(case):
    call, said = CASES[case]
    with pytest.raises(pt.InputError) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_whole_number_is_the_seed_of_a_key():
    for one, other in zip(arm().random(3), arm().random(jax.random.key(3)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_quaternions_given_to_inverse_kinematics_count_by_their_direction():
    start = np.array([1.0, 0.2, -0.3, 0.4])
    place, rotation = ball().pose([0.7, 0.1, 0.5, -0.1], "rod")
    quat = 3.0 * np.asarray(pt.rotation.from_matrix(rotation))
    ways = [((place, turn), begin) for turn in (rotation, quat) for begin in (start, 2.0 * start)]
    found = [ball().inverse_kinematics(target, "rod", begin) for target, begin in ways]
    assert repr(found[0]).startswith("Reached(q=(") and "\n" not in repr(found[0])
    for one in found:
        assert one.converged
        np.testing.assert_allclose(one.q, found[0].q, rtol=0, atol=1e-13)
        assert abs(np.linalg.norm(one.q) - 1.0) < 1e-14
