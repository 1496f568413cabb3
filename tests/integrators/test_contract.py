"""What every integrator promises, measured: traits of all, mechanics of one for every stepper.

The traits are measured by `poinsot.analysis.verify` on a nonlinear Hamiltonian that is not separable, and on
a separable one for those that need it. The controls at the end show that false claims do not pass.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from stepper_cases import (
    DRIVEN,
    PARAMS,
    PENDULUM,
    PENDULUM_LANES,
    SEPARABLE_DRIVEN,
    SEPARABLE_LANES,
    SEPARABLE_PENDULUM,
    STEPPERS,
    fitting,
)

import poinsot as pt
from counting import xla_programs
from long_suite import of_the_long_suite
from poinsot.analysis import order_estimate, reference_solution, reversibility, symplecticity, verify
from poinsot.analysis._body_verify import _claims_on
from poinsot.analysis._mechanism_standard import standard_tree
from poinsot.integrators import (
    RK4,
    AbstractIntegrator,
    ConstrainedRungeKutta,
    ImplicitMidpoint,
    RadauIIA,
    Splitting,
    StormerVerlet,
    SymplecticEulerA,
    SymplecticEulerB,
)
from poinsot.integrators._base import Traits
from poinsot.kernels import programs_made
from quickly import quickly

ULP = 2.0**-52
STEPS = 8
STARTS = np.array([[0.3, 0.9], [-1.1, 0.2], [2.0, -0.4], [0.7, 0.5]])
each_stepper = pytest.mark.parametrize(
    "integrator",
    of_the_long_suite(
        {name: (method,) for name, method in STEPPERS.items()},
        {"newton", "partitioned"},
    ),
)


QUICK = {
    "gauss6",
    "symplectic-euler-a",
    "verlet",
}
"""Those of the short suite."""


@pytest.mark.parametrize("name", of_the_long_suite(pt.integrators.names(), QUICK))
def test_declared_traits_are_the_measured_ones(name):
    verification = verify(name)
    assert verification.passed, str(verification)


def end(problem, integrator, y, h):
    """State after a few steps from `y = (q, p)`, and the result."""
    state = pt.State(q=y[:1], p=y[1:])
    solution = pt.solve(problem, integrator, state, dt=h, steps=STEPS, save_every=STEPS)
    return jnp.concatenate([solution.q[-1], solution.p[-1]]), solution.result


@each_stepper
def test_batches_equal_single_runs_and_a_lane_fails_alone(integrator):
    problem = fitting(integrator, PENDULUM, SEPARABLE_PENDULUM)
    run = eqx.filter_jit(lambda problem, y, h: end(problem, integrator, y, h))
    batched = eqx.filter_jit(
        lambda problem, y, h: jax.vmap(lambda y, h: end(problem, integrator, y, h))(y, h)
    )
    starts, h = jnp.asarray(STARTS), jnp.full(4, 0.1)

    together, results = batched(problem, starts, h)
    assert together.dtype == jnp.float64 and np.all(results == 0)
    singles = [run(problem, y, jnp.asarray(0.1))[0] for y in starts]
    np.testing.assert_allclose(together, jnp.stack(singles), rtol=0.0, atol=16 * ULP)

    # A step this large overflows, or does not converge.
    broken, results = batched(problem, starts, h.at[2].set(1e160))
    assert np.array_equal(np.asarray(results) != 0, [False, False, True, False])
    assert np.all(np.isnan(broken[2]))
    others = jnp.array([0, 1, 3])
    assert np.array_equal(broken[others], together[others]), "lanes must not touch each other"

    if integrator is STEPPERS["newton"]:
        with pytest.raises(ValueError, match=r"vmap"):
            lanes_of_one_array(integrator)
    else:
        np.testing.assert_allclose(lanes_of_one_array(integrator), together, rtol=0.0, atol=16 * ULP)


def lanes_of_one_array(integrator):
    """The same runs as lanes of a vectorised problem."""
    problem = fitting(integrator, PENDULUM_LANES, SEPARABLE_LANES)
    starts = pt.State(q=STARTS[:, 0][None], p=STARTS[:, 1][None])
    lanes = pt.solve(problem, integrator, starts, dt=0.1, steps=STEPS, save_every=STEPS)
    return np.concatenate([lanes.q[-1], lanes.p[-1]]).T


@each_stepper
def test_new_step_sizes_and_parameters_compile_nothing(integrator):
    problem = fitting(integrator, PENDULUM, SEPARABLE_PENDULUM)
    state = pt.State(q=[0.3], p=[0.9])
    first = pt.solve(problem, integrator, state, dt=0.1, steps=STEPS)
    made = programs_made()
    with xla_programs() as compiled:
        other = pt.solve(problem.with_params({"g": 0.4}), integrator, state, dt=0.07, steps=STEPS)
    assert programs_made() == made and not compiled
    assert not np.allclose(first.q[-1], other.q[-1])
    assert first.q.dtype == first.p.dtype == first.t.dtype == jnp.float64


@each_stepper
def test_gradients_in_state_parameters_and_step_agree_with_differences(integrator):
    problem = fitting(integrator, PENDULUM, SEPARABLE_PENDULUM)
    weights = jnp.array([0.8, -0.6])

    def value(x):
        y, result = end(problem.with_params({"g": x[2]}), integrator, x[:2], x[3])
        return jnp.sum(weights * y)

    x, direction = jnp.array([0.3, 0.9, PARAMS["g"], 0.1]), jnp.array([0.5, -0.7, 0.4, 0.3])
    forward = quickly(lambda x, v: jax.jvp(value, (x,), (v,))[1])(x, direction)
    gradient = quickly(jax.grad(value))(x)
    assert np.all(np.isfinite(gradient))
    np.testing.assert_allclose(jnp.sum(gradient * direction), forward, rtol=1e-12)
    alone = quickly(value)
    for k in range(4):
        step = 1e-5 * np.eye(4)[k]
        difference = (alone(x + step) - alone(x - step)) / 2e-5
        np.testing.assert_allclose(gradient[k], difference, rtol=1e-6)


@each_stepper
def test_order_is_not_lost_when_time_enters(integrator):
    problem = fitting(integrator, DRIVEN, SEPARABLE_DRIVEN)
    reference = _driven_reference(problem.separable)
    estimate = order_estimate(
        problem, integrator, pt.State(q=[0.8], p=[0.5]), 2.0, t0=0.3, reference=reference
    )
    assert estimate.slope["q"] == pytest.approx(integrator.order, abs=0.15)
    assert estimate.slope["p"] == pytest.approx(integrator.order, abs=0.15)


@cache
def _driven_reference(separable: bool) -> pt.State:
    """Exact states at the quarters; their last one is checked against SciPy."""
    problem = SEPARABLE_DRIVEN if separable else DRIVEN
    times = [0.3 + 1.7 * quarter / 4.0 for quarter in (1, 2, 3, 4)]
    exact = reference_solution(problem, pt.State(q=[0.8], p=[0.5]), times, t0=0.3)
    field = jax.jit(lambda t, y: problem.vector_field(t, y))
    check = solve_ivp(
        lambda t, y: np.asarray(field(t, y)), (0.3, 2.0), [0.8, 0.5], "DOP853", rtol=3e-14, atol=1e-15
    )
    np.testing.assert_allclose(check.y[:, -1], [exact.q[-1, 0], exact.p[-1, 0]], rtol=0.0, atol=1e-12)
    return exact


@pytest.mark.parametrize(
    "integrator",
    [SymplecticEulerA(), SymplecticEulerB(), StormerVerlet(), StormerVerlet("qpq")],
    ids=["euler a", "euler b", "pqp", "qpq"],
)
def test_the_explicit_path_of_separable_hamiltonians_is_the_implicit_one(integrator):
    """The same Hamiltonian given as T + V and as one function of q and p."""
    whole = pt.Hamiltonian(lambda q, p: 0.5 * p[0] ** 2 - 1.3 * jnp.cos(q[0]))
    state = pt.State(q=[0.3], p=[0.9])
    runs = [pt.solve(p, integrator, state, dt=0.1, steps=STEPS) for p in (whole, SEPARABLE_PENDULUM)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0.0, atol=16 * ULP)
    np.testing.assert_allclose(runs[0].p, runs[1].p, rtol=0.0, atol=16 * ULP)
    assert int(runs[0].iterations) > 0 and int(runs[1].iterations) == 0


def test_verlet_as_splitting_is_verlet():
    state = pt.State(q=[0.3], p=[0.9])
    pairs = [(StormerVerlet("pqp"), Splitting(first="V")), (StormerVerlet("qpq"), Splitting(first="T"))]
    for pair in pairs:
        runs = [pt.solve(SEPARABLE_PENDULUM, one, state, dt=0.1, steps=STEPS) for one in pair]
        np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0.0, atol=16 * ULP)
        np.testing.assert_allclose(runs[0].p, runs[1].p, rtol=0.0, atol=16 * ULP)


# Controls: what does not hold must not pass.


def test_rk4_fails_certificate_and_reversibility():
    state = pt.State(q=[0.8], p=[0.5])
    for h in (0.1, 0.05):
        certificate = symplecticity(PENDULUM, RK4(), state, h)
        assert certificate.defect > 1e-10 and certificate.result is pt.Result.successful
    assert reversibility(PENDULUM, RK4(), state, 0.1) > 1e-10


class Mislabelled(AbstractIntegrator):
    """An integrator under false claims; `leak` is added to the momenta in each unit of time."""

    base: AbstractIntegrator
    declared: Traits = eqx.field(static=True)
    leak: float = eqx.field(default=0.0, static=True)

    @property
    def traits(self) -> Traits:
        return self.declared

    def init(self, problem: Any, t, h, y):
        return self.base.init(problem, t, h, y)

    def step(self, problem: Any, t, h, y, carry):
        y, carry, info = self.base.step(problem, t, h, y, carry)
        return y.at[y.shape[0] // 2 :].add(self.leak * h), carry, info


def failing(verification) -> set[str]:
    return {check.property for check in verification.checks if not check.passed}


def test_overstated_traits_fail():
    everything = frozenset({"linear", "bilinear", "quadratic"})
    claims = replace(RK4().traits, order=5, symplectic=True, symmetric=True, conserves=everything)
    verification = verify(Mislabelled(RK4(), claims))
    assert failing(verification) == {
        "order in q",
        "order in p",
        "symplectic",
        "symmetric",
        "bilinear invariants",
        "quadratic invariants",
    }
    assert not verification.passed and not verification.to_dict()["passed"]


def test_understated_traits_fail():
    midpoint = ImplicitMidpoint()
    claims = replace(midpoint.traits, order=1, symplectic=False, symmetric=False, conserves=frozenset())
    verification = verify(Mislabelled(midpoint, claims))
    # The midpoint rule does not keep the energy: that claim alone is true.
    assert {check.property for check in verification.checks} - failing(verification) == {"energy"}
    assert "understated" in str(verification)


def test_a_leak_of_momentum_is_seen():
    splitting = Splitting()
    verification = verify(Mislabelled(splitting, splitting.traits, leak=1e-10))
    assert {"linear invariants", "symplectic"} & failing(verification) == {"linear invariants"}


def test_an_order_above_eight_needs_the_tableau_that_has_it():
    from poinsot.analysis._verify import _proved_order

    gauss = pt.integrators.GaussLegendre(7)
    assert _proved_order(gauss)[0] == 14
    assert _proved_order(Mislabelled(gauss, replace(gauss.traits, order=16)))[0] == 0
    assert _proved_order(pt.integrators.LobattoIIIAB(6))[0] == 10


def test_whatever_imposes_joints_declares_it_and_is_measured_with_them():
    """What takes ordinary equations leaves joints to the form; all else that takes joints holds them."""
    tree = standard_tree().system
    problems = [pt.formulate(tree, *how).problem for how in (("quaternions", "index3"), ("group", "group"))]
    for name in pt.integrators.names():
        method: Any = pt.integrators.by_name(name)
        imposes = method.needs != "ode" and any(method.refusal(problem) is None for problem in problems)
        assert method.traits.holds_joints is imposes, name


@pytest.mark.slow
def test_overstated_traits_with_joints_fail():
    radau = ConstrainedRungeKutta(RadauIIA(3).tableau)
    everything = frozenset({"linear", "bilinear", "energy"})
    claims = replace(radau.traits, order=6, symplectic=True, symmetric=True, conserves=everything)
    measured = _claims_on("tree", Mislabelled(radau, claims))
    found = {name for name, declared, value, tolerance, _ in measured if bool(value <= tolerance) != declared}
    assert found == {"order", "symplectic", "symmetric", "energy", "momentum"}
