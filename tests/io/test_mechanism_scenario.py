"""Scenario files of mechanisms: joints, drives, couplings, reference poses, assembly, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.io import load_scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
CRANK = """
title = "crank"

[[bodies]]
name = "wheel"
mass = 1.0
inertia = [0.1, 0.1, 0.2]
reference = { position = [1.0, 0.0, 0.0] }
start = { position = [1.0, 0.1, 0.0] }

[[bodies]]
name = "rack"
mass = 1.0
inertia = [0.1, 0.1, 0.1]
start = { velocity = [1.0, 0.0, 0.0] }

[[joints]]
kind = "revolute"
name = "axle"
first = "ground"
second = "wheel"
at = [1.0, 0.0, 0.0]

[[joints]]
kind = "prismatic"
name = "rail"
first = "ground"
second = "rack"
at = [0.0, 0.0, 0.0]
axis = [1, 0, 0]

[[couplings]]
first = "rail"
second = "axle"
weights = [1.0, -0.5]

[[drives]]
joint = "axle"
rate = 2.0
amplitude = 0.1
angular_frequency = 3.0
name = "motor"

[assembly]

[coordinates]
name = "group"

[integrator]
name = "lie-rattle"

[run]
t1 = 0.5
dt = 0.01
"""


def written(tmp_path, text):
    path = tmp_path / "case.toml"
    path.write_text(text)
    return path


def test_joints_drives_and_couplings_of_a_file(tmp_path):
    text = CRANK.replace("start = { position = [1.0, 0.1, 0.0] }", "start = { position = [1.0, 0.0, 0.0] }")
    text = text.replace("start = { velocity = [1.0, 0.0, 0.0] }", "").replace("[assembly]", "")
    text = text.replace("rate = 2.0\namplitude = 0.1", "rate = 0.0\namplitude = 0.0")
    system = load_scenario(written(tmp_path, text)).setup.system
    assert isinstance(system, pt.System) and system.name == "crank" and system.linkage is not None
    assert [joint.site.kind for joint in system.joints] == ["Revolute", "Prismatic"]
    names = [one.name for one in system.linkage.conditions]
    assert names == ["axle", "rail", "motor", "coupling of rail and axle"]
    # In the wheel the axle is at its centre, because of the reference pose.
    np.testing.assert_array_equal(system.linkage.grips[0][1].arm, np.zeros(3))


@pytest.mark.slow
def test_assembly_closes_the_joints_of_a_file(tmp_path):
    start = load_scenario(written(tmp_path, CRANK)).setup.start
    # The wheel is back on its axle, at the rate of the drive at the start; the rack goes with it.
    np.testing.assert_allclose(start.position[0], [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(start.angular_velocity[0], [0.0, 0.0, 2.3], atol=1e-12)
    np.testing.assert_allclose(start.velocity[1], [1.15, 0.0, 0.0], atol=1e-12)


@pytest.mark.slow
def test_run_of_a_file_follows_its_drive_and_is_stored_whole(tmp_path):
    run: Any = load_scenario(written(tmp_path, CRANK)).run(progress=False)
    wanted = 2.0 * run.t + 0.1 * np.sin(3.0 * run.t)
    np.testing.assert_allclose(run.joint("axle").angle, wanted, atol=1e-12)
    np.testing.assert_allclose(run.joint("rail").position, 0.5 * wanted, atol=1e-12)
    run.save(tmp_path / "run.zarr")
    loaded: Any = pt.load(tmp_path / "run.zarr")
    np.testing.assert_array_equal(loaded.position, run.position)
    assert loaded.attributes["joints"] == run.attributes["joints"]
    assert loaded.attributes["drives"] == ["motor"]
    assert str(loaded.report()["joints"].verdict) == str(run.report()["joints"].verdict)
    assert len(loaded.plot.mechanism(times=[0.0]).axes) == 1, "a stored mechanism can be drawn"
    with pytest.raises(pt.InputError, match="keeps no code"):
        loaded.plot.joints()


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('kind = "revolute"', 'kind = "revolut"', 17, "did you mean revolute"),
        ('second = "wheel"', 'second = "weel"', 17, "joins 'weel', which is no body"),
        ("axis = [1, 0, 0]", "axsi = [1, 0, 0]", 24, "has no argument 'axsi'; did you mean axis"),
        ("axis = [1, 0, 0]", "axis = [0, 0, 0]", 24, "axis of Prismatic joint 'rail'"),
        ('joint = "axle"\nrate', 'joint = "axel"\nrate', 37, "drive 'motor' is about joint 'axel'"),
        ("rate = 2.0", "speed = 2.0", 39, "has no key 'speed'"),
        ("weights = [1.0, -0.5]", "weights = [1.0]", 35, "must be a list of 2"),
        ('second = "axle"', 'second = "axe"', 32, "is about joint 'axe'"),
        (
            'name = "rail"',
            'name = "axle"',
            24,
            "Prismatic joint 'axle' of ground and rack, have the same name",
        ),
        ("[assembly]", "[assembly]\nwhat = 1", 45, "has no key 'what'"),
        ("[assembly]", "", 17, "is open by 0.1 at the start; add a table [assembly]"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path, old, new, line, message):
    assert old in CRANK
    path = written(tmp_path, CRANK.replace(old, new, 1))
    with pytest.raises(pt.InputError) as refused:
        load_scenario(path).run(progress=False)
    text = str(refused.value)
    assert message in text and "\n" not in text
    assert line is None or f", line {line}:" in text


def test_joints_beside_a_system_of_the_library_are_refused(tmp_path):
    text = CRANK[CRANK.index("[[joints]]") :] + '[system]\nname = "four-bar"\n'
    with pytest.raises(pt.InputError, match="joints beside"):
        load_scenario(written(tmp_path, text))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "screw_press", "gears", "gimbals"])
def test_examples_keep_their_joints_closed(name):
    run: Any = load_scenario(EXAMPLES / f"{name}.toml").run(progress=False)
    assert run.result.ok
    assert run.report()["joints"].verdict == "exact to round-off"
    if name == "screw_press":
        inertia, thread = 0.5 * 20.0 * 0.3**2, 2.0 * np.pi / 0.05
        fall = 50.0 * 9.81 / (50.0 + inertia * thread**2)
        np.testing.assert_allclose(run.joint("rail").position, -0.5 * fall * run.t**2, atol=1e-10)
    if name == "gears":
        # x = r theta: the rack, the wheel by its rim, the pinion with twice the rate and half the radius.
        mass = 2.0 + 0.5 * 4.0 + 0.5 * 1.0
        rate = np.sqrt(200.0 / mass)
        amplitude = np.max(np.abs(run.joint("guide").position))
        wanted = run.joint("guide").position_rate[0] / rate * np.sin(rate * run.t)
        np.testing.assert_allclose(run.joint("guide").position, wanted, atol=1e-3 * amplitude)
