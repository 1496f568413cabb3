"""Gravity, fields, springs and functions on a chain: those of a system, and local where they can be."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.core import body_torque
from poinsot.model.potentials import (
    Between,
    ConstantForce,
    Coulomb,
    Field,
    Function,
    GravityGradient,
    HeavyTop,
    LennardJones,
    Marker,
    Spring,
    TorsionalBushing,
    UniformGravity,
    of_body,
)
from quickly import QUICK

COUNT = 6
POINTS = np.array([[0.5, 0.1, 0.0], [-0.4, 0.3, 0.1], [0.0, -0.5, 0.2], [0.1, 0.2, -0.6]])
PAIR = LennardJones(5.0, 1.0)


def body(name: str = "body") -> pt.RigidBody:
    """A body whose principal axes are not those of its frame."""
    return pt.RigidBody.from_particles([1.0, 2.0, 1.5, 0.7], POINTS, name=name)


def bowl(x, R):
    return 0.1 * jnp.sum(x * x) + R[2, 2] * x[1]


LOCAL = {
    "gravity": UniformGravity((0.3, 0.0, -2.0)),
    "gravity on two": UniformGravity(bodies=["body1", "body4"]),
    "gravity gradient": GravityGradient(30.0, centre=(0.0, 0.0, -9.0)),
    "constant force": ConstantForce((1.0, 2.0, 0.5), point=(0.0, 0.1, 0.2), body="body3"),
    "weight of one": HeavyTop(2.0, body=2),
    "spring to space": Spring((0.0, 1.0, 0.0), Marker("body2", (0.1, 0.0, 0.0)), stiffness=2.0),
    "bushing to space": TorsionalBushing((0.0, 0.0, 0.0), Marker("body4"), stiffness=(1.0, 2.0, 3.0)),
    "field": Field(bowl),
    "field with parameters": Field(lambda x, R, p: p * bowl(x, R), params=0.7),
    "function of one": of_body(bowl, "body5"),
}
FAR = {
    "spring between bodies": (
        Spring(Marker("body0"), Marker("body5"), stiffness=1.0),
        r"potentials\[0\] \(Spring\) couples bodies that are no neighbours",
    ),
    "function of all": (lambda x, R: jnp.sum(x[0] * x[4]), r"\(Function\) couples bodies"),
    "pair of two": (Between(Coulomb(0.5), ["body1", "body4"]), r"\(Coulomb\) couples bodies"),
    "all pairs": (Coulomb(0.1), r"\(Coulomb\) couples bodies"),
    "function of time": (Field(lambda t, x, R: jnp.sin(t) * x[0]), r"\(Field\) depends on time"),
}
TERMS = LOCAL | {name: term for name, (term, _) in FAR.items()}


def chain(*terms, **options) -> pt.Chain:
    return pt.Chain(body(), COUNT, 2.5, PAIR, ("clamped", "free"), potentials=terms, **options)


@pytest.fixture(scope="module")
def poses() -> tuple[jax.Array, jax.Array]:
    draw = np.random.default_rng(3)
    x = 2.5 * np.arange(COUNT)[:, None] * np.eye(3)[0] + 0.2 * draw.standard_normal((COUNT, 3))
    return jnp.asarray(x), pt.rotation.exp(jnp.asarray(0.8 * draw.standard_normal((COUNT, 3))))


@eqx.filter_jit(**QUICK)
def evaluated(system, x, R):
    return jax.value_and_grad(system.pose_potential, argnums=(1, 2))(0.3, x, R)


GROUPS = {"local": list(LOCAL.values()), "far": [term for term, _ in FAR.values()]}


@pytest.mark.parametrize("group", GROUPS)
def test_terms_on_a_chain_are_those_of_a_system(group, poses):
    """What they add to the bonds is what they are between as many bodies of a system."""
    bodies = [body(f"body{i}") for i in range(COUNT)]
    bonds = [Between(PAIR, [i, i + 1]) for i in range(COUNT - 1)]
    system = pt.System(bodies, potentials=[*GROUPS[group], *bonds])
    found, wanted = evaluated(chain(*GROUPS[group]), *poses), evaluated(system, *poses)
    for one, other in zip(*map(jax.tree.leaves, (found, wanted)), strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-13 * np.max(np.abs(other)))


@eqx.filter_jit(**QUICK)
def in_pieces(system, x, R):
    """Forces and torques on the moving bodies of a chain: from its pieces, and from its potential."""
    local = system.local_wrench
    x, R = jnp.moveaxis(x, 0, -1), jnp.moveaxis(R, 0, -1)
    live_x, live_R = local.live(x, R.reshape(9, -1))
    live_R = live_R.reshape(3, 3, -1)
    slope_x, slope_R = jax.grad(system.potential, argnums=(1, 2))(0.0, live_x, live_R)
    whole_x, whole_R = system.whole(0.0, live_x, live_R)
    sites = local.sites(whole_x, whole_R)

    def beside(tree, begin, end):
        return jax.tree.map(lambda rows: rows[..., begin : end or None], tree)

    def padded(tree):
        return jax.tree.map(
            lambda rows: jnp.concatenate([rows[..., :1] + 9.0, rows, rows[..., -1:] - 9.0], -1), tree
        )

    place, near = jnp.arange(COUNT), padded(sites)
    exists = (jnp.arange(COUNT + 1) > 0) & (jnp.arange(COUNT + 1) < COUNT)
    pairs = local.pairs(beside(near, 0, -1), beside(near, 1, 0), exists)
    found = local.wrench(
        place,
        whole_R,
        (beside(pairs, 0, -1), beside(pairs, 1, 0)),
        (beside(near, 0, -2), beside(near, 1, -1), beside(near, 2, 0)),
    )
    force, torque = local.live(*found)
    return (force, torque), (-slope_x, body_torque(live_R, slope_R))


@pytest.mark.slow
def test_terms_of_single_bodies_stay_local(poses):
    for term in LOCAL.values():
        assert chain(term).not_local is None
    system = chain(*LOCAL.values())
    assert system.row is not None
    pieces, whole = in_pieces(system, *poses)
    for found, wanted in zip(pieces, whole, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-13 * np.max(np.abs(wanted)))


@pytest.mark.parametrize("name", FAR)
def test_a_chain_says_why_its_forces_are_not_local(name):
    term, reason = FAR[name]
    system = chain(term)
    assert system.local_wrench is None
    assert re.search(reason, str(system.not_local))
    assert (system.row is None) == (name != "function of time")


def test_other_reasons_and_many_bodies_picked_out():
    ring = pt.Chain(body(), COUNT, 2.5, PAIR, "ring")
    assert ring.not_local == "the chain is closed (ring)"
    assert "2 neighbours" in str(chain(neighbours=2).not_local)
    long = pt.Chain(body(), 20, 2.5, PAIR, potentials=[UniformGravity(bodies=list(range(0, 20, 2)))])
    assert "acts on 10 bodies" in str(long.not_local)


class Elsewhere(pt.potentials.AbstractPotential):
    """A user's term of one body that does not say so in a field of its own."""

    @property
    def takes_time(self) -> bool:
        return False

    @property
    def bodies(self) -> tuple[int, ...]:
        return (3,)

    def energy(self, t, x, R):
        return x[3, 0] ** 2


def test_a_term_that_cannot_be_moved_to_another_body_is_not_taken_for_local():
    assert "cannot be evaluated for one body by itself" in str(chain(Elsewhere()).not_local)


def test_a_long_chain_keeps_one_mass_for_all_bodies():
    long = pt.Chain(body(), 100_000, 2.5, PAIR, potentials=[UniformGravity(), GravityGradient(1.0)])
    assert sum(leaf.size for leaf in jax.tree.leaves(long.potentials)) < 30


def test_invariants_of_a_chain_with_terms_make_up_its_energy(poses):
    system = chain(UniformGravity(), LOCAL["spring to space"])
    assert system.declares_invariants
    x, R = (jnp.moveaxis(part[1:], 0, -1) for part in poses)

    @eqx.filter_jit
    def energies(system):
        return system.energy_of(system.potential_invariants(x, R)), system.potential(0.0, x, R)

    np.testing.assert_allclose(*energies(system), rtol=1e-13)
    assert not chain(Field(bowl)).declares_invariants


@pytest.mark.slow
def test_the_twin_in_other_units_has_the_terms(poses):
    units = pt.Units(length=2.0, mass=3.0, time=0.5)
    system = chain(*LOCAL.values(), Field(lambda t, x, R: jnp.sin(t) * x[0]))
    twin, (x, R) = units.scaled(system), poses
    found = evaluated(twin, x / 2.0, R)[0] * units.energy
    again = eqx.filter_jit(lambda system: system.pose_potential(0.15, x, R))(system)
    np.testing.assert_allclose(found, again, rtol=1e-13)
    assert units.scaled(chain(*LOCAL.values())).not_local is None


@pytest.mark.slow
def test_equilibrium_under_gravity_and_waves_without():
    """A hanging chain is longer than one at rest; waves are of the bonds alone."""
    disc = pt.shapes.two_rim_disc(0.5, 0.3, 6, axis=0)
    hung = pt.Chain(disc, 4, 1.2, PAIR, ("clamped", "free"), potentials=[UniformGravity((3.0, 0.0, 0.0))])
    level = pt.Chain(disc, 4, 1.2, PAIR, ("clamped", "free"))
    found = [one.equilibrium(starts=1) for one in (hung, level)]
    assert all(one.kind == "minimum" for one in found)
    lengths = [float(one.state.position[-1, 0]) for one in found]
    assert lengths[0] > lengths[1] + 1e-3
    with pytest.raises(pt.InputError, match="waves and rods are those of the bonds alone"):
        hung.dispersion()


def test_function_potentials_see_the_body_frames(poses):
    """Not the principal axes, in which the chain itself is stepped."""
    x, R = poses
    system = chain(Function(lambda x, R: jnp.sum(R * jnp.arange(9.0).reshape(3, 3)[None])))
    plain = chain()
    added = system.pose_potential(0.0, x, R) - plain.pose_potential(0.0, x, R)
    np.testing.assert_allclose(added, jnp.sum(R * jnp.arange(9.0).reshape(3, 3)[None]), rtol=1e-11)
