"""Ida on equations with multipliers: accuracy, constraints, counts, failures."""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.core import AbstractImplicit, Result
from poinsot.integrators.adaptive import Task

TOP = pt.library.gyro_top()
PENDULUM = pt.Constrained(V=lambda q: 9.81 * q[2], g=lambda q: 0.5 * (q @ q - 1.0)[None])
SWING = pt.State(q=[1.0, 0.0, 0.0], p=[0.0, 1.0, 0.0])
QUATERNIONS = pt.coordinates.Quaternions()
T1 = 0.3


def simulate(form: str, tolerance: float, **options: Any):
    options = {"coordinates": QUATERNIONS, "progress": False, "integrator": pt.integrators.Ida()} | options
    return pt.simulate(TOP, TOP.start, t1=T1, form=form, rtol=tolerance, atol=tolerance, **options)


@pytest.fixture(scope="module")
def reference():
    """In a form that Ida takes too, whose programs they share."""
    return simulate("index1", 1e-13, integrator=pt.integrators.DormandPrince853())


@pytest.fixture(scope="module")
def runs():
    cases = [(form, tolerance) for form in ("index1", "index3") for tolerance in (1e-6, 1e-9)]
    return {case: simulate(*case) for case in cases}


@pytest.mark.parametrize("form", ["index1", "index3"])
def test_error_follows_the_tolerance_at_steps_and_between(runs, reference, form):
    times = np.linspace(0.0, T1, 41)
    errors = []
    for tolerance in (1e-6, 1e-9):
        run = runs[form, tolerance]
        between = np.max(np.abs(run.at(times).rotation - reference.at(times).rotation))
        at_steps = np.max(np.abs(run.rotation - reference.at(run.t).rotation))
        assert between < 2.0 * at_steps
        errors.append(at_steps)
    assert errors[1] < 1e-5
    assert 30.0 < errors[0] / errors[1] < 3e4


def test_constraints_of_index_1_stay_at_the_tolerance(runs):
    largest = [
        max(np.max(np.abs(run.constraint)), np.max(np.abs(run.constraint_rate)))
        for run in (runs["index1", 1e-6], runs["index1", 1e-9])
    ]
    # Local errors add up over the steps; the drift falls with the tolerance.
    assert largest[1] < 1e-9 * len(runs["index1", 1e-9].steps)
    assert 1e2 < largest[0] / largest[1] < 1e4


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_stabilised_constraints_are_at_round_off(runs, tolerance):
    run, drifting = runs["index3", tolerance], runs["index1", tolerance]
    speed = np.max(np.abs(run.angular_velocity))
    assert np.max(np.abs(run.constraint)) < 1e-15 < np.max(np.abs(drifting.constraint))
    assert np.max(np.abs(run.constraint_rate)) < 1e-15 * speed < np.max(np.abs(drifting.constraint_rate))
    between = run.at(np.linspace(0.0, T1, 20))
    assert np.max(np.abs(between.constraint)) < 1e-15


def test_stabilised_equations_hold_by_themselves(runs):
    """Within the solver, before anything is projected, the constraints do not grow with time."""
    problem = pt.formulate(TOP, QUATERNIONS, "index3").problem
    engine: Any = pt.integrators.Ida().start(_task(problem, 1e-6))
    residuals = []
    while engine._latest[-1][0] < T1:
        engine.advance(0.0)
        q = engine._latest[-1][1][:4]
        residuals.append(abs(q @ q - 1.0))
    half = len(residuals) // 2
    assert np.max(residuals) < 1e-5
    assert np.max(residuals[half:]) < 3.0 * np.max(residuals[:half])
    drift = np.max(np.abs(runs["index1", 1e-6].constraint), axis=(1, 2))
    assert np.max(drift[len(drift) // 2 :]) > 1.5 * np.max(drift[: len(drift) // 2]), "the control drifts"


def _task(problem, tolerance: float) -> Task:
    start = pt.formulate(TOP, QUATERNIONS, "index3").start(TOP.start, 0.0)
    return Task(problem, np.asarray(problem.pack(start)), 0.0, T1, tolerance, tolerance)


@pytest.mark.parametrize("form", ["index1", "index2", pytest.param("index3", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "coordinates", [QUATERNIONS, pytest.param(pt.coordinates.Directors(), marks=pytest.mark.slow)], ids=repr
)
def test_start_is_consistent(form, coordinates):
    formulation = pt.formulate(TOP, coordinates, form)

    @jax.jit
    def started():
        y = formulation.problem.pack(formulation.start(TOP.start, 0.0))
        equations = formulation.problem.implicit_form(y.shape[0])
        assert isinstance(equations, AbstractImplicit)
        z, rate = equations.start(0.0, y)
        # Control: any other multiplier.
        residuals = jax.vmap(lambda z: equations.residual(0.0, z, rate))(jnp.stack([z, z.at[-1].add(1.0)]))
        matrix = jax.jacfwd(lambda rate: equations.residual(0.0, z, rate))(rate)
        return y, z, equations.state(z), residuals, matrix[:, : 2 * equations.positions], matrix

    y, z, state, (right, wrong), of_motion, matrix = map(np.asarray, started())
    assert np.max(np.abs(right)) < 1e-13 * np.max(np.abs(z)) and np.max(np.abs(wrong)) > 1e-3
    np.testing.assert_allclose(state, y, atol=1e-12)
    # Rates of multipliers are not in the equations.
    n = of_motion.shape[1]
    assert not np.any(matrix[:, n:]) and np.any(of_motion)


def test_pendulum_backward_with_a_stop():
    run = pt.simulate(PENDULUM, SWING, t1=-2.0, integrator=pt.integrators.Ida(), stop=lambda q, p: q[2] + 0.5)

    def by_hand(t, y):
        """With the tension that keeps the length."""
        q, p = y[:3], y[3:]
        gravity = np.array([0.0, 0.0, -9.81])
        return np.concatenate([p, gravity - (p @ p + gravity @ q) * q])

    def level(t, y):
        return y[2] + 0.5

    level.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    start = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    other = solve_ivp(by_hand, (0.0, -2.0), start, method="DOP853", rtol=1e-10, atol=1e-10, events=level)
    assert run.result is Result.stopped_by_event
    assert abs(run.q[-1, 2] + 0.5) < 1e-14
    assert run.t[-1] == pytest.approx(other.t[-1], abs=1e-5)
    np.testing.assert_allclose(run.q[-1], other.y[:3, -1], atol=1e-5)
    assert abs(run.energy[-1] - run.energy[0]) < 1e-5


def test_counts_and_limits():
    run = pt.simulate(PENDULUM, SWING, t1=1.0, integrator=pt.integrators.Ida(first_step=1e-5, max_step=0.01))
    counts = run.counts
    assert np.max(run.steps.h) <= 0.01 * (1.0 + 1e-12) and run.steps.h[0] == pytest.approx(1e-5)
    assert counts.accepted == len(run.steps) and counts.rejected == np.sum(run.steps.rejected)
    assert 0 < counts.factorisations == counts.jacobians < counts.accepted < counts.rhs
    task = Task(PENDULUM, np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]), 0.0, 1.0, 1e-8, 1e-8)
    engine: Any = pt.integrators.Ida().start(task)
    engine.advance(60.0)
    last = engine._solver.step(1.0 + 1e-9)
    # SUNDIALS counts too, and tells with every step.
    assert last.nfev == engine.counts.rhs and last.njev == engine.counts.jacobians


def test_stiffness_leaves_the_steps_alone():
    """A bead on a sphere, carried round its equator by a viscous stream of speed s(t) = 1 + sin(t) / 2.

    Its angular velocity obeys w' = -c (w - s), and stays close to the stream however large c is.
    """

    def drag(t, q, v, c):
        return -c * (v - (1.0 + 0.5 * jnp.sin(t)) * jnp.stack([-q[1], q[0], 0.0 * q[2]]))

    bead = pt.Constrained(V=lambda q: 0.0 * q[2], g=lambda q: 0.5 * (q @ q - 1.0)[None], force=drag, params=1)
    angle = pt.ODE(lambda t, y, c: jnp.stack([y[1], -c * (y[1] - 1.0 - 0.5 * jnp.sin(t))]), params=1.0)

    def run(solver, problem, y):
        batch = solver.start(Task(problem, np.array(y), 0.0, 1.0, 1e-6, 1e-6)).advance(60.0)
        assert batch.t[-1] == 1.0
        return batch

    steps = []
    for c in (1e2, 1e4):
        lag = 0.5 * c / (c * c + 1.0)
        on_sphere = run(pt.integrators.Ida(), bead.with_params(c), [1.0, 0.0, 0.0, 0.0, 1.0 - lag, 0.0])
        t = on_sphere.t
        np.testing.assert_allclose(
            on_sphere.y[:, 1], np.sin(t + lag * (c * (1.0 - np.cos(t)) - np.sin(t))), rtol=0.0, atol=1e-5
        )
        explicit = run(pt.integrators.DormandPrince5(), angle.with_params(c), [0.0, 1.0 - lag])
        steps.append((len(t), len(explicit.t)))
    assert pt.integrators.Ida().traits.stiff and not pt.integrators.DormandPrince5().traits.stiff
    ratio, of_explicit = np.array(steps[1]) / np.array(steps[0])
    assert 0.7 < ratio < 1.4 and of_explicit > 30.0


def test_giving_up_keeps_the_prefix():
    singular = pt.Constrained(V=lambda t, q: q[2] / (1.0 - t), g=lambda q: 0.5 * (q @ q - 1.0)[None])
    with pytest.raises(pt.SimulationError, match="smaller step") as caught:
        pt.simulate(singular, SWING, t1=2.0, integrator=pt.integrators.Ida(), rtol=1e-5, atol=1e-5)
    assert caught.value.trajectory.t[-1] == pytest.approx(1.0, abs=1e-3)


def test_wrong_input():
    with pytest.raises(pt.InputError, match=r"IDA needs equations with multipliers: .*'index1'.*These fit: "):
        simulate("null_space", 1e-6)
    with pytest.raises(pt.InputError, match=r"first_step = -1"):
        pt.integrators.Ida(first_step=-1.0)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sksundae.ida", None)
    with pytest.raises(pt.InputError, match=r"Ida needs sksundae.*'poinsot\[adaptive\]'"):
        pt.simulate(PENDULUM, SWING, t1=1.0, integrator=pt.integrators.Ida())


def test_the_form_is_chosen_to_fit():
    run = pt.simulate(TOP, TOP.start, t1=1e-3, integrator=pt.integrators.Ida(), progress=False)
    assert run.attributes["form"] == "index3"
