"""Random chains and trees: one acceleration in all forms, and symbols that are those of the metric."""

from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_trees import SINGLE, Tree, drawn

import poinsot as pt
from poinsot.kernels import once
from poinsot.model.open_chain._kinematics import ball_rates

SMALL = (46, 192)
"""Two draws of two bodies: a ball joint and a slide on the ground, and a slide on a floating base."""


@once
def _acceleration(formulation, state):
    """Rates of the rates of the joints along the vector field of a form."""
    problem, chain, t = formulation.problem, formulation.bodies.chain, jnp.zeros(())
    y = problem.pack(formulation.start(state))

    def rates(t, y):
        return formulation.joint_coordinates(t, y, chain)[1]

    return jax.jvp(rates, (t, y), (jnp.ones_like(t), problem.vector_field(t, y)))[1]


def draws(seeds: Iterable[int]) -> list:
    """Draws for `parametrize`; one is in the default suite."""
    return [seed if seed == SMALL[1] else pytest.param(seed, marks=pytest.mark.slow) for seed in seeds]


def same(seed: int, *forms: str) -> None:
    """All of these forms have the acceleration of the recursive one."""
    system = drawn(seed).system
    chain = pt.OpenChain(system)
    state = chain.state(*chain.random(jax.random.key(seed)))
    recursive = _acceleration(pt.formulate(system, "joint", "recursive"), state)
    scale = np.max(np.abs(recursive))
    assert scale > 0.1
    for form in forms:
        other = _acceleration(pt.formulate(system, "joint", form), state)
        assert np.max(np.abs(other - recursive)) < 1e-11 * scale, form


@pytest.mark.parametrize("seed", draws([*SMALL, *range(0, 200, 5)]))
@pytest.mark.usefixtures("looped")
def test_three_forms_have_one_acceleration(seed):
    same(seed, "hamiltonian", "covariant")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*SMALL, *range(0, 200, 25)])
@pytest.mark.usefixtures("looped")
def test_the_form_with_multipliers_has_the_same_acceleration(seed):
    same(seed, "index3")


@once
def _symbols(chain: pt.OpenChain, q, v):
    r"""Symbols in closed form, and those of the derivatives $X_a$ of the metric along unit rates.

    $$ \Gamma_{ab,c} = \tfrac12 (X_a M_{bc} + X_b M_{ac} - X_c M_{ab})
       + \tfrac12 (\epsilon_{cal} M_{lb} + \epsilon_{cbl} M_{la}) $$

    The last two terms are those of Euler's equations, $\Omega\times\pi$, for the rates of one ball. Then the
    change of the metric along all rates, and the Coriolis matrix.
    """
    still = jnp.zeros(chain.v_size)
    slope = jax.jacfwd(lambda s: chain.metric(chain.moved(q, s)))(still)
    turned = jnp.zeros((chain.v_size,) * 3)
    for ball in ball_rates(chain.structure):
        block = jnp.ix_(ball, ball, ball)
        turned = turned.at[block].set(jnp.asarray(_PERMUTATION))
    spin = jnp.einsum("cal,lb->abc", turned, chain.metric(q))
    by_slope = jnp.einsum("bca->abc", slope) + jnp.einsum("acb->abc", slope) - slope
    change = slope @ v, chain.coriolis(q, v)
    return chain.christoffel(q), 0.5 * (by_slope + spin + jnp.swapaxes(spin, 0, 1)), spin, change


_PERMUTATION = np.array(
    [[[(i - j) * (j - k) * (k - i) / 2 for k in range(3)] for j in range(3)] for i in range(3)]
)


def is_flat(tree: Tree) -> bool:
    """Whether each body is on an axis of the ground: the metric is constant then, and all symbols vanish."""
    return all(end[0] is None and kind in SINGLE for end, kind in zip(tree.ends, tree.kinds, strict=True))


@pytest.mark.parametrize("seed", draws(range(200)))
@pytest.mark.usefixtures("looped")
def test_christoffel_symbols_and_coriolis_matrix_are_those_of_the_derivatives_of_the_metric(seed):
    tree = drawn(seed)
    chain, flat = pt.OpenChain(tree.system), is_flat(tree)
    own, by_slope, spin, (change, C) = _symbols(chain, *chain.random(jax.random.key(seed)))
    size = np.max(np.abs(own))
    assert size < 1e-14 if flat else size > 1e-2
    scale = 1.0 if flat else size
    assert np.max(np.abs(own - by_slope)) < 1e-10 * scale
    if chain.structure.balls:
        assert np.max(np.abs(own - by_slope + 0.5 * (spin + np.swapaxes(spin, 0, 1)))) > 1e-3 * scale
    skew = change - 2.0 * C
    assert flat or np.max(np.abs(C)) > 1e-2 * scale
    assert np.max(np.abs(skew + skew.T)) < 1e-13 * max(scale, np.max(np.abs(C)))
