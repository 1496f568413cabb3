"""A run in SI units and its twin without dimensions are one motion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.integrators import GaussLegendre, LieSplitting
from poinsot.model import Chain, potentials, shapes

LENGTH, MASS, DEPTH = 3.4e-10, 6.63e-26, 1.65e-21
"""Of argon: diameter in metres, mass in kilograms, depth of the well in joules."""
UNITS = pt.Units(LENGTH, MASS, time=LENGTH * np.sqrt(MASS / DEPTH))
PULL = 3.0 * DEPTH / LENGTH


def path(t):
    """Of the last body, in metres and seconds."""
    return LENGTH * jnp.stack([14.0 + 0.1 * jnp.sin(3.0 * t / UNITS.time), 0.0 * t, 0.0 * t])


def aligned(d, R1, R2):
    """Directors of neighbours are drawn together, more so where they are near."""
    return -DEPTH * jnp.sum(R1 * R2) * jnp.exp(-jnp.sum((d / LENGTH) ** 2))


def chain(ends, **options) -> Chain:
    body = shapes.tetrahedron(LENGTH, MASS)
    pair = potentials.LennardJones(5.0 * DEPTH, LENGTH)
    return Chain(body, 8, 2.0 * LENGTH, [pair, potentials.PosePair(aligned)], ends, **options)


CASES = {
    "force": (("clamped", pt.ends.force((PULL, 0.0, 0.0))), LieSplitting(), 0.002),
    "quaternions": (("clamped", pt.ends.force((PULL, 0.0, 0.0))), GaussLegendre(3), 0.01),
    "moved": (("free", pt.ends.displaced(path)), LieSplitting(), 0.002),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_twin_moves_alike(case):
    ends, integrator, dt = CASES[case]
    drag = pt.loads.LinearDamping(0.3 * UNITS.mass / UNITS.time, 0.1 * UNITS.energy * UNITS.time)
    own = chain(ends, loads=[drag] if case == "moved" else [])
    start = UNITS.unscaled_state(UNITS.scaled(own).straight_state(velocity_scale=0.05, seed=3))
    options = {"integrator": integrator, "save_every": 50, "progress": False}
    tau = float(UNITS.time)
    in_si = pt.simulate(own, start, t1=0.5 * tau, dt=dt * tau, **options)
    twin = pt.simulate(UNITS.scaled(own), UNITS.scaled_state(start), t1=0.5, dt=dt, **options)
    scales = {
        "position": LENGTH,
        "rotation": 1.0,
        "velocity": float(UNITS.velocity),
        "angular_velocity": 1.0 / tau,
        "energy": float(UNITS.energy),
    }
    assert np.max(np.abs(twin.position[-1] - twin.position[0])) > 0.1
    for part, scale in scales.items():
        found, wanted = getattr(in_si, part) / scale, getattr(twin, part)
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-12 * max(1.0, np.max(np.abs(wanted))))


@jax.jit
def energies(t, x, R):
    own = chain("free")
    return own.pose_potential(t, LENGTH * x, R) / UNITS.energy, UNITS.scaled(own).pose_potential(t, x, R)


@pytest.mark.slow
def test_the_energy_of_the_twin_and_a_wrong_scale():
    """Potentials are those of true distances; a twin in other units of time has another energy."""
    x = jnp.asarray(np.asarray(chain("free").straight_state().position) / LENGTH + 0.1)
    R = jnp.broadcast_to(jnp.eye(3), (8, 3, 3))
    own, twin = energies(0.0, x, R)
    np.testing.assert_allclose(own, twin, rtol=1e-13)
    other = pt.Units(LENGTH, MASS, 1.1 * UNITS.time).scaled(chain("free")).pose_potential(0.0, x, R)
    np.testing.assert_allclose(other, 1.21 * twin, rtol=1e-13)


def test_there_and_back():
    own = chain(("clamped", "clamped"))
    twin = UNITS.scaled(own)
    np.testing.assert_allclose(twin.body.mass, 4.0, rtol=1e-14)
    np.testing.assert_allclose(twin.body.moments, [17 / 12, 5 / 4, 7 / 6], rtol=1e-14)
    np.testing.assert_allclose(twin.spacing, 2.0, rtol=1e-15)
    start = own.straight_state(velocity_scale=0.3)
    again = UNITS.unscaled_state(UNITS.scaled_state(start))
    for part in ("position", "quaternion", "velocity", "angular_velocity"):
        np.testing.assert_allclose(again[part], start[part], rtol=1e-14)
    last = twin.poses(0.0, jnp.zeros((3, 6)), jnp.zeros((3, 3, 6)))[0][-1]
    np.testing.assert_allclose(last, [14.0, 0.0, 0.0], rtol=1e-14)


def test_closed_chains_stay_closed():
    assert UNITS.scaled(chain("ring")).closure == "ring"
    periodic = UNITS.scaled(chain("periodic"))
    np.testing.assert_allclose(periodic.neighbours.period, [16.0, 0.0, 0.0], rtol=1e-14)


def test_wrong_units():
    with pytest.raises(pt.InputError, match="time of Units = 0; it must be positive"):
        pt.Units(1.0, 1.0, 0.0)
    with pytest.raises(pt.InputError, match="scaled takes a pt.Chain"):
        UNITS.scaled(pt.library.heavy_top(inertia=(1.0, 1.0, 1.0), mgl=1.0))  # pyright: ignore[reportArgumentType]
