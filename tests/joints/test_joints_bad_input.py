"""Joints that make no sense: one line each that names joint and bodies."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

J = pt.joints
ROD = pt.RigidBody(1.0, (0.01, 0.1, 0.1), name="rod")
BAR = pt.RigidBody(1.0, (0.01, 0.1, 0.1), name="bar")


def jointed(*joints, **options):
    return pt.System([ROD, BAR], joints=list(joints), **options)


ZERO = (0.0, 0.0, 0.0)
ORIGIN: Any = {"at": ZERO}
BAD = {
    "'rodd', which is no body; did you mean rod?": lambda: jointed(J.Spherical("ground", "rodd", **ORIGIN)),
    "Revolute joint 'pin' of rod and rod joins 'rod' to itself": lambda: J.Revolute(
        "rod", "rod", at=ZERO, name="pin"
    ),
    "axis of Revolute joint 'rod-bar' is zero": lambda: J.Revolute("rod", "bar", at=ZERO, axis=ZERO),
    "give its point either as at=": lambda: J.Spherical("rod", "bar"),
    "or as at_first=": lambda: J.Spherical("rod", "bar", at=ZERO, at_first=ZERO),
    "give its axis either as axis=": lambda: J.Revolute("rod", "bar", at=ZERO, axis_first=(0, 0, 1)),
    "pitch of Screw joint 'rod-bar' is zero": lambda: J.Screw("rod", "bar", 0.0, at=ZERO),
    "it must be positive": lambda: J.Distance("rod", "bar", -1.0, at_first=ZERO, at_second=ZERO),
    "joints[1], Spherical joint 'rod-bar', have the same name": lambda: jointed(
        *2 * [J.Spherical("rod", "bar", **ORIGIN)]
    ),
    "and joints[2], drive 'drive of rod-bar', both drive the angle of Revolute joint 'rod-bar'": lambda: (
        jointed(J.Revolute("rod", "bar", **ORIGIN), *2 * [J.Drive("rod-bar", lambda t: t)])
    ),
    "Spherical joint 'ball' of rod and bar, a ball with no coordinate but a rotation vector": lambda: jointed(
        J.Spherical("rod", "bar", name="ball", **ORIGIN), J.Drive("ball", lambda t: t)
    ),
    "'ball' of rod and bar, a ball with no angle but a rotation vector (turn_x, ": lambda: jointed(
        J.Spherical("rod", "bar", name="ball", **ORIGIN), loads=[pt.loads.JointTorque("ball", 1.0)]
    ),
    "bodies[0] is called 'ground', the name of space for joints": lambda: pt.System(
        [pt.RigidBody(1.0, (1, 1, 1), name="ground")]
    ),
    "joints[0] = 'hinge'; it must be one of pt.joints": lambda: jointed("hinge"),
    "reference has 'rd'": lambda: jointed(J.Fixed("ground", "rod", **ORIGIN), reference={"rd": 1}),
}


@pytest.mark.parametrize("line", BAD)
def test_one_clear_line(line):
    with pytest.raises(pt.InputError) as caught:
        BAD[line]()
    assert line in str(caught.value) and "\n" not in str(caught.value)


RETURNED = {
    "cannot be evaluated: it takes numbers out of traced arrays; write it with jax.numpy": math.sin,
    "returns None; it must return numbers (is a `return` missing?)": lambda t: None,
    "returns shape (2,); it must return one number": lambda t: (t, t),
}
HINGE = J.Revolute("rod", "bar", at=ZERO, name="hinge")


@pytest.mark.parametrize("line", RETURNED)
def test_functions_in_joints_are_tried_when_a_system_is_built(line):
    where = "in Revolute joint 'hinge' of rod and bar"
    function = RETURNED[line]
    with pytest.raises(pt.InputError) as caught:
        jointed(HINGE, J.Drive("hinge", function, name="motor"))
    assert str(caught.value).startswith(f"function of drive 'motor' {where} {line}")
    torque = pt.loads.JointTorque("hinge", lambda t, angle, rate: function(t))
    with pytest.raises(pt.InputError) as caught:
        jointed(HINGE, loads=[torque])
    assert str(caught.value).startswith(f"loads[0]: torque of JointTorque {where} {line}")
    assert "\n" not in str(caught.value)


def test_a_drive_that_is_not_finite_at_the_start():
    system = jointed(HINGE, J.Drive("hinge", lambda t: jnp.sqrt(t - 1.0), name="motor"))
    with pytest.raises(pt.InputError, match="drive 'motor' in Revolute joint .* is open by nan at the start"):
        system.check_state(0.0, system.state())


def test_open_joints_are_refused_with_their_gap_and_assembled_on_demand():
    joint = J.Spherical("rod", "bar", at_first=(0.5, 0, 0), at_second=(-0.5, 0, 0), name="ball")
    system = pt.System([ROD, BAR], joints=[joint])
    apart = system.state(position=[(0, 0, 0), (1.25, 0, 0)], velocity=[(0, 0, 0), (0, 1, 0)])
    with pytest.raises(
        pt.InputError,
        match="Spherical joint 'ball' of rod and bar is open by 0.25 at the start; take system.assemble",
    ):
        system.check_state(0.0, apart)
    moving = system.state(position=[(0, 0, 0), (1, 0, 0)], velocity=[(0, 0, 0), (0, 1, 0)])
    with pytest.raises(pt.InputError, match="'ball' of rod and bar is opening at a rate of 1 at the start"):
        system.check_state(0.0, moving)
    closed = system.assemble(apart)
    system.check_state(0.0, closed)
    # Both bodies weigh the same: each takes half of the way.
    np.testing.assert_allclose(closed.position, [[0.125, 0, 0], [1.125, 0, 0]], atol=1e-14)


def test_joints_that_contradict_each_other_have_no_assembly():
    joints = [
        J.Distance("ground", "rod", length, at_first=ZERO, at_second=ZERO, name=f"rope {length}")
        for length in (1.0, 2.0)
    ]
    system = pt.System([ROD], joints=joints)
    with pytest.raises(pt.InputError, match="no consistent assembly was found"):
        system.assemble(system.state(position=(1.0, 0.2, 0.0)))


def test_methods_and_forms_without_joints_say_so():
    system = pt.library.two_body_linkage()
    with pytest.raises(pt.InputError, match="joints have no place in the form"):
        pt.formulate(system, "directors", "hamiltonian")
    options: Any = {"t1": 0.1, "dt": 0.01, "coordinates": "group"}
    with pytest.raises((pt.InputError, TypeError), match="does not hold joints; take LieRattle"):
        pt.simulate(system, system.start, integrator="lie-splitting", **options)
