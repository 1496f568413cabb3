"""Loads: forces and torques against formulas written anew, their power, and what is refused."""

import math
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model import RigidBody, System, loads
from poinsot.rotation import exp

RNG = np.random.default_rng(7)
X, V, OMEGA = RNG.standard_normal((3, 2, 3))
R = np.asarray(exp(jnp.asarray(RNG.standard_normal((2, 3)))))
F, P = np.array([0.5, 2.0, -1.0]), np.array([1.0, 0.4, -0.7])
ZERO = np.zeros(3)
T = 0.7


def wave(t):
    return jnp.stack([jnp.sin(t), 2.0 * t, jnp.ones(())])


WAVE = np.array([np.sin(T), 2 * T, 1.0])

CASES = {
    "damping": (loads.LinearDamping(0.3, 0.2), (-0.3 * V, -0.2 * OMEGA)),
    "damping of one": (
        loads.LinearDamping(0.3, (0.1, 0.2, 0.4), bodies=[1]),
        ([ZERO, -0.3 * V[1]], [ZERO, -np.array([0.1, 0.2, 0.4]) * OMEGA[1]]),
    ),
    "thrust": (loads.thrust(F, P, body=1), ([ZERO, R[1] @ F], [ZERO, np.cross(P, F)])),
    "force in space": (loads.Force(F, point=P), ([F, ZERO], [R[0].T @ np.cross(R[0] @ P, F), ZERO])),
    "force of time": (loads.Force(wave, body=1), ([ZERO, WAVE], [ZERO, ZERO])),
    "torque in space": (loads.Torque(F, body=1), ([ZERO, ZERO], [ZERO, R[1].T @ F])),
    "torque of time": (loads.Torque(wave, frame="body"), ([ZERO, ZERO], [WAVE, ZERO])),
    "function": (lambda t, x, R, v, Omega: (-x, t * Omega), (-X, T * OMEGA)),
}
BODIES = (RigidBody(2.0, (2.0, 3.0, 4.0)), RigidBody(0.5, (1.0, 1.5, 2.0)))
OF_TIME = {"force of time", "torque of time", "function"}


@pytest.mark.parametrize("name", CASES)
def test_wrench(name):
    load, (force, torque) = CASES[name]
    system = System(BODIES, loads=[load])
    numbers = [jnp.asarray(part) for part in (X, R, V, OMEGA)]
    got_force, got_torque = system.loads[0].wrench(T, *numbers)
    np.testing.assert_allclose(got_force, force, atol=1e-15)
    np.testing.assert_allclose(got_torque, torque, atol=1e-15)
    assert system.autonomous == (name not in OF_TIME)
    assert not system.conservative


def test_damping_takes_energy_away():
    force, torque = CASES["damping"][0].wrench(T, *(jnp.asarray(part) for part in (X, R, V, OMEGA)))
    power = float(jnp.sum(force * V) + jnp.sum(torque * OMEGA))
    assert power == pytest.approx(-0.3 * np.sum(V**2) - 0.2 * np.sum(OMEGA**2), rel=1e-14)


def test_loads_add_up():
    """Generalised forces of two loads are the sum of those of each."""
    args = (T, jnp.asarray(X.T), jnp.asarray(R.transpose(1, 2, 0)), jnp.asarray(V.T), jnp.asarray(OMEGA.T))
    terms = [CASES["thrust"][0], CASES["damping"][0]]
    both, first, second = (
        System(BODIES, loads=chosen).load(*args) for chosen in (terms, terms[:1], terms[1:])
    )
    assert both is not None and first is not None and second is not None
    for k in range(2):
        np.testing.assert_allclose(both[k], np.asarray(first[k]) + np.asarray(second[k]), atol=1e-15)
    assert System(BODIES).load(*args) is None


BAD = {
    "frame": (
        lambda: loads.Torque(F, frame=cast(Any, "world")),
        "'world'; it must be 'space' or 'body'",
    ),
    "numbers": (lambda: loads.Force((1, 2)), r"force of Force has shape \(2,\); it must be 3 numbers"),
    "damping": (lambda: loads.LinearDamping(0.1, (1, 2)), r"shape \(2,\); it must be one number or three"),
    "body": (lambda: System(BODIES, loads=[loads.Torque(F, body=4)]), r"loads\[0\] is about body 4"),
    "no load": (lambda: System(BODIES, loads=[1.0]), r"loads\[0\] = 1.0; it must be one of pt.loads"),
    "one part": (
        lambda: System(BODIES, loads=[lambda t, x, R, v, Omega: (v, v[0])]),
        r"loads\[0\] returns numbers of shape \(2, 3\) and \(3,\); it must return a force \(2, 3\)",
    ),
    "wrong time": (
        lambda: System(BODIES, loads=[loads.Force(lambda t: jnp.ones(2))]),
        r"loads\[0\]: force of Force returns shape \(2,\); it must return an array of shape \(3,\)$",
    ),
    "no pair": (
        lambda: System(BODIES, loads=[lambda t, x, R, v, Omega: v]),
        r"loads\[0\]: a load returns shape \(2, 3\); it must return a force and a torque",
    ),
    "no tracing": (
        lambda: System(BODIES, loads=[loads.Force(lambda t: (math.sin(t), 0.0, 0.0))]),
        r"loads\[0\]: force of Force cannot be evaluated: .* write it with jax.numpy",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
