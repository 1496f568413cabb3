"""Pictures of mechanisms: where bodies, joints and arrows are, and what is refused."""

from types import SimpleNamespace
from typing import Any

import matplotlib
import matplotlib.figure
import numpy as np
import pytest

import poinsot as pt
from poinsot.viz._joint_plots import coordinates, draw, reactions
from poinsot.viz._labels import CLEAR, labels
from poinsot.viz._mechanism import ASLANT, Body, Mechanism, _times

matplotlib.use("Agg")
HINGE = {
    "name": "hinge",
    "kind": "Revolute",
    "bodies": ["ground", "rod"],
    "points": [[0, 0, 0], [-0.5, 0, 0]],
    "axes": [[0, 0, 1], [0, 0, 1]],
}
ROD = Body("rod", np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]), np.diag([0.6, 0.05, 0.05]))


def quarter(axis: int) -> np.ndarray:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = np.zeros((3, 3))
    turn[axis, axis] = turn[j, i] = 1.0
    turn[i, j] = -1.0
    return turn


def drawn(rotation, position, forces=None, body=ROD) -> tuple[Mechanism, Any]:
    shown = Mechanism(np.array([0.0]), np.array([[position]]), rotation[None, None], [body], [HINGE], forces)
    figure = matplotlib.figure.Figure(figsize=shown.size)
    shown.draw(figure)
    return shown, figure.axes[0]


def test_a_rod_is_a_line_from_joint_to_joint_seen_across_its_plane():
    shown, ax = drawn(quarter(2), [0.0, 0.5, 0.0])
    np.testing.assert_array_equal(shown.view.axes, np.eye(3))
    line = next(line for line in ax.get_lines() if line.get_label() == "rod")
    np.testing.assert_allclose(np.sort(line.get_xydata(), axis=0), [[0.0, 0.0], [0.0, 1.0]], atol=1e-12)
    symbol = next(line for line in ax.get_lines() if line.get_marker() == "o")
    np.testing.assert_allclose(symbol.get_xydata(), [[0.0, 0.0]], atol=1e-12)
    assert [text.get_text() for text in ax.texts] == ["hinge"]
    assert ax.get_aspect() == 1.0
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    assert np.all(low < [0.0, 0.0]) and np.all(high > [0.0, 1.0]), "nothing is cut off"


def test_a_motion_in_space_is_seen_aslant():
    shown, _ = drawn(quarter(0) @ quarter(2), [0.0, 0.0, 0.5])
    assert shown.view is ASLANT


def test_arrows_point_along_the_forces_with_one_scale():
    _, ax = drawn(np.eye(3), [0.5, 0.0, 0.0], forces=np.array([[[0.0, 7.0, 0.0]]]))
    arrow = next(text for text in ax.texts if text.get_text() == "")
    span = np.array(arrow.xy) - arrow.get_position()
    assert span[1] > 0.1 and abs(span[0]) < 1e-12


@pytest.mark.parametrize("force", [(0.0, 7.0, 0.0), (-7.0, 1.0, 0.0)])
def test_arrows_are_within_the_panel(force):
    _, ax = drawn(np.eye(3), [0.5, 0.0, 0.0], forces=np.array([[force]]))
    (arrow,) = (text for text in ax.texts if text.get_text() == "")
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    for end in (arrow.xy, arrow.get_position()):
        assert np.all(low - 1e-12 <= end) and np.all(end <= high + 1e-12)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ("all", "times = 'all'; it must be a list of times"),
        (0.5, "times = 0.5; it must be a list of times"),
        ([0.5, 7.0], r"times = \[0.5, 7.0\]; the run goes from 0 to 2"),
        ([float("nan")], r"times = \[nan\]; the run goes from 0 to 2"),
    ],
)
def test_times_that_are_none_of_the_run(times, message):
    with pytest.raises(pt.InputError, match=message):
        _times(times, 0.0, 2.0)
    np.testing.assert_array_equal(_times([2.0, 0.0], 2.0, 0.0), [2.0, 0.0])  # a run backwards


def test_a_disc_on_an_axle_is_an_ellipse():
    disc = Body("rod", np.array([[0.0, 0.0, 0.0]]), np.diag([0.3, 0.3, 0.0]))
    shown, _ = drawn(np.eye(3), [0.0, 0.0, 0.0], body=disc)
    np.testing.assert_allclose(np.linalg.norm(shown.outlines[0][0], axis=1), 0.3, rtol=1e-12)
    beside = Body("rod", np.array([[0.0, 0.0, 0.4]]), disc.radii)
    assert not beside.slender, "also beside its bearing"
    assert Body("rod", np.array([[0.25, 0.0, 0.0]]), disc.radii).slender


@pytest.mark.parametrize("across", [0.1, 0.6])
def test_a_body_beside_its_joint_is_held_to_it_by_a_line(across):
    """A ball, and a rod that lies across; on a disc about its joint there is none."""
    beside = Body("rod", ROD.points[:1], np.diag([0.1, across, 0.1]))
    _, ax = drawn(quarter(2), [0.0, 0.5, 0.0], body=beside)
    (line,) = thin_lines(ax)
    np.testing.assert_allclose(line, [[0.0, 0.5], [0.0, 0.0]], atol=1e-12)
    about = Body("rod", ROD.points[:1], np.diag([0.6, 0.6, 0.1]))
    assert not thin_lines(drawn(quarter(2), [0.0, 0.5, 0.0], body=about)[1])


def thin_lines(ax) -> list[np.ndarray]:
    return [line.get_xydata() for line in ax.get_lines() if line.get_linewidth() == 1.6]


def test_a_rod_on_one_joint_is_shown_with_its_free_end():
    uniform = Body("rod", ROD.points[:1], np.diag([np.sqrt(5.0 / 12.0), 0.02, 0.02]))
    _, ax = drawn(quarter(2), [0.0, 0.5, 0.0], body=uniform)
    line = next(line for line in ax.get_lines() if line.get_label() == "rod")
    np.testing.assert_allclose(np.sort(line.get_xydata(), axis=0), [[0.0, 0.0], [0.0, 1.0]], atol=1e-12)


@pytest.mark.slow
def test_pictures_of_a_run(tmp_path):
    system = pt.library.hinge_pendulum(2)
    run: Any = pt.simulate(
        system, system.start, t1=0.2, dt=0.01, coordinates="group", integrator="lie-rattle", progress=False
    )
    curves = run.plot.joints().axes[0].get_lines()
    np.testing.assert_allclose(curves[1].get_ydata(), run.joint("joint1").angle)
    force = run.plot.reactions(names=["joint0"]).axes[0].get_lines()[0].get_ydata()
    np.testing.assert_allclose(force, np.linalg.norm(run.reaction("joint0").force, axis=1))
    assert len(run.plot.mechanism(times=[0.0, 0.1]).axes) == 2
    written = {path.stem for path in run.plot.save_all(tmp_path)}
    assert {"mechanism", "joints", "reactions", "energy"} <= written
    with pytest.raises(pt.InputError, match="no joint is called 'elbow'; there are joint0, joint1"):
        run.plot.joints(names=["elbow"])


def test_no_line_joins_the_ends_of_a_jump():
    """At half a turn a rotation vector becomes its opposite; angles of hinges go on, however large a step."""
    turns = np.zeros((5, 3))
    turns[:, 0] = 3.0, 3.1, -3.1, -3.0, -2.9

    class Run:
        attributes = {"joints": [{"name": "ball"}, {"name": "hinge"}]}

        def joint(self, name):
            names = pt.joints.Spherical.freedoms if name == "ball" else ("angle",)
            return SimpleNamespace(
                names=names, values=turns if name == "ball" else 4.0 * np.arange(5.0)[:, None]
            )

    run: Any = Run()
    curves = coordinates(run, None)["angle"]
    np.testing.assert_array_equal(np.isnan(curves["ball turn_x"]), [False, False, True, False, False])
    assert np.all(np.isfinite(curves["hinge"]))


@pytest.mark.slow
def test_a_run_without_joints_says_so():
    top = pt.library.gyro_top()
    run: Any = pt.simulate(top, top.start, t1=0.02, dt=0.01, integrator="lie-splitting", progress=False)
    with pytest.raises(pt.InputError, match="has no joints"):
        run.plot.mechanism()


@pytest.mark.parametrize("force", [(1.0, 0.0, 0.0), (-1.0, 0.2, 0.0), (0.0, 0.0, 0.0)])
def test_the_name_of_a_joint_keeps_away_from_its_arrow(force):
    """Away from the middle of the picture, which is to the left of this joint, unless the arrow is there."""
    _, ax = drawn(np.eye(3), [0.5, 0.0, 0.0], np.array([[force]]))
    name = next(text for text in ax.texts if text.get_text() == "hinge")
    beside: Any = np.array(name.xyann) / np.linalg.norm(name.xyann)
    assert beside @ np.array(force[:2]) < CLEAR + 0.2, "two points of type more above or below"
    if force[0] >= 0.0:
        assert beside[0] < -0.9


class Seen:
    """A run of two joints with given angles, forces and torques."""

    t = np.linspace(0.0, 1.0, 5)

    def __init__(self, spin: float = 1.0, force: float = 1.0, torque: float = 1.0):
        self._angles = {"rotor": spin * self.t, "ring": 0.1 * np.cos(self.t)}
        self._sizes = {"force": force, "torque": torque}
        joints = [{"name": name, "points": [[0, 0, 0], [0, 0, 0.2]]} for name in self._angles]
        self.attributes = {"joints": joints, "drives": [], "couplings": []}

    def __len__(self):
        return len(self.t)

    def joint(self, name):
        return SimpleNamespace(names=("angle",), values=self._angles[name][:, None])

    def reaction(self, name):
        return SimpleNamespace(**{what: size * np.ones((5, 3)) for what, size in self._sizes.items()})


@pytest.mark.parametrize(("spin", "panels"), [(100.0, 2), (50.0, 1)])
def test_a_rotor_does_not_hide_the_ring_it_turns_in(spin, panels):
    run: Any = Seen(spin=spin)
    shown = {what: list(rows) for what, rows in coordinates(run, None).items() if rows}
    if panels == 2:
        assert shown == {"angle over turns": ["rotor"], "angle": ["ring"]}
    else:
        assert shown == {"angle": ["rotor", "ring"]}


def test_round_off_is_no_reaction():
    """Forces beside torques and torques beside forces, with the arm of the joints between them."""
    for force, torque, left in (
        (1e-13, 2.0, (0.0, 2.0)),
        (2.0, 1e-13, (2.0, None)),
        (1e-6, 2.0, (1e-6, 2.0)),
    ):
        run: Any = Seen(force=force, torque=torque)
        panels = reactions(run, None)
        for what, size in zip(("force", "torque"), left, strict=True):
            found = panels[what].get("ring")
            assert (found is None) == (size is None)
            if found is not None and size is not None:
                np.testing.assert_allclose(found, np.sqrt(3.0) * size, rtol=1e-12)


def test_ticks_of_a_constant_are_not_its_digits():
    steady = 3.889591022167 * (1.0 + 2e-16 * np.arange(5.0))
    run: Any = Seen()
    figure = draw(run, {"torque": {"rail": steady}}, matplotlib.figure.Figure(), "")
    low, high = figure.axes[0].get_ylim()
    assert high - low > 0.1 and low < steady[0] < high


def test_names_of_joints_that_are_near_do_not_cover_each_other():
    """Four joints in a row with long names, which all would stand below."""
    points = 20.0 * np.arange(4.0)[:, None] * np.array([1.0, 0.0])
    down = np.tile([0.0, -1.0], (4, 1))
    found = labels(["platform head"] * 4, points, down, [[]] * 4)
    alone = [labels(["platform head"], point[None], down[:1], [[]])[0] for point in points]

    def covered(chosen):
        boxes = [label.box(point) for label, point in zip(chosen, points, strict=True)]
        pairs = [(one, other) for k, one in enumerate(boxes) for other in boxes[:k]]
        return sum(bool(np.all(np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]) > 2.0)) for a, b in pairs)

    assert covered(found) == 0 and covered(alone) > 2
    assert found[0] == alone[0], "the first stands where it would by itself"
    assert all(label.offset[1] < 0.0 and not label.far for label in alone)


def test_a_panel_of_many_curves_says_so():
    run: Any = Seen()
    many = {f"joint{k}": k + run.t for k in range(9)}
    figure = draw(run, {"angle": many}, matplotlib.figure.Figure(), "")
    assert [text.get_text() for text in figure.axes[0].texts] == ["9 curves;\nsome of them by\nnames=[...]"]
    few = draw(run, {"angle": dict(list(many.items())[:8])}, matplotlib.figure.Figure(), "")
    assert not few.axes[0].texts and few.axes[0].get_legend() is not None
