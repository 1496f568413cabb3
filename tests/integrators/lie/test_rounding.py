"""Rounding errors of group methods that keep momenta: a random walk, without bias and without trend.

Runs differ in their starts. Their mean tells a bias, which is common to all. Their spread tells a trend of
single runs, such as those of a symmetric or spherical body, whose steps are all alike.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from group_cases import Stored
from jax.tree_util import Partial

from long_suite import of_the_long_suite
from poinsot import ensemble
from poinsot.coordinates import Group as GroupCoordinates
from poinsot.core import Group, State
from poinsot.integrators import Composition, LieMidpoint, LieRattle, LieSplitting
from poinsot.rotation import normalise

EPS = np.finfo(float).eps
METHODS = {
    "elementary": (LieSplitting(), 1),
    "exact": (LieSplitting("exact"), 1),
    "suzuki4": (Composition(LieSplitting(), "suzuki4"), 5),
    "kahan-li6": (Composition(LieSplitting("exact"), "kahan-li6"), 9),
    "rattle": (LieRattle(), 1),
    "midpoint": (LieMidpoint(), 1),
}
"""Every method on the group that declares to keep momenta, and the number of free rotations in a step."""

KEEP_ENERGY = ("exact", "kahan-li6")
"""Those whose steps of a free body are exact."""

ASYMMETRIC, SYMMETRIC, SPHERICAL = (1.0, 2.0, 2.5), (1.0, 1.0, 0.6), (1.0, 1.0, 1.0)
SYSTEMS = {
    "free": (ASYMMETRIC, 0.0),
    "free, symmetric": (SYMMETRIC, 0.0),
    "free, spherical": (SPHERICAL, 0.0),
    "top": (ASYMMETRIC, 1.3),
    "top, symmetric": (SYMMETRIC, 1.3),
}
"""Moments of inertia, and the weight of a top with its mass centre on the third axis."""

BIAS = 0.03
"""Bias of one free rotation, in units of round-off, that the test must see."""

WALK = 1.0
"""Largest root mean square of the error of one free rotation, in units of round-off."""


def weight(strength, t, x, R):
    return strength * R[2, 2, 0]


@cache
def changes(name, system, element: Stored = "quaternion", runs=256, steps=1000, h=0.05):
    """Relative changes of what is conserved, in units of round-off, run by run."""
    moments, strength = SYSTEMS[system]
    J, random = np.array(moments), np.random.default_rng(5)
    # The strength is data, so that one program runs all systems.
    potential = Partial(weight, jnp.array(strength))
    coordinates = GroupCoordinates(element)
    of = Group(jnp.zeros(0), jnp.asarray(J)[:, None], potential, element=coordinates)
    quats = normalise(jnp.asarray(random.normal(size=(runs, 4))))
    none, g = np.zeros((runs, 3, 0)), jax.vmap(coordinates.from_quaternion)(quats)
    start = State(x=none, p=none, g=np.asarray(g)[..., None], m=random.normal(size=(runs, 3, 1)))
    run = ensemble(of, METHODS[name][0], start, dt=h, steps=steps, save_every=steps, progress=False)
    R = np.asarray(jax.vmap(jax.vmap(of.rotation))(jnp.asarray(run.g)))[..., 0]
    m = np.asarray(run.m)[..., 0]
    size = np.linalg.norm(m[:, :1], axis=2)
    L = np.einsum("rtij,rtj->rti", R, m) / size[..., None]
    kept = {"determinant": np.linalg.det(R), "L_z": L[:, :, 2]}
    if strength == 0.0:
        kept |= {"L_x": L[:, :, 0], "length": np.linalg.norm(m, axis=2) / size}
    if strength == 0.0 and name in KEEP_ENERGY:
        kept["energy"] = 0.5 * np.log(np.sum(m * m / J, axis=2))
    return {key: (value[:, -1] - value[:, 0]) / EPS for key, value in kept.items()}


def walks(name, found, steps):
    """Changes after some steps in units of the random walk of one free rotation; that of R stays bounded."""
    assert np.abs(found["determinant"]).max() < 20.0
    rotations = steps * METHODS[name][1]
    return rotations, {key: value for key, value in found.items() if key != "determinant"}


@pytest.mark.parametrize("system", of_the_long_suite(list(SYSTEMS), {"free", "top"}))
@pytest.mark.parametrize("name", METHODS)
def test_rounding_has_neither_bias_nor_trend(name, system):
    """Means within five standard errors of zero, where the bias to be seen is ten of them."""
    rotations, found = walks(name, changes(name, system), 1000)
    for key, change in found.items():
        error = np.sqrt(np.mean(change**2) / change.size)
        assert abs(np.mean(change)) <= 5.0 * error, key
        assert 10.0 * error < BIAS * rotations, key
        assert np.sqrt(np.mean(change**2)) < WALK * np.sqrt(rotations), key


@pytest.mark.parametrize("system", ["free, spherical", "top"])
def test_rounding_of_rotation_matrices(system):
    rotations, found = walks("elementary", changes("elementary", system, element="matrix"), 1000)
    assert all(np.sqrt(np.mean(change**2)) < WALK * np.sqrt(rotations) for change in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", METHODS)
def test_a_million_steps_are_a_random_walk(name, system):
    """A trend of 0.002 units a rotation would be larger than the walk."""
    rotations, found = walks(name, changes(name, system, runs=8, steps=1_000_000), 1_000_000)
    for key, change in found.items():
        assert np.sqrt(np.mean(change**2)) < 2.0 * WALK * np.sqrt(rotations), key
