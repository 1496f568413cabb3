"""Scenario files of robots: a URDF file beside them, coordinates of joints as a start, what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.io import load_scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
ARM = (EXAMPLES / "arm.toml").read_text(encoding="utf-8")


@pytest.fixture
def written(tmp_path):
    """Write a scenario with the robot beside it."""
    (tmp_path / "arm.urdf").write_text((EXAMPLES / "arm.urdf").read_text(encoding="utf-8"), encoding="utf-8")

    def write(text: str) -> Path:
        path = tmp_path / "arm.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_robot_is_read_beside_its_scenario(written):
    setup = load_scenario(written(ARM)).setup
    system: Any = setup.system
    assert system.names == ("column", "upper_arm", "forearm", "tool")
    assert [type(load).__name__ for load in system.loads] == ["JointDamper"]
    wanted = system.joint_state({"shoulder": 0.6, "elbow": 0.5, "reach": 0.05}, rates={"turn": 1.0})
    np.testing.assert_allclose(setup.start.position, wanted.position, atol=1e-14)
    np.testing.assert_allclose(setup.start.velocity, wanted.velocity, atol=1e-14)
    hand = pt.OpenChain(system).pose([0.0, 0.0, 0.0, 0.1], "hand")[0]
    np.testing.assert_allclose(hand, [0.9, 0.0, 0.5], atol=1e-14)


def test_joints_of_the_library_start_from_coordinates(written):
    text = """
    [system]
    name = "cart-pole"
    [start]
    coordinates = { hinge = 0.5 }
    [integrator]
    name = "rk4"
    [run]
    t1 = 0.1
    dt = 0.1
    """
    setup = load_scenario(written(text)).setup
    np.testing.assert_allclose(setup.start.position[1], [0.5 * np.sin(0.5), 0.0, 0.5 * np.cos(0.5)])


MJCF = """
<mujoco model="swing">
  <worldbody>
    <body name="beam" pos="0 0 1">
      <inertial pos="0 0 -0.4" mass="2" diaginertia="0.1 0.1 0.01"/>
      <joint name="hinge" type="hinge" axis="0 1 0"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_a_robot_of_mujoco(written, tmp_path):
    (tmp_path / "swing.xml").write_text(MJCF, encoding="utf-8")
    old = ARM[ARM.index("[start]") : ARM.index("[coordinates]")]
    text = ARM.replace("arm.urdf", "swing.xml").replace(old, "[start]\ncoordinates = { hinge = 0.5 }\n")
    with pytest.raises(pt.InputError, match="swing.xml' has no key 'damping'"):
        load_scenario(written(text))
    setup = load_scenario(written(text.replace("damping = true", ""))).setup
    wanted = [[-0.4 * np.sin(0.5), 0.0, 1.0 - 0.4 * np.cos(0.5)]]
    np.testing.assert_allclose(setup.start.position, wanted, atol=1e-14)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"arm.urdf"', '"leg.urdf"', r"line 6: \[robot\].*leg.urdf: No such file"),
        ('"arm.urdf"', '"arm.dae"', r"its name must end in .urdf, .xml"),
        ("elbow = 0.5", "elbov = 0.5", r"\[start\].*'elbov', which is no joint.*did you mean elbow"),
        ("reach = 0.05 }", "reach = [0.05, 1.0] }", "it must be one number"),
        ("rates = {", "position = [0, 0, 0]\nrates = {", r"\[start\] has position beside coordinates"),
        ("[robot]", "[system]\nname = 'kepler'\n[robot]", r"both \[system\] and \[robot\]"),
        ("[robot]\nfile", "[assembly]\n[robot]\nfile", r"assembly beside \[robot\]"),
        ("damping = true", "dampling = true", r"\[robot\] has no key 'dampling'; did you mean damping"),
    ],
)
def test_what_is_refused(written, old, new, said):
    assert old in ARM
    with pytest.raises(pt.InputError, match=said):
        load_scenario(written(ARM.replace(old, new, 1)))


REACH = (EXAMPLES / "reach.toml").read_text(encoding="utf-8")
CART = """
[system]
name = "cart-pole"
[start]
coordinates = { hinge = 0.1 }
[control]
name = "lqr"
target = { hinge = 0.0 }
Q = [1.0, 10.0, 1.0, 1.0]
R = 0.1
joints = ["rails"]
[integrator]
name = "rk4"
[run]
t1 = 0.1
dt = 0.1
"""


def test_a_controller_follows_a_path_from_the_start(written):
    setup = load_scenario(written(REACH)).setup
    sampled: Any = setup.control
    assert isinstance(sampled, pt.control.Sampled) and sampled.period == 0.01
    law = sampled.law
    assert isinstance(law, pt.control.ComputedTorque)
    first, middle, last = (np.asarray(law.reference(t)[0]) for t in (0.0, 0.75, 2.0))
    np.testing.assert_allclose(first, [0.0, 0.6, 0.5, 0.02], atol=1e-14)
    np.testing.assert_allclose(middle, [0.6, 0.1, 0.7, 0.06], atol=1e-12)
    np.testing.assert_allclose(last, [1.2, -0.4, 0.9, 0.1], atol=1e-14)


def test_other_controllers_and_references(written):
    law: Any = load_scenario(written(CART)).setup.control
    same = pt.control.LQR(law.chain, [0.0, 0.0], Q=(1.0, 10.0, 1.0, 1.0), R=0.1, joints=["rails"])
    np.testing.assert_allclose(law.gain, same.gain, rtol=1e-12)
    old = REACH[REACH.index("[control]") : REACH.index("[coordinates]")]
    held = "[control]\nname = 'pd-gravity'\nkp = [50, 40, 30, 20]\nkd = 5\nreference = { elbow = 0.3 }\n"
    law = load_scenario(written(REACH.replace(old, held))).setup.control
    assert isinstance(law, pt.control.PDGravity) and not law.takes_time
    np.testing.assert_allclose(law.reference(1.0)[0], [0.0, 0.0, 0.3, 0.0])
    np.testing.assert_allclose(law.kp, [50.0, 40.0, 30.0, 20.0])
    path = 'name = "quintic"', 'name = "trapezoidal"\nspeed = 1.0\nacceleration = 4.0\nfrom = { turn = 0.2 }'
    text = REACH.replace(*path).replace("duration = 1.5 ", "#")
    sampled: Any = load_scenario(written(text)).setup.control
    law = sampled.law
    np.testing.assert_allclose(law.reference(0.0)[0], [0.2, 0.0, 0.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(law.reference(9.0)[0], [1.2, -0.4, 0.9, 0.1], atol=1e-14)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"computed-torque"',
            '"computed-tork"',
            r"\[control\] name = 'computed-tork'.*did you mean computed-torque",
        ),
        ("kd = 20.0", "kv = 20.0", r"\[control\] computed-torque has no key 'kv'.*"),
        ("kd = 20.0", "", r"\[control\] computed-torque needs kd"),
        ("kp = 100.0", "kp = [1.0, 2.0]", r"\[control\] kp of ComputedTorque has shape \(2,\)"),
        ("kp = 100.0", 'kp = "much"', r"\[control\] kp of ComputedTorque"),
        ("period = 0.01", "period = -1.0", r"\[control\] period of Sampled = -1.0; it must be positive"),
        ("elbow = 0.9", "elbov = 0.9", r"\[control\] to of reference quintic: .*'elbov'.*did you mean elbow"),
        (
            "duration = 1.5",
            "during = 1.5",
            r"\[control\] reference quintic has no key 'during'; did you mean",
        ),
        ("duration = 1.5", "duration = 0.0", r"\[control\] duration of quintic"),
        ('name = "quintic"', 'name = "cubic"', r"\[control\] reference name = 'cubic'.*quintic, trapezoidal"),
        ("to = { turn", "q1 = { turn", r"reference quintic has no key 'q1'; its ends are from and to"),
        ('name = "quintic"\nto', 'name = "quintic"\n# to', r"reference quintic needs to"),
    ],
)
def test_controllers_that_are_refused(written, old, new, said):
    assert old in REACH
    with pytest.raises(pt.InputError, match=said) as refused:
        load_scenario(written(REACH.replace(old, new, 1)))
    assert "\n" not in str(refused.value) and "line " in str(refused.value)


def test_equations_and_bodies_without_joints_have_no_controller(written):
    kepler = '[system]\nname = "kepler"\n' + CART[CART.index("[control]") :]
    with pytest.raises(pt.InputError, match=r"\[control\] is for rigid bodies; kepler"):
        load_scenario(written(kepler))
    with pytest.raises(pt.InputError, match=r"\[control\] is for joints; gyro.top has none"):
        load_scenario(written(kepler.replace("kepler", "gyro-top")))
