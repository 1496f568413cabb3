"""Functions of users: lists and other numbers are accepted, wrong ones named in one line before a run."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

RK4, VERLET = pt.integrators.RK4(), pt.integrators.StormerVerlet()
Y0 = pt.State(y=[1.0, 0.5])
QP0 = pt.State(q=[1.0, 0.0], p=[0.0, 1.0])


def oscillator(y):
    return jnp.stack([y[1], -y[0]])


def run(f, **options):
    return pt.simulate(pt.ODE(f), Y0, **({"t1": 0.2, "dt": 0.1, "integrator": RK4} | options))


@pytest.mark.parametrize(
    "f",
    [
        lambda y: [y[1], -y[0]],
        lambda t, y: (y[1], -y[0]),
        lambda t, y: np.array([[0.0, 1.0], [-1.0, 0.0]]) @ y,
    ],
)
@pytest.mark.parametrize("solver", [None, pt.integrators.DormandPrince5(), pt.integrators.DormandPrince853()])
def test_lists_are_accepted(f, solver):
    options = {} if solver is None else {"integrator": solver, "dt": None}
    np.testing.assert_allclose(run(f, **options).y[-1], run(oscillator, **options).y[-1], rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", [jnp.int32, jnp.float32])
@pytest.mark.parametrize(
    "solver", [pt.integrators.DormandPrince5(), pt.integrators.Odex(), pt.integrators.Radau5()]
)
def test_integers_and_single_precision_are_accepted(kind, solver):
    """Adaptive solvers used to die of branches with unequal types."""
    found = run(lambda y: jnp.array([2, -1], dtype=kind), integrator=solver, dt=None)
    np.testing.assert_allclose(found.y[-1], [1.4, 0.3], rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda y, t: -t * y, r"^f takes \(y, t\); time comes first: \(t, y\)"),
        (lambda time, y: -time * y, r"^f cannot be evaluated: .*\(it takes \(time, y\), the last as params"),
        (
            lambda y: y[:1],
            r"^f returns shape \(1,\); it must return an array of shape \(2,\), like the state",
        ),
        (lambda y: jnp.sum(y), r"^f returns shape \(\); "),
        (lambda y: None, r"^f returns None; it must return numbers \(is a `return` missing\?\)"),
        (lambda y: "text", "^f returns 'text'; it must return numbers"),
        (lambda y: "x" * 10**5, "^f returns 'xxx"),
        (lambda y: y.astype(complex), "^f returns .*; it must return numbers"),
        (lambda y: y > 0.0, "^f returns truth values"),
        (lambda y: [y, y[0]], "^f returns .*; it must return numbers"),
        (lambda y: y @ jnp.ones((3, 3)), "^f cannot be evaluated: TypeError: dot_general"),
        (lambda y: y.nothing, "^f cannot be evaluated: AttributeError"),
        (lambda y: undefined, "^f cannot be evaluated: NameError: name 'undefined'"),  # noqa: F821  # type: ignore
    ],
)
def test_wrong_functions_are_named(f, message):
    for call in (
        lambda: run(f),
        lambda: pt.solve(pt.ODE(f), RK4, Y0, dt=0.1, steps=2),
        lambda: jax.jit(lambda s: pt.solve(pt.ODE(f), RK4, s, dt=0.1, steps=2).y)(Y0),
        lambda: pt.ensemble(pt.ODE(f), RK4, pt.State(y=np.ones((3, 2))), dt=0.1, steps=2),
    ):
        with pytest.raises(pt.InputError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (
            lambda: pt.Hamiltonian(lambda q, p: 0.5 * p * p),
            r"^H returns shape \(2,\); it must return one number",
        ),
        (lambda: pt.Hamiltonian(lambda q, p, t: t * (p @ p)), r"time comes first: \(t, q, p\)"),
        (lambda: pt.Hamiltonian(T=lambda p: p, V=lambda q: q @ q), "^T returns shape"),
        (lambda: pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: None), "^V returns None"),
        (
            lambda: pt.Hamiltonian(lambda q, p: p @ p, force=lambda q, p: p[:1]),
            r"^force returns shape \(1,\)",
        ),
        (lambda: pt.Hamiltonian(lambda q, p: p @ p, dHdq=lambda q, p: 1.0), "^dHdq returns shape"),
        (
            lambda: pt.Hamiltonian(lambda q, p: p @ p, invariants={"L": lambda q, p: "up"}),
            "^invariant 'L' returns 'up'",
        ),
    ],
)
def test_wrong_parts_of_a_hamiltonian_are_named(problem, message):
    with pytest.raises(pt.InputError, match=message):
        pt.simulate(problem(), QP0, t1=0.2, dt=0.1, integrator=pt.integrators.GaussLegendre(stages=1))


def test_whole_numbers_among_params_may_size_arrays():
    problem = pt.ODE(lambda y, params: -y * jnp.sum(jnp.ones(params["n"])), params={"n": 3})
    found = pt.simulate(problem, Y0, t1=0.2, dt=0.1, integrator=RK4)
    assert found.result.ok


BODY = pt.System(pt.RigidBody(mass=1.0, inertia=(1.0, 2.0, 2.5)))
SOLVERS = pytest.mark.parametrize(
    "solver", [VERLET, pt.integrators.DormandPrince5()], ids=["fixed", "adaptive"]
)


def stopped(stop, solver, t1=2.0):
    problem = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 0.5 * q @ q)
    step: Any = {"dt": 0.01} if solver is VERLET else {}
    return pt.simulate(problem, QP0, t1=t1, integrator=solver, stop=stop, **step)


@SOLVERS
@pytest.mark.parametrize(
    ("event", "message"),
    [
        (lambda q, p: q, r"^the event returns shape \(2,\); it must return one number"),
        (lambda q, p: None, "^the event returns None"),
        (lambda q, p: "now", "^the event returns 'now'"),
        (lambda q, p: q[0] > 0.5, "^the event returns truth values"),
        (lambda q, p: jnp.sqrt(q[0] - 2.0), "^the event is NaN at the start"),
        (lambda q, p: q.nothing, "^the event cannot be evaluated: AttributeError"),
        (3.0, "^function of Event = 3.0; it must be a function"),
    ],
)
def test_wrong_events_are_named(event, message, solver):
    with pytest.raises((pt.InputError, TypeError), match=message):
        stopped(event, solver)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (lambda motion: motion.position, r"^the event returns shape \(1, 3\)"),
        (lambda motion: None, "^the event returns None"),
        (lambda motion, more: 1.0, "^the event cannot be evaluated: TypeError"),
        (3.0, "^function of Event = 3.0; it must be a function"),
    ],
)
def test_wrong_events_of_bodies_are_named(event, message):
    with pytest.raises(pt.InputError, match=message):
        pt.simulate(BODY, BODY.state(), t1=0.2, dt=0.1, integrator=pt.integrators.LieSplitting(), stop=event)


@SOLVERS
def test_an_event_that_becomes_nan_ends_the_run(solver):
    with pytest.raises(pt.SimulationError, match="the stop condition became NaN") as caught:
        stopped(lambda q, p: 1.0 + jnp.sqrt(q[0]), solver)
    end = caught.value.trajectory
    assert end.result is pt.Result.event_undefined
    # The square root has no value behind the zero of cos t.
    assert abs(end.t[-1] - np.pi / 2) < 0.3
    assert np.isfinite(end.q).all()


@SOLVERS
def test_an_event_met_before_it_is_nan_is_found(solver):
    end = stopped(lambda q, p: jnp.sqrt(q[0]) - 0.5, solver)
    assert end.result is pt.Result.stopped_by_event
    np.testing.assert_allclose(end.q[-1, 0], 0.25, atol=1e-3)
    np.testing.assert_allclose(end.t[-1], np.arccos(0.25), atol=1e-3)
