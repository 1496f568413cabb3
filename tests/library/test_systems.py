"""Library systems: gradients, exact motions, conserved quantities, batches, and the registry."""

import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.core import AbstractProblem
from poinsot.library import _kepler
from poinsot.model import AbstractSystem

EQUATIONS = {
    "harmonic-oscillator": pt.library.harmonic_oscillator(),
    "nonlinear-pendulum": pt.library.nonlinear_pendulum(),
    "kepler": pt.library.kepler(),
    "galactic-orbit": pt.library.galactic_orbit(),
    "henon-heiles": pt.library.henon_heiles(),
    "symmetric-top": pt.library.symmetric_top(),
}
HAMILTONIAN = [name for name in EQUATIONS if name != "symmetric-top"]
GAUSS = pt.integrators.by_name("gauss10")


def energy(system, y=None):
    """Value of the Hamiltonian, at the start unless told otherwise."""
    y = system.pack(system.start) if y is None else jnp.asarray(y)
    return float(system.conserved(0.0, y)["energy"])


def motion(system, t):
    """The exact motion, which the systems asked here have."""
    assert system.exact is not None
    return system.exact(t)


@pytest.mark.parametrize("name", HAMILTONIAN)
def test_gradients_match_finite_differences(name):
    system = EQUATIONS[name]
    n = system.start.q.size
    point = 0.7 + 0.3 * np.random.default_rng(3).random(2 * n)
    step = 6e-6
    shifts = step * np.eye(2 * n)
    slopes = [(energy(system, point + e) - energy(system, point - e)) / (2.0 * step) for e in shifts]
    field = np.asarray(system.vector_field(0.0, jnp.asarray(point)))
    np.testing.assert_allclose(field, np.concatenate([slopes[n:], -np.asarray(slopes[:n])]), atol=1e-9)


@pytest.mark.parametrize("name", EQUATIONS)
def test_invariants_are_kept_by_a_fine_integration(name):
    """A method of order 10 keeps them to round-off; a rotated start shows that they are no constants."""
    system = EQUATIONS[name]
    run = pt.simulate(system, system.start, t1=10.0, dt=0.02, integrator=GAUSS, save_every=10)
    other = system.conserved(0.0, 0.9 * system.pack(system.start))
    assert run.conserved, "every system of the library conserves something"
    for key, values in run.conserved.items():
        scale = max(1.0, abs(values[0]))
        assert np.max(np.abs(values - values[0])) < 3e-12 * scale, key
        if key != "Runge-Lenz y":
            assert abs(float(other[key]) - values[0]) > 1e-3 * scale, key


@pytest.mark.parametrize(
    "system", [pt.library.kepler(), pt.library.harmonic_oscillator(mass=2.0, momentum=-0.7)]
)
def test_exact_motion_matches_gauss(system):
    run = pt.simulate(system, system.start, t1=20.0, dt=0.02, integrator=GAUSS, save_every=50)
    exact = motion(system, run.t)
    np.testing.assert_allclose(run.q, exact.q, atol=2e-12)
    np.testing.assert_allclose(run.p, exact.p, atol=4e-12)
    np.testing.assert_allclose(motion(system, 0.0).q, system.start.q, atol=1e-15)


@pytest.mark.parametrize("eccentricity", [0.0, 0.3, 0.9, 0.999, 1.0 - 1e-9])
def test_keplers_equation_is_solved_to_round_off(eccentricity):
    mean = jnp.asarray(np.concatenate([np.linspace(-20.0, 20.0, 201), [1e-12, -1e-9, 1e-5, np.pi, -np.pi]]))
    E = _kepler.eccentric_anomaly(mean, jnp.asarray(eccentricity))
    residual = E - eccentricity * jnp.sin(E) - mean
    assert float(jnp.max(jnp.abs(residual))) < 2e-14


def test_the_printed_kepler_orbit_is_not_a_function_of_time():
    """The thesis calls the true anomaly t: right at t = 0, far off at a quarter of the period."""
    quarter = np.pi / 2
    system = pt.library.kepler(eccentricity=0.6)
    printed = (1.0 - 0.6**2) / (1.0 + 0.6 * np.cos(quarter)) * np.array([np.cos(quarter), np.sin(quarter)])
    assert np.linalg.norm(np.asarray(motion(system, quarter).q) - printed) > 0.5


def test_kepler_period_and_gravity():
    system = pt.library.kepler(eccentricity=0.3, mu=4.0)
    np.testing.assert_allclose(motion(system, np.pi).q, system.start.q, atol=1e-14)
    assert float(jnp.abs(motion(system, np.pi / 2).q[0] + 1.3)) < 1e-14


def test_galactic_orbit_starts_on_the_energy_shell():
    system = pt.library.galactic_orbit()
    assert abs(energy(system) - 2.0) <= np.spacing(2.0)
    assert float(system.start.p[1]) == pytest.approx(1.6888370059, abs=1e-10)
    velocity = system.vector_field(0.0, system.pack(system.start))[:3]
    assert float(velocity[1]) > 0.0, "the larger root"
    printed = pt.library.galactic_orbit(c=0.5, p2=1.688)
    assert 1e-4 < abs(energy(printed) - 2.0) < 1e-3, "the printed momentum is rounded"


def test_henon_heiles_starts_with_the_energy_asked_for():
    system = pt.library.henon_heiles(energy=0.125, height=-0.2)
    assert energy(system) == pytest.approx(0.125, abs=1e-16)


def test_pendulum_equations_of_the_thesis():
    problem = pt.library.nonlinear_pendulum()
    q, p = 0.4, -1.3
    field = problem.vector_field(0.0, jnp.asarray([q, p]))
    np.testing.assert_allclose(field, [p + np.cos(q) / 6, -np.sin(q) * (1 - p / 6)], atol=1e-15)


def test_building_again_with_other_parameters_compiles_nothing():
    traces = []

    @eqx.filter_jit
    def field(problem, y):
        traces.append(1)
        return problem.vector_field(jnp.asarray(0.0), y)

    for system in (pt.library.kepler(mu=1), pt.library.kepler(eccentricity=0.1, mu=2.5)):
        field(system, system.pack(system.start))
    assert len(traces) == 1


def test_batches_by_trailing_axis_and_by_vmap_agree():
    eccentricities = jnp.linspace(0.0, 0.8, 5)
    batch = pt.library.kepler(eccentricity=eccentricities)
    assert batch.start.q.shape == (2, 5)
    verlet = pt.integrators.StormerVerlet()
    together = pt.solve(batch, verlet, batch.start, dt=0.01, steps=50, save_every=50)
    problem = pt.library.kepler()

    def run(e):
        return pt.solve(problem, verlet, pt.library.kepler(e).start, dt=0.01, steps=50, save_every=50)

    apart = jax.vmap(run)(eccentricities)
    np.testing.assert_allclose(together.q[-1].T, apart.q[:, -1], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("keplr", {}, "did you mean kepler"),
        ("zzz", {}, "the systems are harmonic-oscillator"),
        ("kepler", {"excentricity": 0.5}, "did you mean eccentricity"),
        ("kepler", {"zzz": 0.5}, "its parameters are eccentricity, mu"),
        ("kepler", {"eccentricity": 1.0}, "eccentricity = 1.0; it must be at least 0 and below 1"),
        ("kepler", {"eccentricity": "wide"}, "eccentricity = 'wide'; it must be a number"),
        ("kepler", {"mu": float("nan")}, "mu = nan; it must be finite"),
        ("harmonic-oscillator", {"mass": 0.0}, "mass = 0.0; it must be a positive number"),
        ("galactic-orbit", {"A": 9.0}, "no p2 makes H = 2"),
        ("henon-heiles", {"energy": 0.001}, "raise it"),
        ("symmetric-top", {"transverse_inertia": 2.0}, "at least mass"),
        ("symmetric-top", {"theta": 0.0}, "between 0 and pi"),
    ],
)
def test_wrong_names_and_values_are_refused(name, values, message):
    with pytest.raises(pt.InputError, match=message):
        pt.library.by_name(name, **values)


DATA = {"heavy-top": {"inertia": (3.0, 2.5, 1.0), "mgl": 1.0}, "free-body": {"inertia": (3.0, 2.5, 1.0)}}


LONG = {
    "quadruped",
    "fast-top",
    "tennis-racket",
    "gyro-top",
    "tumbling-body",
    "regular-precession",
    "stewart-platform",
    "governor",
}


@pytest.mark.parametrize("name", of_the_long_suite(pt.library.names(), set(pt.library.names()) - LONG))
def test_every_system_is_what_simulate_takes(name):
    """One kind of thing: a problem or a system of bodies, with start and step where these are recommended."""
    system = pt.library.by_name(name, **DATA.get(name, {}))
    assert isinstance(system, AbstractProblem | AbstractSystem)
    assert system.name.replace(" ", "-") == name
    if name in DATA:
        assert not hasattr(system, "start") and not hasattr(system, "dt") and system.exact is None
        with pytest.raises(AttributeError, match="this System has no recommended start; give a state"):
            _ = system.start
        return
    if isinstance(system, pt.Chain):  # Its runs are tested elsewhere, and compile for long.
        assert system.start.position.shape == (8, 3) and system.dt > 0.0
        return
    if isinstance(system, pt.System) and system.joints:  # Likewise, in tests/joints.
        system.check_state(0.0, system.start)
        return
    method = "lie-splitting" if isinstance(system, AbstractSystem) else "rk4"
    run = pt.simulate(system, system.start, t1=2 * system.dt, dt=system.dt, integrator=method)
    assert run.result.ok and str(run.report()).splitlines()[0].split(maxsplit=1)[1].startswith(system.name)


def test_recommendations_are_data():
    """Another start or exact motion is no other problem: nothing is compiled anew."""
    traced = []

    @eqx.filter_jit
    def field(problem, y):
        traced.append(problem)
        return problem.vector_field(0.0, y)

    for e in (0.1, 0.6):
        planet = pt.library.kepler(e)
        field(planet, planet.pack(planet.start))
    assert len(traced) == 1
    copied = pickle.loads(pickle.dumps(planet))
    np.testing.assert_array_equal(motion(copied, 0.7).q, motion(planet, 0.7).q)
    assert "recommendation" not in repr(planet)


def test_a_recommendation_of_ones_own():
    spring = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 0.5 * q @ q)
    assert not hasattr(spring, "start") and spring.name == "hamiltonian"
    ready = spring.recommending(pt.State(q=[1.0], p=[0.0]), 0.1, name="spring")
    run = pt.simulate(ready, ready.start, t1=1.0, dt=ready.dt, integrator="verlet")
    assert "spring (q 1, p 1)" in str(run.report())


def test_chains_start_straight():
    chain = pt.library.disc_rod(4)
    np.testing.assert_array_equal(chain.start.position, chain.straight_state().position)


def test_names_take_underscores():
    assert pt.library.by_name("galactic_orbit", c=0.5).name == "galactic orbit"
    assert pt.library.parameters("kepler") == {"eccentricity": 0.6, "mu": 1.0}
