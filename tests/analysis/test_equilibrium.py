"""Equilibria: energy and its derivatives, minima, saddles, and chains that come apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import equilibrium, hessian, stationary_point
from poinsot.analysis._displacements import energy, moved, numbering, point_of, state_of
from poinsot.analysis._expansion import expansion


def kicked(system, state, size, seed=0):
    """A point displaced at random from a state."""
    point, draw = point_of(system, state), np.random.default_rng(seed)
    dx, w = draw.standard_normal(point.x.shape), draw.standard_normal(point.quat[1:].shape)
    return moved(point, jnp.asarray(size * dx), jnp.asarray(2.0 * size * w))


@pytest.fixture(scope="module")
def mixed():
    """A ring of bodies with turned principal axes, particle and pose bonds, and second neighbours."""
    draw = np.random.default_rng(3)
    body = pt.RigidBody.from_particles([1.0, 2.0, 0.5], 0.3 * draw.standard_normal((3, 3)))
    pose = pt.potentials.PosePair(lambda d, R1, R2: 0.5 * d @ d - jnp.sum(R1 * R2) ** 2 + R1[:, 0] @ d)
    return pt.Chain(body, 6, 2.0, [pt.potentials.Morse(2.0, 1.5, 1.1), pose], "ring", neighbours=2)


@pytest.fixture(scope="module")
def free():
    return pt.library.particle_chain(count=5, ends="free")


@pytest.fixture(scope="module")
def relaxed(free):
    return free.equilibrium(starts=3)


@pytest.mark.slow
def test_expansion_of_a_chain_is_that_of_its_potential(mixed):
    """Energy, slope and second derivatives along a random direction, from the potential that runs use."""
    point, order = kicked(mixed, mixed.straight_state(), 0.1), numbering(mixed)
    assert mixed.body.axes is not None
    near = expansion(mixed, point, order)
    direction = np.random.default_rng(1).standard_normal(order.size)
    dx, w = (jnp.asarray(part) for part in order.parts(direction))
    line = jax.jit(jax.value_and_grad(lambda s, dx, w: energy(mixed, point, s * dx, s * w)))
    value, slope = line(0.0, dx, w)
    assert near.energy == pytest.approx(float(value), rel=1e-14)
    assert near.slope @ direction == pytest.approx(float(slope), rel=1e-12)
    h = 1e-5
    difference = float(line(h, dx, w)[1] - line(-h, dx, w)[1]) / (2.0 * h)
    assert direction @ (near.hessian @ direction) == pytest.approx(difference, rel=1e-8)
    other = expansion(mixed, kicked(mixed, mixed.straight_state(), 0.1, seed=9), order)
    assert direction @ (other.hessian @ direction) != pytest.approx(difference, rel=1e-3)


@pytest.mark.slow
def test_hessian_is_symmetric(mixed):
    state = state_of(mixed, kicked(mixed, mixed.straight_state(), 0.1))
    matrix = hessian(mixed, state)
    assert matrix.shape == (36, 36)
    assert abs(matrix - matrix.T).max() < 1e-14 * abs(matrix).max()


def test_minimum_of_a_free_chain(free, relaxed):
    """Forces vanish, six rigid motions are free, and all that is near has more energy."""
    assert relaxed.kind == "minimum" and relaxed.stable and relaxed.unstable == 0 and relaxed.zero == 6
    assert relaxed.force < 1e-10 and relaxed.asymmetry < 1e-14
    assert "minimum" in repr(relaxed) and f"{relaxed.energy:.6g}"[:6] in repr(relaxed)
    order = numbering(free)
    near = [expansion(free, kicked(free, relaxed.state, 1e-4, seed=i), order).energy for i in range(10)]
    assert min(near) > relaxed.energy + 1e-6
    pressed = free.straight_state()
    assert expansion(free, point_of(free, pressed), order).energy > relaxed.energy + 10.0


def test_straight_tetrahedra_are_a_saddle_and_are_left():
    """Clamped at both ends they are at rest by symmetry, and unstable in most directions."""
    chain = pt.library.particle_chain(count=5)
    straight = stationary_point(chain)
    eigenvalues = np.linalg.eigvalsh(hessian(chain, straight.state).toarray())
    assert straight.kind == "saddle" and straight.unstable == np.count_nonzero(eigenvalues < 0.0) > 9
    assert "saddle" in repr(straight) and str(straight.unstable) in repr(straight)
    np.testing.assert_allclose(straight.state.position, chain.straight_state().position, atol=1e-12)
    below = equilibrium(chain, starts=1)
    assert below.kind == "minimum" and below.energy < straight.energy - 10.0
    assert [other.unstable for other in below.others] == [straight.unstable]


@pytest.mark.slow
def test_a_chain_pulled_apart_is_said_to_be():
    """A force that no bond can bear; a tenth of it is borne."""
    torn = pt.library.particle_chain(count=4, ends=("clamped", pt.ends.force((200.0, 0.0, 0.0))))
    apart = equilibrium(torn, starts=1)
    assert apart.kind == "dissociated" and not apart.stable
    assert "come apart" in repr(apart) and "|" in apart.groups
    weak = pt.library.particle_chain(count=4, spacing=1.5, ends=("clamped", pt.ends.force((2.0, 0.0, 0.0))))
    whole = equilibrium(weak, starts=4)
    assert whole.kind == "minimum" and whole.zero == 0 and "|" not in whole.groups


def test_a_free_chain_under_a_force_has_no_equilibrium():
    pulled = pt.library.disc_rod(4, ends="free")
    chain = pt.Chain(
        pulled.body,
        4,
        pulled.spacing,
        pt.potentials.HarmonicPair(1.0, 1.0),
        ("free", pt.ends.force((1.0, 0.0, 0.0))),
    )
    found = equilibrium(chain, starts=1, steps=60)
    assert found.kind == "none" and "do not vanish" in repr(found)


def test_top_hangs_and_stands():
    """Of a body with a fixed point, turning about the vertical is free."""
    top = pt.library.heavy_top(inertia=(50.0, 42.0, 10.0), mgl=100.0)
    hanging = equilibrium(top, top.state(rotation=pt.rotation.about_x(2.0)), starts=1)
    assert hanging.kind == "minimum" and hanging.zero == 1
    assert hanging.energy == pytest.approx(-100.0, rel=1e-13)
    standing = stationary_point(top, top.state(rotation=pt.rotation.about_x(0.1)))
    assert standing.kind == "saddle" and standing.unstable == 2
    assert standing.energy == pytest.approx(100.0, rel=1e-13)


def test_what_cannot_be_relaxed_is_refused():
    body = pt.shapes.tetrahedron()
    lennard_jones = pt.potentials.LennardJones(5.0, 1.0)
    push = pt.loads.Function(lambda t, x, R, v, Omega: (jnp.ones_like(x), jnp.zeros_like(x)))
    driven = pt.Chain(body, 4, 2.0, lennard_jones, "free", loads=[push])
    with pytest.raises(
        pt.InputError, match="no position balances the load Function of 'chain': the least force"
    ):
        stationary_point(driven, steps=2)
    with pytest.raises(pt.InputError, match="starts = 0"):
        equilibrium(pt.library.particle_chain(count=4), starts=0)
    onto = pt.Chain(body, 4, 2.0, lennard_jones, ("free", pt.ends.displaced((4.0, 0.0, 0.0))))
    with pytest.raises(pt.InputError, match="not finite"):
        equilibrium(onto)
