"""Pictures of bodies: the curves are those of a motion that is known in closed form."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from poinsot.viz import BodyPlots  # noqa: E402

TRANSVERSE, AXIAL, TILT, SPIN, SIDEWAYS = 2.0, 1.0, 0.6, 3.0, 0.8


def _about(axis: int, angle: np.ndarray) -> np.ndarray:
    matrix = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[..., axis, axis] = 1.0
    matrix[..., i, i] = matrix[..., j, j] = np.cos(angle)
    matrix[..., j, i], matrix[..., i, j] = np.sin(angle), -np.sin(angle)
    return matrix


def _regular_precession(inertia=(TRANSVERSE, TRANSVERSE, AXIAL), **changes) -> pt.BodyTrajectory:
    """A free symmetric body: R = Rz(a t) Rx(tilt) Rz(b t), which turns steadily about its momentum."""
    t = np.linspace(0.0, 20.0, 401)
    L = TRANSVERSE * SIDEWAYS / np.sin(TILT)
    around, own = L / TRANSVERSE, L * np.cos(TILT) * (1.0 / AXIAL - 1.0 / TRANSVERSE)
    R = _about(2, around * t) @ _about(0, np.full_like(t, TILT)) @ _about(2, own * t)
    momentum = R.transpose(0, 2, 1) @ [0.0, 0.0, L]
    Omega = momentum / np.array([TRANSVERSE, TRANSVERSE, AXIAL])
    quat = np.asarray(pt.rotation.from_matrix(jnp.asarray(R)))
    energy = 0.5 * np.sum(momentum * Omega, axis=1) + 1e-9 * np.sin(t)
    motion = {
        "position": np.stack([t, 0.0 * t, 0.0 * t], axis=1)[:, None],
        "rotation": R[:, None],
        "quaternion": quat[:, None],
        "velocity": np.tile([1.0, 0.0, 0.0], (len(t), 1, 1)),
        "angular_velocity": Omega[:, None],
        "energy": energy,
        "linear_momentum": np.tile([1.0, 0.0, 0.0], (len(t), 1)),
        "angular_momentum": np.tile([0.0, 0.0, L], (len(t), 1)),
        "constraint": 1e-15 * np.sin(t)[:, None, None],
        "constraint_rate": 2e-15 * np.cos(t)[:, None, None],
        "multipliers": np.zeros((len(t), 1, 1)),
    } | changes
    about = {
        "bodies": ["book"],
        "inertia": [np.diag(inertia).tolist()],
        "coordinates": "Quaternions()",
        "dt": 0.05,
        "method": "by hand",
    }
    conserved = {"energy": energy}
    return pt.BodyTrajectory(None, t, {"q": quat}, conserved, pt.Result.successful, about, motion)


@pytest.fixture(scope="module")
def run():
    return _regular_precession()


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def _paths(ax) -> np.ndarray:
    """What is drawn of the path in front and behind, put together again."""
    lines = [np.array(line.get_data_3d()).T for line in ax.get_lines() if len(line.get_data_3d()[0]) == 401]
    behind, front = lines[-2:]
    assert np.all(np.isnan(behind[:, 0]) != np.isnan(front[:, 0]))
    return np.where(np.isnan(front), behind, front)


def test_run_plot_is_that_of_bodies(run):
    assert isinstance(run.plot, BodyPlots)


def test_axis_goes_around_the_momentum(run):
    path = _paths(run.plot.axis())
    np.testing.assert_array_equal(path, run.rotation[:, 0, :, 2])
    np.testing.assert_allclose(path[:, 2], np.cos(TILT), rtol=1e-14)
    np.testing.assert_array_equal(_paths(run.plot.axis(0, body="book")), run.rotation[:, 0, :, 0])


def test_axis_of_a_long_motion_shows_its_beginning(run):
    t = np.linspace(0.0, 100.0, 5001)
    turning = _about(2, 0.0 * t) @ _about(0, 0.5 + 0.1 * np.sin(2.0 * np.pi * t))
    long = _regular_precession(rotation=turning[:, None])
    ax = long.plot.axis()
    lines = [np.array(line.get_data_3d()).T for line in ax.get_lines()]  # type: ignore[attr-defined]
    front = max(lines, key=len)
    assert "first 60 oscillations" in ax.get_title() and "first" not in run.plot.axis().get_title()
    assert len(front) == pytest.approx(60.25 * 50, abs=3)


def test_polhode_lies_on_the_ellipsoid_of_inertia(run):
    whole, close = run.plot.polhode().axes
    pole = _paths(whole)
    np.testing.assert_allclose(pole**2 @ [TRANSVERSE, TRANSVERSE, AXIAL], 1.0, rtol=1e-13)
    np.testing.assert_allclose(np.ptp(pole[:, 2]), 0.0, atol=1e-14)
    across = np.asarray(close.get_lines()[0].get_xydata())
    np.testing.assert_array_equal(across, pole[: len(across), :2])
    np.testing.assert_allclose(np.hypot(*across.T), np.hypot(*pole[0, :2]), rtol=1e-13)


def test_polhode_of_another_inertia_is_another_one():
    pole = _paths(_regular_precession(inertia=(1.0, 2.0, 2.5)).plot.polhode().axes[0])
    np.testing.assert_allclose(pole**2 @ [1.0, 2.0, 2.5], 1.0, rtol=1e-13)
    assert np.ptp(pole[:, 2]) > 1e-2


def test_herpolhode_of_a_symmetric_body_is_a_circle(run):
    path = np.asarray(run.plot.herpolhode().get_lines()[0].get_xydata())
    radius = np.hypot(*path.T)
    np.testing.assert_allclose(radius, radius[0], rtol=1e-12)
    assert radius[0] > 0.1


def test_herpolhode_needs_a_steady_momentum():
    with pytest.raises(pt.InputError, match="angular momentum of book changes"):
        _regular_precession(inertia=(1.0, 2.0, 2.5)).plot.herpolhode()


def test_energy_error_of_a_run_without_loads(run):
    ax = run.plot.energy()
    drawn = np.asarray(ax.get_lines()[0].get_xydata())
    np.testing.assert_allclose(drawn[:, 1], (run.energy - run.energy[0]) / run.energy[0], rtol=1e-12)


def test_energy_and_work_with_loads():
    t = np.linspace(0.0, 20.0, 401)
    loaded = _regular_precession(energy=np.exp(-t), work=np.exp(-t) - 1.0 + 1e-3 * t)
    change, work = (np.asarray(line.get_xydata())[:, 1] for line in loaded.plot.energy().get_lines()[:2])
    np.testing.assert_allclose(change, np.exp(-t) - 1.0, rtol=1e-13)
    np.testing.assert_array_equal(work, loaded.work)
    assert "apart by 0.02 at most" in loaded.plot.energy().get_title("left")


def test_momentum_constraint_and_orientation_draw_their_numbers(run):
    linear, angular = run.plot.momentum().axes
    assert [line.get_label() for line in angular.get_lines()] == ["$L_x$", "$L_y$", "$L_z$"]
    np.testing.assert_array_equal(linear.get_lines()[0].get_ydata(), 1.0)
    rate, position = (np.asarray(line.get_ydata()) for line in run.plot.constraint().get_lines()[:2])
    np.testing.assert_array_equal(position[1:], np.abs(run.constraint[1:, 0, 0]))
    np.testing.assert_array_equal(rate, np.abs(run.constraint_rate[:, 0, 0]))
    upper, lower = run.plot.orientation().axes
    shown = len(np.asarray(upper.get_lines()[0].get_ydata()))
    np.testing.assert_array_equal(upper.get_lines()[3].get_ydata(), run.quaternion[:shown, 0, 3])
    np.testing.assert_array_equal(lower.get_lines()[1].get_ydata(), run.angular_velocity[:shown, 0, 1])


def test_orbit_is_that_of_the_mass_centre(run):
    path = np.array(run.plot.orbit().get_lines()[0].get_data_3d())
    np.testing.assert_array_equal(path.T, run.position[:, 0])


def test_pictures_that_make_no_sense_say_why(run):
    resting = _regular_precession(angular_velocity=np.zeros((401, 1, 3)), constraint=np.zeros((401, 1, 0)))
    for ask, message in (
        (lambda: run.plot.axis(3), "i = 3; a body has the axes 0, 1 and 2"),
        (lambda: run.plot.axis(body="bok"), "body = 'bok'; this run has book"),
        (lambda: run.plot.polhode(body=1), "body = 1; this run has book"),
        (lambda: resting.plot.polhode(), "book does not rotate"),
        (lambda: resting.plot.constraint(), "has no constraints"),
    ):
        with pytest.raises(pt.InputError, match=message):
            ask()


def test_save_all_writes_what_fits(run, tmp_path):
    names = [path.name for path in run.plot.save_all(tmp_path)]
    assert names == [
        "axis.png", "polhode.png", "energy.png", "constraint.png", "momentum.png", "orientation.png"
    ]  # fmt: skip
    for name in names:
        image = pyplot.imread(tmp_path / name)
        assert np.count_nonzero(image[:, :, 0] < 0.9) > 3000
    resting = _regular_precession(angular_velocity=np.zeros((401, 1, 3)), constraint=np.zeros((401, 1, 0)))
    names = [path.name for path in resting.plot.save_all(tmp_path / "resting")]
    assert "polhode.png" not in names and "constraint.png" not in names
