"""Robots from URDF files: the same mechanics as Pinocchio reads, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import poinsot as pt
from poinsot.cli import app
from poinsot.io import _xml, read_urdf, write_urdf

pin: Any = pytest.importorskip("pinocchio")
PICKER = Path(__file__).parent / "robots" / "picker.urdf"
QUICK: Any = {"compiler_options": {"xla_backend_optimization_level": 0}}


@eqx.filter_jit(**QUICK)
def _everything(chain: pt.OpenChain, q, v, a):
    return {
        "metric": chain.metric(q),
        "forces": chain.inverse_dynamics(q, v, a),
        "tip": jnp.concatenate([part.reshape(-1) for part in chain.pose(q, "tip")]),
    }


def _of_pinocchio(model: Any, names: tuple[str, ...], numbers: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Their answers at the coordinates of joints by name; a continuous joint has cosine and sine there."""
    q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    at = []
    for name, own in zip(names, zip(*numbers, strict=True), strict=True):
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            [np.cos(own[0]), np.sin(own[0])] if joint.nq == 2 else own[0]
        )
        v[joint.idx_v], a[joint.idx_v] = own[1:]
        at.append(joint.idx_v)
    data = model.createData()
    upper = pin.crba(model, data, q)
    mass = np.triu(upper) + np.triu(upper, 1).T
    forces = pin.rnea(model, data, q, v, a).copy()
    pin.framesForwardKinematics(model, data, q)
    tip = data.oMf[model.getFrameId("tip")]
    return {
        "metric": mass[np.ix_(at, at)],
        "forces": forces[at],
        "tip": np.concatenate([tip.translation, tip.rotation.reshape(-1)]),
    }


def test_a_robot_has_the_mechanics_that_pinocchio_reads():
    robot = read_urdf(PICKER)
    assert robot.names == ("column", "arm", "slide", "finger") and robot.name == "picker"
    chain = pt.OpenChain(robot)
    assert chain.v_labels == ("turn", "shoulder", "extend", "grip")
    numbers = list(np.random.default_rng(0).uniform(-1.0, 1.0, (3, 4)))
    ours = _everything(chain, *numbers)
    theirs = _of_pinocchio(pin.buildModelFromXML(PICKER.read_text()), chain.v_labels, numbers)
    for name, value in theirs.items():
        np.testing.assert_allclose(
            ours[name], value, rtol=0, atol=1e-13 * np.max(np.abs(value)), err_msg=name
        )


def test_limits_damping_and_a_floating_base():
    robot = read_urdf(PICKER, floating=True, damping=True, gravity=(0, 0, 0))
    assert robot.names[0] == "base" and len(robot.loads) == 1
    limits = {joint.name: joint.site.limits for joint in robot.joints}
    assert limits["turn"] == () and limits["shoulder"] == ((None, -1.5, 2.0),)
    efforts = {joint.name: joint.site.largest_effort for joint in robot.joints}
    assert efforts["turn"] == () and efforts["shoulder"] == ((None, 10.0),)
    assert robot.joints[3].site.largest_velocity == ((None, 1.0),)
    assert pt.OpenChain(robot).v_size == 10
    np.testing.assert_allclose(robot.body_masses, [12.0, 6.5, 2.0, 0.8, 0.1])


@pytest.mark.parametrize(
    ("limit", "limits", "effort"),
    [
        ('lower="-6.28" upper="12.5" effort="10" velocity="1"', ((None, -6.28, 12.5),), ((None, 10.0),)),
        ('lower="0" upper="0" effort="0" velocity="0"', ((None, 0.0, 0.0),), ()),
        ('effort="2.5" velocity="0"', (), ((None, 2.5),)),
        ('upper="1"', ((None, 0.0, 1.0),), ()),
        ('lower="-1.79769e+308" upper="1.79769e+308" effort="-1" velocity="-1"', (), ()),
        ('lower="-inf" upper="inf" effort="inf" velocity="inf"', (), ()),
        ('lower="-1" upper="inf" effort="2"', (), ((None, 2.0),)),
        ('lower="2" upper="1" effort="2"', (), ((None, 2.0),)),
    ],
)
def test_limits_are_data_of_any_width(limit, limits, effort, tmp_path):
    given = 'lower="-1.5" upper="2.0" effort="10" velocity="1"'
    (tmp_path / "wide.urdf").write_text(PICKER.read_text().replace(given, limit))
    shoulder = read_urdf(tmp_path / "wide.urdf").joints[1].site
    assert (shoulder.limits, shoulder.largest_effort) == (limits, effort)


def test_a_mimic_joint_becomes_a_coupling(tmp_path):
    text = PICKER.read_text().replace(
        '<joint name="grip" type="revolute">',
        '<joint name="grip" type="revolute"><mimic joint="shoulder" multiplier="-0.75" offset="0.1"/>',
    )
    (tmp_path / "mimic.urdf").write_text(text)
    robot = read_urdf(tmp_path / "mimic.urdf")
    assert robot.mechanism is not None
    coupling: Any = robot.mechanism.conditions[-1]
    assert (*coupling.weights, coupling.offset, coupling.about) == (1.0, 0.75, 0.1, 0.25)


@pytest.mark.parametrize(
    ("factor", "limits", "about"),
    [("-0.75", "", None), ("2.7182818", "", 0.0), ("2.7182818", 'lower="1" upper="5"', 3.0),
     ("0.333", 'lower="-9" upper="9"', None)],
)  # fmt: skip
def test_mimic_takes_any_number(factor, limits, about, tmp_path):
    """What follows a joint within a turn follows its angle; what follows one that turns round is a gear."""
    text = PICKER.read_text().replace(
        '<joint name="grip" type="revolute">',
        f'<joint name="grip" type="revolute"><mimic joint="shoulder" multiplier="{factor}" offset="77"/>',
    )
    kind = "revolute" if limits else "continuous"
    text = text.replace('name="shoulder" type="revolute"', f'name="shoulder" type="{kind}"')
    (tmp_path / "mimic.urdf").write_text(text.replace('lower="-1.5" upper="2.0"', limits))
    robot = read_urdf(tmp_path / "mimic.urdf")
    assert robot.mechanism is not None
    coupling: Any = robot.mechanism.conditions[-1]
    assert (*coupling.weights, coupling.offset, coupling.about) == (1.0, -float(factor), 77.0, about)


def test_what_is_written_is_read_again(tmp_path):
    robot = read_urdf(PICKER)
    write_urdf(robot, tmp_path / "new" / "again.urdf")
    again = read_urdf(tmp_path / "new" / "again.urdf")
    assert again.names == robot.names and {*robot.frames} <= {*again.frames}
    chains = [pt.OpenChain(one) for one in (robot, again)]
    numbers = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 4))
    with jax.disable_jit():
        first, second = (_everything(chain, *numbers) for chain in chains)
    for name, value in first.items():
        size = np.max(np.abs(value))
        np.testing.assert_allclose(second[name], value, rtol=0, atol=1e-14 * size, err_msg=name)
    limits = [{joint.name: joint.site.limits for joint in one.joints} for one in (robot, again)]
    assert limits[0] == limits[1]
    shapes = [[(one.body, one.kind, one.size, one.role) for one in own.geometry] for own in (robot, again)]
    assert shapes[0] == shapes[1] and shapes[0]


def test_a_floating_robot_with_a_mimic_joint_is_written(tmp_path):
    text = PICKER.read_text().replace(
        '<joint name="grip" type="revolute">',
        '<joint name="grip" type="revolute"><mimic joint="shoulder" multiplier="-0.75" offset="0.1"/>',
    )
    (tmp_path / "mimic.urdf").write_text(text)
    robot = read_urdf(tmp_path / "mimic.urdf", floating=True)
    write_urdf(robot, tmp_path / "again.urdf")
    again = read_urdf(tmp_path / "again.urdf", floating=True)
    for one in (robot, again):
        assert one.mechanism is not None
        coupling: Any = one.mechanism.conditions[-1]
        assert (*coupling.weights, coupling.offset, coupling.about) == (1.0, 0.75, 0.1, 0.25)
    assert again.names == robot.names


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (lambda: pt.library.four_bar(), "closes a loop, and URDF has trees alone"),
        (lambda: pt.library.rod_pendulum(2), "URDF has hinges, slides, planar and fixed joints"),
        (lambda: pt.System(pt.RigidBody(1.0, (1.0, 1.0, 1.0))), "system has no joints"),
    ],
)
def test_what_urdf_cannot_say_is_refused(system, said, tmp_path):
    with pytest.raises(pt.InputError, match=said):
        write_urdf(system(), tmp_path / "none.urdf")


def test_meshes_are_looked_for_in_the_folder_of_the_file_alone(tmp_path):
    def robot(file: str) -> Path:
        shape = '<cylinder radius="0.1" length="0.6"/>'
        text = PICKER.read_text().replace(shape, f'<mesh filename="{file}" scale="1 1 2"/>')
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "sub" / "robot.urdf").write_text(text)
        return tmp_path / "sub" / "robot.urdf"

    (tmp_path / "shell.stl").write_text("solid")
    with pytest.raises(pt.InputError, match="'column': <visual>: mesh 'shell.stl' is not there"):
        read_urdf(robot("shell.stl"))
    for path in ("../shell.stl", "/etc/passwd"):
        with pytest.raises(pt.InputError, match="outside the folder of the file"):
            read_urdf(robot(path))
    assert read_urdf(robot("../shell.stl"), geometry=False).geometry == ()
    (shape,) = read_urdf(robot("package://robot/../../shell.stl")).geometry
    assert shape.mesh == "package://robot/../../shell.stl", "kept as a name, and not looked for"
    (tmp_path / "sub" / "shell.stl").write_text("solid")
    (shape,) = read_urdf(robot("package://robot/shell.stl")).geometry
    assert shape.mesh == str(tmp_path / "sub" / "shell.stl") and shape.size == (1.0, 1.0, 2.0)


def test_an_unknown_frame_names_the_nearest():
    with pytest.raises(pt.InputError, match="no frame is called 'tipp'; did you mean tip"):
        pt.OpenChain(read_urdf(PICKER)).pose([0.0] * 4, "tipp")
    with pytest.raises(pt.InputError, match=r"q has shape \(3,\)|q.*4"):
        pt.OpenChain(read_urdf(PICKER)).metric([0.0] * 3)


BAD = {
    "entities": ('<?xml version="1.0"?>', '<!DOCTYPE a [<!ENTITY b "c">]>', "document types and entities"),
    "cut off": ("</robot>", "", "line 59: not XML, 'no element found'"),
    "no robot": ("robot", "machine", "begins with <machine>"),
    "a cycle": ('<parent link="base"/>', '<parent link="arm"/>', "are a cycle, apart from the root"),
    "two roots": ('<link name="tip"/>', '<link name="tip"/><link name="spare"/>', "2 roots: base, spare"),
    "two parents": ('<child link="tip"/>', '<child link="arm"/>', "is the child of 'shoulder' and of 'end'"),
    "no mass": ('<mass value="0.1"/>', '<mass value="0"/>', "has principal moments .* but its mass is zero"),
    "negative": ('<mass value="5"/>', '<mass value="-5"/>', "mass = -5; it must not be negative"),
    "inertia": ('izz="1.5e-4"', 'izz="1.5e-2"', "triangle inequality"),
    "a kind": ('type="prismatic"', 'type="screw"', "type = 'screw'; it must be one of"),
    "a lost link": ('<child link="slide"/>', '<child link="slid"/>', "child = 'slid', which is no link"),
    "numbers": ('xyz="0.4 0 0"', 'xyz="0.4 0 x"', "xyz of <origin> = '0.4 0 x'; it must be 3 finite numbers"),
    "limits": ('lower="-1.5"', 'lower="low"', "lower of <limit> = 'low'; it must be 1 finite number"),
    "axis": ('<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>', "axis is zero"),
    "mimics itself": ('<parent link="arm"/>', '<parent link="arm"/><mimic joint="extend"/>', "mimics itself"),
    "space moves": ('"arm"', '"ground"', "'ground' moves, and that is the name of space; give the link"),
    "a name twice": ('<link name="tip"/>', '<link name="tip"/><link name="tip"/>', "two elements are called"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_line(case, tmp_path):
    old, new, said = BAD[case]
    (tmp_path / "bad.urdf").write_text(PICKER.read_text().replace(old, new))
    with pytest.raises(pt.InputError, match=said) as refused:
        read_urdf(tmp_path / "bad.urdf")
    assert "bad.urdf" in str(refused.value) and "\n" not in str(refused.value)


def test_a_robot_without_links_is_refused(tmp_path):
    (tmp_path / "bad.urdf").write_text('<robot name="none"/>')
    with pytest.raises(pt.InputError, match="bad.urdf has no link; there is nothing to simulate"):
        read_urdf(tmp_path / "bad.urdf")


def test_a_missing_file_is_named():
    with pytest.raises(pt.InputError, match=r"nowhere.urdf: No such file"):
        read_urdf("nowhere.urdf")


def test_the_command_shows_the_tree_and_the_masses():
    done = CliRunner().invoke(app, ["inspect", str(PICKER), "--json"], catch_exceptions=False)
    shown = json.loads(done.stdout)
    assert shown["freedoms"] == 4 and [one["depth"] for one in shown["joints"]] == [0, 1, 2, 3]
    shoulder = shown["joints"][1]
    assert shoulder["limits"] == [-1.5, 2.0]
    assert (shoulder["largest_effort"], shoulder["largest_velocity"]) == (10.0, 1.0)
    assert shown["bodies"][2]["frames"] == ["slide", "plate", "tip"]
    table = CliRunner().invoke(app, ["inspect", str(PICKER), "--floating"], catch_exceptions=False).stdout
    assert "5 bodies, 21.4 in all, 10 degrees of freedom" in table
    (free,) = [line.split() for line in table.splitlines() if " free " in line]
    assert free == ["base", "free", "ground", "base"]


def described(tmp_path: Path, *changes: tuple[str, str]) -> list[str]:
    """Remarks on the picker with some of its text exchanged."""
    text = PICKER.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "picker.urdf").write_text(text)
    return pt.io.describe_robot(tmp_path / "picker.urdf")["remarks"]


def test_remarks_are_true_of_the_file(tmp_path):
    """Each remark appears when the file lacks something, and only then."""
    usual = described(tmp_path)
    assert usual == [
        "links without inertia, fixed to others that have some: plate, tip",
        "joints without largest effort: turn",
        "joints without largest velocity: turn",
    ]
    shape, grip, outside = (
        '<cylinder radius="0.1" length="0.6"/>',
        'lower="-0.8" upper="0.8" effort="1" velocity="1"',
        "'../a.stl' is outside the folder",
    )
    base = '<inertial><mass value="12"/>', "<!--", 'izz="1"/></inertial>', "-->"
    cases = {
        "joints without limits: grip": ((grip, 'effort="1" velocity="1"'),),
        "joints without largest effort: turn, grip": ((grip, grip.replace('effort="1"', 'effort="0"')),),
        "joints with one value between their limits, which nothing holds: grip": (
            (grip, grip.replace('"-0.8" upper="0.8"', '"0.1" upper="0.1"')),
        ),
        "joints whose lower limit is above the upper one, so their limits are left out: grip": (
            ('lower="-0.8"', 'lower="0.9"'),
        ),
        "joints with a limit on one side alone, so their limits are left out: grip": (
            ('lower="-0.8"', 'lower="-1e16"'),
        ),
        "joints with friction, which is not read: turn": (('damping="0.3"', 'damping="0" friction="2"'),),
        "meshes that are not to be had, so read with geometry=False: 1": (
            (shape, '<mesh filename="a.stl"/>'),
        ),
        f"link 'column': <visual>: mesh {outside} of the file, and meshes are only read from there": (
            (shape, '<mesh filename="../a.stl"/>'),
        ),
        "meshes of packages, not in the folder and not drawn: package://a/b.stl": (
            (shape, '<mesh filename="package://a/b.stl"/>'),
        ),
        "links without inertia on the ground: base": ((base[0], base[1]), (base[2], base[3])),
    }
    for remark, changes in cases.items():
        assert remark not in usual
        assert remark in described(tmp_path, *changes), remark


LAUGHS = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10))
ATTACKS = {
    "entities that grow": f'<!DOCTYPE robot [<!ENTITY e0 "ha">{LAUGHS}]><robot name="&e9;"/>',
    "a file": '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="a">&x;</robot>',
    "a document type elsewhere": '<!DOCTYPE robot SYSTEM "http://localhost/robot.dtd"><robot name="a"/>',
}  # fmt: skip


@pytest.mark.parametrize("case", ATTACKS)
def test_entities_are_refused_before_they_are_looked_at(case, tmp_path):
    (tmp_path / "bad.urdf").write_text(ATTACKS[case])
    with pytest.raises(pt.InputError, match="line 1: document types and entities are not read"):
        read_urdf(tmp_path / "bad.urdf")


ENCODINGS = {
    "unknown": ("klingon", b"a", "the encoding 'klingon' is not read; save the file as UTF-8"),
    "of several bytes": ("euc-jp", b"a", "the encoding 'euc-jp' is not read; save the file as UTF-8"),
    "no text": ("hex", b"a", "the encoding 'hex' is not read"),
    "utf-16 that is none": ("utf-16", b"a", "line 1: not XML, its bytes are not of the encoding 'utf-16'"),
    "latin letters": ("utf-8", b"\xe4", "line 1: not XML, its bytes are not of the encoding 'utf-8'"),
    "no ascii": ("us-ascii", b"\xc3\xa4", "line 1: not XML, its bytes are not of the encoding 'us-ascii'"),
    "bad bytes": ("cp1252", b"\x81", "line 1: not XML, its bytes are not of the encoding 'cp1252'"),
    "bad letters": ("utf-8", b"&", "line 1: not XML, 'not well-formed (invalid token)'"),
}


@pytest.mark.parametrize("case", ENCODINGS)
def test_encodings_that_are_not_read_are_named(case, tmp_path):
    encoding, letters, said = ENCODINGS[case]
    given = f'<?xml version="1.0" encoding="{encoding}"?><robot name="'.encode()
    (tmp_path / "bad.urdf").write_bytes(given + letters + b'"/>')
    with pytest.raises(pt.InputError, match=re.escape(said)) as refused:
        read_urdf(tmp_path / "bad.urdf")
    assert "bad.urdf" in str(refused.value) and "\n" not in str(refused.value)
    done = CliRunner().invoke(app, ["inspect", str(tmp_path / "bad.urdf")])
    assert done.exit_code == 2 and "Traceback" not in done.output


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "cp1252"])
def test_encodings_that_are_read(encoding, tmp_path):
    text = PICKER.read_text().replace("?>", f' encoding="{encoding}"?>', 1).replace('"picker"', '"Hände"')
    (tmp_path / "robot.urdf").write_bytes(text.encode(encoding))
    assert read_urdf(tmp_path / "robot.urdf").name == "Hände"


def test_files_that_are_too_large_or_too_deep_are_refused(tmp_path, monkeypatch):
    (tmp_path / "deep.urdf").write_text("<robot>" * 100 + "</robot>" * 100)
    with pytest.raises(pt.InputError, match="elements are nested too deeply"):
        read_urdf(tmp_path / "deep.urdf")
    with (tmp_path / "large.urdf").open("wb") as file:
        file.truncate(2**24 + 1)
    with pytest.raises(pt.InputError, match=r"large.urdf: it has 16777217 bytes; at most 16777216 are read"):
        read_urdf(tmp_path / "large.urdf")
    monkeypatch.setattr(_xml, "MOST", 3)
    with pytest.raises(pt.InputError, match=r"picker.urdf has \d+ elements <link>; at most 3 are read"):
        read_urdf(PICKER)


def test_a_link_without_mass_between_two_hinges_is_light(tmp_path):
    """A second hinge on a link without inertia; written and read again it is the same."""
    more = (
        '<link name="yoke"/><joint name="tilt" type="continuous"><parent link="base"/><child link="yoke"/>'
        '<origin xyz="0 0 0.2"/><axis xyz="1 0 0"/></joint>'
    )
    text = PICKER.read_text().replace('<link name="plate"/>', f'{more}<link name="plate"/>')
    text = text.replace('<parent link="base"/><child link="column"/><origin xyz="0 0 0.2"/>',
                        '<parent link="yoke"/><child link="column"/>')  # fmt: skip
    (tmp_path / "yoke.urdf").write_text(text)
    robot = read_urdf(tmp_path / "yoke.urdf")
    assert robot.light == ("yoke",)
    chain = pt.OpenChain(robot)
    plain = pt.OpenChain(read_urdf(PICKER))
    q = np.array([0.0, 0.4, -0.2, 0.1, 0.3])
    metric = np.asarray(chain.metric(q))
    np.testing.assert_allclose(metric[1:, 1:], plain.metric(q[1:]), rtol=0, atol=1e-13)
    write_urdf(robot, tmp_path / "again.urdf")
    again = read_urdf(tmp_path / "again.urdf")
    assert again.light == ("yoke",)
    np.testing.assert_allclose(pt.OpenChain(again).metric(q), metric, rtol=0, atol=1e-13)
