"""Kinematics and dynamics of random chains and trees against Pinocchio."""

from typing import Any

import equinox as eqx
import jax
import numpy as np
import pytest
from random_trees import FORWARD, SINGLE, Pinocchio, Tree, random_tree

import poinsot as pt

ALL = SINGLE + FORWARD
QUICK: Any = {"compiler_options": {"xla_backend_optimization_level": 0}}


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


def compared(tree: Tree, seed: int, *, compiled: bool = True) -> None:
    """Every quantity relative to its largest number.

    Args:
        tree: a system.
        seed: of coordinates, rates and forces.
        compiled: as one program; else one operation after the other, which takes a tenth of the time that
            a program takes to compile.
    """
    chain, other = pt.OpenChain(tree.system), Pinocchio(tree)
    q, v = chain.random(jax.random.key(seed))
    a, tau = jax.random.normal(jax.random.key(seed + 1), (2, chain.v_size))
    with jax.disable_jit(not compiled):
        ours = eqx.filter_jit(_everything, **QUICK)(chain, q, v, a, tau)
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
def test_random_chains_and_trees_are_those_of_pinocchio(seed):
    draw = np.random.default_rng(1000 + seed)
    tree = random_tree(
        seed, int(draw.integers(2, 13)), ALL, floating=seed % 3 == 0, serial=bool(draw.random() < 0.3)
    )
    compared(tree, seed, compiled=False)
