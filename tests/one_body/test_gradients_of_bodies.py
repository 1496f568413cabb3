"""Derivatives of a final state in the moments, the weight and the start, through every integrator."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.coordinates import Directors, EulerAngles, Group, Quaternions
from poinsot.integrators import (
    RK4,
    Composition,
    ConstrainedRungeKutta,
    EnergyMomentum,
    GaussLegendre,
    KryslEndresNewmark,
    LieMidpoint,
    LieRattle,
    LieSplitting,
    MuntheKaas,
    RadauIIA,
    Rattle,
    StormerVerlet,
    TerzeRattle,
    Variational,
)
from poinsot.kernels import once

DEFAULT = {
    "Lie RATTLE": (LieRattle(), Group(), "group"),
}
OTHERS = {
    "RATTLE, directors": (Rattle(), Directors(), "index3"),
    "splitting, exact": (LieSplitting("exact"), Group(), "group"),
    "energy-momentum, free": (EnergyMomentum(), Quaternions(), "hamiltonian"),
    "Gauss, null space": (GaussLegendre(2), Directors(), "null_space"),
    "Gauss, Hamiltonian": (GaussLegendre(2), Quaternions(), "hamiltonian"),
    "Gauss, index 0": (GaussLegendre(2), Quaternions(), "index0"),
    "Runge-Kutta": (RK4(), Quaternions(), "null_space"),
    "Runge-Kutta, angles": (RK4(), EulerAngles(), "hamiltonian"),
    "Verlet": (StormerVerlet(), Quaternions(), "hamiltonian"),
    "RATTLE, quaternions": (Rattle(), Quaternions(), "index3"),
    "variational, quaternions": (Variational(), Quaternions(sigma="mean"), "index3"),
    "variational, directors": (Variational(), Directors(sigma="mean"), "index3"),
    "energy-momentum, multiplier": (EnergyMomentum(), Quaternions(), "index3"),
    "Radau, index 3": (ConstrainedRungeKutta(RadauIIA(2).tableau), Quaternions(), "index3"),
    "Radau, index 2": (ConstrainedRungeKutta(RadauIIA(2).tableau), Quaternions(), "index2"),
    "splitting, elementary": (LieSplitting(), Group(), "group"),
    "splitting, composed": (Composition(LieSplitting(), "suzuki4"), Group(), "group"),
    "Lie midpoint": (LieMidpoint(), Group(), "group"),
    "Munthe-Kaas": (MuntheKaas(RK4().tableau), Group(), "group"),
    "Krysl-Endres": (KryslEndresNewmark(), Group(), "group"),
    "Terze": (TerzeRattle(), Group(), "group"),
}
"""The rest take minutes to compile."""

TURN = np.asarray(pt.rotation.euler_quaternion("zxz", jnp.array([0.4, 1.1, -0.7])))
POINT = np.concatenate([[1.0, 1.3, 1.7], [1.4], TURN, [0.7, -0.5, 1.1]])
"""Moments about the fixed point, mgl, quaternion, angular velocity."""
DIRECTION, WEIGHTS = np.random.default_rng(3).normal(size=(2, 12))
DIRECTION = DIRECTION[: POINT.size]


def end(method, coordinates, form, x):
    """A number that all of rotation and angular velocity after three steps enter."""
    top = pt.library.heavy_top(x[:3], mgl=x[3])
    quaternion = x[4:8] / jnp.sqrt(jnp.sum(x[4:8] ** 2))
    start = top.state(rotation=quaternion, angular_velocity=x[8:])
    run = pt.solve(top, method, start, dt=0.05, steps=3, save_every=3, coordinates=coordinates, form=form)
    seen = jnp.concatenate([run.state.rotation[-1, 0].reshape(-1), run.state.angular_velocity[-1, 0]])
    return jnp.sum(WEIGHTS * seen), run.result


def check_gradient(method, coordinates, form):
    """The reverse-mode gradient along a random direction against a difference quotient of order four.

    Forward mode is tested with it: what reverse mode transposes is the forward derivative.
    """
    value_and_gradient = once(jax.value_and_grad(partial(end, method, coordinates, form), has_aux=True))
    (_, result), gradient = value_and_gradient(jnp.asarray(POINT))
    assert int(result) == 0
    e = 1e-3

    def value(s):
        return float(value_and_gradient(jnp.asarray(POINT + s * e * DIRECTION))[0][0])

    quotient = (8.0 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12.0 * e)
    assert abs(quotient) > 0.1
    assert float(np.dot(gradient, DIRECTION)) == pytest.approx(quotient, rel=1e-6)


@pytest.mark.parametrize("name", DEFAULT)
def test_gradient_in_moments_weight_and_start(name):
    check_gradient(*DEFAULT[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_gradient_in_moments_weight_and_start_of_the_others(name):
    check_gradient(*OTHERS[name])
