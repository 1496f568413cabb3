"""First guesses of stage derivatives from the last two steps."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.integrators.coefficients import collocation
from poinsot.integrators.runge_kutta import _implicit
from poinsot.integrators.runge_kutta._prediction import (
    NODES,
    Extrapolation,
    StageCarry,
    next_carry,
    plainer,
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


@pytest.mark.parametrize(
    "name",
    of_the_long_suite(list(TABLEAUX), {"gauss2", "gauss6", "gauss16", "radau5", "lobatto", "lobatto-c"}),
)
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


@pytest.mark.parametrize("name", ["gauss2", "gauss6", "gauss16", "lobatto"])
def test_further_guesses_are_from_the_last_step_alone(name):
    tableau = TABLEAUX[name]
    carry, _ = carried(tableau, nothing(tableau), 2, [0.1, 0.1])
    again = plainer(0.1, carry, tableau)
    assert again is not None and bool(again.possible())
    assert again.further == {"gauss2": 1, "gauss16": 1}.get(name, 2)
    guesses = [np.asarray(again.starts(jnp.int32(1 + k))) for k in range(again.further)]
    np.testing.assert_array_equal(guesses[-1], np.tile(carry.derivatives[-1], (tableau.stages, 1)))
    if again.further == 2:
        one_step = eqx.tree_at(lambda one: one.earlier, carry, None)
        np.testing.assert_allclose(guesses[0], predict(0.1, one_step, tableau), rtol=1e-14)
    other = plainer(0.2, carry, tableau)
    assert other is not None and not bool(other.possible()), "the first guess is the last stage already"


WALL = pt.Hamiltonian(lambda q, p: 0.5 * p @ p + jnp.sum(1.0 / q**12))
"""A particle that bounces off a wall, where its force grows a thousandfold within a step."""
FIXED_POINT = pt.integrators.FixedPoint()
COLLISIONS = pt.State(q=np.linspace(2.0, 3.0, 64)[:, None], p=np.full((64, 1), -2.0))


def collided(kernel, solver: Any = FIXED_POINT, **options):
    """Ends of collisions by Gauss 8; the guess from two steps leads nowhere in two of them."""
    method = pt.integrators.GaussLegendre(4, solver=solver)
    given = {"dt": 0.15, "steps": 60, "save_every": 60, "progress": False, "kernel": kernel}
    return pt.ensemble(WALL, method, COLLISIONS, **given | options)


@pytest.mark.slow
def test_a_step_that_the_guess_from_two_steps_does_not_find_is_found_from_one(monkeypatch):
    native = collided("native")
    assert np.all(native.result == 0)
    plain = collided("plain")
    np.testing.assert_array_equal(plain.result, 0)
    np.testing.assert_allclose(native.q, plain.q, rtol=1e-9)
    newton = collided("plain", pt.integrators.SimplifiedNewton())
    np.testing.assert_allclose(native.q, newton.q, rtol=1e-9)
    monkeypatch.setattr(_implicit, "plainer", lambda *given: None)
    # Another number of saved states is another program.
    without = collided("native", save_every=30)
    assert np.count_nonzero(without.result) == 2


def test_a_second_guess_gives_the_same_bits_alone_and_in_lanes():
    """Runs 42 and 44 begin anew in some step; those beside them are left alone."""
    together = collided("native")
    method = pt.integrators.GaussLegendre(4)
    for k in (0, *range(41, 46), 63):
        start = pt.State(q=COLLISIONS.q[k], p=COLLISIONS.p[k])
        alone = pt.simulate(
            WALL, start, t1=9.0, dt=0.15, integrator=method, save_every=60, progress=False, kernel="native"
        )
        np.testing.assert_array_equal(alone.q[-1], together.q[k, -1])
