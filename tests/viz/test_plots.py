"""Pictures: what is drawn is what was computed."""

import importlib

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from poinsot.viz import (  # noqa: E402
    TrajectoryPlots,
    plot_lyapunov,
    plot_order,
    plot_poincare,
    plot_roundoff,
    plot_work_precision,
)
from poinsot.viz._decimate import envelope  # noqa: E402
from poinsot.viz._drawing import beginning  # noqa: E402


@pytest.fixture(scope="module")
def run():
    kepler = pt.Hamiltonian(
        T=lambda p: 0.5 * p @ p,
        V=lambda q: -1.0 / jnp.sqrt(q @ q),
        invariants={"angular momentum": lambda q, p: q[0] * p[1] - q[1] * p[0]},
    )
    start = pt.State(q=[0.4, 0.0], p=[0.0, 2.0])
    return pt.simulate(kepler, start, t1=50.0, dt=0.05, integrator=pt.integrators.StormerVerlet())


def _synthetic(t, components, conserved=None):
    return pt.Trajectory(None, t, components, conserved or {}, pt.Result.successful, {})


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def _data(ax, line=0) -> np.ndarray:
    return np.asarray(ax.get_lines()[line].get_xydata(), dtype=float)


def test_energy_draws_the_relative_error(run):
    ax = run.plot.energy()
    np.testing.assert_array_equal(_data(ax)[:, 0], run.t)
    np.testing.assert_allclose(_data(ax)[:, 1], (run.energy - run.energy[0]) / 0.5, rtol=1e-12)
    assert "bounded" in ax.get_title("left") and "|H_0|" in ax.get_ylabel()


def test_energy_that_starts_at_zero_is_drawn_as_it_is():
    t = np.linspace(0.0, 10.0, 101)
    energy = 1e-3 * np.sin(7.0 * t)
    ax = _synthetic(t, {"q": np.sin(t)[:, None], "p": np.cos(t)[:, None]}, {"energy": energy}).plot.energy()
    np.testing.assert_array_equal(_data(ax)[:, 1], energy)
    assert ax.get_ylabel() == "$H - H_0$"


def test_a_picture_goes_into_the_axes_it_is_given_and_shows_nothing(run, monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda *a, **k: pytest.fail("shown without being asked"))
    figure, ax = pyplot.subplots()
    assert run.plot.energy(ax) is ax
    assert run.plot.phase(1, ax=ax) is ax
    assert pyplot.get_fignums() == [figure.number]


def test_invariants_have_a_panel_each_with_their_verdict(run):
    panels = run.plot.invariants().axes
    assert len(panels) == len(run.conserved) == 2
    for ax, (name, values) in zip(panels, run.conserved.items(), strict=True):
        assert ax.get_title("left").startswith(f"{name}: {run.report()[name].verdict}")
        np.testing.assert_array_equal(_data(ax)[:, 1], values - values[0])


def test_components_draw_every_number_of_the_state(run):
    short = pt.Trajectory(
        None, run.t[:300], {"q": run.q[:300], "p": run.p[:300]}, {}, run.result, run.attributes
    )
    for ax, values in zip(short.plot.components().axes, (run.q, run.p), strict=True):
        for i in range(2):
            np.testing.assert_array_equal(_data(ax, i), np.column_stack([run.t[:300], values[:300, i]]))


def test_components_of_a_long_motion_show_its_beginning():
    t = np.linspace(0.0, 100.0, 10_001)
    long = _synthetic(t, {"y": np.sin(2.0 * np.pi * t)[:, None]})
    (ax,) = long.plot.components().axes
    assert "first 20 oscillations" in ax.get_title("left")
    assert _data(ax)[-1, 0] == pytest.approx(20.25, abs=0.05)
    (whole,) = _synthetic(t, {"y": np.sin(0.5 * t)[:, None]}).plot.components().axes
    assert _data(whole)[-1, 0] == 100.0 and "first" not in whole.get_title("left")


def test_round_off_does_not_count_as_an_oscillation():
    t = np.linspace(0.0, 1.0, 1001)
    wiggles = (-1.0) ** np.arange(1001)
    slow = np.stack([np.cos(t), 3.0 + 1e-13 * wiggles, 1e-16 * wiggles, np.zeros(1001)], axis=1)
    assert beginning(slow, 20) == 1001
    seen = slow + np.array([0.0, 1e-6, 0.0, 0.0]) * wiggles[:, None]
    assert beginning(seen, 20) < 50


def test_phase_and_orbit_draw_the_path_and_its_start(run):
    phase, orbit = run.plot.phase(1), run.plot.orbit()
    np.testing.assert_array_equal(_data(phase), np.column_stack([run.q[:, 1], run.p[:, 1]]))
    np.testing.assert_array_equal(_data(orbit), run.q)
    np.testing.assert_array_equal(_data(orbit, 1), run.q[:1])
    assert orbit.get_aspect() == 1.0
    assert (phase.get_xlabel(), phase.get_ylabel()) == ("$q_{2}$", "$p_{2}$")


def test_orbit_in_space():
    t = np.linspace(0.0, 6.0, 50)
    y = np.column_stack([np.cos(t), np.sin(t), t])
    ax = _synthetic(t, {"y": y}).plot.orbit()
    np.testing.assert_array_equal(np.column_stack(ax.get_lines()[0].get_data_3d()), y)  # type: ignore[attr-defined]


def test_a_very_long_orbit_becomes_dots_without_chords():
    t = np.linspace(0.0, 1.0, 60_001)
    ax = _synthetic(t, {"y": np.column_stack([np.cos(9e4 * t), np.sin(9e4 * t)])}).plot.orbit()
    line = ax.get_lines()[0]
    assert line.get_linestyle() == "None" and len(_data(ax)) == 50_000
    np.testing.assert_allclose(np.hypot(*_data(ax).T), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda plots: plots.phase(), "no q and p"),
        (lambda plots: plots.orbit(), r"shape \(4,\)"),
        (lambda plots: plots.invariants(), "no conserved"),
    ],
)
def test_pictures_that_make_no_sense_say_why(ask, message):
    t = np.linspace(0.0, 1.0, 10)
    with pytest.raises(pt.InputError, match=message):
        ask(TrajectoryPlots(_synthetic(t, {"y": np.ones((10, 4))})))


def test_phase_refuses_a_component_that_is_not_there(run):
    with pytest.raises(pt.InputError, match="i = 2.*0 to 1"):
        run.plot.phase(2)


def test_save_all_writes_what_fits_the_problem(run, tmp_path):
    written = run.plot.save_all(tmp_path / "pictures")
    assert [path.name for path in written] == ["energy.png", "invariants.png", "components.png", "orbit.png"]
    for path in written:
        image = pyplot.imread(path)
        assert image.shape[0] > 400 and image.shape[1] > 600
        assert np.count_nonzero(image[:, :, 0] < 0.9) > 5000
        # Nothing is cut off: the outermost pixels are blank.
        frame = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
        assert np.all(frame[:, :3] == 1.0)
    assert pyplot.get_fignums() == []


def test_save_all_of_one_degree_of_freedom_and_of_an_ode(tmp_path):
    t = np.linspace(0.0, 10.0, 100)
    pendulum = _synthetic(
        t, {"q": np.sin(t)[:, None], "p": np.cos(t)[:, None]}, {"energy": np.full(100, 0.5)}
    )
    assert [p.stem for p in pendulum.plot.save_all(tmp_path / "a")] == ["energy", "components", "phase"]
    decay = _synthetic(t, {"y": np.exp(-t)[:, None]})
    assert [p.stem for p in decay.plot.save_all(tmp_path / "b")] == ["components"]


def test_the_envelope_keeps_every_spike_and_the_ends():
    t = np.arange(1_000_000.0)
    x = np.sin(0.01 * t)
    x[123_457], x[765_431] = 7.0, -9.0
    thin_t, thin_x = envelope(t, x)
    assert len(thin_t) <= 4002 and np.all(np.diff(thin_t) > 0.0)
    assert thin_x.max() == 7.0 and thin_x.min() == -9.0
    assert (thin_t[0], thin_t[-1]) == (t[0], t[-1])
    # Taking every so-manieth point, by contrast, loses them.
    assert x[:: len(x) // 4000].max() < 1.1
    x[5:9] = np.nan
    assert np.isfinite(envelope(t, x)[1]).all()


def test_user_settings_are_left_alone(run):
    before = dict(matplotlib.rcParams)
    run.plot.energy()
    assert dict(matplotlib.rcParams) == before


def test_order_plot_fits_the_used_points_only():
    h = 2.0 ** -np.arange(2.0, 12.0)
    errors = 0.3 * h**4 + 1e-13
    used = errors > 1e-10
    ax = plot_order(h, errors, 4.0, used=used, label="RK4")
    hollow, full, line = ax.get_lines()
    np.testing.assert_array_equal(full.get_xydata(), np.column_stack([h, errors])[used])
    np.testing.assert_array_equal(hollow.get_xydata(), np.column_stack([h, errors])[~used])
    fitted = np.asarray(line.get_xydata(), dtype=float)
    np.testing.assert_allclose(fitted[:, 1], 0.3 * fitted[:, 0] ** 4, rtol=1e-2)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert full.get_label() == "RK4: slope 4.00"
    second = plot_order(h, h**2, 2.0, label="Heun", ax=ax)
    assert second is ax and ax.get_lines()[4].get_color() != full.get_color()


def test_work_precision_draws_each_method():
    curves = {"one": ([1, 2, 4], [1e-1, 1e-2, 1e-3]), "two": ([1, 2], [1e-3, 1e-6])}
    ax = plot_work_precision(curves, work="seconds")
    assert [line.get_label() for line in ax.get_lines()] == ["one", "two"]
    np.testing.assert_array_equal(_data(ax, 1), [[1, 1e-3], [2, 1e-6]])
    assert ax.get_xlabel() == "seconds" and ax.get_yscale() == "log"


def test_poincare_and_lyapunov_draw_their_arrays():
    points = np.random.default_rng(0).normal(size=(200, 2))
    section = plot_poincare(points, labels=("$q_1$", "$p_1$"))
    np.testing.assert_array_equal(_data(section), points)
    assert section.get_xlabel() == "$q_1$" and section.get_lines()[0].get_linestyle() == "None"
    t = np.linspace(1.0, 100.0, 500)
    growth = plot_lyapunov(t, 0.1 + 1.0 / t)
    np.testing.assert_array_equal(_data(growth, 1), np.column_stack([t, 0.1 + 1.0 / t]))
    assert growth.get_legend_handles_labels()[1] == ["0.11 at the end"]


def test_roundoff_draws_runs_their_mean_square_and_both_laws():
    steps = np.array([10.0, 40.0, 90.0])
    errors = np.array([[1.0, -2.0, 3.0], [1.0, 2.0, -3.0]])
    drawn = plot_roundoff({"walk": (steps, errors)})
    lines = [np.asarray(line.get_ydata(), dtype=float) for line in drawn.get_lines()]
    np.testing.assert_allclose(lines[0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(lines[2], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(lines[3], np.sqrt(steps / 10.0))
    np.testing.assert_allclose(lines[4], steps / 10.0)


def test_a_missing_matplotlib_names_the_extra(run, monkeypatch):
    real = importlib.import_module

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(pt.InputError, match=r"pip install 'poinsot\[plot\]'"):
        run.plot.energy()
