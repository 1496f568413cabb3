"""Problem kinds: signatures, gradients, packing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.core import Result, StepInfo, user_function

Q, P = jnp.array([0.3, -1.2]), jnp.array([0.7, 0.4])
T0 = jnp.asarray(0.5)


def energy(q, p):
    return 0.5 * p @ p + jnp.cos(q[0]) * q[1] ** 2 + 0.3 * q[0] * p[1]


def test_gradients_agree_with_finite_differences():
    problem = pt.Hamiltonian(energy)
    eps = 1e-6
    for gradient, direction in ((problem.dHdq, 0), (problem.dHdp, 1)):
        found = gradient(T0, Q, P)
        for k in range(2):
            step = eps * jnp.eye(2)[k]
            plus = energy(Q + step, P) if direction == 0 else energy(Q, P + step)
            minus = energy(Q - step, P) if direction == 0 else energy(Q, P - step)
            np.testing.assert_allclose(found[k], (plus - minus) / (2 * eps), rtol=1e-8)


def test_separable_equals_general():
    general = pt.Hamiltonian(lambda q, p: 0.5 * p @ p + jnp.sum(jnp.cos(q)))
    separable = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: jnp.sum(jnp.cos(q)))
    y = general.pack(pt.State(q=Q, p=P))
    np.testing.assert_array_equal(general.vector_field(T0, y), separable.vector_field(T0, y))
    assert separable.separable and not general.separable


def test_given_gradients_are_used():
    marked = pt.Hamiltonian(energy, dHdq=lambda q, p: 7.0 + 0.0 * q, dHdp=lambda t, q, p: t + 0.0 * p)
    np.testing.assert_array_equal(marked.dHdq(T0, Q, P), [7.0, 7.0])
    np.testing.assert_array_equal(marked.dHdp(T0, Q, P), [0.5, 0.5])
    separable = pt.Hamiltonian(
        T=lambda p: p @ p, V=lambda q: q @ q, dHdq=lambda q: 3.0 * q, dHdp=lambda p: 5.0 * p
    )
    np.testing.assert_array_equal(
        separable.vector_field(T0, jnp.concatenate([Q, P])), jnp.concatenate([5 * P, -3 * Q])
    )


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda q, p: (q, p), (1, 2)),
        (lambda t, q, p: (t, q, p), (0, 1, 2)),
        (lambda q, p, params: (q, p, params), (1, 2, 3)),
        (lambda t, q, p, params: (t, q, p, params), (0, 1, 2, 3)),
        (lambda q, p, scale=2: (scale, q, p), (2, 1, 2)),
    ],
)
def test_signatures(function, expected):
    np.testing.assert_array_equal(user_function(function, ("q", "p"), "H")(0, 1, 2, 3), expected)


@pytest.mark.parametrize("function", [lambda q: q, lambda a, b, c, d, e: a, 3.0])
def test_wrong_signature_is_refused(function):
    with pytest.raises(TypeError, match="H"):
        pt.Hamiltonian(function)


@pytest.mark.parametrize("given", [{}, {"H": energy, "T": abs}, {"T": abs}, {"V": abs}])
def test_a_hamiltonian_is_either_general_or_separable(given):
    with pytest.raises(TypeError, match="either H, or both T and V"):
        pt.Hamiltonian(**given)


def test_energy_is_watched_only_when_conserved():
    y = jnp.concatenate([Q, P])
    autonomous = pt.Hamiltonian(energy, invariants={"first": lambda q, p: q[0]})
    driven = pt.Hamiltonian(lambda t, q, p: energy(q, p) + jnp.sin(t) * q[0])
    assert list(autonomous.conserved(T0, y)) == ["energy", "first"]
    assert driven.conserved(T0, y) == {}


def test_new_parameters_do_not_retrace():
    traces = []

    def oscillator(q, p, params):
        traces.append(1)
        return 0.5 * p @ p + 0.5 * params["k"] * q @ q

    step = eqx.filter_jit(lambda problem, y: problem.vector_field(T0, y))
    problem = pt.Hamiltonian(oscillator, params={"k": 1.0})
    first = step(problem, jnp.concatenate([Q, P]))
    count = len(traces)
    second = step(problem.with_params({"k": 3.0}), jnp.concatenate([Q, P]))
    assert len(traces) == count
    np.testing.assert_allclose(second[2:], 3.0 * first[2:])


def test_trailing_batch_equals_vmap():
    problem = pt.Hamiltonian(
        lambda q, p: 0.5 * (p[0] ** 2 + p[1] ** 2) + jnp.cos(q[0]) * q[1], vectorised=True
    )
    batch = jax.random.normal(jax.random.key(0), (4, 5))
    together = problem.vector_field(T0, batch)
    apart = jax.vmap(lambda y: problem.vector_field(T0, y), in_axes=1, out_axes=1)(batch)
    np.testing.assert_array_equal(together, apart)
    np.testing.assert_array_equal(problem.magnitude(batch)[0], jnp.max(jnp.abs(batch[:2]), axis=0))
    assert problem.lanes(batch) == (5,)


def test_bodies_by_components_is_one_run():
    """Without `vectorised` a state of shape (bodies, 3) is one system, with one energy and one scale."""
    problem = pt.Hamiltonian(lambda q, p: 0.5 * jnp.sum(p**2) + 0.25 * jnp.sum(q**4))
    state = pt.State(q=np.ones((4, 3)), p=np.zeros((4, 3)))
    run = pt.simulate(problem, state, t1=0.2, dt=0.1, integrator=pt.integrators.ImplicitMidpoint())
    assert run.q.shape == (3, 4, 3) and problem.lanes(problem.pack(state)) == ()


def test_magnitude_keeps_positions_and_momenta_apart():
    problem = pt.Hamiltonian(energy)
    np.testing.assert_array_equal(
        problem.magnitude(jnp.array([3.0, -4.0, 1e-3, 2e-3])), [4.0, 4.0, 2e-3, 2e-3]
    )


def test_state_is_a_pytree_and_names_what_it_lacks():
    state = pt.State(q=[1.0], p=[2.0])
    doubled = jax.tree.map(lambda x: 2.0 * x, state)
    assert doubled.names == ("q", "p") and float(doubled.p[0]) == 4.0
    with pytest.raises(AttributeError, match="has no 'y'; it has q, p"):
        state.y  # noqa: B018


def test_first_failure_wins():
    def info(result):
        return StepInfo(jnp.int32(result), jnp.int32(1))

    good, bad, worse = (
        info(Result.successful),
        info(Result.stage_equations_not_converged),
        info(Result.non_finite),
    )
    assert int(good.then(bad).then(worse).result) == Result.stage_equations_not_converged
    assert int(good.then(bad).then(worse).iterations) == 3
    assert all(result.message for result in Result)
