"""Pair potentials between bodies of a system: the forces of a chain, of finite differences and of sums."""

from itertools import combinations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.model.potentials import (
    AbstractPair,
    Between,
    Coulomb,
    Cutoff,
    GayBerne,
    HarmonicPair,
    LennardJones,
    Morse,
    PairFunction,
    PosePair,
    ScreenedCoulomb,
)
from quickly import QUICK

CHARGES = np.array([1.0, 0.5, -1.0, -0.7])
POINTS = np.array([[0.5, 0.1, 0.0], [-0.4, 0.3, 0.1], [0.0, -0.5, 0.2], [0.1, 0.2, -0.6]])
MASSES = np.array([1.0, 2.0, 1.5, 0.7])


def body(name: str = "body") -> pt.RigidBody:
    """A body whose principal axes are not those of its frame."""
    made = pt.RigidBody.from_particles(MASSES, POINTS, name=name)
    assert made.axes is not None
    return made


PAIRS = {
    "Lennard-Jones": LennardJones(5.0, 1.0),
    "Morse": Morse(2.0, 0.4, 1.5),
    "Coulomb with a table": Coulomb(np.outer(CHARGES, CHARGES)),
    "screened Coulomb": ScreenedCoulomb(2.0, 0.8),
    "harmonic": HarmonicPair(3.0, 1.2),
    "cut off": Cutoff(LennardJones(5.0, 1.0), 3.0),
    "function with a table": PairFunction(
        lambda s, p: p[0] * p[1] * jnp.exp(-0.3 * s), (np.arange(16.0).reshape(4, 4), 0.2)
    ),
    "Gay-Berne": GayBerne(1.5, 0.8, kappa=2.0),
    "pose": PosePair(lambda d, R1, R2: 0.5 * jnp.sum(d * d) - jnp.sum(R1[:, 0] * R2[:, 1]) * d[2]),
}


def poses(count: int) -> tuple[jax.Array, jax.Array]:
    draw = np.random.default_rng(3)
    x = 2.5 * np.arange(count)[:, None] * np.eye(3)[0] + 0.2 * draw.standard_normal((count, 3))
    return jnp.asarray(x), pt.rotation.exp(jnp.asarray(0.8 * draw.standard_normal((count, 3))))


@eqx.filter_jit(**QUICK)
def evaluated(system, x, R):
    """Energy and its derivatives; and energies next to the poses, along directions of every component."""
    energy, slopes = jax.value_and_grad(system.pose_potential, argnums=(1, 2))(0.0, x, R)
    draw = np.random.default_rng(1)
    dx, dR = (jnp.asarray(draw.standard_normal((4, *part.shape))) for part in (x, R))

    def along(dx, dR):
        step = 1e-4
        near = [system.pose_potential(0.0, x + k * step * dx, R + k * step * dR) for k in (-2, -1, 1, 2)]
        weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * step)
        slope = jnp.sum(slopes[0] * dx) + jnp.sum(slopes[1] * dR)
        return slope, sum(w * e for w, e in zip(weights, near, strict=True))

    return energy, slopes, jax.lax.map(lambda d: along(*d), (dx, dR))


@pytest.mark.parametrize("name", of_the_long_suite(list(PAIRS), {"Lennard-Jones", "pose"}))
def test_forces_are_those_of_a_chain_and_of_differences(name):
    pair, (x, R) = PAIRS[name], poses(3)
    chain = pt.Chain(body(), 3, 2.5, pair)
    system = pt.System(
        [body(name) for name in "abc"], potentials=[Between(pair, ["a", "b"]), Between(pair, [1, 2])]
    )
    energy, slopes, (exact, differences) = evaluated(system, x, R)
    expected, own, _ = evaluated(chain, x, R)
    assert abs(energy - expected) < 1e-13 * abs(expected)
    # A power of minus fourteen of distances that are differences of positions: some ten rounding errors.
    for found, wanted in zip(slopes, own, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-13 * np.max(np.abs(wanted)))
    np.testing.assert_allclose(exact, differences, rtol=1e-7)


class Wrong(AbstractPair):
    """A pair potential whose slope is not the derivative of its value."""

    def value(self, s):
        return s * s

    def slope(self, s):
        return s


@pytest.mark.slow
def test_the_slope_that_a_pair_states_is_its_force():
    """One statement of the derivative serves chains and systems: a wrong one is wrong in both, and shows."""
    x, R = poses(3)
    _, own, _ = evaluated(pt.Chain(body(), 3, 2.5, Wrong()), x, R)
    system = pt.System(
        [body(name) for name in "abc"],
        potentials=[Between(Wrong(), ["a", "b"]), Between(Wrong(), ["b", "c"])],
    )
    _, slopes, (exact, differences) = evaluated(system, x, R)
    np.testing.assert_allclose(slopes[0], own[0], rtol=1e-13)
    assert np.max(np.abs(exact / differences - 1.0)) > 0.1


def test_bodies_of_different_particles_against_the_sum():
    """A body of four particles, one of six, and one without, which is a particle at its mass centre."""
    disc = pt.shapes.two_rim_disc(0.5, 0.3, 6, name="disc")
    ball = pt.shapes.sphere(mass=1.0, radius=0.2, name="ball")
    assert disc.particles is not None
    system = pt.System([body("rock"), disc, ball], potentials=[LennardJones(0.7, 1.1)])
    x, R = poses(3)
    energy, slopes, (exact, differences) = evaluated(system, x, R)
    sites = [
        np.asarray(x)[i] + points @ np.asarray(R)[i].T
        for i, points in enumerate(
            [POINTS - MASSES @ POINTS / MASSES.sum(), np.asarray(disc.particles.points), np.zeros((1, 3))]
        )
    ]
    u = [
        1.1 / np.linalg.norm(q - p) for first, second in combinations(sites, 2) for p in first for q in second
    ]
    assert len(u) == 4 * 6 + 4 + 6
    np.testing.assert_allclose(energy, np.sum(2.8 * (np.array(u) ** 12 - np.array(u) ** 6)), rtol=1e-13)
    np.testing.assert_allclose(exact, differences, rtol=1e-7)
    np.testing.assert_allclose(np.sum(slopes[0], axis=0), 0.0, atol=1e-13 * np.max(np.abs(slopes[0])))


def test_a_table_has_a_row_for_each_particle_of_the_body_named_first():
    one = pt.RigidBody.from_particles([1.0] * 3, np.eye(3), name="three")
    table = np.arange(1.0, 13.0).reshape(4, 3)
    x, R = poses(2)
    found = {}
    for order, entries in ((["four", "three"], table), (["three", "four"], table.T)):
        system = pt.System([one, body("four")], potentials=[Between(HarmonicPair(entries), order)])
        found[order[0]] = float(system.pose_potential(0.0, x, R))
    assert abs(found["three"] - found["four"]) < 1e-13 * found["four"]
    with pytest.raises(pt.InputError, match=r"table of shape \(4, 3\); 'three' and 'four' have 3 and 4"):
        pt.System([one, body("four")], potentials=[HarmonicPair(table)])


@pytest.mark.slow
def test_a_pair_by_itself_acts_between_all_bodies():
    bodies = [body(name) for name in "abcd"]
    x, R = poses(4)
    pair = LennardJones(1.0, 1.0)
    apart = [Between(pair, list(two)) for two in combinations("abcd", 2)]
    sums = [
        pt.System(bodies, potentials=terms).pose_potential(0.0, x, R)
        for terms in (apart, [pair], [Between(pair, list("dcba"))])
    ]
    np.testing.assert_allclose(sums[1:], sums[0], rtol=1e-14)


@pytest.mark.slow
def test_energy_momentum_keeps_the_momenta_of_a_pair():
    """The squared distances are declared, so that the discrete gradient keeps both."""
    system = pt.System([body("a"), body("b")], potentials=[LennardJones(1.0, 1.0)])
    start = system.state(
        position=[[0, 0, 0], [2.4, 0.2, 0]],
        velocity=[[0.1, 0.2, 0], [0, 0, 0.3]],
        angular_velocity=[[1, 0, 2], [0, 1, 0]],
    )
    options = {"t1": 1.0, "dt": 0.02, "coordinates": pt.coordinates.Directors()}
    run = pt.simulate(system, start, integrator=pt.integrators.EnergyMomentum(), **options)
    assert np.ptp(run.energy) < 1e-12
    assert np.max(np.abs(run.angular_momentum - run.angular_momentum[0])) < 1e-12
    assert np.max(np.abs(run.linear_momentum - run.linear_momentum[0])) < 1e-12
    assert np.ptp(np.linalg.norm(run.position[:, 1] - run.position[:, 0], axis=-1)) > 0.1


LJ = LennardJones(1.0, 1.0)


def two(term) -> pt.System:
    return pt.System([body("a"), body("b")], potentials=[term])


def self_spring() -> pt.System:
    ends = pt.potentials.Marker("a"), pt.potentials.Marker(0, (1.0, 0.0, 0.0))
    return two(pt.potentials.Spring(*ends, stiffness=1.0))


BAD = {
    "one body": (
        lambda: pt.System(body(), potentials=[LJ]),
        r"potentials\[0\] LennardJones acts between two bodies or more, and has 1",
    ),
    "unknown name": (
        lambda: two(Between(LJ, ["a", "c"])),
        r"potentials\[0\] no body is called 'c'; there are a, b",
    ),
    "unknown place": (
        lambda: two(Between(LJ, [0, 2])),
        r"potentials\[0\] is about body 2; of 2 bodies the last is body 1",
    ),
    "one body twice": (lambda: two(Between(LJ, ["a", 0])), "acts between two bodies or more, and has 1"),
    "no pair": (lambda: Between(pt.potentials.UniformGravity()), "pair of Between = UniformG.*LennardJones"),
    "too many": (
        lambda: pt.Chain(body(), 4000, 2.0, LJ, potentials=[Coulomb(1.0)]),
        r"potentials\[0\] Coulomb acts between 127,968,000 pairs.*Chain",
    ),
    "spring on one body": (self_spring, r"potentials\[0\] names a body twice"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
