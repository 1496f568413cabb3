"""Small robots of our own, fixed and floating: the mechanics that Pinocchio reads, and names."""

from pathlib import Path

import numpy as np
import pytest
from compared import QUANTITIES, compared

import poinsot as pt
from poinsot.kernels import once

FILES = {
    "biped": Path(__file__).parent / "biped.urdf",
    "picker": Path(__file__).parents[1] / "io" / "robots" / "picker.urdf",
    "arm": Path(__file__).parents[2] / "examples" / "arm.urdf",
}


@pytest.mark.parametrize(
    ("name", "floating"),
    [
        pytest.param("biped", True, marks=pytest.mark.slow),
        ("picker", True),
        pytest.param("arm", True, marks=pytest.mark.slow),
        pytest.param("biped", False, marks=pytest.mark.slow),
        pytest.param("arm", False, marks=pytest.mark.slow),
    ],
)
def test_a_small_robot_has_the_mechanics_that_pinocchio_reads(name, floating):
    found = compared(FILES[name], floating=floating)
    assert (
        found.refusal is None and found.freedoms == {"biped": 5, "picker": 4, "arm": 4}[name] + 6 * floating
    )
    for quantity, error in zip(QUANTITIES, found.errors, strict=True):
        assert error < 1e-12, (quantity, error)


def test_a_floating_base_has_the_name_of_its_link():
    """Its coordinates are the place of its mass centre and a rotation; its frame is that of the link."""
    robot = pt.io.read_urdf(FILES["biped"], floating=True)
    chain = pt.OpenChain(robot)
    base = [f"torso {part}" for part in ("x", "y", "z", "w", "i", "j", "k")]
    hinges = ["left hip", "left knee", "right hip", "right spring", "neck"]
    assert sorted(chain.q_labels) == sorted([*base, *hinges]) and chain.q_labels[:7] == tuple(base)
    assert robot.names[0] == "torso" and "torso" in robot.frames and "battery" in robot.frames
    place, turn = np.array([0.3, -0.2, 1.1]), np.array([0.2, 0.4, -0.3])
    state = robot.joint_state({"torso": [*place, *turn], "left knee": 0.5}, {"torso": [1, 2, 3, 0, 0, 0]})
    np.testing.assert_allclose(state.position[0], place, atol=1e-15)
    q, v = chain.of_state(state)
    np.testing.assert_allclose(v[:3], [1.0, 2.0, 3.0], atol=1e-14)
    origin, R = once(lambda chain, q: chain.pose(q, "torso"))(chain, q)
    np.testing.assert_allclose(origin + R @ -np.asarray(robot.frames["torso"].point), place, atol=1e-14)
    angle = np.linalg.norm(turn)
    np.testing.assert_allclose(np.trace(R), 1.0 + 2.0 * np.cos(angle), atol=1e-14)
    with pytest.raises(pt.InputError, match="'torse', which is no joint of the chain; did you mean torso"):
        robot.joint_state({"torse": place})
