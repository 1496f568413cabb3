"""SciPy's solvers behind our interface: accuracy, dense output, counts, limits, failures."""

import sys

import jax
import numpy as np
import pytest
from jax.experimental import io_callback
from scipy.integrate._ivp import bdf, radau, rk

import poinsot as pt
from poinsot.core import Result
from poinsot.integrators.adaptive import Task
from poinsot.integrators.adaptive._scipy import ScipyEngine

SOLVERS = (
    pt.integrators.DormandPrince853,
    pt.integrators.Radau5,
    pt.integrators.Bdf,
    pt.integrators.Lsoda,
)
IMPLICIT = SOLVERS[1:]
KEPLER = pt.library.kepler(eccentricity=0.6)
VAN_DER_POL = pt.ODE(lambda y: jax.numpy.stack([y[1], 1e3 * (1.0 - y[0] ** 2) * y[1] - y[0]]))


def by_class(solver) -> str:
    return solver.__name__


def ellipse(t: np.ndarray, e: float = 0.6) -> np.ndarray:
    """Positions on the Kepler orbit from its pericentre, by Kepler's equation."""
    E = t + e * np.sin(t)
    for _ in range(50):
        E = E - (E - e * np.sin(E) - t) / (1.0 - e * np.cos(E))
    return np.stack([np.cos(E) - e, np.sqrt(1.0 - e**2) * np.sin(E)], axis=-1)


def run(solver, tolerance: float, t1: float = 10.0, **options):
    accuracy = {"rtol": tolerance, "atol": tolerance}
    return pt.simulate(KEPLER, KEPLER.start, t1=t1, integrator=solver, progress=False, **accuracy, **options)


@pytest.mark.parametrize("solver", SOLVERS, ids=by_class)
def test_error_follows_the_tolerance(solver):
    coarse, fine = (run(solver(), tolerance) for tolerance in (1e-5, 1e-8))
    errors = [np.max(np.abs(one.q - ellipse(one.t))) for one in (coarse, fine)]
    assert errors[1] < 2e-4
    # Three decades of tolerance: about three of error; methods of order 5 and more leave out at most one.
    assert 1e2 < errors[0] / errors[1] < 1e5
    assert fine.counts.rhs > coarse.counts.rhs


@pytest.mark.parametrize(
    ("solver", "counts"),
    [(pt.integrators.DormandPrince853, (8, 16)), (pt.integrators.Radau5, (64, 128))],
    ids=["DormandPrince853", "Radau5"],
)
def test_order_in_constant_steps(solver, counts):
    """Of y' = -t^p y^2, for p = 1; for p = 1/2, whose derivatives are not bounded, it is lost."""

    def slope(power):
        problem, errors = pt.ODE(lambda t, y, p: -(t**p) * y * y, params=power), []
        for n in counts:
            h = 2.0 / n
            # The tolerance falls as the error estimate of the lowest order does, and lets all steps pass.
            engine = solver(first_step=h, max_step=h).start(
                Task(problem, np.array([2.0]), 0.0, 2.0, h**4, h**4)
            )
            batch = engine.advance(60.0)
            assert power != 1.0 or len(batch.t) == n
            errors.append(abs(batch.y[-1, 0] - 1.0 / (0.5 + 2.0 ** (power + 1.0) / (power + 1.0))))
        return np.log2(errors[0] / errors[1])

    order = solver().traits.order
    assert abs(slope(1.0) - order) < 0.15
    assert slope(0.5) < order - 0.5


@pytest.mark.parametrize("solver", SOLVERS, ids=by_class)
@pytest.mark.parametrize("t1", [10.0, -10.0])
def test_dense_output_is_as_good_as_the_steps(solver, t1):
    found = run(solver(), 1e-8, t1)
    times = np.random.default_rng(1).uniform(min(0.0, t1), max(0.0, t1), 300)
    at_steps = np.max(np.abs(found.q - ellipse(found.t)))
    between = np.max(np.abs(found.at(times).q - ellipse(times)))
    assert between < 5.0 * at_steps
    # Control: a line from step to step.
    order = np.argsort(found.steps.t)
    line = np.stack([np.interp(times, found.steps.t[order], column) for column in found.q[order].T], axis=-1)
    assert np.max(np.abs(line - ellipse(times))) > 20.0 * at_steps


@pytest.mark.parametrize("solver", SOLVERS, ids=by_class)
def test_evaluations_are_those_that_happen(solver):
    happened = []

    def f(y):
        io_callback(lambda: happened.append(1), None, ordered=True)
        return jax.numpy.stack([y[1], -jax.numpy.sin(y[0])])

    engine = solver().start(Task(pt.ODE(f), np.array([2.0, 0.0]), 0.0, 8.0, 1e-6, 1e-8))
    batch = engine.advance(60.0)
    jax.effects_barrier()
    assert batch.result is Result.successful and batch.t[-1] == 8.0
    # A Jacobian by automatic differentiation runs through the function once.
    assert engine.counts.rhs == len(happened) - engine.counts.jacobians
    assert engine.counts.accepted == len(batch.t) > 5
    assert engine.counts.rejected == np.sum(batch.rejected)


ATTEMPTS = {
    pt.integrators.DormandPrince853: (rk, "rk_step", lambda arguments: arguments[4]),
    pt.integrators.Radau5: (radau, "solve_collocation_system", lambda arguments: arguments[3]),
    pt.integrators.Bdf: (bdf, "solve_bdf_system", lambda arguments: arguments[1]),
}
"""Where SciPy tries a step, and what tells one try from the next: its size, or its end."""


@pytest.mark.parametrize("solver", ATTEMPTS, ids=by_class)
def test_rejections_are_those_that_happen(solver, monkeypatch):
    module, name, identity = ATTEMPTS[solver]
    original, tried = getattr(module, name), []

    def watched(*arguments):
        tried.append(identity(arguments))
        return original(*arguments)

    monkeypatch.setattr(module, name, watched)
    engine = solver().start(Task(KEPLER, np.array([0.4, 0.0, 0.0, 2.0]), 0.0, 20.0, 1e-6, 1e-9))
    counted = 0
    # Batches of one step.
    while (batch := engine.advance(0.0)).t[-1] < 20.0:
        attempts = len(set(tried))
        assert batch.rejected.tolist() == [attempts - 1]
        counted += attempts - 1
        tried.clear()
    assert counted > 3 or solver is pt.integrators.Bdf


def test_lsoda_agrees_with_its_own_counters():
    engine = pt.integrators.Lsoda().start(Task(KEPLER, np.array([0.4, 0.0, 0.0, 2.0]), 0.0, 20.0, 1e-6, 1e-9))
    batch = engine.advance(60.0)
    assert isinstance(engine, ScipyEngine)
    own = engine._stepper._lsoda_solver._integrator.iwork
    assert own[10] == len(batch.t)
    assert own[11] == engine.counts.rhs
    assert own[12] == engine.counts.jacobians
    assert engine.counts.rejected > 0


@pytest.mark.parametrize("solver", IMPLICIT, ids=by_class)
def test_stiffness_leaves_the_steps_alone(solver):
    start = pt.State(y=[2.0, 0.0])
    options = {"rtol": 1e-5, "atol": 1e-7, "progress": False}
    stiff = pt.simulate(VAN_DER_POL, start, t1=1.0, integrator=solver(), **options)
    control = pt.simulate(VAN_DER_POL, start, t1=1.0, integrator=pt.integrators.DormandPrince853(), **options)
    assert 0 < stiff.counts.jacobians and 0 < stiff.counts.factorisations
    assert len(stiff.steps) < 100 < len(control.steps)
    np.testing.assert_allclose(stiff.y[-1], control.y[-1], rtol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS, ids=by_class)
def test_steps_keep_to_their_limits(solver):
    found = run(solver(first_step=1e-4, max_step=0.05), 1e-4, t1=2.0)
    sizes = found.steps.h
    assert sizes[0] == pytest.approx(1e-4, rel=1e-6)
    assert np.max(sizes) <= 0.05 * (1.0 + 1e-12)
    assert np.max(run(solver(), 1e-4, t1=2.0).steps.h) > 0.05
    # A first step beyond the end is the whole run.
    assert run(solver(first_step=1e3), 1e-4, t1=0.01).t[-1] == 0.01


@pytest.mark.parametrize("solver", SOLVERS, ids=by_class)
def test_giving_up_keeps_the_prefix(solver):
    blow_up = pt.ODE(lambda y: y * y)
    with pytest.raises(pt.SimulationError, match="smaller step than the time can resolve") as caught:
        pt.simulate(blow_up, pt.State(y=[1.0]), t1=2.0, integrator=solver(), progress=False)
    prefix = caught.value.trajectory
    assert prefix.result is Result.step_too_small
    early = prefix.t < 0.9
    assert np.sum(early) > 5
    np.testing.assert_allclose(prefix.y[early, 0], 1.0 / (1.0 - prefix.t[early]), rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS, ids=by_class)
def test_nan_is_named(solver):
    broken = pt.ODE(lambda t, y: y * jax.numpy.sqrt(0.5 - t))
    run = pt.simulate(broken, pt.State(y=[1.0]), t1=1.0, integrator=solver(), throw=False, progress=False)
    assert run.result is Result.non_finite
    assert 0.4 < run.t[-1] <= 0.5 + 1e-6 and np.all(np.isfinite(run.y))


@pytest.mark.parametrize(
    "solver",
    [SOLVERS[0], pytest.param(SOLVERS[1], marks=pytest.mark.slow), pt.integrators.Taylor],
    ids=by_class,
)
def test_projection_holds_the_constraints(solver):
    """To round-off at steps and between them; a control without projection drifts."""
    top = pt.library.gyro_top()
    options = {"coordinates": pt.coordinates.Quaternions(), "form": "index0", "rtol": 1e-6, "atol": 1e-6}
    runs = {
        projection: pt.simulate(
            top, top.start, t1=0.5, integrator=solver(projection=projection), progress=False, **options
        )
        for projection in ("none", "position", "both")
    }
    largest = {
        name: [np.max(np.abs(values)) for values in (one.constraint, one.constraint_rate)]
        for name, one in runs.items()
    }
    assert largest["none"][0] > 1e-9 and largest["none"][1] > 1e-9
    assert largest["position"][0] < 1e-14 and largest["position"][1] > 1e-10
    assert largest["both"][0] < 1e-14 and largest["both"][1] < 1e-12
    between = runs["both"].at(np.linspace(0.0, 0.5, 40))
    assert np.max(np.abs(between.constraint)) < 1e-14
    counts = runs["both"].counts
    if solver is pt.integrators.DormandPrince853:
        assert counts.rhs == 2 + 13 * counts.accepted + 12 * counts.rejected


def test_wrong_options_are_named():
    with pytest.raises(pt.InputError, match=r"first_step = 0.0; it must be a positive number"):
        pt.integrators.Radau5(first_step=0.0)
    with pytest.raises(pt.InputError, match=r"max_step of Bdf = nan"):
        pt.integrators.Bdf(max_step=float("nan"))
    with pytest.raises(pt.InputError, match=r"projection = 'all'; it must be True, False, 'position'"):
        pt.integrators.DormandPrince853(projection="all")
    with pytest.raises(pt.InputError, match="no constraints to project onto"):
        run(pt.integrators.DormandPrince853(projection=True), 1e-6)


@pytest.mark.parametrize("solver", SOLVERS, ids=by_class)
def test_a_missing_package_is_named(solver, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(
        pt.InputError, match=rf"{solver.__name__} needs scipy.*pip install 'poinsot\[adaptive\]'"
    ):
        run(solver(), 1e-6)


def test_constrained_forms_are_refused():
    pendulum = pt.Constrained(V=lambda q: q[2], g=lambda q: 0.5 * (q @ q - 1.0)[None])
    start = pt.State(q=[1.0, 0.0, 0.0], p=[0.0, 1.0, 0.0])
    with pytest.raises(pt.InputError, match=r"LSODA needs an ordinary.*These fit: .*rattle.*ida"):
        pt.simulate(pendulum, start, t1=1.0, integrator=pt.integrators.Lsoda())
