"""Robots to URDF files: what is written and read again is the same system, in all that URDF can say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.io import read_urdf, write_urdf

PICKER = Path(__file__).parent / "robots" / "picker.urdf"
CRAWLER = Path(__file__).parent / "robots" / "crawler.urdf"


def _compared(one: pt.System, other: pt.System) -> None:
    """Bodies, joints with their data, couplings, dampers, frames and shapes."""
    close: Any = {"rtol": 0, "atol": 2e-14}
    assert other.names == one.names and other.light == one.light
    np.testing.assert_allclose(other.body_masses, one.body_masses, rtol=1e-15)
    np.testing.assert_allclose(other.body_inertias, one.body_inertias, **close)
    assert [type(joint) for joint in other.joints] == [type(joint) for joint in one.joints]
    for joint, again in zip(one.joints, other.joints, strict=True):
        for field in ("name", "ends", "limits", "largest_effort", "largest_velocity"):
            assert getattr(again.site, field) == getattr(joint.site, field), (joint.name, field)
    assert one.linkage is not None and other.linkage is not None
    for pair, again in zip(one.linkage.markers, other.linkage.markers, strict=True):
        for marker, same in zip(pair, again, strict=True):
            assert marker.body == same.body
            np.testing.assert_allclose(same.point, marker.point, **close)
            np.testing.assert_allclose(_directions(same), _directions(marker), **close)
    further = [own.conditions[len(own.joints) :] for own in (one.linkage, other.linkage)]
    assert [_numbers(coupling) for coupling in further[1]] == [_numbers(coupling) for coupling in further[0]]
    assert _damped(other) == _damped(one)
    for name, marker in one.frames.items():
        same = other.frames[name]
        assert same.body == marker.body, name
        np.testing.assert_allclose(same.point, marker.point, **close, err_msg=name)
        np.testing.assert_allclose(_directions(same), _directions(marker), **close, err_msg=name)
    assert len(other.geometry) == len(one.geometry)
    for shape, same in zip(one.geometry, other.geometry, strict=True):
        assert (same.body, same.kind, same.size, same.role) == (
            shape.body,
            shape.kind,
            shape.size,
            shape.role,
        )
        np.testing.assert_allclose(same.position, shape.position, **close)
        np.testing.assert_allclose(np.abs(np.dot(same.quaternion, shape.quaternion)), 1.0, rtol=0, atol=1e-14)
        assert _content(same) == _content(shape)


def _directions(marker: Any) -> np.ndarray:
    return np.eye(3) if marker.rotation is None else np.asarray(marker.rotation)


def _damped(robot: pt.System) -> list[tuple[str, float]]:
    loads: tuple[Any, ...] = robot.loads
    return [(load.joint, float(load.damping)) for load in loads]


def _numbers(coupling: Any) -> tuple:
    about = None if coupling.about is None else float(coupling.about)
    return *coupling.ends, *np.asarray(coupling.weights).tolist(), float(coupling.offset), about


def _content(shape: Any) -> bytes | str | None:
    return Path(shape.mesh).read_bytes() if shape.mesh and "://" not in shape.mesh else shape.mesh


def crawler(folder: Path) -> Path:
    """The file of a robot in a folder of its own, with its meshes."""
    (folder / "shells").mkdir(parents=True)
    (folder / "shells" / "hull.stl").write_text("solid hull")
    (folder / "hull.stl").write_text("solid another")
    (folder / "crawler.urdf").write_text(CRAWLER.read_text())
    return folder / "crawler.urdf"


@pytest.mark.parametrize(
    "floating", of_the_long_suite({"fixed": (False,), "floating": (True,)}, {"floating"})
)
def test_all_that_urdf_can_say_comes_back(floating, tmp_path):
    robot = read_urdf(crawler(tmp_path / "one"), floating=floating, damping=True)
    assert robot.light == ("yoke",) and len(robot.loads) == 2
    sites = {joint.name: joint.site for joint in robot.joints}
    assert sites["wheel"].limits == () and sites["wheel"].largest_effort == ((None, 7.5),)
    assert sites["roll"].limits == ((None, -12.566, 9.0),) and sites["slip"].kind == "Planar"
    (tmp_path / "two").mkdir()
    write_urdf(robot, tmp_path / "two" / "crawler.urdf")
    again = read_urdf(tmp_path / "two" / "crawler.urdf", floating=floating, damping=True)
    _compared(robot, again)
    assert {*again.frames} == {*robot.frames}
    meshes = sorted(path.relative_to(tmp_path / "two") for path in (tmp_path / "two").rglob("*.stl"))
    assert meshes == [Path("meshes/hull-2.stl"), Path("meshes/hull.stl")]
    write_urdf(again, tmp_path / "two" / "third.urdf")
    _compared(again, read_urdf(tmp_path / "two" / "third.urdf", floating=floating, damping=True))
    assert sorted(path.name for path in (tmp_path / "two").rglob("*.stl")) == ["hull-2.stl", "hull.stl"]


def test_the_comparison_sees_what_differs(tmp_path):
    """The negative of the test above: one number changed in the file is one that it finds."""
    robot = read_urdf(crawler(tmp_path / "one"), damping=True)
    write_urdf(robot, tmp_path / "one" / "again.urdf")
    text = (tmp_path / "one" / "again.urdf").read_text()
    for old, new in (
        ('effort="7.5"', 'effort="7.25"'),
        ('velocity="3.25"', 'velocity="3.5"'),
        ('upper="9.0"', 'upper="9.5"'),
        ('multiplier="-0.123456789"', 'multiplier="-0.12345678"'),
        ('offset="0.7071"', 'offset="0.7072"'),
        ('damping="0.35"', 'damping="0.3"'),
        ('scale="0.001 0.001 0.002"', 'scale="0.001 0.001 0.001"'),
        ('filename="hull.stl"', 'filename="shells/hull.stl"'),
    ):
        assert old in text, old
        (tmp_path / "one" / "other.urdf").write_text(text.replace(old, new))
        with pytest.raises(AssertionError):
            _compared(robot, read_urdf(tmp_path / "one" / "other.urdf", damping=True))


def test_rotations_come_back_where_roll_and_yaw_turn_about_one_axis(tmp_path):
    for pitch in ("1.5707963267948966", "1.5707963", "-1.57079632"):
        text = PICKER.read_text().replace('rpy="-0.4 0.3 0.1"', f'rpy="-0.4 {pitch} 0.9"')
        (tmp_path / "upright.urdf").write_text(text)
        robot = read_urdf(tmp_path / "upright.urdf")
        write_urdf(robot, tmp_path / "again.urdf")
        _compared(robot, read_urdf(tmp_path / "again.urdf"))


def test_a_link_called_ground_keeps_its_place_on_the_ground(tmp_path):
    """The root is "world", and "ground" is a link that is fixed to it elsewhere."""
    more = (
        '<link name="world"/><joint name="stand" type="fixed"><parent link="world"/><child link="ground"/>'
        '<origin xyz="0 0.1 0.5" rpy="0 0 -1.57"/></joint>'
    )
    text = PICKER.read_text().replace('"base"', '"ground"')
    text = text.replace('<link name="plate"/>', f'{more}<link name="plate"/>')
    (tmp_path / "picker.urdf").write_text(text)
    robot = read_urdf(tmp_path / "picker.urdf")
    assert robot.frames["ground"].body is None and robot.frames["ground"].point[2] == 0.5
    write_urdf(robot, tmp_path / "again.urdf")
    again = read_urdf(tmp_path / "again.urdf")
    _compared(robot, again)
    assert {*again.frames} == {*robot.frames}


def test_a_capsule_is_a_cylinder_with_two_balls(tmp_path):
    text = PICKER.read_text().replace("<cylinder radius", '<capsule radius')  # fmt: skip
    (tmp_path / "capsule.urdf").write_text(text)
    write_urdf(read_urdf(tmp_path / "capsule.urdf"), tmp_path / "again.urdf")
    shapes = read_urdf(tmp_path / "again.urdf").geometry
    assert [(shape.kind, shape.size) for shape in shapes] == [
        ("cylinder", (0.1, 0.6)),
        ("sphere", (0.1,)),
        ("sphere", (0.1,)),
    ]
    apart = np.subtract(shapes[2].position, shapes[1].position)
    np.testing.assert_allclose(apart, (0.0, 0.0, 0.6), rtol=0, atol=1e-15)


def plate(limits: Any = None, *, reverse: bool = False, **more: Any) -> pt.System:
    ends = ("plate", "ground") if reverse else ("ground", "plate")
    joint = pt.joints.Planar(*ends, at=(0, 0, 0), name="slip", limits=limits)
    return pt.System(pt.RigidBody(1.0, (1.0, 1.0, 1.0), name="plate"), joints=[joint], **more)


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (lambda: plate({"x": (0.0, 1.0)}), "Planar joint 'slip' of ground and plate: URDF has no limits of"),
        (lambda: plate(reverse=True), "goes from the outer body to the inner one"),
        (
            lambda: plate(loads=[pt.loads.JointDamper("slip", 1.0, "x")]),
            "damper in Planar joint 'slip' of ground and plate: URDF has them in hinges and slides",
        ),
        (
            lambda: plate(geometry=[pt.model.Geometry("plate", "ellipsoid", (1.0, 2.0, 3.0))]),
            "geometry of 'plate' has a shape of kind 'ellipsoid', which URDF does not have",
        ),
        (
            lambda: plate(geometry=[pt.model.Geometry("plate", "mesh", (1.0,) * 3, mesh="/no/shell.stl")]),
            "geometry of 'plate': mesh '/no/shell.stl' is not there",
        ),
    ],
)  # fmt: skip
def test_what_urdf_cannot_say_is_refused(system, said, tmp_path):
    with pytest.raises(pt.InputError, match=said) as refused:
        write_urdf(system(), tmp_path / "none.urdf")
    assert "\n" not in str(refused.value) and not (tmp_path / "none.urdf").exists()


def test_shapes_can_be_left_out(tmp_path):
    system = plate(geometry=[pt.model.Geometry("plate", "ellipsoid", (1.0, 2.0, 3.0))])
    write_urdf(system, tmp_path / "bare.urdf", geometry=False)
    again = read_urdf(tmp_path / "bare.urdf")
    assert again.geometry == () and again.joints[0].freedoms == ("x", "y", "angle")
