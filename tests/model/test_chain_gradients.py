"""The energy of a chain and its derivatives, against sums written out pair by pair and against autodiff."""

import itertools
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.coordinates import Quaternions
from poinsot.core import each_body
from poinsot.equations._bodies import Bodies
from poinsot.kernels import once
from poinsot.model import Chain, RigidBody, potentials, shapes
from poinsot.model._neighbours import Neighbours
from poinsot.rotation import exp, to_matrix

RNG = np.random.default_rng(5)
COUNT, SPACING = 6, 2.4
TURNS = exp(jnp.asarray(0.4 * RNG.standard_normal((COUNT, 3))))
SHIFTS = 0.15 * RNG.standard_normal((COUNT, 3))
EPSILON, SIGMA = RNG.uniform(0.5, 2.0, (4, 4)), RNG.uniform(0.8, 1.1, (4, 4))
CROOKED = RigidBody.from_particles(RNG.uniform(0.5, 1.5, 4), 0.6 * RNG.standard_normal((4, 3)))
DISC = shapes.two_rim_disc(0.8, 0.5, particles=12, axis=0)
DISC_TABLE = RNG.uniform(0.5, 2.0, (12, 12))


def attracted(d, R1, R2):
    """Neither even in the two bodies nor unchanged by rotations: every component has a derivative."""
    return 0.5 * jnp.sum((d - 2.0 * R1[:, 0]) ** 2) + jnp.sum(R1 * R2) ** 2 + R2[0, 1] * d[2]


CHAINS = {
    "one number": (shapes.tetrahedron(), potentials.LennardJones(5.0, 1.0)),
    "tables": (CROOKED, potentials.LennardJones(EPSILON, SIGMA)),
    "many particles": (DISC, potentials.LennardJones(DISC_TABLE, 1.0)),
    "poses": (CROOKED, potentials.PosePair(attracted)),
    "two terms": (CROOKED, [potentials.LennardJones(EPSILON, SIGMA), potentials.PosePair(attracted)]),
}
CASES = [
    ("one number", "free", 1),
    ("tables", "periodic", 2),
    ("many particles", "ring", 1),
    ("two terms", "free", 2),
    ("poses", "periodic", 1),
]


@cache
def made(kind, ends, order) -> Chain:
    body, potential = CHAINS[kind]
    return Chain(body, COUNT, SPACING, potential, ends, neighbours=order)


def straight(chain: Chain):
    """Positions and rotation matrices of the straight chain."""
    positions, quaternions = chain._straight()
    return positions, to_matrix(quaternions)


def crooked(chain: Chain):
    """Positions and principal directors of all bodies, near the straight chain."""
    positions, rotations = straight(chain)
    x = jnp.asarray(np.asarray(positions) + SHIFTS).T
    return x, jnp.moveaxis(rotations @ TURNS, 0, -1)


@once
def derivatives(chain, x, R):
    """Energies and gradients, assembled and by autodiff of the plain sum."""
    neighbours = chain.neighbours
    plain = jax.value_and_grad(neighbours.total, argnums=(0, 1))(x, R)
    return plain, neighbours.gradient(x, R), jax.value_and_grad(neighbours.energy, argnums=(0, 1))(x, R)


def neighbours_of(chain):
    """Pairs of bodies that act on each other, with the displacement of the second."""
    period = np.array([SPACING * COUNT, 0.0, 0.0]) if chain.closure == "periodic" else np.zeros(3)
    for i, order in itertools.product(range(COUNT), range(1, chain.neighbours.order + 1)):
        j = i + order
        if j < COUNT:
            yield i, j, np.zeros(3)
        elif chain.closure != "open":
            yield i, j - COUNT, period


def lennard_jones(epsilon, sigma, r):
    """The potential and its derivative in the distance, as the thesis has them."""
    u = sigma / r
    return 4.0 * epsilon * (u**12 - u**6), 4.0 * epsilon * (-12.0 * u**12 + 6.0 * u**6) / r


def summed(chain, points, epsilon, sigma):
    """Energy and derivatives pair by pair: $V_x = (v'/r) Delta$ and $V_R = (v'/r) Delta rho^T$."""
    x, R = (np.asarray(part) for part in crooked(chain))
    energy, slope_x, slope_R = 0.0, np.zeros_like(x), np.zeros_like(R)
    for i, j, shift in neighbours_of(chain):
        for k, m in itertools.product(range(len(points)), repeat=2):
            apart = x[:, j] + shift + R[:, :, j] @ points[m] - x[:, i] - R[:, :, i] @ points[k]
            r = np.linalg.norm(apart)
            value, slope = lennard_jones(epsilon[k, m], sigma[k, m], r)
            energy += value
            for body, point, sign in ((i, points[k], -1.0), (j, points[m], 1.0)):
                slope_x[:, body] += sign * slope / r * apart
                slope_R[:, :, body] += sign * slope / r * np.outer(apart, point)
    return energy, slope_x, slope_R


@pytest.mark.parametrize(
    ("case", "epsilon", "sigma"),
    [
        (CASES[0], np.full((4, 4), 5.0), np.ones((4, 4))),
        (CASES[1], EPSILON, SIGMA),
        (CASES[2], DISC_TABLE, np.ones((12, 12))),
    ],
    ids=lambda value: "",
)
def test_energy_and_gradient_are_the_sums_over_pairs_of_particles(case, epsilon, sigma):
    chain = made(*case)
    _, (slope_x, slope_R), (energy, _) = derivatives(chain, *crooked(chain))
    expected = summed(chain, np.asarray(chain.body.principal_points), epsilon, sigma)
    for found, wanted in zip((energy, slope_x, slope_R), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-12 * np.max(np.abs(wanted)))


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow) if case[0] == "two terms" else case for case in CASES],
    ids=lambda case: " ".join(map(str, case)),
)
def test_the_assembled_gradient_is_that_of_the_sum(case):
    chain = made(*case)
    (energy, plain), assembled, (same, derived) = derivatives(chain, *crooked(chain))
    assert same == energy
    for found, wanted, again in zip(assembled, plain, derived, strict=True):
        scale = np.max(np.abs(wanted))
        assert scale > 0.1
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-13 * scale)
        np.testing.assert_array_equal(again, found)


SLOW = ("tables", "two terms", "poses", "many particles")


@pytest.mark.parametrize(
    ("ends", "order"), [pytest.param("free", 2, marks=pytest.mark.slow), ("ring", 1)], ids=["free", "ring"]
)
def test_windows_of_a_long_chain_join(ends, order, monkeypatch):
    """In directors, and in quaternions, whose directors are made window by window."""
    chain = Chain(DISC, 7, SPACING, potentials.LennardJones(1.0, 1.0), ends, neighbours=order)
    positions, rotations = straight(chain)
    x = jnp.asarray(np.asarray(positions) + 0.1 * np.random.default_rng(2).standard_normal((7, 3))).T
    R, quat = jnp.moveaxis(rotations, 0, -1), pt.rotation.from_matrix(rotations).T

    def gradients():
        """Compiled anew: a function that was compiled before would not see another window."""
        gradient, directors = chain.neighbours.gradient, each_body(Quaternions().rotation)
        return once(lambda x, R, quat: (*gradient(x, R), *gradient(x, quat, directors)))(x, R, quat)

    whole = gradients()
    # Three windows, the last of which begins with a body that the second has had too.
    monkeypatch.setattr(Neighbours, "window", 3)
    for part, right in zip(gradients(), whole, strict=True):
        np.testing.assert_allclose(part, right, rtol=0.0, atol=1e-12 * np.max(np.abs(right)))
        assert np.min(np.max(np.abs(right.reshape(-1, 7)), axis=0)) > 1e-3, "every body is pulled"


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow) if case[0] in SLOW else case for case in CASES],
    ids=lambda case: " ".join(map(str, case)),
)
def test_hessian_is_symmetric_and_that_of_the_sum(case):
    chain = made(*case)
    x, R = crooked(chain)

    @once
    def hessians(chain, z):
        def flat(energy):
            return lambda z: energy(z[: x.size].reshape(x.shape), z[x.size :].reshape(R.shape))

        return [
            jax.jacfwd(jax.grad(flat(energy)))(z)
            for energy in (chain.neighbours.energy, chain.neighbours.total)
        ]

    found, wanted = hessians(chain, jnp.concatenate([x.reshape(-1), R.reshape(-1)]))
    scale = np.max(np.abs(wanted))
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-13 * scale)
    np.testing.assert_allclose(found, np.asarray(found).T, rtol=0.0, atol=1e-13 * scale)


def test_derivatives_of_the_gradient_are_taken_in_loops():
    """Written out like the gradient itself, they would take minutes to compile in an implicit step."""
    chain = made("one number", "free", 1)
    x, R = crooked(chain)
    gradient = chain.neighbours.gradient
    assert "scan" not in str(jax.make_jaxpr(gradient)(x, R))
    along = jax.make_jaxpr(lambda x, R: jax.jvp(gradient, (x, R), (x, R)))(x, R)
    assert str(along).count("scan[") == 1


@pytest.mark.slow
def test_gradient_in_quaternions():
    """The chain rule with the four matrices dR/dq of the homogeneous map, and central differences."""
    chain = made("one number", "free", 1)
    x, R = crooked(chain)
    quat = pt.rotation.from_matrix(jnp.moveaxis(R, -1, 0)).T
    bodies = Bodies(chain, Quaternions())

    @once
    def both(chain, q):
        energy = eqx.Partial(bodies.potential, 0.0)
        step = 1e-6 * jnp.eye(q.size)
        ends = [jax.vmap(lambda dq, sign=sign: energy(q + sign * dq))(step) for sign in (1.0, -1.0)]
        return jax.grad(energy)(q), (ends[0] - ends[1]) / 2e-6, chain.neighbours.gradient(x, R)[1]

    slope, differences, slope_R = both(chain, bodies.join(x, quat))
    scale = np.max(np.abs(slope))
    np.testing.assert_allclose(slope, differences, rtol=0.0, atol=1e-8 * scale)
    by_hand = np.zeros((4, COUNT))
    for body in range(COUNT):
        w, a, b, c = np.asarray(quat[:, body])
        matrices = 2.0 * np.array(
            [
                [[w, -c, b], [c, w, -a], [-b, a, w]],
                [[a, b, c], [b, -a, -w], [c, w, -a]],
                [[-b, a, w], [a, b, c], [-w, c, -b]],
                [[-c, -w, a], [w, -c, b], [a, b, c]],
            ]
        )
        by_hand[:, body] = np.sum(matrices * np.asarray(slope_R)[None, :, :, body], axis=(1, 2))
    np.testing.assert_allclose(bodies.split(slope)[1], by_hand, rtol=0.0, atol=1e-13 * scale)


@pytest.mark.slow
def test_gradient_in_parameters():
    """The energy is linear in the strengths: its derivatives are the sums over the pairs they belong to."""
    chain = made("tables", "periodic", 2)
    x, R = crooked(chain)

    @once
    def slopes(chain, x, R):
        return eqx.filter_grad(lambda chain: chain.neighbours.energy(x, R))(chain)

    found = np.asarray(slopes(chain, x, R).neighbours.bonds[0].pair_potential.epsilon)[:, :, 0]
    points = np.asarray(chain.body.principal_points)
    for k, m in ((0, 0), (1, 3), (2, 1)):
        only = np.zeros((4, 4))
        only[k, m] = 1.0
        wanted = summed(chain, points, only, SIGMA)[0]
        np.testing.assert_allclose(found[k, m], wanted, rtol=1e-12)


def screwed(t):
    """A motion along a line while turning about z."""
    return jnp.stack([12.0 + t, t, t]), pt.rotation.about_z(t)


ENDS = {
    "clamped": ("clamped", "clamped"),
    "force": ("clamped", pt.ends.force((3.0, -1.0, 0.5))),
    "displaced": ("free", pt.ends.displaced((12.2, 0.1, 0.0))),
    "moved": (pt.ends.displaced(lambda t: (0.1 * t, jnp.sin(t), 0.0)), "clamped"),
    "prescribed": ("free", pt.ends.prescribed(screwed)),
    "held where given": (pt.ends.clamped((0.1, 0.2, 0.3), pt.rotation.about_y(0.3)), "free"),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_enter_the_energy_at_their_places(name):
    """At live coordinates the energy is that of the poses, less the work of the force; `whole` agrees."""
    chain = Chain(CROOKED, COUNT, SPACING, potentials.LennardJones(EPSILON, SIGMA), ENDS[name])
    t = 0.7

    @once
    def seen(chain, t):
        assert CROOKED.axes is not None
        moving, turning = chain.translating, chain.rotating
        positions, rotations = straight(chain)
        x = (positions + jnp.asarray(SHIFTS))[moving.start : moving.stop].T
        R = jnp.moveaxis((rotations @ TURNS)[turning.start : turning.stop] @ CROOKED.axes, 0, -1)
        poses = chain.poses(t, x, R)
        return chain.potential(t, x, R), poses, chain.pose_potential(t, *poses), chain.whole(t, x, R)

    energy, (positions, rotations), of_poses, (x, R) = seen(chain, jnp.asarray(t))
    assert CROOKED.axes is not None and CROOKED.particles is not None
    np.testing.assert_allclose(x.T, positions, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(jnp.moveaxis(R, -1, 0), rotations @ CROOKED.axes, rtol=0.0, atol=1e-14)
    places = positions[:, None] + np.einsum("nij,kj->nki", rotations, CROOKED.particles.points)
    r = np.linalg.norm(places[1:, None] - places[:-1, :, None], axis=-1)
    wanted = np.sum(lennard_jones(EPSILON, SIGMA, r)[0])
    if name == "force":
        wanted -= np.sum(np.array([3.0, -1.0, 0.5]) * positions[-1])
    np.testing.assert_allclose([energy, of_poses], wanted, rtol=1e-13)
    expected = {
        "clamped": ([0.0, 0.0, 0.0], [12.0, 0.0, 0.0]),
        "force": ([0.0, 0.0, 0.0], None),
        "displaced": (None, [12.2, 0.1, 0.0]),
        "moved": ([0.07, np.sin(0.7), 0.0], [12.0, 0.0, 0.0]),
        "prescribed": (None, [12.7, 0.7, 0.7]),
        "held where given": ([0.1, 0.2, 0.3], None),
    }[name]
    for place, at in zip((0, -1), expected, strict=True):
        if at is not None:
            np.testing.assert_allclose(positions[place], at, rtol=0.0, atol=1e-14)
    if name == "prescribed":
        np.testing.assert_allclose(rotations[-1], pt.rotation.about_z(t), rtol=0.0, atol=1e-15)
    if name == "held where given":
        np.testing.assert_allclose(rotations[0], pt.rotation.about_y(0.3), rtol=0.0, atol=1e-15)


@pytest.mark.slow
def test_a_turned_body_frame_changes_nothing():
    """The same particles in another frame: energy, forces and torques are the same."""
    assert CROOKED.particles is not None
    Q = np.asarray(exp(jnp.array([0.4, -0.9, 0.3])))
    turned = RigidBody.from_particles(CROOKED.particles.masses, CROOKED.particles.points @ Q)
    pair = potentials.LennardJones(EPSILON, SIGMA)
    other = potentials.PosePair(lambda d, R1, R2: attracted(d, R1 @ Q.T, R2 @ Q.T))
    chains = [
        Chain(CROOKED, COUNT, SPACING, [pair, potentials.PosePair(attracted)], ("clamped", "free")),
        Chain(turned, COUNT, SPACING, [pair, other], (pt.ends.clamped((0.0, 0.0, 0.0), Q), "free")),
    ]
    position = np.asarray(chains[0]._straight()[0]) + SHIFTS
    rotation = np.array(TURNS)
    position[0], rotation[0] = 0.0, np.eye(3)
    found = [
        acting(pt.formulate(chain, pt.coordinates.Group(), "group"), chain.state(position, rotation @ frame))
        for chain, frame in zip(chains, (np.eye(3), Q), strict=True)
    ]
    for first, second in zip(*found, strict=True):
        np.testing.assert_allclose(second, first, rtol=0.0, atol=1e-12 * np.max(np.abs(first)))


@once
def acting(formulation, state):
    """Energy, forces and torques in space of the bodies that move."""
    problem = formulation.problem
    x, _, g, _ = problem.split(problem.pack(formulation.start(state)))
    wrench, R = problem.wrench(0.0, x, g), problem.rotation(g)
    energy = formulation.bodies.system.potential(0.0, x, R)
    return energy, wrench.force, jnp.sum(R * wrench.torque[None], axis=1)


@once
def energies(chain, x, R):
    c = chain.potential_invariants(x, R)
    return c, chain.potential(0.0, x, R), chain.energy_of(c)


def test_squared_distances_give_the_energy():
    """What energy-momentum methods take: invariants of degree two in poses, and the energy of them."""
    for case in (CASES[0], CASES[1]):
        chain = made(*case)
        x, R = crooked(chain)
        c, energy, again = energies(chain, x, R)
        assert c.shape == (16 * len(list(neighbours_of(chain))),)
        np.testing.assert_allclose(again, energy, rtol=1e-13)
    assert not made("poses", "periodic", 1).declares_invariants
    assert not Chain(
        CROOKED, 4, SPACING, potentials.LennardJones(1.0, 1.0), ENDS["force"]
    ).declares_invariants


@pytest.mark.slow
def test_memory_grows_with_the_number_of_bodies_and_not_with_its_square():
    """What the compiled gradient keeps in memory, four times as much for four times as many bodies.

    Its dense Jacobian, which keeps sixteen times as much, is the control.
    """

    def gradient(neighbours, z):
        return jnp.concatenate(neighbours.gradient(z[:3], z[3:].reshape(3, 3, -1))[1])

    def dense(neighbours, z):
        return jax.jacfwd(lambda z: gradient(neighbours, z))(z)

    def kept(function, count):
        neighbours = made("one number", "free", 1).neighbours
        lowered = jax.jit(lambda z: function(neighbours, z)).lower(jnp.ones((12, count)))
        memory = lowered.compile().memory_analysis()
        assert memory is not None
        return memory.temp_size_in_bytes + memory.output_size_in_bytes

    assert kept(gradient, 8000) < 5.0 * kept(gradient, 2000)
    assert kept(dense, 80) > 12.0 * kept(dense, 20)


def test_directors_of_a_ring_are_rotations():
    chain = Chain(shapes.tetrahedron(), 7, 2.0, potentials.LennardJones(5.0, 1.0), "ring")
    state = chain.straight_state()
    chords = np.linalg.norm(np.roll(state.position, -1, axis=0) - state.position, axis=1)
    np.testing.assert_allclose(chords, 2.0, rtol=1e-14)
    tangent = np.roll(state.position, -1, axis=0) - np.roll(state.position, 1, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    np.testing.assert_allclose(to_matrix(state.quaternion)[:, :, 0], tangent, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(to_matrix(state.quaternion)), 1.0, rtol=1e-14)
