"""Kinematics and dynamics of random chains and trees against Pinocchio."""

import jax
import numpy as np
import pytest
from random_trees import ALL, SINGLE, Pinocchio, Tree, drawn, random_tree

import poinsot as pt
from poinsot.kernels import once


@once
def _everything(chain: pt.OpenChain, q, v, a, tau):
    place, rotation = chain.pose(q, "tip")
    return {
        "metric": chain.metric(q),
        "gravity": chain.gravity(q),
        "inverse_dynamics": chain.inverse_dynamics(q, v, a),
        "forward_dynamics": chain.forward_dynamics(q, v, tau),
        "christoffel": chain.christoffel(q),
        "place": place,
        "rotation": rotation,
        "jacobian": chain.jacobian(q, "tip"),
        "velocity": chain.velocity(q, v, "tip"),
        "acceleration": chain.acceleration(q, v, a, "tip"),
    }


def compared(tree: Tree, seed: int) -> None:
    """Every quantity relative to its largest number."""
    chain, other = pt.OpenChain(tree.system), Pinocchio(tree)
    q, v = chain.random(jax.random.key(seed))
    a, tau = jax.random.normal(jax.random.key(seed + 1), (2, chain.v_size))
    ours = _everything(chain, q, v, a, tau)
    numbers = [np.asarray(one) for one in (q, v, a, tau)]
    theirs = other.all(*numbers[:3]) | {
        "forward_dynamics": other.forward(numbers[0], numbers[1], numbers[3]),
        "christoffel": other.symbols(numbers[0], chain.v_size),
    }
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        scale = np.max(np.abs(value))
        assert np.max(np.abs(ours[name] - value)) < 1e-10 * max(scale, 1.0), name


@pytest.mark.parametrize(
    ("count", "kinds", "how"),
    [
        pytest.param(5, SINGLE, {"serial": True}, marks=pytest.mark.slow),
        (5, ALL, {"floating": True}),
    ],
    ids=["chain", "floating tree"],
)
def test_a_chain_and_a_tree_are_those_of_pinocchio(count, kinds, how):
    compared(random_tree(count, count, kinds, **how), count)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
@pytest.mark.usefixtures("looped")
def test_random_chains_and_trees_are_those_of_pinocchio(seed):
    compared(drawn(seed), seed)
