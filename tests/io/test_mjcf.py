"""Robots from MJCF files: the same mechanics as MuJoCo finds, and what is refused."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import poinsot as pt
from poinsot.cli import app
from poinsot.io import read_mjcf
from poinsot.kernels import once
from poinsot.rotation import from_matrix, to_matrix

LANDER = Path(__file__).parent / "robots" / "lander.xml"


def of_mujoco(robot: pt.System, chain: pt.OpenChain, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Our coordinates of theirs, and our rates as a matrix times theirs.

    The position of a free body is that of its mass centre here, of its frame there. A ball joint turns here
    in the directions of space at the reference pose, there in those of the body.
    """
    linkage = robot.linkage
    assert linkage is not None
    centre = -np.asarray(robot.frames["hull"].point)
    R = np.asarray(to_matrix(jnp.asarray(qpos[3:7])))
    turned = np.asarray(linkage.reference["mast"][1])
    ball = turned @ np.asarray(to_matrix(jnp.asarray(qpos[9:13]))) @ turned.T
    values = {
        "hull": [*(qpos[:3] + R @ centre), *qpos[3:7]],
        "shoulder": qpos[7],
        "leg": qpos[8],
        "gimbal": from_matrix(jnp.asarray(ball)),
        "pan": qpos[13],
    }
    at = {slot.name: slot.v[0] for slot in chain.slots}
    rates = np.zeros((chain.v_size, chain.v_size))
    rates[at["hull"] : at["hull"] + 6, :6] = np.eye(6)
    rates[at["hull"] : at["hull"] + 3, 3:6] = R @ np.cross(np.eye(3), centre).T
    rates[at["shoulder"], 6] = rates[at["leg"], 7] = rates[at["pan"], 11] = 1.0
    rates[at["gimbal"] : at["gimbal"] + 3, 8:11] = turned
    return np.asarray(chain.coordinates(values)), rates


@pytest.mark.slow
def test_a_machine_has_the_mechanics_that_mujoco_finds():
    theirs = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in json.loads(LANDER.with_suffix(".json").read_text()).items()
    }
    robot = read_mjcf(LANDER)
    assert robot.names == ("hull", "arm", "mast", "foot", "dish") and robot.name == "lander"
    masses = theirs["masses"]
    right = [masses["hull"], masses["arm"] + masses["hand"], masses["mast"], masses["foot"], masses["dish"]]
    np.testing.assert_allclose(robot.body_masses, right, rtol=1e-13)
    chain = pt.OpenChain(robot)
    q, rates = of_mujoco(robot, chain, theirs["qpos"])
    v, Omega, place = rates @ theirs["qvel"], theirs["qvel"][3:6], -np.asarray(robot.frames["hull"].point)
    R = np.asarray(to_matrix(jnp.asarray(theirs["qpos"][3:7])))
    a = np.zeros(chain.v_size)
    a[:3] = R @ np.cross(Omega, np.cross(Omega, place))
    with jax.disable_jit():
        metric, forces = np.asarray(chain.metric(q)), np.asarray(chain.inverse_dynamics(q, v, a))
        poses = {name: chain.pose(q, name) for name in masses}
    assert np.max(np.abs(theirs["passive"])) > 0.1
    for name, (place, rotation) in poses.items():
        np.testing.assert_allclose(place, theirs["places"][name], rtol=0, atol=1e-13, err_msg=name)
        np.testing.assert_allclose(rotation.reshape(-1), theirs["rotations"][name], rtol=0, atol=1e-13)
    for own, other in (
        (rates.T @ metric @ rates, theirs["metric"]),
        (rates.T @ forces, theirs["bias"] - theirs["passive"]),
    ):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-12 * np.max(np.abs(other)))


def test_limits_and_shapes_are_data():
    robot = read_mjcf(LANDER)
    limits = {joint.name: joint.site.limits for joint in robot.joints}
    ((_, low, high),) = limits["shoulder"]
    assert (low, high) == pytest.approx((-np.pi / 3, 2 * np.pi / 3)) and limits["pan"] == ()
    kinds = [(shape.body, shape.kind) for shape in robot.geometry]
    assert kinds[:3] == [("ground", "plane"), ("hull", "cylinder"), ("hull", "box")]
    assert ("arm", "ellipsoid") in kinds, "of the hand, which is fixed to the arm"
    assert read_mjcf(LANDER, geometry=False).geometry == ()


BAD = {
    "entities": ("<mujoco m", '<!DOCTYPE a [<!ENTITY b "c">]><mujoco m', "document types and entities"),
    "cut off": ("</mujoco>", "", "not XML, 'no element found'"),
    "another file": ("mujoco", "robot", "begins with <robot>; an MJCF file begins with <mujoco>"),
    "tendons": ("<actuator>", "<tendon/><actuator>", "<tendon> is not read"),
    "include": ("<actuator>", '<include file="/etc/passwd"/><actuator>', "<include> is not read"),
    "armature": ('damping="0.0"', 'armature="0.1"', "armature = '0.1'; only 0 is read"),
    "a free joint": ('<joint name="leg"', '<freejoint/><joint name="leg"', "a free joint is alone"),
    "a kind": ('type="ball"', 'type="bell"', "type = 'bell'; it is one of hinge, slide, ball, free"),
    "a class": ('class="jointed" pos', 'class="jonted" pos', "class = 'jonted', which is no default; did"),
    "numbers": ('pos="0.3 0.1 0"', 'pos="0.3 0.1"', "pos = '0.3 0.1'; it must be finite numbers, 3 of them"),
    "no mass": ('<geom type="sphere" size="0.07" pos="0 0.02 0"/>', "", "'leg' moves 'foot' without"),
    "negative": ('mass="1.2"', 'mass="-1.2"', "mass = -1.2; it must not be negative"),
    "a negative geom": ('mass="0.4"', 'mass="-0.4"', "geom: mass = -0.4; it must not be negative"),
    "density": ('<geom density="300"/>', '<geom density="-300"/>', "density = -300; it must not be neg"),
    "a size": ('size="0.04"', 'size="-0.04"', "geom: size = '-0.04'; the size of a capsule is positive"),
    "no size": ('size="0.07" pos', "pos", "geom: it has no size; the size of a sphere is positive numbers"),
    "in the world": ("<light", '<joint name="a"/><light', "body 'world': <joint> is in no body; put it into"),
    "mass of the world": ("<light", '<inertial pos="0 0 0" mass="1"/><light', "<inertial> is in no body"),
    "mass twice": ("<inertial pos", '<inertial pos="0 0 0" mass="1"/><inertial pos', "'mast' has 2 <inert"),
    "inertia": ('diaginertia="0.09 0.08 0.02"', 'diaginertia="0.9 0.08 0.02"', "triangle inequality"),
    "two turns": ('zaxis="1 0 2"', 'zaxis="1 0 2" euler="0 0 1"', "a rotation is given once"),
    "a mesh": ('type="sphere" size', 'type="mesh" mesh="ball" size', "mesh = 'ball', which is no mesh"),
    "a frame": ('<site name="grip"', '<frame name="grip"', "<frame> is not read"),
    "wind": ("gravity=", 'density="1.2" gravity=', "move in empty space"),
    "inside": ('<joint name="leg" type="slide"', '<joint name="leg" type="free"', "the body in the world"),
    "mocap": ('<body name="hull"', '<body name="hull" mocap="true"', "mocap = 'true' is not read"),
    "springdamper": ('damping="0.0"', 'springdamper="0.1 1"', "springdamper = '0.1 1'; only 0 is read"),
    "frictionloss": ('damping="0.0"', 'frictionloss="0.1"', "frictionloss = '0.1'; only 0 is read"),
    "ref": ('damping="0.0"', 'ref="10"', "joint .*: ref = '10'; only 0 is read"),
    "far springs": ('damping="0.0"', 'stiffness="1" springref="200"', "must be at rest within half a turn"),
    "an attribute": ('damping="0.0"', 'dampings="0.0"', "attribute 'dampings' of <joint> is not read"),
    "of a geom": ('<geom type="sphere"', '<geom speed="1" type="sphere"', "'speed' of <geom> is not read"),
    "of a body": ('<body name="hull"', '<body name="hull" lift="1"', "'lift' of <body> is not read"),
    "of the compiler": ("<compiler ", '<compiler masses="1" ', "'masses' of <compiler> is not read"),
    "of options": ("gravity=", 'moon="1" gravity=', "attribute 'moon' of <option> is not read"),
    "a flag": ("<worldbody>", '<option><flag gravity="0"/></option><worldbody>', "'enable' or 'disable'"),
    "no flag": ("<worldbody>", '<option><flag moon="enable"/></option><worldbody>', "'moon' of <flag>"),
    "hidden": ("<worldbody>", '<default><include file="a"/></default><worldbody>', "<include> is not read"),
    "gravcomp": ('<body name="hull"', '<body name="hull" gravcomp="1"', "gravcomp = '1'; only 0 is read"),
    "a turned frame": ("<freejoint", '<freejoint align="true"', "align = 'true' turns the"),
    "limits": ('range="', 'range="5 -5" user="', "the first number must be below the second"),
    "names": ('name="dish"', 'name="mast"', "two elements are called 'mast'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_line(case, tmp_path):
    old, new, said = BAD[case]
    text = LANDER.read_text()
    assert old in text
    (tmp_path / "bad.xml").write_text(text.replace(old, new))
    with pytest.raises(pt.InputError, match=said) as refused:
        read_mjcf(tmp_path / "bad.xml")
    assert "bad.xml" in str(refused.value) and "\n" not in str(refused.value)


def swung(tmp_path: Path, *, flags: str = "", joint: str = "") -> pt.System:
    text = f"""<mujoco><option gravity="0 0 -5"><flag {flags}/></option><worldbody><body name="bob">
      <joint name="hinge" axis="0 1 0" stiffness="2" damping="0.3" springref="20" {joint}/>
      <geom size="0.1" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>"""
    (tmp_path / "swung.xml").write_text(text)
    return read_mjcf(tmp_path / "swung.xml")


@pytest.mark.parametrize(
    ("flags", "gravity", "spring", "damper"),
    [
        ("", 5.0, 2.0, 0.3),
        ('gravity="disable"', 0.0, 2.0, 0.3),
        ('passive="disable"', 5.0, 0.0, 0.0),
        ('spring="disable" contact="disable"', 5.0, 0.0, 0.3),
        ('damper="disable"', 5.0, 2.0, 0.0),
    ],
)
def test_flags_that_change_the_motion_are_heeded(flags, gravity, spring, damper, tmp_path):
    """The torque at an angle and a rate: of gravity on an arm of one, of the spring and of the damper."""
    with jax.disable_jit():
        chain = pt.OpenChain(swung(tmp_path, flags=flags))
        torque = chain.inverse_dynamics([0.5], [2.0], [0.0])
    wanted = gravity * np.sin(0.5) + spring * (0.5 - np.pi / 9) + 2.0 * damper
    np.testing.assert_allclose(torque, [wanted], rtol=1e-13)


@pytest.mark.parametrize(
    ("joint", "limits", "effort"),
    [
        ('range="-720 900"', ((None, -4 * np.pi, 5 * np.pi),), ()),
        ('range="0 0" actuatorfrcrange="-3 3"', (), ((None, 3.0),)),
        ('range="-1 1" limited="false" actuatorfrcrange="-3 4"', (), ()),
    ],
)
def test_limits_of_any_width_and_efforts_are_data(joint, limits, effort, tmp_path):
    site = swung(tmp_path, joint=joint).joints[0].site
    assert site.largest_effort == effort and len(site.limits) == len(limits)
    for (_, *found), (_, *wanted) in zip(site.limits, limits, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_meshes_have_their_scale_and_may_lose_their_folder(tmp_path):
    text = """<mujoco><compiler strippath="true" meshdir="shells"/>
      <asset><mesh name="shell" file="far/away/shell.stl" scale="1 2 3"/></asset><worldbody><body name="bob">
      <joint axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom mesh="shell"/>
      </body></worldbody></mujoco>"""
    (tmp_path / "shells").mkdir()
    (tmp_path / "shells" / "shell.stl").write_text("solid")
    (tmp_path / "bob.xml").write_text(text)
    (shape,) = read_mjcf(tmp_path / "bob.xml").geometry
    assert shape.size == (1.0, 2.0, 3.0) and shape.mesh == str(tmp_path / "shells" / "shell.stl")
    (tmp_path / "bob.xml").write_text(text.replace("scale=", 'refpos="0 0 1" scale='))
    with pytest.raises(pt.InputError, match="bob.xml: mesh 'shell': refpos = '0 0 1'; only 0 is read"):
        read_mjcf(tmp_path / "bob.xml")


def test_meshes_are_looked_for_in_the_folder_of_the_file_alone(tmp_path):
    def machine(file: str) -> Path:
        text = LANDER.read_text().replace(
            "<worldbody>", f'<asset><mesh name="shell" file="{file}"/></asset><worldbody>'
        )
        text = text.replace('<geom type="box" size="0.1 0.1 0.1"/>', '<geom type="mesh" mesh="shell"/>')
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "sub" / "machine.xml").write_text(text)
        return tmp_path / "sub" / "machine.xml"

    (tmp_path / "shell.stl").write_text("solid")
    with pytest.raises(pt.InputError, match="mesh 'shell.stl' is not there"):
        read_mjcf(machine("shell.stl"))
    with pytest.raises(pt.InputError, match="outside the folder of the file"):
        read_mjcf(machine("../shell.stl"))
    (tmp_path / "sub" / "shell.stl").write_text("solid")
    (shape,) = [one for one in read_mjcf(machine("shell.stl")).geometry if one.kind == "mesh"]
    assert shape.body == "mast" and shape.mesh == str(tmp_path / "sub" / "shell.stl")


SWIVEL = """
<mujoco model="swivel">
  <compiler angle="radian"/>
  <worldbody>
    <body name="ball" pos="0.1 0.2 1" euler="0.3 0.2 0.1">
      <joint name="yaw" axis="0 0 1" pos="0 0.1 0.3"/>
      <joint name="lift" type="slide" axis="0 1 1"/>
      <joint name="pitch" axis="0 1 0.2" pos="0.1 0 0.2"/>
      <inertial pos="0 0.02 -0.1" mass="1.5" fullinertia="0.02 0.03 0.025 0.001 0.002 -0.003"/>
      <body name="tail" pos="0 0 -0.4">
        <joint name="wag" axis="1 0 0"/>
        <joint name="roll" axis="0 0 1" pos="0.05 0 0"/>
        <inertial pos="0.1 0 -0.2" mass="0.7" diaginertia="0.004 0.005 0.003"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_several_joints_in_a_body_move_it_one_after_the_other(tmp_path):
    pin = pytest.importorskip("pinocchio")
    (tmp_path / "swivel.xml").write_text(SWIVEL)
    robot = read_mjcf(tmp_path / "swivel.xml")
    assert [body.name for body in robot.bodies if not body.light] == ["ball", "tail"]
    chain = pt.OpenChain(robot)
    model = pin.buildModelFromMJCF(str(tmp_path / "swivel.xml"))
    data = model.createData()
    assert chain.v_labels == ("yaw", "lift", "pitch", "wag", "roll")
    q, v, a, tau = np.random.default_rng(5).uniform(-1.0, 1.0, (4, 5))
    metric, gravity, needed, moved = _mechanics(chain, q, v, a, tau)
    upper = pin.crba(model, data, q)
    pairs = (
        (metric, np.triu(upper) + np.triu(upper, 1).T),
        (gravity, pin.computeGeneralizedGravity(model, data, q)),
        (needed, pin.rnea(model, data, q, v, a)),
        (moved, pin.aba(model, data, q, v, tau)),
    )
    for own, other in pairs:
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-12 * np.max(np.abs(other)))


@once
def _mechanics(chain, q, v, a, tau):
    return (
        chain.metric(q),
        chain.gravity(q),
        chain.inverse_dynamics(q, v, a),
        chain.forward_dynamics(q, v, tau),
    )


def test_the_command_shows_what_is_there_and_what_is_missing(tmp_path):
    done = CliRunner().invoke(app, ["inspect", str(LANDER), "--json"], catch_exceptions=False)
    shown = json.loads(done.stdout)
    assert shown["freedoms"] == 12 and shown["remarks"] == ["joints without limits: pan"]
    assert [(one["name"], one["depth"]) for one in shown["joints"]][-1] == ("pan", 2)
    (tmp_path / "swivel.xml").write_text(SWIVEL)
    text = CliRunner().invoke(app, ["inspect", str(tmp_path / "swivel.xml")], catch_exceptions=False).stdout
    assert "5 degrees of freedom" in text and "no shapes" in text
    assert "in joint coordinates only: ball, joint 1, ball, joint 2, tail, joint 1" in text
    (tmp_path / "stone.xml").write_text(
        '<mujoco><worldbody><body name="stone"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    alone = CliRunner().invoke(app, ["inspect", str(tmp_path / "stone.xml")], catch_exceptions=False).stdout
    assert "1 body, 4.18879 in all, 6 degrees of freedom" in alone
    refused = CliRunner().invoke(app, ["inspect", str(LANDER), "--floating"])
    assert refused.exit_code == 2 and "has no key 'floating'" in refused.output
