"""Drift from constraints as a power of time: of made-up data, and of runs with and without projection."""

from functools import cache

import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import constraint_drift, drift_exponent
from poinsot.analysis._drift import envelope
from poinsot.coordinates import Directors, EulerAngles, Quaternions
from poinsot.integrators import RK4, DormandPrince853

TIMES = np.linspace(0.0, 60.0, 3001)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 3.0])
def test_power_of_made_up_data(power):
    """An oscillating residual in many components, whose envelope is a power of time, in any unit."""
    wave = np.sin(TIMES[:, None, None] * np.array([[17.0, 23.0], [31.0, 5.0]]))
    residuals = 1e-9 * TIMES[:, None, None] ** power * wave
    assert drift_exponent(TIMES, envelope(residuals)) == pytest.approx(power, abs=0.06)
    assert drift_exponent(1e3 * TIMES, envelope(1e7 * residuals)) == pytest.approx(power, abs=0.06)


def test_noise_and_nothing_do_not_drift():
    noise = envelope(1e-16 * np.random.default_rng(3).standard_normal((len(TIMES), 6)))
    assert abs(drift_exponent(TIMES, noise)) < 0.15
    assert drift_exponent(TIMES, np.zeros_like(TIMES)) == 0.0


def test_unevenly_saved_times_weigh_alike():
    """Most states near the end: the fit goes over the logarithm of time all the same."""
    crowded = np.concatenate([[0.0], np.geomspace(1.0, 50.0, 400), np.linspace(50.001, 60.0, 5000)])
    bent = np.where(crowded < 30.0, crowded, 30.0)
    spread = np.concatenate([[0.0], np.geomspace(1.0, 60.0, 5400)])
    even = drift_exponent(spread, np.where(spread < 30.0, spread, 30.0))
    assert drift_exponent(crowded, bent) == pytest.approx(even, abs=0.01)


@cache
def drift(coordinates, form, projection=False):
    """Of Lang's gyro top over a minute, at his tolerance."""
    top = pt.library.gyro_top()
    method = DormandPrince853(projection=projection)
    given = {"coordinates": coordinates, "form": form, "integrator": method, "throw": False}
    run = pt.simulate(top, top.start, t1=60.0, rtol=1e-9, atol=1e-9, **given)
    return constraint_drift(run), run.result


DIRECTORS = pytest.param(Directors(), marks=pytest.mark.slow)


@pytest.mark.parametrize("coordinates", [Quaternions(), DIRECTORS], ids=repr)
def test_accelerations_alone_drift_quadratically(coordinates):
    """Index 1: positions like the square of time, velocities like time; put back, neither."""
    found, _ = drift(coordinates, "index1")
    assert found.position_exponent == pytest.approx(2.0, abs=0.15)
    assert found.velocity_exponent == pytest.approx(1.0, abs=0.1)
    assert found.position[-1] > 1e-7 and found.velocity[-1] > 1e-8
    held, _ = drift(coordinates, "index1", projection=True)
    assert held.position[-1] < 2e-15 and held.velocity[-1] < 5e-14
    assert abs(held.position_exponent) < 0.1 and abs(held.velocity_exponent) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", [Quaternions(), DIRECTORS], ids=repr)
def test_velocities_along_the_constraints_drift_linearly(coordinates):
    found, _ = drift(coordinates, "null_space")
    assert found.position_exponent == pytest.approx(1.0, abs=0.15)
    assert found.position[-1] > 1e-11
    held, _ = drift(coordinates, "null_space", projection=True)
    assert held.position[-1] < 2e-15 and abs(held.position_exponent) < 0.1


@pytest.mark.slow
def test_index_0_in_quaternions_holds_their_length():
    """Its acceleration turns a length that is off back to one, where that of index 1 leaves it alone."""
    closed, linear = (drift(Quaternions(), form)[0] for form in ("index0", "index1"))
    assert closed.position[-1] < 0.1 * linear.position[-1] and closed.position_exponent < 1.5


@pytest.mark.slow
def test_one_without_the_other():
    """Velocities put back leave positions to drift linearly; positions alone leave velocities to."""
    velocity, _ = drift(Quaternions(), "index1", projection="velocity")
    assert velocity.position_exponent == pytest.approx(1.0, abs=0.25)
    assert velocity.velocity[-1] < 1e-14
    position, _ = drift(Quaternions(), "index1", projection="position")
    assert position.velocity_exponent == pytest.approx(1.0, abs=0.1)
    assert position.position[-1] < 1e-15
    # In directors the velocities across the constraints then grow exponentially, until the run breaks off.
    lost, result = drift(Directors(), "index0", projection="position")
    assert result is pt.Result.step_too_small and lost.velocity[-1] > 1.0


def test_fixed_steps_drift_alike():
    top = pt.library.gyro_top()
    run = pt.simulate(top, top.start, t1=60.0, dt=0.005, form="null_space", integrator=RK4(), save_every=8)
    found = constraint_drift(run)
    assert found.position_exponent == pytest.approx(1.0, abs=0.05)
    assert found.velocity[-1] < 1e-13


@pytest.mark.slow
def test_coordinates_without_constraints():
    top = pt.library.gyro_top()
    angles = {"coordinates": EulerAngles("zxz"), "form": "null_space"}
    run = pt.simulate(top, top.start, t1=0.1, dt=0.01, integrator=RK4(), **angles)
    with pytest.raises(pt.InputError, match="no constraints"):
        constraint_drift(run)


def test_wrong_input():
    decay = pt.simulate(pt.ODE(lambda y: -y), pt.State(y=[1.0]), t1=1.0, dt=0.1, integrator=RK4())
    with pytest.raises(pt.InputError, match="the run of a pt.System"):
        constraint_drift(decay)
    with pytest.raises(pt.InputError, match="three at least"):
        drift_exponent(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
