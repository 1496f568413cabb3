"""Reproductions of Lang (2010): counts of operations on traces, and the motions of both examples."""

import json
import math
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import root_scalar
from scipy.special import ellipkm1

import poinsot as pt
from poinsot.papers import catalogue, reproduce
from poinsot.papers.lang2010 import _tennis_racket as racket
from poinsot.papers.lang2010._formulations import FORMULATIONS
from poinsot.papers.lang2010._gyro_top import AT_THE_END
from poinsot.papers.lang2010._operations import scalar_graph

pytestmark = pytest.mark.slow


def test_the_catalogue_has_every_item():
    identifiers = [identifier for identifier, _ in catalogue() if identifier.startswith("lang2010")]
    figures = [f"figure-{number}" for number in (6, "6-linkage", *range(8, 17))]
    assert identifiers == [f"lang2010/{item}" for item in (*figures, "section-7", "table-1", "table-2")]


@pytest.mark.parametrize("name", ["absolute, quaternions", "Euler angles"])
def test_the_simplified_scalars_are_still_the_right_hand_side(name):
    coordinates, form = FORMULATIONS[name]
    problem = pt.formulate(pt.library.gyro_top(), coordinates, form).problem
    size = coordinates.size + (3 if form == "null_space" else coordinates.size)
    y = jnp.asarray(np.random.default_rng(1).uniform(0.5, 1.0, size))
    graph, results = scalar_graph(problem.vector_field, 0.0, y)
    values = []
    rules = {
        "constant": lambda value: value,
        "add": lambda a, b: values[a] + values[b],
        "sub": lambda a, b: values[a] - values[b],
        "mul": lambda a, b: values[a] * values[b],
        "div": lambda a, b: values[a] / values[b],
        "neg": lambda a: -values[a],
        "square": lambda a: values[a] ** 2,
        "sin": lambda a: math.sin(values[a]),
        "cos": lambda a: math.cos(values[a]),
        "argument": lambda argument, entry: float(y[entry]) if argument else 0.0,
    }
    for kind, *operands in graph.nodes:
        values.append(rules[kind](*operands))
    assert not isinstance(results[0], np.ndarray)
    reached = np.array(values)[results[0].array]
    exact = np.asarray(eqx.filter_jit(problem.vector_field)(0.0, y))
    assert np.max(np.abs(reached - exact)) < 1e-13 * np.max(np.abs(exact))


@pytest.fixture(scope="module")
def table_1():
    """The counts of operations."""
    return reproduce("lang2010/table-1", quick=True, progress=False)


def test_counts_of_table_1_are_those_of_a_count_by_hand(table_1):
    """p' = p Omega / 2 takes 16 products, R' takes 18; J Omega and the cross product 9; T_theta 8, shared."""
    counts = {number.name: number.ours for number in table_1.numbers}

    def column(name):
        return tuple(counts.get(f"{name}: {row}", 0) for row in ("+", "−", "×", "/"))

    assert column("null space, quaternions") == (3, 12, 16 + 9, 3)
    assert column("null space, directors") == (0, 9 + 3 + 3, 18 + 9, 3)
    assert column("Euler angles")[2:] == (5 + 9, 1 + 3)
    # Beside the published 52: seven halves, the sum of squares (3), its product with p (4), and a minus.
    assert counts["absolute, quaternions, psi given: all"] == 52 + 7 + 3 + 4 + 1
    assert counts["absolute, directors: LU"] == 1


def test_end_of_example_a_is_the_stored_one():
    stored = json.loads((Path(__file__).parents[1] / "references" / "lang2010.json").read_text())
    assert stored["example A"]["times"][1] == 60.0
    assert tuple(stored["example A"]["Omega"][1]) == AT_THE_END


def test_time_between_turns_by_scipy():
    """The elliptic integral by SciPy, and the zeros of the exact motion."""
    a, b, c = 50.0, 41.6, 11.6
    J, Omega = np.array(racket.INERTIA), np.array([racket.SPIN, racket.DISTURBANCE, racket.DISTURBANCE])
    excess = float(np.sum(J * (J - b) * Omega**2))
    assert excess > 0.0
    other = float(np.sum(J * (J - c) * Omega**2))
    period = 2.0 * ellipkm1((a - c) * excess / ((a - b) * other)) / math.sqrt((a - b) * other / (a * b * c))
    assert racket.half_period() == pytest.approx(period, rel=1e-12)
    exact = pt.library.tennis_racket(racket.INERTIA, racket.SPIN, racket.DISTURBANCE).exact
    assert exact is not None
    motion = jax.jit(exact)
    first, second = (
        root_scalar(lambda t: float(motion(t).angular_velocity[0, 0]), bracket=ends, xtol=1e-14).root
        for ends in ((0.2, 0.5), (1.0, 1.3))
    )
    assert second - first == pytest.approx(period, abs=1e-9)


@pytest.mark.parametrize("figure", ["figure-11", "figure-12"])
def test_all_five_formulations_agree(figure):
    item = reproduce(f"lang2010/{figure}", progress=False)
    assert item.agrees, item.verdict
    assert sum("directors" in number.name for number in item.numbers) >= 3
