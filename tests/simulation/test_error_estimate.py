"""The estimated error of a run, beside the exact motion."""

import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.rotation import to_matrix

KEPLER = pt.library.kepler()
TOP = pt.library.tumbling_body()


def _kepler(integrator="verlet", t1=30.0, **how):
    return pt.simulate(KEPLER, KEPLER.start, t1=t1, integrator=integrator, **how)


def _rows(run):
    report = run.report(accuracy=True)
    assert report.accuracy is not None
    return {row.name: row for row in report.accuracy.rows}


@pytest.mark.parametrize(
    ("integrator", "how"),
    [
        ("explicit-euler", {"dt": 1e-5, "save_every": 1000, "t1": 5.0}),
        ("verlet", {"dt": 0.002, "save_every": 10}),
        ("gauss4", {"dt": 0.05}),
        ("rk4", {"dt": 0.01}),
        ("dormand-prince8", {"rtol": 1e-9, "atol": 1e-9}),
        ("dormand-prince8", {"rtol": 1e-6, "atol": 1e-6, "save_at": [1.0, 7.7, 24.0, 30.0]}),
    ],
)
def test_it_is_the_error_beside_the_exact_orbit(integrator, how):
    """To a tenth of itself; without the factor of order two it would be off by a quarter."""
    run = _kepler(integrator, **how)
    assert KEPLER.exact is not None
    rows, exact = _rows(run), KEPLER.exact(run.t)
    for label in ("q", "p"):
        for k in range(2):
            errors = np.abs(getattr(run, label) - np.asarray(exact[label]))[:, k]
            row = rows[f"{label}[{k}]"]
            assert row.largest == pytest.approx(np.max(errors), rel=0.1), row
            assert row.final == pytest.approx(errors[-1], rel=0.1), row
            assert abs(row.time - run.t[np.argmax(errors)]) < 0.2
            assert row.known


@pytest.mark.parametrize("integrator", ["lie-splitting", "lie-midpoint", "dormand-prince8"])
def test_it_is_the_error_beside_the_exact_motion_of_a_free_body(integrator):
    dt, tolerance = (0.01, None) if integrator.startswith("lie") else (None, 1e-7)
    run = pt.simulate(TOP, TOP.start, t1=10.0, integrator=integrator, dt=dt, rtol=tolerance, atol=tolerance)
    assert TOP.exact is not None
    exact = TOP.exact(run.t)
    turned = np.einsum("tbij,tbik->tbjk", run.rotation, np.asarray(to_matrix(exact.quaternion)))
    skew = np.linalg.norm(turned - np.swapaxes(turned, -1, -2), axis=(-2, -1))
    angles = np.arcsin(skew / np.sqrt(8.0))
    rates = np.linalg.norm(run.angular_velocity - np.asarray(exact.angular_velocity), axis=-1)
    rows = _rows(run)
    assert set(rows) == {"position", "rotation", "velocity", "angular_velocity"}
    assert rows["rotation"].largest == pytest.approx(np.max(angles), rel=0.1)
    assert rows["angular_velocity"].largest == pytest.approx(np.max(rates), rel=0.1)
    assert rows["position"].largest < 1e-13


def test_an_error_as_large_as_the_motion_is_said_to_be():
    """Verlet at a step of 0.3 throws the planet out."""
    rows = _rows(_kepler(dt=0.3))
    assert not any(row.known for row in rows.values())
    assert "as large as the motion" in str(_kepler(dt=0.3).report(accuracy=True))


def test_runs_that_end_between_steps_run_back_or_save_rarely():
    whole = _rows(_kepler(dt=0.01))["q[0]"]
    # At the second pericentre, and 15 before the end.
    stopped = _kepler(dt=0.01, stop=pt.Event(lambda q, p: q[1], direction=1))
    back = pt.simulate(KEPLER, KEPLER.start, t1=-30.0, dt=-0.01, integrator="verlet")
    short = _kepler(dt=0.01, t1=30.004, last_step="shorten", save_every=7)
    assert 0.0 < _rows(stopped)["q[0]"].largest < whole.largest
    assert _rows(back)["q[0]"].largest == pytest.approx(whole.largest, rel=1e-6)
    assert _rows(short)["q[0]"].largest == pytest.approx(whole.largest, rel=1e-2)


def test_of_many_numbers_the_worst_is_told():
    stiffness = jnp.arange(1.0, 9.0)
    springs = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 0.5 * jnp.sum(stiffness * q**2))
    run = pt.simulate(springs, pt.State(q=jnp.ones(8), p=jnp.zeros(8)), t1=3.0, dt=0.01, integrator="verlet")
    error = np.max(np.abs(run.q - np.cos(np.sqrt(np.arange(1.0, 9.0)) * run.t[:, None])), axis=0)
    row = _rows(run)[f"q[{np.argmax(error)}] of 8"]
    assert row.largest == pytest.approx(np.max(error), rel=0.1)


def test_a_run_that_failed_is_compared_as_far_as_it_went():
    fall = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: -(q[0] ** 4))
    run = pt.simulate(fall, pt.State(q=[1.0], p=[0.0]), t1=50.0, dt=0.01, integrator="rk4", throw=False)
    assert not run.result.ok and run.error_estimate.rows


def test_what_cannot_be_computed_again_says_so(tmp_path):
    run = _kepler(dt=0.1)
    run.save(tmp_path / "run.zarr")
    with pytest.raises(pt.InputError, match="loaded keeps no code.*before saving it"):
        pt.load(tmp_path / "run.zarr").report(accuracy=True)
    finest = _kepler("dormand-prince8", rtol=3e-14, atol=1e-14, t1=1.0)
    with pytest.raises(pt.InputError, match="no finer run to compare with"):
        finest.report(accuracy=True)


def test_a_pickled_run_can_be_computed_again():
    run = pt.simulate(TOP, TOP.start, t1=1.0, dt=0.01, integrator="lie-splitting")
    assert _rows(pickle.loads(pickle.dumps(run))) == _rows(run)


def test_it_is_asked_for_and_then_stands_in_the_report():
    run = _kepler(dt=0.01)
    plain, asked = run.report(), run.report(accuracy=True)
    assert plain.accuracy is None and "accuracy" not in plain.to_dict()
    assert str(plain).count("None of this is accuracy, which") == 1
    assert "estimated by the same run at dt = 0.005, order 2:" in str(asked)
    assert str(asked).startswith(str(plain)[: str(plain).index("wall time")])
    assert [row["name"] for row in asked.to_dict()["accuracy"]["rows"]] == ["q[0]", "q[1]", "p[0]", "p[1]"]


@pytest.mark.slow
def test_a_sampled_controller_is_sampled_alike():
    """The forces are held as long; only the steps between them are halved."""
    arm = pt.library.hinge_pendulum(links=1)
    control = pt.control.Sampled(pt.control.PDGravity(pt.OpenChain(arm), 20.0, 5.0, [0.5]), period=0.02)
    run = pt.simulate(arm, arm.start, t1=1.0, dt=0.01, integrator="rk4", coordinates="joint", control=control)
    assert _rows(run)["rotation"].largest < 1e-5
