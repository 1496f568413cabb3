"""Drives that the joints do not allow: refused at the start, with joint, bodies and how far they are off."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

J = pt.joints
POINT = (0.0, 0.0, 0.0)


def drive(t, params):
    """A polynomial of time."""
    return jnp.polyval(params, t)


def welded(*coefficients: float) -> pt.System:
    """Two bodies that are welded, and also joined by a hinge with a motor."""
    bodies = [pt.RigidBody(1.0, (0.01, 0.1, 0.1), name=name) for name in ("rod", "bar")]
    joints = [J.Fixed("rod", "bar", at=POINT, name="weld"), J.Revolute("rod", "bar", at=POINT, name="hinge")]
    motor = J.Drive("hinge", drive, params=jnp.array(coefficients), name="motor")
    return pt.System(bodies, joints=[*joints, motor])


MOTOR = "drive 'motor' in Revolute joint 'hinge' of rod and bar "


def refusal(system: pt.System, state: pt.State) -> str:
    with pytest.raises(pt.InputError) as caught:
        pt.simulate(system, state, t1=0.1, dt=0.1, integrator="lie-rattle", coordinates="group")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_drive_against_a_weld():
    # A rate, an acceleration, none of both at the start, and none at all.
    for course in ((0.0, 3.0, 0.0), (1.0, 0.0, 0.0), (-15.0, 10.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)):
        system = welded(*course)
        line = refusal(system, system.state())
        assert line == MOTOR + "moves what other joints hold; leave it out, or free the joint"


@pytest.mark.slow
def test_a_drive_against_a_weld_has_no_assembly_and_is_seen_by_mobility():
    with pytest.raises(pt.InputError, match=f"{MOTOR}asks for a rate .* off by 3; leave it out"):
        welded(0.0, 3.0, 0.0).assemble()
    system = welded(1.0, 0.0, 0.0)
    assert system.mobility(system.state()).redundant["motor"] == 1


@cache
def press(*coefficients: float) -> pt.System:
    """A crank of length one in line with its connecting rod of length one: the slider is at its furthest."""
    bodies = [pt.RigidBody(1.0, (0.1, 0.1, 0.1), name=name) for name in ("crank", "rod", "slider")]
    ends = {"at_first": (0.5, 0, 0), "at_second": (-0.5, 0, 0)}
    joints = [
        J.Revolute("ground", "crank", at_first=POINT, at_second=(-0.5, 0, 0), name="axle"),
        J.Revolute("crank", "rod", **ends, name="pin"),
        J.Revolute("rod", "slider", at_first=(0.5, 0, 0), at_second=POINT, name="cross"),
        J.Prismatic("ground", "slider", at_first=POINT, at_second=POINT, axis=(1, 0, 0), name="rail"),
    ]
    push = J.Drive("rail", drive, params=jnp.array(coefficients), name="push")
    return pt.System(bodies, joints=[*joints, push])


def turning(system: pt.System, rate: float) -> pt.State:
    """The crank turns one way, the rod the other."""
    return system.state(
        position=[(0.5, 0, 0), (1.5, 0, 0), (2, 0, 0)],
        velocity=[(0, 0.5 * rate, 0), (0, 0.5 * rate, 0), POINT],
        angular_velocity=[(0, 0, rate), (0, 0, -rate), POINT],
    )


PUSH = "drive 'push' in Prismatic joint 'rail' of ground and slider asks for "


@pytest.mark.slow
def test_what_a_drive_may_ask_for_at_a_dead_centre():
    r"""The slider is at $2\cos\vartheta$, with minus twice the square of the rate as acceleration."""
    fast = press(0.0, 0.7, 2.0)
    assert PUSH + "a rate at the start that other joints and drives do not allow, off by 0.7;" in refusal(
        fast, turning(fast, 0.0)
    )
    for bend, rate, off in ((-0.5, 0.0, 1.0), (0.5, 1.0, 3.0), (-1.0, 2.0, 6.0)):
        system = press(bend, 0.0, 2.0)
        assert PUSH + "an acceleration at the start" in (line := refusal(system, turning(system, rate)))
        assert f"off by {off:g};" in line
    # The acceleration of a crank that turns at one; the slider is not held there, only at its turning point.
    allowed = press(-1.0, 0.0, 2.0)
    allowed.check_state(0.0, turning(allowed, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("loops", [1, 5])  # of five, conditions are gone through in loops
def test_two_drives_of_one_freedom_must_go_together(loops):
    bars = pt.library.parallelogram(loops)

    def driven(rate: float) -> pt.System:
        drives = [
            J.Drive("A0", drive, params=jnp.array([1.0, -1.0]), name="one"),
            J.Drive("A1", drive, params=jnp.array([rate, -1.0]), name="two"),
        ]
        return pt.System(bars.bodies, joints=[*bars.joints, *drives])

    together = driven(1.0)
    start = together.assemble()
    together.check_state(0.0, start)
    assert together.mobility(start).degrees_of_freedom == 0
    with pytest.raises(pt.InputError, match="asks for a rate .* drives do not allow, off by 0.5"):
        driven(1.5).assemble()


def test_assembly_against_a_drive_names_it():
    rod = pt.RigidBody(1.0, (0.01, 0.1, 0.1), name="rod")
    hinge = J.Revolute("ground", "rod", at=POINT, name="hinge")
    system = pt.System([rod], joints=[hinge, J.Drive("hinge", lambda t: 2.0 * t, name="motor")])
    line = (
        "velocity of assemble: Revolute joint 'hinge' of ground and rod moves at 2 by its drive 'motor', not"
    )
    with pytest.raises(pt.InputError, match=line):
        system.assemble(velocity={"hinge": 3.0})
    with pytest.raises(pt.InputError, match="is at 0 by its drive 'motor', not at 1"):
        system.assemble(coordinates={"hinge": 1.0})
    # What the drive does itself may be said, angles up to whole turns.
    state = system.assemble(coordinates={"hinge": 2.0 * np.pi}, velocity={"hinge": 2.0})
    np.testing.assert_allclose(state.angular_velocity[0], (0, 0, 2), atol=1e-14)
