"""Taylor series: any traced right-hand side in heyoka's expressions, to the last digits."""

import sys
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.integrators import Taylor
from poinsot.integrators.adaptive._taylor_equations import equations
from references.heyoka_top import stored

TOP = pt.library.gyro_top()
REFERENCE = stored("example A")
FINEST: dict[str, Any] = {"rtol": 1e-15, "atol": 1e-15}
FORMS = {
    "group": (pt.coordinates.Group(), "group"),
    "quaternions, null space": (pt.coordinates.Quaternions(), "null_space"),
    "directors, null space": (pt.coordinates.Directors(), "null_space"),
    "Euler angles": (pt.coordinates.EulerAngles("zxz"), "null_space"),
    "canonical quaternions": (pt.coordinates.Quaternions(), "hamiltonian"),
    "quaternions, index 0": (pt.coordinates.Quaternions(), "index0"),
}


def top(form, solver=None, **options):
    coordinates, name = FORMS[form]
    chosen = {"t1": 60.0, "coordinates": coordinates, "form": name} | FINEST | options
    return pt.simulate(TOP, TOP.start, integrator=solver or Taylor(), **chosen)


@pytest.fixture(scope="module")
def on_the_group():
    return top("group")


def error(run):
    return np.max(np.abs(run.rotation[-1, 0] - REFERENCE.R[1]))


@pytest.mark.parametrize("form", of_the_long_suite(list(FORMS)[1:], {"quaternions, index 0"}))
def test_every_form_agrees_with_quadruple_precision(form):
    """The independent reference has other unknowns. Index 0 leaves its constraints."""
    assert error(top(form)) < (1e-8 if "index 0" in form else 2e-11)


def test_equals_heyoka_used_by_hand_to_its_last_digits(on_the_group):
    """Both are as far from quadruple precision as rounding puts them; a coarser run is much further away."""
    hy = pytest.importorskip("heyoka")
    w, x, y, z, a, b, c = hy.make_vars("w", "x", "y", "z", "a", "b", "c")
    mgl, (A, B, C) = 11.09 * 9.81, (50.0, 42.0, 10.0)
    equations = [
        (w, 0.5 * (-x * a - y * b - z * c)),
        (x, 0.5 * (w * a + y * c - z * b)),
        (y, 0.5 * (w * b + z * a - x * c)),
        (z, 0.5 * (w * c + x * b - y * a)),
        (a, (2.0 * mgl * (y * z + w * x) + (B - C) * b * c) / A),
        (b, (2.0 * mgl * (w * y - x * z) + (C - A) * c * a) / B),
        (c, (A - B) / C * a * b),
    ]
    hand = hy.taylor_adaptive(equations, [np.sqrt(0.75), 0.5, 0.0, 0.0, 0.0, 0.0, 20.0], tol=1e-15)
    hand.propagate_until(60.0)
    by_hand = np.max(np.abs(hand.state[4:] - REFERENCE.Omega[1]))
    ours = np.max(np.abs(on_the_group.angular_velocity[-1, 0] - REFERENCE.Omega[1]))
    coarse = top("group", rtol=1e-8, atol=1e-8).angular_velocity[-1, 0]
    assert by_hand < 1e-11 and ours < 1e-11
    assert np.max(np.abs(coarse - REFERENCE.Omega[1])) > 100.0 * ours


@pytest.mark.slow
def test_extended_precision_takes_rounding_errors_away(on_the_group):
    """All three start from the same numbers, which the reference knows to more digits."""
    extended = top("group", Taylor("extended"), rtol=1e-18, atol=1e-18).rotation[-1, 0]
    quadruple = top("group", Taylor("quadruple"), rtol=1e-30, atol=1e-30).rotation[-1, 0]
    assert np.max(np.abs(extended - quadruple)) < 1e-15
    assert np.max(np.abs(on_the_group.rotation[-1, 0] - quadruple)) > 1e-13


def test_steps_counts_and_dense_output(on_the_group):
    run = on_the_group
    assert len(run.steps.h) == run.counts.accepted and run.counts.rejected == 0
    assert run.counts.rhs == run.counts.accepted * 20
    np.testing.assert_allclose(np.sum(run.steps.h), 60.0, rtol=1e-14)
    there = top("group", Taylor(dense=False), t1=12.34)
    np.testing.assert_allclose(run.at(12.34).rotation, there.rotation[-1], atol=1e-12)
    assert there.counts.accepted > 100 and len(there.t) == 2


def test_projected_runs_keep_their_end_or_all_and_go_backward():
    """Beside runs on the group, without projection."""
    chosen = {"coordinates": pt.coordinates.Quaternions(), "form": "index0"} | FINEST
    kept, end = (
        pt.simulate(TOP, TOP.start, t1=1.0, integrator=Taylor(projection=True, dense=dense), **chosen)
        for dense in (True, False)
    )
    assert len(kept.t) > 10 and len(end.t) == 2
    np.testing.assert_allclose(end.rotation[-1], kept.rotation[-1], atol=1e-15)
    assert len(kept.steps.h) == kept.counts.accepted and kept.counts.rhs == 20 * kept.counts.accepted
    np.testing.assert_allclose(kept.at(0.37).rotation, top("group", t1=0.37).rotation[-1], atol=1e-11)
    back = pt.simulate(TOP, kept.final, t0=1.0, t1=0.0, integrator=Taylor(projection=True), **chosen)
    np.testing.assert_allclose(back.rotation[-1], kept.rotation[0], atol=1e-11)


@pytest.mark.parametrize(("projection", "held"), [("both", True), ("none", False)])
def test_projected_steps_go_on_from_the_projected_state(projection, held):
    """Without dense output the end is the state of the integration itself."""
    coarse = top(
        "quaternions, index 0", Taylor(projection=projection, dense=False), t1=1.0, rtol=1e-6, atol=1e-6
    )
    assert (np.max(np.abs(coarse.constraint[-1])) < 1e-14) == held


def test_without_dense_output_other_times_are_refused():
    run = top("group", Taylor(dense=False), t1=1.0)
    with pytest.raises(pt.InputError, match="keeps the end of a run alone"):
        run.at(0.5)


def test_time_choices_powers_and_backward_runs():
    """An equation with time, a condition, powers and a root, against its solution y = 1 + sin(t)^2 / 2."""
    problem = pt.ODE(lambda t, y: jnp.where(y > 0.0, jnp.sin(t), jnp.exp(y)) * jnp.sqrt(jnp.cos(t) ** 2))
    run = pt.simulate(problem, pt.State(y=[1.0]), t1=1.5, integrator=Taylor(), **FINEST)
    np.testing.assert_allclose(run.y[-1, 0], 1.0 + 0.5 * np.sin(1.5) ** 2, rtol=1e-14)
    back = pt.simulate(problem, run.final, t0=1.5, t1=0.0, integrator=Taylor(), **FINEST)
    np.testing.assert_allclose(back.y[-1, 0], 1.0, rtol=1e-14)


def test_a_blow_up_keeps_what_came_before():
    problem = pt.ODE(lambda y: y**2)
    with pytest.raises(pt.SimulationError) as failure:
        pt.simulate(problem, pt.State(y=[1.0]), t1=2.0, integrator=Taylor(), **FINEST)
    run = failure.value.trajectory
    assert 0.9 < run.t[-1] <= 1.0 and np.all(np.isfinite(run.y))
    np.testing.assert_allclose(run.y[5, 0], 1.0 / (1.0 - run.t[5]), rtol=1e-12)


GAPS = {
    "a choice of time": lambda t, y: jnp.where((t > 1.0) & (t < 1.1), jnp.nan, -y),
    "a faint root": lambda t, y: 1e-9 * jnp.sqrt((t - 1.05) ** 2 - 0.05**2) - y,
    "a choice of the state": lambda t, y: jnp.where(
        (y - 0.35) ** 2 < (0.35 - np.exp(-1.0)) ** 2, jnp.inf, -y
    ),
}


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("gap", GAPS)
def test_a_step_does_not_leap_over_a_gap(gap, dense):
    """The series of y' = -y goes on beyond t = 1, where the right-hand side is undefined for a while."""
    problem, solver = pt.ODE(GAPS[gap]), Taylor(dense=dense)
    with pytest.raises(pt.SimulationError, match="infinite or NaN") as failure:
        pt.simulate(problem, pt.State(y=[1.0]), t1=3.0, integrator=solver, rtol=1e-8, atol=1e-8)
    run = failure.value.trajectory
    assert run.result is pt.Result.non_finite
    np.testing.assert_allclose(run.t[-1], 1.0, rtol=1e-7)
    np.testing.assert_allclose(run.y[-1, 0], np.exp(-1.0), rtol=1e-7)


def test_only_what_may_be_undefined_is_asked_within_steps():
    """Sums of squares have a root everywhere: orbits and bodies cost no evaluations beside their series."""
    formulation = pt.formulate(TOP, *FORMS["canonical quaternions"])
    for problem, start in (
        (formulation.problem, formulation.start(TOP.start)),
        (pt.library.kepler(), pt.library.kepler().start),
        (pt.ODE(lambda t, y: y / jnp.sqrt(y @ y + 0.1) ** 3 + jnp.exp(-t)), pt.State(y=jnp.ones(2))),
        (pt.ODE(lambda t, y: jnp.where(y > 0.0, jnp.sin(y), y)), pt.State(y=jnp.ones(2))),
    ):
        assert defined_everywhere(problem, problem.pack(start).size)
    assert not defined_everywhere(pt.ODE(lambda t, y: jnp.log(y)), 2)
    assert not defined_everywhere(pt.ODE(lambda t, y: jnp.sqrt(1.0 - y * y)), 2)
    assert not defined_everywhere(pt.ODE(lambda t, y: jnp.where(t > 1.0, jnp.inf, y)), 2)


def defined_everywhere(problem, size):
    hy = pytest.importorskip("heyoka")
    return equations(problem, size, hy.expression).defined_everywhere


def test_refusals(monkeypatch):
    jumps = pt.ODE(lambda y: jnp.floor(y))
    with pytest.raises(pt.InputError, match="'floor', which has no Taylor series"):
        pt.simulate(jumps, pt.State(y=[0.5]), t1=1.0, integrator=Taylor())
    with pytest.raises(pt.InputError, match="no series of linear equations .* take the form 'index0'"):
        pt.simulate(
            TOP,
            TOP.start,
            t1=1.0,
            integrator=Taylor(),
            coordinates=pt.coordinates.Quaternions(),
            form="index1",
        )
    with pytest.raises(pt.InputError, match="precision of Taylor = 'single'"):
        Taylor("single")  # type: ignore[arg-type]
    with pytest.raises(pt.InputError, match="projection = 'both' with precision = 'extended'"):
        Taylor("extended", projection=True)
    with pytest.raises(pt.InputError, match="rtol = 1e-17 is below"):
        pt.simulate(jumps, pt.State(y=[0.5]), t1=1.0, rtol=1e-17, integrator=Taylor())
    monkeypatch.setitem(sys.modules, "heyoka", None)
    with pytest.raises(pt.InputError, match=r"Taylor needs heyoka.*pip install 'poinsot\[taylor\]'"):
        pt.simulate(pt.ODE(lambda y: -y), pt.State(y=[1.0]), t1=1.0, integrator=Taylor())
