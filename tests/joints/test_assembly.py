"""Assembly: bodies placed along joints, given poses kept, coordinates and rates met, and what it says."""

from functools import cache

import numpy as np
import pytest

import poinsot as pt

J = pt.joints


@cache
def two_rods() -> pt.System:
    rods = [pt.RigidBody(1.0, (0.001, 1 / 12, 1 / 12), name=name) for name in ("upper", "lower")]
    joints = [
        J.Revolute("ground", "upper", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="pivot"),
        J.Revolute("upper", "lower", at_first=(0.5, 0, 0), at_second=(-0.5, 0, 0), name="elbow"),
    ]
    return pt.System(rods, joints=joints)


def test_bodies_are_placed_along_their_joints():
    start = two_rods().assemble({"upper": {"rotation": pt.rotation.about_z(0.3)}})
    along = np.array([np.cos(0.3), np.sin(0.3), 0.0])
    np.testing.assert_allclose(start.position, [0.5 * along, 1.5 * along], atol=1e-15)
    assert start.assembly.splitlines() == [
        "joints closed in 0 corrections",
        "upper: stays",
        "lower: placed along its joints",
    ]


def test_rates_of_joints_with_the_least_energy_otherwise():
    """With the pivot at a rate of 3 the lower rod is at its centre of percussion: at -4.5 against space."""
    start = two_rods().assemble(velocity={"pivot": 3.0})
    np.testing.assert_allclose(start.angular_velocity[:, 2], [3.0, -4.5], rtol=1e-12)
    np.testing.assert_allclose(start.velocity[:, 1], [1.5, 0.75], rtol=1e-12)
    assert "upper: placed along its joints, velocity changed by 3" in start.assembly
    both = two_rods().assemble(coordinates={"elbow": 1.0}, velocity={"pivot": 3.0, "elbow": {"angle": -1.0}})
    np.testing.assert_allclose(both.angular_velocity[:, 2], [3.0, 2.0], rtol=1e-12)
    angles = 2.0 * np.arctan2(both.quaternion[:, 3], both.quaternion[:, 0])
    np.testing.assert_allclose(angles[1] - angles[0], 1.0, atol=1e-12)
    two_rods().check_state(0.0, both)


BAD = {
    "assemble: 'uper' is no body; did you mean upper?": lambda: two_rods().assemble({"uper": {}}),
    "'upper' is given {'angle': 1.0}; give a dictionary of position, rotation": lambda: two_rods().assemble(
        {"upper": {"angle": 1.0}}
    ),
    "velocity of assemble is about joint 'pivt', which is none; did you mean pivot?": lambda: (
        two_rods().assemble(velocity={"pivt": 1.0})
    ),
    "Revolute joint 'elbow' of upper and lower has the coordinate angle": lambda: two_rods().assemble(
        coordinates={"elbow": {"way": 1.0}}
    ),
}


@pytest.mark.parametrize("line", BAD)
def test_one_clear_line(line):
    with pytest.raises(pt.InputError) as caught:
        BAD[line]()
    assert line in str(caught.value) and "\n" not in str(caught.value)


@cache
def four_bar(ground: float = 2.0) -> pt.System:
    bars = [pt.shapes.rod(length, mass=length, name=name) for name, length in
            (("crank", 1.0), ("coupler", 2.0), ("rocker", 1.5))]  # fmt: skip
    joints = [
        J.Revolute("ground", "crank", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="motor"),
        J.Revolute("crank", "coupler", at_first=(0.5, 0, 0), at_second=(-1, 0, 0), name="knee"),
        J.Revolute("coupler", "rocker", at_first=(1, 0, 0), at_second=(0.75, 0, 0), name="elbow"),
        J.Revolute("ground", "rocker", at_first=(ground, 0, 0), at_second=(-0.75, 0, 0), name="foot"),
    ]
    return pt.System(bars, joints=joints)


@pytest.mark.slow
def test_a_loop_whose_bars_start_in_a_line():
    """No force along the line can bend it: the iteration has to start anew."""
    start = four_bar().assemble({"crank": {"rotation": pt.rotation.about_z(0.3)}}, velocity={"motor": 2.0})
    four_bar().check_state(0.0, start)
    np.testing.assert_allclose(start.position[0], [0.5 * np.cos(0.3), 0.5 * np.sin(0.3), 0.0], atol=1e-9)
    np.testing.assert_allclose(start.angular_velocity[0], [0, 0, 2.0], atol=1e-10)
    # Tips of crank and rocker are the length of the coupler apart.
    x, R = np.asarray(start.position), np.asarray(pt.rotation.to_matrix(start.quaternion))
    apart = x[2] + 0.75 * R[2][:, 0] - x[0] - 0.5 * R[0][:, 0]
    np.testing.assert_allclose(np.linalg.norm(apart), 2.0, atol=1e-12)
    with pytest.raises(
        pt.InputError, match="velocity of assemble, .angle. in Revolute joint .* asks for a rate"
    ):
        four_bar().assemble(start, velocity={"motor": 1.0, "foot": 5.0})
    with pytest.raises(
        pt.InputError, match="no consistent assembly was found: Revolute joint '.*' of .* stays open by"
    ):
        four_bar(6.0).assemble()


@pytest.mark.parametrize(
    ("given", "blamed"),
    [
        ({"coordinates": {"foot": 0.3}}, "'angle' in Revolute joint 'foot' of ground and rocker at 0.3; all"),
        ({"coordinates": {"motor": 1.0, "foot": 0.3}}, "'foot' of ground and rocker at 0.3; all others"),
        ({"velocity": {"foot": 9.0}}, "velocity of assemble, 'angle' in Revolute joint 'foot'"),
    ],
)
def test_what_was_asked_for_is_blamed_and_no_drive(given, blamed):
    driven = pt.System(
        four_bar().bodies, joints=[*four_bar().joints, J.Drive("motor", lambda t: 1.0 + 2.0 * t)]
    )
    with pytest.raises(pt.InputError) as caught:
        driven.assemble(**given)
    assert blamed in str(caught.value) and "drive of motor" not in str(caught.value)


def test_an_assembled_state_can_be_recommended():
    """Its words stay behind: copies of a system are made of numbers alone."""
    linkage = pt.library.two_body_linkage()
    start = linkage.assemble(linkage.start)
    assert start.assembly and type(linkage.recommending(start, 1e-3).start) is pt.State


def double_pendulum(upper: float, lower: float) -> pt.System:
    """Unit rods of these masses."""
    rods = [
        pt.RigidBody(m, (m * 1e-3, m / 12, m / 12), name=name)
        for m, name in ((upper, "upper"), (lower, "lower"))
    ]
    return pt.System(rods, joints=two_rods().joints)


@pytest.mark.parametrize("ratio", [1e-12, 1e-4, 1e4, 1e8, 1e12])
def test_a_light_rod_moves_a_heavy_one(ratio):
    """Of rods in a line, at 1 rad/s between them, the least energy is had at the rate worked out by hand."""
    system = double_pendulum(1.0, ratio)
    pivot = system.assemble(velocity={"pivot": 1.0})
    np.testing.assert_allclose(pivot.angular_velocity[:, 2], [1.0, -1.5], rtol=1e-7)
    # T = a^2 / 6 + ratio ((1.5 a + 0.5)^2 + (a + 1)^2 / 12) / 2 at the rates a and a + 1.
    least = -ratio * (0.75 + 1 / 12) / (1 / 3 + ratio * (2.25 + 1 / 12))
    elbow = system.assemble(velocity={"elbow": 1.0})
    np.testing.assert_allclose(elbow.angular_velocity[:, 2], [least, 1.0 + least], rtol=1e-7)
    if ratio < 1e12:
        bent = system.assemble(coordinates={"elbow": 1.0}, velocity={"pivot": 1.0, "elbow": 1.0})
        np.testing.assert_allclose(bent.angular_velocity[:, 2], [1.0, 2.0], rtol=1e-7)
        system.check_state(0.0, bent)
