"""Runs of `pt.Constrained`: multipliers, rows of the constraints, and starts that do not satisfy them."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

G = 9.81
PENDULUM = pt.Constrained(V=lambda q: G * q[2], g=lambda q: 0.5 * (q @ q - 1.0)[None])
START = pt.State(q=[1.0, 0.0, 0.0], p=[0.0, 1.0, 0.0])
RATTLE = pt.integrators.Rattle()


@pytest.fixture(scope="module")
def run():
    return pt.simulate(PENDULUM, START, t1=2.0, dt=0.01, integrator=RATTLE)


def test_multipliers_are_those_of_the_tension(run):
    """With g = (|q|^2 - 1)/2 and unit mass, q . (a + lambda q + g e_z) = 0 makes lambda = |v|^2 - g z."""
    expected = np.sum(run.p**2, axis=1) - G * run.q[:, 2]
    np.testing.assert_allclose(run.multipliers[:, 0], expected, rtol=1e-10)
    assert run.multipliers.shape == (201, 1)
    assert "multipliers" in dir(run)


def test_the_report_has_rows_of_the_constraints(run):
    report = run.report()
    assert [row.name for row in report.rows] == ["energy", "constraint", "constraint rate"]
    assert report["constraint"].largest_deviation < 1e-14
    assert report["constraint rate"].largest_deviation < 1e-14
    np.testing.assert_allclose(run.conserved["constraint"][:, 0], 0.5 * (np.sum(run.q**2, axis=1) - 1.0))


def test_energy_momentum_shows_that_velocities_are_not_held():
    found = pt.simulate(PENDULUM, START, t1=2.0, dt=0.05, integrator=pt.integrators.EnergyMomentum())
    assert np.max(np.abs(found.conserved["constraint rate"])) > 1e-4
    # It goes on from where it was.
    further = pt.simulate(PENDULUM, found.final, t1=0.5, dt=0.05, integrator=pt.integrators.EnergyMomentum())
    assert further.result.ok
    with pytest.raises(pt.InputError, match="the momentum of the start is not along the constraints"):
        pt.simulate(PENDULUM, found.final, t1=0.5, dt=0.05, integrator=RATTLE)


def test_a_stored_run_keeps_its_multipliers(run, tmp_path):
    run.save(tmp_path / "run.zarr")
    np.testing.assert_array_equal(pt.load(tmp_path / "run.zarr").multipliers, run.multipliers)
    assert run.dataset["multipliers"].dims == ("time", "multiplier")


@pytest.mark.parametrize("method", [RATTLE, pt.integrators.EnergyMomentum(), pt.integrators.Ida()])
@pytest.mark.parametrize(
    ("start", "part"),
    [
        (pt.State(q=[1.1, 0.0, 0.0], p=[0.0, 1.0, 0.0]), "position .* is off the constraints, by 0.0455"),
        (pt.State(q=[1.0, 0.0, 0.0], p=[1.0, 1.0, 0.0]), "momentum .* is not along the constraints, by 0.5 "),
    ],
)
def test_an_inconsistent_start_is_refused(method, start, part):
    step: Any = {"dt": 0.01} if isinstance(method, pt.integrators.AbstractIntegrator) else {}
    with pytest.raises(pt.InputError, match=f"the {part}.*problem.consistent"):
        pt.simulate(PENDULUM, start, t1=0.1, integrator=method, **step)
    mended = PENDULUM.consistent(start)
    assert pt.simulate(PENDULUM, mended, t1=0.1, integrator=method, **step).result.ok
    assert abs(float(mended.q @ mended.q) - 1.0) < 1e-14 and abs(float(mended.q @ mended.p)) < 1e-14


def test_the_residual_does_not_depend_on_how_constraints_are_scaled():
    """Writing g in other units must not let a wrong start pass, nor refuse one that is right to round-off."""
    for scale in (1e-12, 1e12):
        problem = pt.Constrained(V=lambda q: G * q[2], g=lambda q, s=scale: s * (q @ q - 1.0)[None])
        turned = pt.State(q=[np.cos(0.7), 0.0, np.sin(0.7)], p=[0.0, 1.0, 0.0])
        assert pt.simulate(problem, turned, t1=0.02, dt=0.01, integrator=RATTLE, throw=False) is not None
        with pytest.raises(pt.InputError, match="off the constraints"):
            pt.simulate(
                problem, pt.State(q=[1.001, 0.0, 0.0], p=[0.0, 1.0, 0.0]), t1=0.1, dt=0.1, integrator=RATTLE
            )


def test_what_cannot_be_made_consistent_is_said():
    with pytest.raises(pt.InputError, match=r"q = \[0.0, 0.0, 0.0\] is too far from the constraints"):
        PENDULUM.consistent(pt.State(q=[0.0, 0.0, 0.0], p=[0.0, 1.0, 0.0]))
    assert jnp.allclose(PENDULUM.consistent(START).q, START.q)
