"""Certificate and reversibility against defects known in closed form, on the harmonic oscillator."""

import jax.numpy as jnp
import pytest

import poinsot as pt
from poinsot.analysis import invariant_deviations, reversibility, symplecticity
from poinsot.integrators import RK4, ExplicitEuler, GaussLegendre

OSCILLATOR = pt.Hamiltonian(lambda q, p: 0.5 * (p[0] ** 2 + q[0] ** 2))
START = pt.State(q=[0.6], p=[0.8])


@pytest.mark.parametrize("h", [0.4, 0.2])
def test_the_defect_of_rk4_is_that_of_its_determinant(h):
    """For one degree of freedom the defect is |det D - 1|, and det D = 1 - h^6/72 + h^8/576."""
    determinant = 1.0 - h**6 / 72.0 + h**8 / 576.0
    certificate = symplecticity(OSCILLATOR, RK4(), START, h)
    # D is a rotation times the root of its determinant, so |D|^2 is the determinant.
    assert certificate.defect == pytest.approx((1.0 - determinant) / determinant, rel=1e-6)
    assert certificate.result is pt.Result.successful and certificate.h == h


def test_a_symplectic_method_has_a_defect_of_round_off():
    assert symplecticity(OSCILLATOR, GaussLegendre(2), START, 0.4).defect < 1e-15


def test_a_step_that_does_not_converge_is_not_certified():
    assert symplecticity(OSCILLATOR, GaussLegendre(2), START, 20.0).result is not pt.Result.successful


def test_reversibility_of_explicit_euler():
    """A step forward and back multiplies by 1 + h^2."""
    assert reversibility(OSCILLATOR, ExplicitEuler(), START, 0.1) == pytest.approx(0.01, rel=1e-10)
    assert reversibility(OSCILLATOR, GaussLegendre(2), START, 0.1) < 1e-15
    assert reversibility(OSCILLATOR, GaussLegendre(2), START, 20.0) == jnp.inf


def test_deviations_over_a_run():
    """Explicit Euler multiplies the energy by 1 + h^2 in every step."""
    run = invariant_deviations(OSCILLATOR, ExplicitEuler(), START, dt=0.1, steps=100)
    assert run.start["energy"] == pytest.approx(0.5)
    assert run.deviation["energy"] == pytest.approx(0.5 * (1.01**100 - 1.0), rel=1e-9)
    assert run.steps == 100 and run.result is pt.Result.successful


def test_only_hamiltonian_problems_and_single_states():
    decay = pt.ODE(lambda y: -y)
    with pytest.raises(pt.InputError, match="Hamiltonian"):
        symplecticity(decay, RK4(), pt.State(y=[1.0, 2.0]), 0.1)  # pyright: ignore[reportArgumentType]
