"""Ensembles: the same runs as one at a time, whatever the layout."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation import _ensemble_native
from poinsot.simulation._lane_loop import comes_apart, solve_lanes
from poinsot.simulation._loop import Marcher

SYSTEM = pt.library.kepler()
PLAIN = pt.Hamiltonian(lambda q, p: 0.5 * p @ p - 1.0 / jnp.sqrt(q @ q))
SEPARABLE = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: -1.0 / jnp.sqrt(q @ q))
METHODS = {
    "gauss": pt.integrators.GaussLegendre(2),
    "splitting": pt.integrators.Splitting(),
    "composition": pt.integrators.by_name("yoshida4"),
    "euler": pt.integrators.SymplecticEulerA(),
}


def starts(eccentricities):
    e = jnp.asarray(eccentricities)
    zero = jnp.zeros_like(e)
    q, p = jnp.stack([1.0 - e, zero], axis=1), jnp.stack([zero, jnp.sqrt((1.0 + e) / (1.0 - e))], axis=1)
    return pt.State(q=q, p=p)


@pytest.mark.parametrize("name", METHODS)
def test_equals_one_run_at_a_time(name, monkeypatch):
    monkeypatch.setattr(_ensemble_native, "AT_ONCE", 1)
    states = starts([0.1, 0.2, 0.3, 0.4, 0.5])
    together = pt.ensemble(SYSTEM, METHODS[name], states, dt=0.05, steps=40, save_every=20)
    assert together.q.shape == (5, 3, 2) and together.t.shape == (5, 3)
    for lane in (0, 4):
        start = jax.tree.map(lambda x, lane=lane: x[lane], states)
        alone = pt.solve(SYSTEM, METHODS[name], start, dt=0.05, steps=40, save_every=20)
        np.testing.assert_allclose(together.q[lane], alone.q, atol=2e-15)
        np.testing.assert_array_equal(together.t[lane], alone.t)


def test_a_function_of_one_state_is_mapped():
    states = starts([0.1, 0.3])
    mapped = pt.ensemble(PLAIN, METHODS["gauss"], states, dt=0.05, steps=40)
    vectorised = pt.ensemble(SYSTEM, METHODS["gauss"], states, dt=0.05, steps=40)
    np.testing.assert_allclose(mapped.q, vectorised.q, atol=1e-14)


def test_a_failing_run_leaves_the_others_alone():
    """The middle one falls into the centre."""
    states = starts([0.1, 0.2, 0.3])
    states = pt.State(q=states.q, p=states.p.at[1].set(0.0))
    alone = pt.ensemble(SYSTEM, METHODS["gauss"], starts([0.1]), dt=0.05, steps=40)
    for problem in (SYSTEM, PLAIN):
        batch = pt.ensemble(problem, METHODS["gauss"], states, dt=0.05, steps=40)
        assert batch.result[0] == batch.result[2] == pt.Result.successful
        assert batch.result[1] == pt.Result.stage_equations_not_converged
        assert np.isnan(batch.q[1, -1]).all() and batch.steps[1] < 40 and batch.steps[0] == 40
        np.testing.assert_allclose(batch.q[0], alone.q[0], atol=1e-14)


def test_bodies_run_as_lanes_of_one_array():
    """Tops have no positions: a part of their state is empty."""
    example = pt.library.gyro_top()
    formulation = pt.formulate(example, pt.coordinates.Group(), "group")
    single = formulation.start(example.start)
    states = jax.tree.map(lambda part: jnp.broadcast_to(part, (3, *part.shape)), single)
    states = pt.State(
        **dict(states.items()) | {"m": states.m.at[:, 2, 0].set(jnp.array([150.0, 200.0, 250.0]))}
    )
    method = pt.integrators.LieSplitting()
    together = pt.ensemble(formulation.problem, method, states, dt=0.01, steps=20, save_every=20)
    for lane in (0, 2):
        start = jax.tree.map(lambda part, lane=lane: part[lane], states)
        alone = pt.solve(formulation.problem, method, start, dt=0.01, steps=20, save_every=20)
        np.testing.assert_allclose(together.m[lane], alone.m, rtol=1e-14, atol=1e-13)
        np.testing.assert_allclose(together.g[lane], alone.g, atol=1e-14)
    assert np.max(np.abs(together.m[0, -1] - together.m[2, -1])) > 1.0


def test_a_system_of_bodies_and_its_motions():
    top = pt.library.heavy_top(inertia=(50, 42, 10), mgl=108.8)
    spins = jnp.array([[0.1, 0.0, 15.0], [0.0, 0.2, 20.0], [0.3, 0.0, 25.0]])
    states = jax.vmap(lambda spin: top.state(rotation=pt.rotation.about_x(1.0), angular_velocity=spin))(spins)
    grid = {"dt": 0.01, "steps": 20, "save_every": 10}
    together = pt.ensemble(top, pt.integrators.LieSplitting(), states, **grid)
    assert together.rotation.shape == (3, 3, 1, 3, 3) and isinstance(together.rotation, np.ndarray)
    start = top.state(rotation=pt.rotation.about_x(1.0), angular_velocity=spins[1])
    alone = pt.solve(top, pt.integrators.LieSplitting(), start, **grid)
    np.testing.assert_allclose(together.rotation[1], alone.rotation, atol=1e-13)
    np.testing.assert_allclose(together.energy[1], alone.energy, rtol=1e-13)
    assert np.max(np.abs(together.rotation[0] - alone.rotation)) > 1e-3


def test_explicit_steps_come_apart_and_implicit_ones_do_not():
    for method, apart in ((pt.integrators.StormerVerlet(), True), (METHODS["gauss"], False)):
        marcher = Marcher(SEPARABLE, method, jnp.asarray(0.0), jnp.asarray(0.05))
        assert comes_apart(marcher, jax.tree.map(lambda x: x[0], starts([0.1]))) is apart


@pytest.mark.parametrize("bodies", [False, True], ids=["orbits", "tops"])
def test_states_taken_apart_as_on_a_gpu_are_those_of_vmap(bodies):
    """Tops have no positions: a part of their state is empty."""
    problem, method, states = SEPARABLE, pt.integrators.StormerVerlet(), starts([0.1, 0.2, 0.3])
    if bodies:
        example = pt.library.gyro_top()
        formulation = pt.formulate(example, pt.coordinates.Group(), "group")
        problem, method, single = (
            formulation.problem,
            pt.integrators.LieSplitting(),
            formulation.start(example.start),
        )
        states = jax.tree.map(lambda part: jnp.stack([part, part + 0.01 * part**2]), single)
    marcher = Marcher(problem, method, jnp.asarray(0.0), jnp.asarray(0.01))
    lanes = jax.tree.map(lambda part: jnp.moveaxis(part, 0, -1), states)
    apart, mapped = (jax.jit(lambda s, a=a: solve_lanes(marcher, s, 3, 5, a))(lanes) for a in (True, False))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13), apart, mapped)


@pytest.mark.parametrize("name", METHODS)
def test_kernels_agree(name):
    states = starts([0.1, 0.2, 0.3, 0.4, 0.5])
    native, plain = (
        pt.ensemble(SYSTEM, METHODS[name], states, dt=0.05, steps=40, save_every=8, kernel=kernel)
        for kernel in ("native", "plain")
    )
    assert native.kernel == "native" and plain.kernel.startswith("plain")
    np.testing.assert_allclose(native.q, plain.q, atol=1e-13)
    np.testing.assert_array_equal(native.t, plain.t)
    np.testing.assert_array_equal(native.steps, plain.steps)


def test_saves_must_divide_the_steps():
    with pytest.raises(pt.InputError, match="steps = 10 must be a positive multiple of save_every = 3"):
        pt.ensemble(PLAIN, METHODS["gauss"], starts([0.1]), dt=0.1, steps=10, save_every=3)


def test_a_lane_that_nears_gimbal_lock_ends_alone():
    free = pt.library.free_body(inertia=(1.0, 1.0, 2.0))
    formulation = pt.formulate(free, pt.coordinates.EulerAngles("zxz", margin=0.06), "null_space")
    starts = [
        formulation.start(free.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(rate, 0, 0)))
        for rate in (-1.0, 0.5)
    ]
    states = jax.tree.map(lambda *parts: jnp.stack(parts), *starts)
    batch = pt.ensemble(formulation.problem, pt.integrators.RK4(), states, dt=0.05, steps=30, save_every=30)
    assert list(batch.result) == [pt.Result.near_singularity, pt.Result.successful]
    # The nutation angle falls from 1 by 0.05 a step: 0.1 after 18 of them, 0.05 after 19.
    assert batch.steps[0] == 18 and batch.steps[1] == 30


def test_bad_shapes_and_single_runs_are_told_apart():
    with pytest.raises(pt.InputError, match="runs along their first axis"):
        pt.ensemble(SYSTEM, METHODS["gauss"], SYSTEM.start, dt=0.1, steps=1)
    with pytest.raises(pt.InputError, match="use pt.ensemble"):
        pt.simulate(
            SYSTEM,
            pt.State(q=jnp.ones((2, 3)), p=jnp.ones((2, 3))),
            t1=1.0,
            dt=0.1,
            integrator=METHODS["gauss"],
        )
