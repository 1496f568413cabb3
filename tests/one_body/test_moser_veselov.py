"""RATTLE in directors and the discrete Moser-Veselov map; flat bodies."""

from functools import cache

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

import poinsot as pt
from poinsot.analysis._travel import travel
from poinsot.coordinates import Directors, Group, Quaternions
from poinsot.integrators import GaussLegendre, LieRattle, Rattle

EPS = 2.0**-52


@cache
def tumbling():
    return pt.library.tumbling_body()


def simulate(system, start, t1, dt, coordinates, form, integrator):
    return pt.simulate(
        system,
        start,
        t1=t1,
        dt=dt,
        coordinates=coordinates,
        form=form,
        integrator=integrator,
        progress=False,
    )


def hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def moser_veselov(inertia, Omega, h: float, steps: int):
    r"""Rotations and body momenta of the discrete free body.

    With $D = \tfrac12 \operatorname{tr} J - J$ a step solves $F D - D F^T = h \hat m$ for a rotation $F$, and
    $R_1 = R_0 F$, $m_1 = F^T m$. Here $F D = S + \tfrac h2 \hat m$ with a symmetric matrix $S$, for which
    $F^T F = 1$ is an algebraic Riccati equation.
    """
    J = np.asarray(inertia)
    D = np.diag(0.5 * J.sum() - J)
    R, m = np.eye(3), J * np.asarray(Omega)
    rotations, momenta = [R], [m]
    for _ in range(steps):
        half = 0.5 * h * hat(m)
        S = solve_continuous_are(-half, np.eye(3), D @ D + half @ half, np.eye(3))
        F = (S + half) @ np.linalg.inv(D)
        R, m = R @ F, F.T @ m
        rotations.append(R)
        momenta.append(m)
    return np.array(rotations), np.array(momenta)


@pytest.mark.slow
def test_rattle_in_directors_is_the_moser_veselov_map():
    h, steps = 0.1, 100
    inertia, start = (0.9144, 1.098, 1.66), tumbling().start
    R, m = moser_veselov(inertia, start.angular_velocity[0], h, steps)
    assert np.max(np.abs(R[-1] @ R[-1].T - np.eye(3))) < 1e-12
    run = simulate(tumbling(), start, h * steps, h, Directors(), "index3", Rattle())
    np.testing.assert_allclose(run.rotation[:, 0], R, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(run.angular_velocity[:, 0] * inertia, m, rtol=0.0, atol=1e-12)
    # The map is not the motion itself, of which it is an approximation of order 2.
    motion = tumbling().exact
    assert motion is not None
    exact = motion(h * steps)
    assert np.max(np.abs(pt.rotation.to_matrix(exact.quaternion[0]) - R[-1])) > 1e-5


def energy_error(coordinates, form, integrator, steps) -> float:
    """Largest relative change of the energy of the free body over steps of 0.1."""
    of = pt.formulate(tumbling(), coordinates, form)
    y = of.problem.pack(of.start(tumbling().start))
    before = of.problem.conserved(0.0, y)["energy"]
    run = travel(of.problem, integrator, y, 0.1, steps)
    assert run.ok
    return float(run.deviation["energy"] / before)


def test_rattle_in_directors_keeps_the_energy_of_a_free_body():
    """To a tenth of a unit of round-off a step, though the error of the motion is 1e-3."""
    steps = 100_000
    assert energy_error(Directors(), "index3", Rattle(), steps) < 0.1 * EPS * steps
    assert energy_error(Group(), "group", LieRattle(), 1_000) > 1e-5


@cache
def flat():
    """A disc with a weight and a pivot off its plane's centre, and a start of it."""
    disc = pt.shapes.disc(mass=2.0, radius=0.8)
    system = pt.System(
        disc,
        freedom=pt.freedom.FixedPoint((0.0, 0.0, 0.0)),
        potentials=[pt.potentials.HeavyTop(1.2, axis=(1.0, 0.0, 0.3))],
    )
    return system, system.state(
        rotation=pt.rotation.euler("zxz", (0.4, 1.1, -0.7)), angular_velocity=(0.7, -0.5, 2.0)
    )


def test_a_flat_body_is_refused_with_a_reason_where_its_mass_matrix_has_no_inverse():
    system, start = flat()
    with pytest.raises(pt.InputError) as error:
        simulate(system, start, 1.0, 0.01, Directors(), "index3", Rattle())
    line = str(error.value)
    assert "\n" not in line and "flat" in line and "d3" in line
    assert "Directors(sigma='mean')" in line and "LieRattle" in line


@pytest.mark.slow
def test_a_flat_body_moves_alike_on_the_group_and_in_directors_with_sigma():
    system, start = flat()
    exact = simulate(system, start, 1.0, 0.05, Quaternions(), "null_space", GaussLegendre(4))
    for coordinates, form, method in (
        (Group(), "group", LieRattle()),
        (Directors(sigma="mean"), "index3", Rattle()),
    ):
        errors = []
        for dt in (0.02, 0.01):
            run = simulate(system, start, 1.0, dt, coordinates, form, method)
            errors.append(np.max(np.abs(run.rotation[-1] - exact.rotation[-1])))
        assert errors[1] < 1e-3
        assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
