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
