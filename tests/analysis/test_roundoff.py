"""What careful arithmetic buys over long times, each with the careless way as control."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from mpmath import mpf

import poinsot as pt
from poinsot.analysis import RoundoffGrowth, roundoff_growth
from poinsot.analysis._travel import travel
from poinsot.integrators import ButcherTableau, FixedPoint, GaussLegendre, ImplicitRungeKutta
from poinsot.integrators.coefficients import gauss

KEPLER = pt.Hamiltonian(
    lambda q, p: 0.5 * jnp.sum(p * p, axis=0) - 1.0 / jnp.sqrt(jnp.sum(q * q, axis=0)), vectorised=True
)
TO_THE_END = FixedPoint(tolerance=0.0)
STEP = 2.0 * np.pi / 128


def perihelion(e):
    return 1.0 - e, np.sqrt((1.0 + e) / (1.0 - e))


def exact_kepler(steps: int, q: float, p: float) -> np.ndarray:
    """Solution after `steps` steps from q = (q, 0), p = (0, p), by Kepler's equation in 40 digits."""
    with mpmath.workdps(40):
        radius, speed = mpf(q), mpf(p)
        a = 1 / (2 / radius - speed**2)
        e = 1 - radius / a
        mean = steps * mpf(STEP) / mpmath.sqrt(a**3)
        E = mpmath.findroot(lambda E: E - e * mpmath.sin(E) - mean, mean + e * mpmath.sin(mean))
        c, s, b = mpmath.cos(E), mpmath.sin(E), mpmath.sqrt(1 - e**2)
        rate = 1 / mpmath.sqrt(a) / (1 - e * c)
        return np.array([float(x) for x in (a * (c - e), a * b * s, -rate * s, rate * b * c)])


def error_after(integrator, periods: int) -> float:
    q, p = perihelion(0.6)
    end = travel(KEPLER, integrator, jnp.array([q, 0.0, 0.0, p]), STEP, 128 * periods)
    assert end.ok
    return float(np.max(np.abs(np.asarray(end.y) - exact_kepler(128 * periods, q, p))))


def test_a_hundred_kepler_orbits_of_eccentricity_0_6():
    """Gauss of order 12, 128 steps a period: careful arithmetic, against coefficients off by 1e-15."""
    careful = error_after(GaussLegendre(6, solver=TO_THE_END, compensated=True), 100)
    assert careful < 1e-10

    tableau = gauss(6)
    A, b = (tableau.A_hi + 1e-15).tolist(), tableau.b_hi.tolist()
    careless = ButcherTableau("careless Gauss", A, b, order=12, tolerance=1e-13)
    assert error_after(ImplicitRungeKutta(careless, TO_THE_END, True), 100) > 10.0 * careful


def growth(steps: int, **options) -> RoundoffGrowth:
    """Energy errors of sixteen orbits by Gauss of order 14, whose own error is far below round-off."""
    q, p = perihelion(np.linspace(0.05, 0.2, 16))
    zero = np.zeros(16)
    starts = pt.State(q=np.stack([q, zero], axis=1), p=np.stack([zero, p], axis=1))
    method = GaussLegendre(7, **options)
    return roundoff_growth(KEPLER, method, starts, dt=2.0 * np.pi / 24, steps=steps, progress=False)


def check_random_walk(compensated: RoundoffGrowth) -> None:
    """Exponent near 1/2, and no drift common to the runs.

    The drift is Student's t with 15 degrees of freedom: beyond 5 in one case of 6000. The exponent of 16
    random walks scatters by 0.08 around 1/2, and leaves the band in fewer than one case of 2000.
    """
    assert abs(compensated.drift) < 5.0
    assert 0.2 < compensated.exponent < 0.8


def check_drift(plain: RoundoffGrowth) -> None:
    """All runs lose energy together, in proportion to the number of steps."""
    assert abs(plain.drift) > 10.0
    assert plain.exponent > 0.85
    assert np.all(plain.error[:, -1] < 0.0)


@pytest.mark.slow
def test_compensated_energy_error_is_a_random_walk_and_the_plain_one_drifts():
    compensated = growth(50_000, solver=TO_THE_END, compensated=True)
    plain = growth(50_000)
    check_random_walk(compensated)
    check_drift(plain)
    assert compensated.rms[-1] < 0.1 * plain.rms[-1]


@pytest.mark.slow
def test_the_same_over_a_million_steps():
    check_random_walk(growth(1_000_000, solver=TO_THE_END, compensated=True))
    check_drift(growth(1_000_000))


def test_statistics_on_made_up_errors():
    rng = np.random.default_rng(7)
    steps = 100 * np.arange(1, 51)
    walks = np.cumsum(rng.normal(size=(200, 50)), axis=1)
    walk, drift = RoundoffGrowth(steps, walks), RoundoffGrowth(steps, walks + np.arange(1, 51))
    assert walk.exponent == pytest.approx(0.5, abs=0.05) and abs(walk.drift) < 4.0
    assert drift.exponent > 0.9 and drift.drift > 50.0
    np.testing.assert_allclose(drift.mean - walk.mean, np.arange(1, 51))


def test_wrong_input():
    starts = pt.State(q=np.ones((2, 2)), p=np.ones((2, 2)))
    with pytest.raises(pt.InputError, match="samples"):
        roundoff_growth(KEPLER, GaussLegendre(2), starts, dt=0.1, steps=101)
    driven = pt.Hamiltonian(lambda t, q, p: jnp.sum(p * p) + t)
    with pytest.raises(pt.InputError, match="energy"):
        roundoff_growth(driven, GaussLegendre(2), starts, dt=0.1, steps=100)
    at_the_centre = pt.State(q=np.zeros((2, 2)), p=np.ones((2, 2)))
    with pytest.raises(pt.InputError, match="states"):
        roundoff_growth(KEPLER, GaussLegendre(2), at_the_centre, dt=0.1, steps=100)
