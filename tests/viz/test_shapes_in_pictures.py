"""Shapes of bodies in pictures: sizes and places of solids, meshes of files, what is left out."""

import struct
from typing import Any

import matplotlib
import matplotlib.figure
import numpy as np
import pytest

from poinsot.model import Geometry
from poinsot.viz._mechanism import Body, Mechanism
from poinsot.viz._mesh import MOST, _thinned, mesh_of
from poinsot.viz._shapes import solid_of, solids_of
from poinsot.viz._solid import View

matplotlib.use("Agg")
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
SIZES: Any = {
    "box": ((1.0, 2.0, 4.0), (1.0, 2.0, 4.0), 6),
    "sphere": ((0.5,), (1.0, 1.0, 1.0), None),
    "ellipsoid": ((0.5, 1.0, 1.5), (1.0, 2.0, 3.0), None),
    "cylinder": ((0.5, 3.0), (1.0, 1.0, 3.0), 22),
    "capsule": ((0.5, 3.0), (1.0, 1.0, 4.0), None),
}


def shape(body: str, kind: str, size: tuple, **more: Any) -> dict[str, Any]:
    return Geometry(body, kind, size, **more).__dict__


def volume(points: np.ndarray, faces: Any) -> float:
    """Of a closed surface, by its cones from the origin; positive where faces look outwards."""
    fans = [(face[0], a, b) for face in faces for a, b in zip(face[1:-1], face[2:], strict=True)]
    return sum(float(np.linalg.det(points[list(fan)])) for fan in fans) / 6.0


@pytest.mark.parametrize("kind", SIZES)
def test_a_solid_has_its_size_and_is_closed(kind):
    size, sides, count = SIZES[kind]
    solid: Any = solid_of(kind, np.array(size), None)
    np.testing.assert_allclose(np.ptp(solid.points, axis=0), sides, rtol=1e-12)
    np.testing.assert_allclose(solid.points.max(axis=0), 0.5 * np.array(sides), rtol=1e-12)
    assert count is None or len(solid.faces) == count
    r, full = float(size[0]), {"box": 8.0, "sphere": np.pi / 6, "ellipsoid": np.pi, "cylinder": 0.75 * np.pi}
    right = float(full.get(kind, np.pi * r**2 * 3.0 + 4 / 3 * np.pi * r**3))
    found = volume(solid.points, solid.faces)
    assert found == pytest.approx(right, rel=0.06) and found < right * (1.0 + 1e-12)


def stl(triangles: np.ndarray, binary: bool) -> bytes:
    if not binary:
        corners = ["\n".join(f"vertex {x} {y} {z}" for x, y, z in one) for one in triangles]
        facets = [f"facet normal 0 0 0 outer loop\n{one}\nendloop endfacet" for one in corners]
        return "\n".join(["solid", *facets, "endsolid"]).encode()
    rows = [struct.pack("<12fH", 0, 0, 0, *one.reshape(-1), 0) for one in triangles]
    return b"solid but binary".ljust(80) + struct.pack("<I", len(rows)) + b"".join(rows)


@pytest.mark.parametrize("name", ["binary.stl", "text.STL", "wave.obj"])
def test_a_mesh_is_read(name, tmp_path):
    if name.endswith("obj"):
        lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [
            "f 1//1 3//1 2//1",
            "f 1/1 2/2 4/3",
            "f 1 4 3",
            "f -3 -2 -1",
        ]
        data = "\n".join(["# a mesh", "vn 0 0 1", *lines]).encode()
    else:
        data = stl(CORNERS[SIDES], binary=name.startswith("binary"))
    (tmp_path / name).write_bytes(data)
    solid: Any = solid_of("mesh", np.array([1.0, 1.0, 2.0]), str(tmp_path / name))
    assert len(solid.points) == 4 and len(solid.faces) == 4
    assert volume(solid.points, solid.faces) == pytest.approx(2.0, rel=1e-12), "twice as high"


def test_what_cannot_be_read_is_left_out(tmp_path):
    for name, data in (
        ("a.stl", b"solid"),
        ("b.stl", b"vertex 1 2 x " * 3),
        ("c.dae", b""),
        ("d.obj", b"f 1 2 3"),
    ):
        (tmp_path / name).write_bytes(data)
        assert mesh_of(str(tmp_path / name)) is None, name
    assert mesh_of("package://robot/shell.stl") is None
    assert solid_of("plane", np.ones(3), None) is None


def test_a_fine_mesh_is_made_coarse():
    angles = np.linspace(0.0, 2.0 * np.pi, 400)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = np.concatenate([np.c_[ring, np.full(400, z)] for z in np.linspace(0.0, 1.0, 40)])
    at = np.arange(39 * 400 - 1)
    triangles = np.concatenate(
        [np.stack([at, at + 1, at + 400], axis=1), np.stack([at + 1, at + 401, at + 400], axis=1)]
    )
    assert len(triangles) > MOST
    fewer, left = _thinned(points, triangles)
    assert 100 < len(left) <= MOST
    np.testing.assert_allclose(np.ptp(fewer, axis=0), [2.0, 2.0, 1.0], atol=0.05)


def test_shapes_to_look_at_come_before_those_that_touch():
    quarter = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    found = solids_of(
        [
            shape("arm", "sphere", (1.0,), role="collision"),
            shape("arm", "box", (4.0, 2.0, 1.0), position=(1.0, 2.0, 3.0), quaternion=quarter),
            shape("hand", "sphere", (1.0,), role="collision"),
            shape("hand", "mesh", (1.0, 1.0, 1.0), mesh="hand.dae"),
        ]
    )
    ((box,), (ball,)) = found["arm"], found["hand"]
    np.testing.assert_allclose(box.points.mean(axis=0), [1.0, 2.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(np.ptp(box.points, axis=0), [2.0, 4.0, 1.0], atol=1e-12)
    assert len(ball.points) > 100, "a mesh that is not read leaves the other shape"


def test_a_body_with_a_shape_is_drawn_where_it_is():
    hinge: Any = {
        "name": "hinge", "kind": "Revolute", "bodies": ["ground", "rod"],
        "points": [[0, 0, 0], [-0.5, 0, 0]], "axes": [[0, 0, 1], [0, 0, 1]],
    }  # fmt: skip
    solids = solids_of([shape("rod", "box", (1.0, 0.2, 0.1)), shape("ground", "box", (0.4, 0.4, 0.1))])
    rod = Body("rod", np.array([[-0.5, 0.0, 0.0]]), np.diag([0.6, 0.05, 0.05]), solids["rod"])
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    shown = Mechanism(
        np.zeros(1), np.array([[[0.0, 0.5, 0.0]]]), turn[None, None], [rod], [hinge], None, solids["ground"]
    )
    figure = matplotlib.figure.Figure(figsize=shown.size)
    shown.draw(figure)
    assert isinstance(shown.view, View)
    ((patches,), names) = figure.axes[0].collections, figure.legends[0].get_texts()
    corners = np.concatenate([path.vertices for path in patches.get_paths()])
    assert len(patches.get_paths()) == 12 and [name.get_text() for name in names] == ["rod"]
    np.testing.assert_allclose(corners.max(axis=0), [0.2, 1.0], atol=1e-12)
    np.testing.assert_allclose(corners.min(axis=0), [-0.2, -0.2], atol=1e-12)
    low, high = np.array([figure.axes[0].get_xlim(), figure.axes[0].get_ylim()]).T
    assert np.all(low < [-0.1, 0.0]) and np.all(high > [0.1, 1.0])
