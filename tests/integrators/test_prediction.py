"""First guesses of stage derivatives from the last two steps."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.integrators.coefficients import collocation
from poinsot.integrators.runge_kutta._prediction import (
    NODES,
    Extrapolation,
    StageCarry,
    next_carry,
    predict,
)
from poinsot.simulation._loop import Marcher

TABLEAUX = {f"gauss{2 * s}": collocation.gauss(s) for s in range(1, 9)} | {
    "radau5": collocation.radau_iia(3),
    "lobatto": collocation.lobatto_iiia(3),
    # Its first node is zero but for rounding.
    "lobatto-c": collocation.lobatto_iiic(3),
}


def derivatives(tableau, begin, degree):
    """Values of a polynomial of two components at the stages of a step that begins at a time."""
    t = begin + tableau.c_hi
    return jnp.stack([t**degree - 0.3 * t, 1.0 + 0.5 * t**degree], axis=1)


def carried(tableau, first: StageCarry, degree, sizes):
    """What is carried after steps of some sizes on the polynomial."""
    carry, begin = first, 0.0
    for h in sizes:
        carry = next_carry(carry, tableau, derivatives(tableau, begin, degree), h, None)
        begin += 1.0
    return carry, derivatives(tableau, begin, degree)


def nothing(tableau) -> StageCarry:
    count = len(Extrapolation.of(tableau).earlier)
    return StageCarry(
        jnp.zeros((tableau.stages, 2)), jnp.zeros((count, 2)) if count else None, jnp.zeros(()), None, None
    )


@pytest.mark.parametrize("name", TABLEAUX)
def test_exact_for_polynomials_through_all_nodes(name):
    tableau = TABLEAUX[name]
    nodes = tableau.stages + len(Extrapolation.of(tableau).earlier)
    assert nodes == {"radau5": 6, "lobatto": 5, "lobatto-c": 5}.get(name, min(2 * tableau.stages, NODES))
    for degree in (nodes - 1, nodes):
        carry, wanted = carried(tableau, nothing(tableau), degree, [0.1, 0.1])
        off = np.max(np.abs(predict(0.1, carry, tableau) - wanted))
        scale = np.max(np.abs(wanted))
        assert off < 1e-8 * scale if degree < nodes else off > 1e-6 * scale


def test_one_step_alone_and_other_sizes():
    tableau = collocation.gauss(3)
    carry, wanted = carried(tableau, nothing(tableau), 2, [0.1])
    np.testing.assert_allclose(predict(0.1, carry, tableau), wanted, rtol=1e-12)
    # A step of another size before the last one is not looked through.
    carry, wanted = carried(tableau, nothing(tableau), 2, [0.2, 0.1])
    np.testing.assert_allclose(predict(0.1, carry, tableau), wanted, rtol=1e-12)
    np.testing.assert_array_equal(predict(0.2, carry, tableau), np.tile(carry.derivatives[-1], (3, 1)))


def test_a_guess_that_is_far_off_does_not_loosen_the_test_of_convergence():
    kepler = pt.library.kepler(eccentricity=0.3)
    marcher = Marcher(kepler, pt.integrators.GaussLegendre(3), jnp.float64(0.0), jnp.float64(0.05))
    loop = marcher.march(marcher.start(kepler.pack(kepler.start)), 3)
    wild = eqx.tree_at(lambda one: one.carry.earlier, loop, 1e7 * (1.0 + loop.carry.earlier))
    good, found = marcher.step(loop), marcher.step(wild)
    assert found.result != 0 or np.max(np.abs(found.y - good.y)) < 1e-14


def test_two_steps_save_iterations():
    kepler = pt.library.kepler(eccentricity=0.3)
    method = pt.integrators.GaussLegendre(3)
    marcher = Marcher(kepler, method, jnp.float64(0.0), jnp.float64(0.05))
    loop = marcher.start(kepler.pack(kepler.start))
    both = marcher.march(loop, 400)
    one_step = eqx.tree_at(lambda one: one.carry.earlier, loop, None, is_leaf=lambda leaf: leaf is None)
    alone = marcher.march(one_step, 400)
    assert int(both.iterations) < 0.95 * int(alone.iterations)
    np.testing.assert_allclose(both.y, alone.y, rtol=1e-12)
