"""Figures of Lang (2010) about adaptive solvers, in full."""

from types import SimpleNamespace
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.papers import reproduce
from poinsot.papers.lang2010._accuracy import EXPLICIT, IMPLICIT, PAIRS, comparison, numbers
from poinsot.papers.lang2010._formulations import COMPARED, GENERAL, UNKNOWNS
from poinsot.papers.lang2010._statements import rank_correlation, statement_numbers

pytestmark = pytest.mark.slow

DIFFERING = {"figure-9": {"median step: absolute, quaternions over null space, directors"}}
"""Where the paper's claim does not hold for the forms as we have them."""


def test_unknowns_are_those_of_the_problems():
    top = pt.library.gyro_top()
    for name, (coordinates, form) in COMPARED.items():
        formulation = pt.formulate(top, coordinates, form)
        start = jax.eval_shape(formulation.problem.pack, jax.eval_shape(formulation.start, top.start))
        assert start.size == UNKNOWNS[name]


def test_length_of_the_printed_quaternion():
    """(40) as printed has g'' = -2 |v|^2 g off the sphere, the general form g'' = 0; on it they are equal."""
    top = pt.library.gyro_top()
    q = jnp.array([0.8, 0.3, -0.2, 0.4])
    v = jnp.array([0.1, -0.5, 0.7, 0.3])

    @jax.jit
    def second_derivatives(q):
        found = []
        for name in ("absolute, quaternions", GENERAL):
            problem = pt.formulate(top, *COMPARED[name]).problem
            acceleration = problem.vector_field(0.0, jnp.concatenate([q, v]))[4:]
            found.append(jnp.sum(v * v) + jnp.sum(q * acceleration))
        return jnp.stack(found)

    g = 0.5 * float(jnp.sum(q * q) - 1.0)
    assert abs(g) > 0.01
    printed, general = np.asarray(second_derivatives(q))
    assert printed == pytest.approx(-2.0 * float(jnp.sum(v * v)) * g, rel=1e-12) and abs(general) < 1e-14
    assert np.max(np.abs(second_derivatives(q / jnp.linalg.norm(q)))) < 1e-14


@pytest.mark.parametrize("item", ["figure-6", "figure-8", "figure-9", "figure-10"])
def test_histories_of_all_formulations_agree(item):
    made = reproduce(f"lang2010/{item}", progress=False)
    differing = {number.name for number in made.numbers if number.agrees is False}
    assert differing == DIFFERING.get(item, set()), made.verdict
    assert all(
        any(name in number.name for number in made.numbers) for name in UNKNOWNS if name != "Euler angles"
    )


@pytest.mark.parametrize("item", ["figure-13", "figure-14", "figure-15", "section-7"])
def test_accuracy_with_all_solvers_agrees(item):
    """Later ones share what the earlier ones have measured; nothing is left out without a word."""
    made = reproduce(f"lang2010/{item}", progress=False)
    assert made.agrees, made.verdict
    for key in ("A", "B, 0.1", "B, 1e-5") if item == "section-7" else ():
        for solver in EXPLICIT | IMPLICIT:
            found = comparison(key, solver, False)
            told = {one.formulation for one in found.refused} | set(found.formulations)
            assert told == set(COMPARED)


def test_every_pair_is_of_formulations():
    assert all(set(pair) <= set(COMPARED) for pair in PAIRS.values())


def test_rank_correlation():
    assert rank_correlation([6.0, 7.0, 8.0, 12.0, 18.0], [5.0, 4.0, 3.0, 2.0, 1.0]) == -1.0
    assert rank_correlation([6.0, 7.0, 8.0, 12.0, 18.0], [1.0, 2.0, 3.0, 5.0, 4.0]) == pytest.approx(0.9)


def test_every_solver_means_every_solver():
    """One solver for which a statement fails is enough, though the median of all satisfies it."""
    statement = next(iter(PAIRS))
    table = {("A", solver): {statement: ratio} for solver, ratio in zip("abc", (2.0, 3.0, 0.9), strict=True)}
    smallest, median, above = statement_numbers(statement, table)
    assert smallest.outcome == "DIFFERS from the paper" and smallest.ours == 0.9 and "(c)" in smallest.name
    assert median.ours == 2.0 and above.ours == 2
    table["A", "c"] = {statement: float("nan")}
    smallest, *_ = statement_numbers(statement, table)
    assert smallest.outcome == "agrees with the paper" and "of 2 solvers" in smallest.name


def test_superiority_is_judged_for_any_solver():
    found = SimpleNamespace(methods=("LSODA",), formulations=tuple(COMPARED), advantage=lambda *_: 0.9)
    outcomes = {number.name: number.outcome for number in numbers("A", cast(Any, found))}
    assert [outcome for name, outcome in outcomes.items() if "null space over absolute" in name] == [
        "DIFFERS from the paper"
    ] * 2
