"""Drives, couplings and limits: what they hold over many turns, what they take, where they end a run."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation._body_trajectory import BALANCE

J, G = pt.joints, 9.81
DISC: Any = {"mass": 1.0, "inertia": (0.1, 0.1, 0.2)}


def ran(system, start, t1, **options) -> Any:
    given: Any = {"coordinates": "group", "integrator": "lie-rattle", "dt": 0.01, "progress": False} | options
    return pt.simulate(system, start, t1=t1, **given)


def course(t):
    """Angle of the crank: several turns, at a rate that changes."""
    return 7.0 * t + 0.3 * jnp.sin(3.0 * t)


def crank() -> tuple[pt.System, pt.State]:
    """A rod of length 2 and mass 3 that a motor turns in gravity."""
    rod = pt.RigidBody(3.0, (0.01, 1.0, 1.0), name="rod")
    hinge = J.Revolute("ground", "rod", at=(-1.0, 0.0, 0.0), axis=(0, 0, 1), name="hinge")
    gravity = pt.potentials.UniformGravity((0, -G, 0))
    system = pt.System([rod], joints=[hinge, J.Drive("hinge", course, name="motor")], potentials=[gravity])
    return system, system.state(velocity=(0, 7.9, 0), angular_velocity=(0, 0, 7.9))


def test_a_driven_crank_follows_its_function():
    system, start = crank()
    run = ran(system, start, 3.0)
    t, joint, motor = run.t, run.joint("hinge"), run.reaction("motor")
    assert joint.angle[-1] > 6.0 * np.pi
    np.testing.assert_allclose(joint.angle, course(t), atol=1e-12)
    rate, bend = 7.0 + 0.9 * np.cos(3.0 * t), -2.7 * np.sin(3.0 * t)
    np.testing.assert_allclose(joint.rate, rate, atol=1e-11)
    torque = 4.0 * bend + 3.0 * G * np.cos(course(t))
    np.testing.assert_allclose(motor.torque, torque, atol=1e-9)
    np.testing.assert_allclose(motor.power, torque * rate, atol=1e-8)
    # The torque of the motor is its own: the hinge passes on none about its axis.
    np.testing.assert_allclose(run.reaction("hinge").torque, 0.0, atol=1e-10)


@pytest.mark.slow
def test_energy_balance_counts_what_a_drive_does():
    system, start = crank()
    run = ran(system, start, 1.0)
    # The angle is exact in every step, and the balance goes by the power along it.
    assert np.ptp(run.energy) > 50.0 and np.ptp(run.conserved[BALANCE]) < 1e-8


def test_a_drive_holds_at_its_place_of_the_turn():
    system, start = crank()
    opposite = system.state(position=(-2.0, 0, 0), rotation=(0.0, 0.0, 0.0, 1.0))
    with pytest.raises(
        pt.InputError, match="drive 'motor' in Revolute joint 'hinge' of ground and rod is open by"
    ):
        system.check_state(0.0, opposite)
    system.check_state(0.0, start)


def gears() -> tuple[pt.System, pt.State]:
    """Two gears with 20 and 40 teeth that a torque turns, and a rack on the second."""
    bodies = [pt.RigidBody(**DISC, name=name) for name in ("pinion", "wheel", "rack")]
    joints = [
        J.Revolute("ground", "pinion", at_first=(0, 0, 0), at_second=(0, 0, 0), name="fast"),
        J.Revolute("ground", "wheel", at_first=(1, 0, 0), at_second=(0, 0, 0), name="slow"),
        J.Prismatic("ground", "rack", at_first=(1, 1, 0), at_second=(0, 0, 0), axis=(1, 0, 0), name="rail"),
        J.Coupling("fast", "slow", (20, 40), name="mesh"),
        J.Coupling("rail", "slow", (1.0, 0.5), name="teeth"),
    ]
    system = pt.System(bodies, joints=joints, loads=[pt.loads.JointTorque("fast", 3.0)])
    return system, system.state(position=[(0, 0, 0), (1, 0, 0), (1, 1, 0)])


@pytest.mark.slow
def test_gears_and_a_rack_over_many_turns():
    system, start = gears()
    run = ran(system, start, 4.0, dt=0.02)
    fast, slow, rail = (run.joint(name) for name in ("fast", "slow", "rail"))
    # Angles as seen by the pinion: inertia 0.2 + 0.2/4 + 1.0 (0.5/2)^2.
    inertia = 0.2 + 0.2 / 4 + 1.0 / 16
    np.testing.assert_allclose(fast.angle, 1.5 / inertia * run.t**2, rtol=1e-10, atol=1e-12)
    assert fast.angle[-1] > 12 * np.pi
    np.testing.assert_allclose(slow.angle, -0.5 * fast.angle, atol=1e-11)
    np.testing.assert_allclose(rail.position, 0.25 * fast.angle, atol=1e-11)
    # What the pinion passes on: torques on both gears, in the ratio of the teeth.
    efforts = run.reaction("mesh").efforts
    np.testing.assert_allclose(efforts[:, 0], 0.2 * 3.0 / inertia - 3.0, atol=1e-9)
    np.testing.assert_allclose(efforts[:, 1], 2.0 * efforts[:, 0], atol=1e-12)
    force = run.reaction("teeth").efforts[:, 0]
    np.testing.assert_allclose(force, 0.25 * 3.0 / inertia, atol=1e-9)


def test_a_run_ends_where_a_joint_comes_to_a_limit():
    rod = pt.RigidBody(3.0, (0.01, 1.0, 1.0), name="rod")
    hinge = J.Revolute("ground", "rod", at=(-1, 0, 0), name="hinge", limits=(-2.0, 0.5))
    system = pt.System([rod], joints=[hinge], potentials=[pt.potentials.UniformGravity((0, -G, 0))])
    run = ran(system, system.state(), 3.0, stop=system.limits)
    assert run.result is pt.Result.stopped_by_event and run.t[-1] < 2.0
    np.testing.assert_allclose(run.joint("hinge").angle[-1], -2.0, atol=1e-12)


def limited() -> pt.System:
    rod = pt.RigidBody(3.0, (0.01, 1.0, 1.0), name="rod")
    hinge = J.Revolute("ground", "rod", at=(0, 0, 0), name="hinge", limits=(-2.0, 0.5))
    return pt.System([rod], joints=[hinge])


def test_a_start_beyond_a_limit_is_refused():
    system = limited()
    line = "angle = 0.75 of Revolute joint 'hinge' of ground and rod is beyond its limit 0.5 at the start; "
    with pytest.raises(pt.InputError, match=line + "start between -2 and 0.5, or leave stop out"):
        ran(system, system.assemble(coordinates={"hinge": 0.75}), 1.0, stop=system.limits)


@pytest.mark.slow
def test_a_start_at_a_limit_goes_in_or_ends_at_once():
    """Where it starts to go out, even from rest, the run does not go on beyond the limit."""
    system = limited()
    at = system.assemble(coordinates={"hinge": -2.0}, velocity={"hinge": 1.0})
    back = ran(system, at, 3.0, stop=system.limits)
    np.testing.assert_allclose([back.t[-1], back.joint("hinge").angle[-1]], [2.5, 0.5], rtol=1e-12)
    turned = system.with_terms(loads=[pt.loads.JointTorque("hinge", lambda angle, rate: -1.0)])
    for rate, longest in ((-1.0, 1e-8), (0.0, 1e-3)):
        at = system.assemble(coordinates={"hinge": -2.0}, velocity={"hinge": rate})
        ended = ran(turned, at, 3.0, stop=system.limits)
        assert ended.result is pt.Result.stopped_by_event and ended.t[-1] < longest
        np.testing.assert_allclose(ended.joint("hinge").angle[-1], -2.0, atol=1e-8)


def test_limits_more_than_a_turn_apart_end_a_run_where_turns_are_counted():
    """A rod that spins: it passes its place at the limit twice before, and poses do not tell that."""
    rod = pt.RigidBody(3.0, (0.01, 1.0, 1.0), name="rod")
    hinge = J.Revolute("ground", "rod", at=(0, 0, 0), name="hinge", limits=(-12.0, 14.0))
    system = pt.System([rod], joints=[hinge])
    start = system.joint_state(rates={"hinge": 7.0})
    how: Any = {"coordinates": "joint", "integrator": "rk4", "form": "recursive"}
    run = ran(system, start, 3.0, stop=system.limits, **how)
    assert run.result is pt.Result.stopped_by_event
    np.testing.assert_allclose([run.t[-1], run.q[-1, 0]], [2.0, 14.0], rtol=1e-12)
    with pytest.raises(pt.InputError, match="a turn or more apart, and coordinates of bodies do not count"):
        ran(system, start, 3.0, stop=system.limits)


def test_a_joint_follows_another_by_any_number():
    """The second angle lies about 2.5, beyond half a turn; the first goes round more than once."""
    bodies = [pt.RigidBody(**DISC, name=name) for name in ("first", "second")]
    hinges = [J.Revolute("ground", name, at=(0, 0, 0), name=f"{name} hinge") for name in ("first", "second")]
    weights = (1.0, -2.7182818)

    def held(about) -> pt.System:
        coupling = J.Coupling("first hinge", "second hinge", weights, 0.1234567, about=about)
        return pt.System(bodies, joints=[*hinges, coupling])

    followed = 3.3
    angles = {"second hinge": followed, "first hinge": 2.7182818 * followed + 0.1234567}
    assert angles["first hinge"] > 2.5 * np.pi
    state = held(2.5).joint_state(angles)
    held(2.5).check_state(0.0, state)
    with pytest.raises(pt.InputError, match="coupling of first hinge and second hinge' in .* is open by"):
        held(0.0).check_state(0.0, state)


BAD = {
    "the first must not be above the second": lambda: J.Revolute("a", "b", at=(0, 0, 0), limits=(1.0, -1.0)),
    "largest_effort of Revolute joint 'hinge' of ground and rod = 0; it must be positive": lambda: hinged(
        largest_effort=0.0
    ),
    "largest_velocity of Revolute joint 'hinge' of ground and rod: coordinate = 'way'": lambda: hinged(
        largest_velocity={"way": 1.0}
    ),
    "coordinate = 'way'; Revolute joint 'hinge' of ground and rod has the coordinate angle": lambda: hinged(
        limits={"way": (0.0, 1.0)}
    ),
    "no joint has limits; give them as limits=(low, high)": lambda: hinged().limits,
    "drive 'drive of hing' is about joint 'hing', which is none; did you mean hinge?": lambda: hinged(
        J.Drive("hing", course)
    ),
    "drive 'twice', both drive the angle of Revolute joint 'hinge' of ground and rod": lambda: hinged(
        J.Drive("hinge", course), J.Drive("hinge", course, name="twice")
    ),
    "drive 'drive of weld' is about Fixed joint 'weld' of ground and rod, which has no coordinate": lambda: (
        hinged(J.Fixed("ground", "rod", at=(0, 0, 0), name="weld"), J.Drive("weld", course))
    ),
    "weights of coupling 'coupling of hinge and other' = [0.7071, 1.0]; two angles that": lambda: hinged(
        J.Revolute("ground", "rod", at=(0, 0, 0), name="other"), J.Coupling("hinge", "other", (0.7071, 1.0))
    ),
}


def hinged(*more, **options):
    rod = pt.RigidBody(3.0, (0.01, 1.0, 1.0), name="rod")
    hinge = J.Revolute("ground", "rod", at=(-1, 0, 0), name="hinge", **options)
    return pt.System([rod], joints=[hinge, *more])


@pytest.mark.parametrize("line", BAD)
def test_one_clear_line(line):
    with pytest.raises(pt.InputError) as caught:
        BAD[line]()
    assert line in str(caught.value) and "\n" not in str(caught.value)
