"""Projection of states of every form onto their constraints: exact, nearest, and the same when repeated."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equation_cases import FORMULATIONS, start, system

import poinsot as pt
from poinsot.coordinates import Directors, Group
from poinsot.kernels import once

EPS = np.finfo(float).eps
CONSTRAINED = {name: given for name, given in FORMULATIONS.items() if "Euler" not in name}
CONSTRAINED["directors by rows, index0"] = (Directors(constraints="rows"), "index0")
QUICK = ("quaternions, hamiltonian", "directors, index0", "group")
each = pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CONSTRAINED]
)
LEVELS = ("none", "position", "velocity", "both")


@cache
def facts(name):
    """States projected at each level from one on the constraints and two that have drifted, and residuals."""
    return _facts(pt.formulate(system(), *CONSTRAINED[name]), start())


@once
def _facts(formulation, state):
    problem, t = formulation.problem, jnp.zeros(())
    y = problem.pack(formulation.start(state))
    drift = jax.random.normal(jax.random.key(7), y.shape)
    drifted = jnp.stack([y, y + 1e-3 * drift, y + 1e-4 * drift])
    levels = {what: jax.vmap(lambda y, what=what: problem.project(t, y, what))(drifted) for what in LEVELS}
    again = jax.vmap(lambda y: problem.project(t, y, "both"))(levels["both"])
    return {
        "levels": levels,
        "again": again,
        "residuals": {
            what: jax.vmap(lambda y: _residuals(formulation, t, y))(states) for what, states in levels.items()
        },
        "moved": {what: states - drifted for what, states in levels.items()},
    }


def _residuals(formulation, t, y):
    """Of the constraints and their rates; in a canonical form of momenta across them, which move nothing."""
    if formulation.form != "hamiltonian":
        return formulation.residuals(t, y)
    n = formulation.bodies.size
    value, rate = jax.jvp(formulation.bodies.constraint, (y[:n],), (y[n:],))
    return value[None], rate[None]


def worst(values) -> np.ndarray:
    """Largest residual at each of the three states."""
    return np.max(np.abs(np.asarray(values)), axis=(1, 2))


@each
def test_constraints_hold_to_round_off(name):
    residuals = facts(name)["residuals"]
    drifted = worst(residuals["none"][0])
    assert np.all(drifted[1:] > (5e-4, 5e-5)), "the control must have drifted"
    for what in ("position", "both"):
        assert np.all(worst(residuals[what][0]) < 8 * EPS)
    np.testing.assert_array_equal(residuals["velocity"][0], residuals["none"][0])
    if name.split(", ")[-1] in ("null_space", "group", "group of matrices"):
        return
    for what in ("velocity", "both"):
        assert np.all(worst(residuals[what][1]) < 50 * EPS)
    assert np.all(worst(residuals["position"][1])[1:] > (1e-4, 1e-5)), "velocities must have been left"


@each
def test_a_projected_state_stays(name):
    found = facts(name)
    np.testing.assert_allclose(found["again"], found["levels"]["both"], rtol=0.0, atol=50 * EPS)
    np.testing.assert_allclose(found["moved"]["both"][0], 0.0, atol=50 * EPS)


@each
def test_the_move_is_as_small_as_the_residual(name):
    """Ten times less drift, ten times less to move; nothing else is touched."""
    moved = facts(name)["moved"]
    far, near = np.max(np.abs(np.asarray(moved["both"][1:])), axis=1)
    assert 8.0 < far / near < 12.0 and far < 0.02
    assert np.all(np.asarray(moved["none"]) == 0.0)


@each
def test_the_move_is_across_the_surface(name):
    """In the metric of the form, the part of the move along the surface is of second order."""
    formulation = pt.formulate(system(), *CONSTRAINED[name])
    levels, moved = facts(name)["levels"]["both"], facts(name)["moved"]["both"]
    along = np.asarray(_along(formulation, levels, moved))
    far, near = np.max(np.abs(along[1:]), axis=1)
    assert far < 1e-5 and near < 1e-7
    assert np.max(np.abs(moved[1])) > 5e-4, "the move itself is of first order"


@once
def _along(formulation, states, moves):
    """Components of the moves of coordinates along unit angular velocities."""
    bodies, problem = formulation.bodies, formulation.problem

    def along(y, move):
        parts, change = problem.unpack(y), problem.unpack(move)
        if formulation.form == "group":
            return jnp.concatenate([jnp.zeros(1), _turn(bodies.coordinates, parts.g, change.g)])
        metric = (lambda q, v: bodies.momentum(q, v)) if formulation.form == "index3" else (lambda q, v: v)
        q = parts.q
        c, move_c = bodies.split(q)[1], bodies.split(metric(q, change.q))[1]
        slope = jax.vjp(lambda Omega: bodies.velocity(c, Omega), jnp.zeros((3, bodies.turning)))[1](move_c)[0]
        return slope.reshape(-1)

    return jax.vmap(along)(states, moves)


def _turn(coordinates: Group, g, change):
    return jax.vmap(coordinates.omega, in_axes=-1, out_axes=-1)(g, change).reshape(-1)


def test_nothing_to_project():
    y = jnp.arange(4.0)
    oscillator = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 0.5 * q @ q)
    for problem in (oscillator, pt.ODE(lambda y: -y)):
        assert not problem.projectable
        assert problem.project(0.0, y, "both") is y
    for coordinates, form in (given for name, given in FORMULATIONS.items() if "Euler" in name):
        problem = pt.formulate(system(), coordinates, form).problem
        assert not problem.projectable
        assert problem.project(0.0, y, "both") is y


def test_a_point_on_an_ellipse_is_the_nearest_in_the_metric_of_the_mass():
    """Against the same problem in coordinates in which the mass is one, solved by scanning angles."""
    mass = jnp.asarray([4.0, 0.25])
    squares = jnp.asarray([1.0, 1.0 / 9.0])
    ring = pt.Constrained(V=lambda q: 0.0 * q[0], g=lambda q: (squares @ q**2 - 1.0)[None], mass=mass)
    assert ring.projectable
    y = jnp.asarray([0.7, 2.3, 1.0, -2.0])
    q, p = np.split(np.asarray(jax.jit(lambda y: ring.project(0.0, y, "both"))(y)), 2)
    angles = np.linspace(0.0, 2.0 * np.pi, 400001)
    points = np.stack([np.cos(angles), 3.0 * np.sin(angles)])
    distance = np.sum(np.asarray(mass)[:, None] * (points - np.asarray(y[:2])[:, None]) ** 2, axis=0)
    nearest = points[:, np.argmin(distance)]
    np.testing.assert_allclose(q, nearest, atol=1e-4)
    assert abs(q[0] ** 2 + q[1] ** 2 / 9.0 - 1.0) < 4 * EPS
    normal = np.array([2.0 * q[0], 2.0 * q[1] / 9.0])
    assert abs(normal @ (p / np.asarray(mass))) < 8 * EPS
    plain = points[:, np.argmin(np.sum((points - np.asarray(y[:2])[:, None]) ** 2, axis=0))]
    assert np.max(np.abs(nearest - plain)) > 0.05, "the metric must matter"


def test_a_point_from_which_nothing_is_nearest_is_not_answered():
    ring = pt.Constrained(V=lambda q: 0.0 * q[0], g=lambda q: (q @ q - 1.0)[None])
    assert not np.all(np.isfinite(ring.project(0.0, jnp.zeros(4), "position")))
