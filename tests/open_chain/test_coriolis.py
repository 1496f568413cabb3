"""The Coriolis matrix of random trees: velocity forces, and half of the change of the metric tensor."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_trees import FORWARD, SINGLE, random_tree

import poinsot as pt
from poinsot.model.open_chain import _sweeps
from quickly import QUICK

ALL = SINGLE + FORWARD


@cache
def balls() -> pt.OpenChain:
    """A floating body between two balls, one of them passed from its second body."""
    J = pt.joints
    tensor = np.array([[0.3, 0.02, -0.03], [0.02, 0.4, 0.05], [-0.03, 0.05, 0.5]])
    joints = [
        J.Spherical("a", "b", at=(0.5, 0, 0), axis=(1, 1, 0), name="front"),
        J.Spherical("c", "a", at=(-0.5, 0.1, 0), name="back"),
    ]
    places = {name: ((0.3 * k, 0.2 * k - 0.3, 0.1 * k), (0.8, 0.0, 0.6, 0.0)) for k, name in enumerate("abc")}
    bodies = [pt.RigidBody(1.0 + 0.3 * k, tensor * (1.0 + 0.2 * k), name=n) for k, n in enumerate("abc")]
    gravity = [pt.potentials.UniformGravity()]
    return pt.OpenChain(pt.System(bodies, joints=joints, reference=places, potentials=gravity))


@eqx.filter_jit(**QUICK)
def _matrices(chain: pt.OpenChain, q, v):
    """The matrix, its velocity forces by themselves, the change of the metric, and the sum of the symbols."""
    change = jax.jvp(lambda s: chain.metric(chain.moved(q, s * v)), (jnp.zeros(()),), (jnp.ones(()),))[1]
    rest = jnp.zeros_like(v)
    forces = chain.inverse_dynamics(q, v, rest) - chain.inverse_dynamics(q, rest, rest)
    return chain.coriolis(q, v), forces, change, jnp.einsum("abc,a->cb", chain.christoffel(q), v)


def judged(chain: pt.OpenChain, seed: int) -> None:
    q, v = chain.random(jax.random.key(seed))
    C, forces, change, by_symbols = map(np.asarray, _matrices(chain, q, v))
    scale = max(1.0, float(np.max(np.abs(C))))
    np.testing.assert_allclose(C @ v, forces, rtol=0, atol=1e-13 * scale * max(1.0, float(np.linalg.norm(v))))
    assert _asymmetry(change, C) < 1e-13 * scale
    if not any(slot.ball for slot in chain.slots):
        np.testing.assert_allclose(C, by_symbols, rtol=0, atol=1e-13 * scale)


def _asymmetry(change: np.ndarray, C: np.ndarray) -> float:
    """How far the change of the metric less twice a matrix is from being antisymmetric."""
    left = change - 2.0 * C
    return float(np.max(np.abs(left + left.T)))


@pytest.mark.slow
def test_it_is_half_of_the_change_of_the_metric_with_balls_and_a_floating_base():
    judged(balls(), 1)


def test_other_matrices_with_the_same_forces_are_not():
    """What would pass if the test above looked at the forces alone."""
    q, v = (np.asarray(part) for part in balls().random(jax.random.key(1)))
    C, forces, change, by_symbols = map(np.asarray, _matrices(balls(), q, v))
    across = np.roll(v, 1) - v * (np.roll(v, 1) @ v) / (v @ v)
    for other in (by_symbols, C + np.outer(np.ones_like(v), across)):
        np.testing.assert_allclose(other @ v, forces, rtol=0, atol=1e-12)
        assert _asymmetry(change, other) > 0.1


def test_called_on_arrays_it_has_the_same_numbers():
    q, v = (np.asarray(part) for part in balls().random(jax.random.key(2)))
    many = balls().coriolis(np.stack([q, q]), np.stack([v, -2.0 * v]))
    np.testing.assert_allclose(many[0], _matrices(balls(), q, v)[0], rtol=0, atol=1e-13)
    # Linear in the rates.
    np.testing.assert_allclose(many[1], -2.0 * many[0], rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_trees(seed, monkeypatch):
    # Recursions as loops compile in a third of the time; the tests above have them written out.
    monkeypatch.setattr(_sweeps, "is_long", lambda above: True)
    draw = np.random.default_rng(2000 + seed)
    count, serial = int(draw.integers(2, 11)), bool(draw.random() < 0.3)
    judged(pt.OpenChain(random_tree(seed, count, ALL, floating=seed % 2 == 0, serial=serial).system), seed)
