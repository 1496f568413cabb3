"""Energy-momentum with constraints that are not quadratic: a pinned rod in its position and its angle."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.analysis._travel import travel
from poinsot.core import AbstractConstrained, Constrained
from poinsot.integrators import EnergyMomentum, Rattle

MASS, ARM, MOMENT, GRAVITY = 2.0, 0.7, 0.4, 9.81
ANGLE, RATE = 0.6, -1.5


def pin(q):
    """The end of the rod stays at the origin."""
    return q[:2] - ARM * jnp.stack([jnp.cos(q[2]), jnp.sin(q[2])])


class AtTheMidpoint(Constrained):
    """The same with constraint forces along the normal at the midpoint, which do work."""

    def __init__(self, **given):
        super().__init__(**given)

    def discrete_normal(self, t, q0, q1, multipliers):
        return self.normal(t, 0.5 * (q0 + q1), multipliers)


GIVEN = {"V": lambda q: MASS * GRAVITY * q[1], "g": pin, "mass": jnp.array([MASS, MASS, MOMENT])}
ROD = Constrained(**GIVEN)


def state(angle, rate):
    c, s = np.cos(angle), np.sin(angle)
    q = jnp.array([ARM * c, ARM * s, angle])
    return q, jnp.array([-MASS * ARM * s * rate, MASS * ARM * c * rate, MOMENT * rate])


def start():
    return jnp.concatenate(state(ANGLE, RATE))


def pull(angle, rate):
    """Multipliers from Newton's law for the mass centre, in polar coordinates."""
    c, s = np.cos(angle), np.sin(angle)
    turn = -MASS * GRAVITY * ARM * c / (MOMENT + MASS * ARM**2)
    centre = ARM * (turn * np.array([-s, c]) - rate**2 * np.array([c, s]))
    return np.array([0.0, -MASS * GRAVITY]) - MASS * centre


@pytest.fixture(scope="module")
def exact():
    """Angle and rate of the pendulum."""
    inertia = MOMENT + MASS * ARM**2

    def rates(t, y):
        return [y[1], -MASS * GRAVITY * ARM * np.cos(y[0]) / inertia]

    return solve_ivp(
        rates, (0.0, 1.0), [ANGLE, RATE], "DOP853", rtol=1e-13, atol=1e-14, dense_output=True
    ).sol


def test_the_energy_is_kept_to_round_off():
    run = travel(ROD, EnergyMomentum(), start(), 0.01, 2000)
    assert run.ok and float(run.deviation["energy"]) < 1e-12


def test_forces_along_the_normal_at_the_midpoint_do_work():
    run = travel(AtTheMidpoint(**GIVEN), EnergyMomentum(), start(), 0.01, 2000)
    assert run.ok and float(run.deviation["energy"]) > 1e-5


@pytest.mark.slow
def test_order_two_in_positions_momenta_and_multipliers(exact):
    """Multipliers alternate with the velocities across the surface: those of two steps have a mean."""
    errors = []
    for steps in (50, 100):
        h = 1.0 / steps
        y, pulls = _walked(h, steps)
        middle = pull(*exact(1.0 - h))
        distance = np.max(np.abs(y - np.concatenate(state(*exact(1.0)))))
        errors.append([distance, np.max(np.abs(0.5 * (pulls[-2] + pulls[-1]) - middle))])
    np.testing.assert_allclose(np.log2(np.array(errors[0]) / np.array(errors[1])), 2.0, atol=0.15)


def _walked(h, steps):
    """The state after some steps, and the multipliers of each."""
    method = EnergyMomentum()

    def step(at, _):
        y, carry, _ = method.step(ROD, 0.0, h, *at)
        return (y, carry), carry[1]

    y = start()
    (y, _), multipliers = jax.jit(lambda at: jax.lax.scan(step, at, length=steps))(
        (y, method.init(ROD, 0.0, h, y))
    )
    return np.asarray(y), np.asarray(multipliers)


def test_quadratic_constraints_have_their_normal_at_the_midpoint():
    """Of a sphere the correction is round-off, which is left out."""
    sphere = Constrained(V=lambda q: q[2], g=lambda q: 0.5 * (q @ q - 1.0)[None])
    q0, q1, pull = jnp.array([1.0, 0.0, 0.0]), jnp.array([0.6, 0.64, 0.48]), jnp.array([3.0])
    np.testing.assert_array_equal(
        sphere.discrete_normal(0.0, q0, q1, pull), sphere.normal(0.0, 0.5 * (q0 + q1), pull)
    )


def test_bodies_and_problems_of_functions_agree():
    problem = pt.formulate(
        pt.library.free_body((1.0, 1.3, 1.7)), pt.coordinates.Directors(), "index3"
    ).problem
    assert isinstance(problem, AbstractConstrained)
    rng = np.random.default_rng(5)
    turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0].ravel() for _ in range(2)]
    q0, q1 = (jnp.asarray(np.concatenate([rng.normal(size=3), turn])) for turn in turns)
    pull = jnp.asarray(rng.normal(size=6))
    general = AbstractConstrained.discrete_normal(problem, 0.0, q0, q1, pull)
    np.testing.assert_allclose(problem.discrete_normal(0.0, q0, q1, pull), general, atol=1e-14)


def test_a_symplectic_method_keeps_it_bounded_only():
    run = travel(ROD, Rattle(), start(), 0.01, 2000)
    assert run.ok and 1e-8 < float(run.deviation["energy"]) < 1e-1
