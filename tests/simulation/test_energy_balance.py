"""Loads: the work they do against an independent integral, and what the report claims beside them."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.simulation._body_trajectory import BALANCE

MASS, MOMENTS = 2.0, np.array([1.0, 2.0, 2.5])
SPIN, SPEED = np.array([0.3, 2.0, -0.5]), np.array([1.0, 0.0, 2.0])
SLOWING, TURNING = 0.3, 0.2
T1, DT = 6.0, 0.01


def torque(t, sin):
    return 0.8 * sin(3.0 * t), 0.4, -0.5 * sin(t)


@pytest.fixture(scope="module")
def system():
    return pt.System(
        pt.RigidBody(MASS, MOMENTS, name="satellite"),
        loads=[
            pt.loads.LinearDamping(SLOWING, TURNING),
            pt.loads.Torque(lambda t: jnp.stack([jnp.asarray(x) for x in torque(t, jnp.sin)]), frame="body"),
        ],
    )


@pytest.fixture(scope="module")
def reference():
    """Euler's and Newton's equations with the work as one more unknown."""

    def rates(t, y):
        Omega, v = y[:3], y[3:6]
        moment = np.array(torque(t, np.sin)) - TURNING * Omega
        turned = (np.cross(MOMENTS * Omega, Omega) + moment) / MOMENTS
        return np.concatenate([turned, -SLOWING * v / MASS, [Omega @ moment - SLOWING * v @ v]])

    times = DT * np.arange(round(T1 / DT) + 1)
    start = np.concatenate([SPIN, SPEED, [0.0]])
    return solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", rtol=1e-13, atol=1e-14, t_eval=times).y


@pytest.fixture(scope="module")
def explicit(system):
    return _simulated(system, pt.integrators.RK4(), "null_space")


@pytest.fixture(scope="module")
def variational(system):
    return _simulated(system, pt.integrators.Variational(), "index3")


def _simulated(system, integrator, form):
    start = system.state(velocity=SPEED, angular_velocity=SPIN)
    return pt.simulate(
        system,
        start,
        t1=T1,
        dt=DT,
        integrator=integrator,
        form=form,
        coordinates=pt.coordinates.Quaternions(),
    )


def test_work_is_the_integral_of_the_power(explicit, reference):
    np.testing.assert_allclose(explicit.angular_velocity[:, 0], reference[:3].T, atol=2e-8)
    np.testing.assert_allclose(explicit.velocity[:, 0], reference[3:6].T, atol=1e-10)
    np.testing.assert_allclose(explicit.work, reference[6], atol=1e-8)
    assert np.max(np.abs(explicit.work)) > 1.0


def test_energy_changes_by_the_work_alone(explicit):
    change = explicit.energy - explicit.energy[0]
    kinetic = 0.5 * (MOMENTS @ SPIN**2 + MASS * SPEED @ SPEED)
    np.testing.assert_allclose(explicit.energy[0], kinetic, rtol=1e-14)
    assert np.max(np.abs(change - explicit.work)) < 1e-8
    assert np.max(np.abs(change)) > 1.0


def test_work_of_a_method_of_order_two_is_right_to_that_order(variational, reference):
    error = np.max(np.abs(variational.work - reference[6]))
    assert 1e-7 < error < 1e-3


def test_report_shows_the_balance_and_voids_the_traits(variational):
    report = variational.report()
    assert "energy" not in variational.conserved
    assert report[BALANCE].start == pytest.approx(variational.energy[0], rel=1e-12)
    assert report[BALANCE].relative_deviation < 1e-3
    assert report.header["integrator"] == f"{pt.integrators.Variational().name}: order 2, symmetric"
    assert "no claim to be symplectic or to keep invariants" in report.header["loads"]
    assert list(report.header)[:5] == ["system", "coordinates", "form", "integrator", "loads"]
    assert report.header["form"] == "index3" and "Quaternions" in report.header["coordinates"]
    assert BALANCE in str(report)


def test_without_loads_the_traits_stand():
    free = pt.library.free_body(MOMENTS)
    run = pt.simulate(
        free,
        free.state(angular_velocity=SPIN),
        t1=0.1,
        dt=DT,
        integrator=pt.integrators.LieSplitting(),
        coordinates=pt.coordinates.Group(),
    )
    report = run.report()
    assert "loads" not in report.header and "symplectic" in report.header["integrator"]
    assert "energy" in run.conserved and BALANCE not in run.conserved
    assert report.header["system"] == "free body"


def test_a_stored_run_keeps_its_balance(explicit, tmp_path):
    explicit.save(tmp_path / "run.zarr")
    loaded = pt.load(tmp_path / "run.zarr")
    assert str(loaded.report()) == str(explicit.report())
    np.testing.assert_array_equal(loaded.work, explicit.work)
