"""What the figures of the symmetric top in Chaurasia (2012) rest on: one top, and theory beside it."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.core import Result
from poinsot.kernels import once
from poinsot.library import symmetric_top
from poinsot.papers import reproduce
from poinsot.papers.chaurasia2012._bodies import measured_order, top
from poinsot.papers.chaurasia2012._top import GRAVITY, LENGTH, MASS, turning_points
from poinsot.papers.chaurasia2012._unit_quaternion import RADIAL, predicted_growth
from poinsot.simulation import BodyTrajectory

WEIGHT = MASS * GRAVITY * LENGTH


def test_the_body_starts_as_the_top_in_euler_angles_does():
    angles = symmetric_top()
    conserved = angles.conserved(0.0, angles.pack(angles.start))
    system, start = top()
    formulation = pt.formulate(system, pt.coordinates.Quaternions(), "hamiltonian")
    motion = once(lambda state: formulation.motion(0.0, formulation.problem.pack(formulation.start(state))))(
        start
    )
    assert float(motion.energy) == pytest.approx(float(conserved["energy"]), rel=1e-14)
    assert float(motion.angular_momentum[2]) == pytest.approx(float(conserved["L_z"]), rel=1e-14)
    assert float(motion.angular_velocity[0, 2]) == pytest.approx(float(conserved["Omega_3"]), rel=1e-14)


def test_turning_points_are_where_the_kinetic_energy_has_no_part_left_for_nodding():
    """Energy at rest of theta, from both constants of the motion, without the cubic."""
    energy, vertical, spin = 2298.0660957, 33.5748051, 100.70710678
    transverse, axial = 3.06, 0.45
    for theta in turning_points(energy, vertical, spin):
        precession = (vertical - axial * spin * math.cos(theta)) / (transverse * math.sin(theta) ** 2)
        rest = 0.5 * (transverse * (precession * math.sin(theta)) ** 2 + axial * spin**2)
        assert rest + WEIGHT * math.cos(theta) == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("lift", [0.7, -0.7, 0.0], ids=["standing", "hanging", "across the horizontal"])
def test_predicted_growth_solves_its_equation(lift):
    """Against SciPy, with a height that moves."""
    t = np.linspace(0.0, 1.5, 601)

    def height(t):
        return lift + 0.2 * np.sin(12.0 * t)

    def rates(t, y):
        return y[1], WEIGHT / RADIAL * height(t) * y[0]

    solved = solve_ivp(rates, (0.0, 1.5), (1.0, 0.0), "DOP853", t, rtol=1e-12, atol=1e-12)
    assert np.max(np.abs(predicted_growth(t, height(t)) - solved.y[0])) < 1e-4 * np.max(np.abs(solved.y[0]))


@pytest.mark.slow
def test_constraint_of_the_thesis_form_grows_as_predicted_and_falls_at_the_order_of_the_method(tmp_path):
    made = reproduce("chaurasia2012/figure-3.3", out=tmp_path, progress=False)
    assert made.agrees, made.verdict
    assert made.files[0].stat().st_size > 10_000
    numbers = {number.name: number.ours for number in made.numbers}
    orders = [value for name, value in numbers.items() if "order" in name]
    assert np.round(orders).tolist() == [6.0, 5.0, 2.0]
    assert 100.0 < numbers["standing top: growth of e from t = 0 to 1.5"] < 200.0
    # At a constant tilt the rate would be the root of V / J0; the top nods around it.
    assert numbers["standing top: rate [1/s]"] == pytest.approx(
        math.sqrt(WEIGHT * math.cos(math.pi / 4) / RADIAL), rel=0.05
    )
    assert numbers["homogeneous form, implicit midpoint: largest | |q|^2 - 1 |"] < 1e-14


def test_a_wrong_order_is_noticed():
    """A path whose error falls at first order."""

    def path(dt: float, t1: float) -> BodyTrajectory:
        t = np.arange(0.0, t1 + 0.5 * dt, dt)
        position = np.stack([t + dt * t**2, t, t], axis=1)[:, None]
        return BodyTrajectory(None, t, {}, {}, Result.successful, {}, {"position": position})

    first = measured_order(path)
    assert first.ours == pytest.approx(1.0, abs=1e-9) and first.agrees is False
