"""Pictures of chains: solids where the bodies are, bonds between neighbours, and the error of each body."""

import numpy as np
import pytest

import poinsot as pt

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import LineCollection, PolyCollection  # noqa: E402

from poinsot.viz._solid import View, faces, patches  # noqa: E402

TETRAHEDRON = np.array([[-0.5, -1 / 3, -0.25], [0.5, -1 / 3, -0.25], [0.0, 2 / 3, -0.25], [0.0, 0.0, 0.75]])
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def _run(count: int = 6, closure: str | None = "open", torn: bool = False, points=TETRAHEDRON, **about):
    """A straight chain that is stretched slowly; torn, its last body flies off."""
    t = np.linspace(0.0, 10.0, 101)
    position = np.zeros((101, count, 3))
    position[:, :, 0] = 2.0 * np.arange(count) * (1.0 + 0.01 * t[:, None])
    if torn:
        position[:, -1, 0] += 5.0 * t
    error = 1e-15 * (1.0 + np.arange(count))[None, :] * t[:, None]
    motion = {
        "position": position,
        "rotation": np.broadcast_to(np.eye(3), (101, count, 3, 3)),
        "angular_velocity": np.zeros((101, count, 3)),
        "energy": np.ones(101) + 1e-9 * np.sin(t),
        "linear_momentum": np.zeros((101, 3)),
        "angular_momentum": np.zeros((101, 3)),
        "constraint": error[:, :, None],
    }
    attributes = {
        "bodies": [f"body{i}" for i in range(count)],
        "particles": [points.tolist()],
        "closure": closure,
        "coordinates": "Quaternions()",
        "method": "by hand",
        "dt": 0.1,
    }
    conserved = {"energy": motion["energy"]}
    about = {key: value for key, value in (attributes | about).items() if value is not None}
    return pt.BodyTrajectory(None, t, {"q": position}, conserved, pt.Result.successful, about, motion)


def _kind(ax, kind) -> list:
    return [one for one in ax.collections if isinstance(one, kind)]


def test_faces_of_solids():
    assert sorted(len(face) for face in faces(TETRAHEDRON)) == [3, 3, 3, 3]
    sides = faces(CUBE)
    assert sorted(len(face) for face in sides) == [4] * 6, "triangles of one plane are one face"
    for side in sides:
        a, b, c, _ = CUBE[side]
        outward = np.cross(b - a, c - a)
        assert outward @ (a + c) > 0.0, "anticlockwise from outside"
    assert len(faces(CUBE[[0, 1, 3, 2]])) == 1, "a plane has one"
    assert faces(CUBE[:2]) == [] and faces(np.array([[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]])) == []


def test_only_what_looks_at_the_eye_is_seen():
    view = View.towards(0.0, 0.0)
    np.testing.assert_allclose(view.axes, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], atol=1e-15)
    (front,) = patches(view(CUBE), faces(CUBE))
    np.testing.assert_allclose(np.unique(front[0], axis=0), [[-1, -1], [-1, 1], [1, -1], [1, 1]], atol=1e-15)
    above = View.towards(30.0, 30.0)
    assert len(patches(above(CUBE), faces(CUBE))) == 3
    square = CUBE[:4]
    for eye in (View.towards(0.0, 0.0), View.towards(180.0, 0.0)):
        assert len(patches(eye(square), faces(square))) == 1, "a plane is seen from both sides"


def test_snapshots_are_those_asked_for():
    figure = _run().plot.chain(times=[0.0, 4.96, 10.0])
    titles = [ax.get_title("left") for ax in figure.axes]
    assert [title.split("$")[1] for title in titles] == ["t = 0", "t = 5", "t = 10"]
    assert len(_run().plot.chain().axes) == 5


def test_bodies_and_bonds_are_drawn():
    figure = _run().plot.chain(times=[0.0, 10.0])
    for ax, stretch in zip(figure.axes, (1.0, 1.1), strict=True):
        assert len(_kind(ax, PolyCollection)) == 6
        (bonds,) = _kind(ax, LineCollection)
        segments = np.array(bonds.get_segments())
        along = View.towards(-80.0, 18.0)(np.array([1.0, 0.0, 0.0]))[:2]
        np.testing.assert_allclose(segments[:, 1] - segments[:, 0], [2.0 * stretch * along] * 5, rtol=1e-12)


def test_a_torn_bond_is_not_drawn_and_its_body_told():
    first, last = _run(torn=True).plot.chain(times=[0.0, 10.0]).axes
    assert len(_kind(first, LineCollection)[0].get_segments()) == 5
    assert len(_kind(last, LineCollection)[0].get_segments()) == 4
    assert "outside" not in first.get_title("left")
    assert "1 of 6 bodies outside, up to 5" in last.get_title("left")


def test_a_ring_has_a_bond_more():
    (ax,) = _run(closure="ring").plot.chain(times=[0.0]).axes
    assert len(_kind(ax, LineCollection)[0].get_segments()) == 6


def test_many_bodies_are_thinned_out():
    (ax,) = _run(count=500).plot.chain(times=[0.0]).axes
    assert not _kind(ax, PolyCollection)
    assert any(len(np.asarray(one.get_offsets())) == 60 for one in ax.collections)


def test_what_is_no_chain_is_refused():
    with pytest.raises(pt.InputError, match="chain: .* is no chain"):
        _run(closure=None).plot.chain()
    with pytest.raises(pt.InputError, match="it must be a list of times"):
        _run().plot.chain(times=[])


def test_error_of_each_body():
    ax = _run(count=8).plot.unit_norm()
    (mesh,) = ax.collections
    values = 10.0 ** np.asarray(mesh.get_array()).reshape(8, 101)
    np.testing.assert_allclose(
        values[:, 1:], 1e-15 * np.outer(np.arange(1, 9), np.linspace(0, 10, 101)[1:]), rtol=0.2
    )
    assert "error at most 8e-14" in ax.get_title("left")


def test_of_a_few_bodies_there_are_curves():
    ax = _run(count=3).plot.unit_norm()
    assert [line.get_label() for line in ax.get_lines()[:3]] == ["body0", "body1", "body2"]
    np.testing.assert_allclose(np.asarray(ax.get_lines()[2].get_ydata())[-1], 3e-14, rtol=0.01)


def test_pictures_of_a_chain_are_written(tmp_path):
    written = _run().plot.save_all(tmp_path)
    assert [path.stem for path in written] == ["chain", "energy", "unit_norm", "momentum"]
    assert all(path.stat().st_size > 5_000 for path in written)
