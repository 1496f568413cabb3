"""Kinematics and dynamics of random chains and trees against Pinocchio."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_trees import FORWARD, SINGLE, Pinocchio, Tree, random_tree

import poinsot as pt
from poinsot.kernels import once
from poinsot.model.open_chain import _sweeps

ALL = SINGLE + FORWARD


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


@pytest.fixture
def looped(monkeypatch):
    """Recursions as loops, which compile in a third of the time; the tests above have them written out."""
    monkeypatch.setattr(_sweeps, "is_long", lambda above: True)


def drawn(seed: int) -> Tree:
    """A chain or a tree of two to twelve joints of all kinds, every third one on a floating base."""
    draw = np.random.default_rng(1000 + seed)
    count, serial = int(draw.integers(2, 13)), bool(draw.random() < 0.3)
    return random_tree(seed, count, ALL, floating=seed % 3 == 0, serial=serial)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
@pytest.mark.usefixtures("looped")
def test_random_chains_and_trees_are_those_of_pinocchio(seed):
    compared(drawn(seed), seed)


@once
def _three_forms(formulation, state):
    """The acceleration of the joints in the Hamiltonian, the covariant and the recursive form."""
    problem, chain = formulation.problem, formulation.bodies.chain
    y = problem.pack(formulation.start(state))

    def rates(y):
        return formulation.joint_coordinates(0.0, y, chain)[1]

    hamiltonian = jax.jvp(rates, (y,), (problem.vector_field(0.0, y),))[1]
    q, v = formulation.joint_coordinates(0.0, y, chain)
    quadratic = jnp.einsum("abc,a,b->c", chain.christoffel(q), v, v)
    covariant = jnp.linalg.solve(chain.metric(q), -quadratic - chain.gravity(q))
    return hamiltonian, covariant, chain.forward_dynamics(q, v)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 200, 10))
@pytest.mark.usefixtures("looped")
def test_three_forms_have_one_acceleration(seed):
    system = drawn(seed).system
    chain = pt.OpenChain(system)
    state = chain.state(*chain.random(jax.random.key(seed)))
    *others, recursive = _three_forms(pt.formulate(system, "joint", "hamiltonian"), state)
    scale = np.max(np.abs(recursive))
    assert scale > 0.1
    for other in others:
        assert np.max(np.abs(other - recursive)) < 1e-11 * scale
