"""Block systems over a graph: solutions are those of the dense matrix, and trees fill nothing in."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from long_suite import of_the_long_suite
from poinsot.solvers import EliminationOrder

GRAPHS = {
    "path": (5, [(i, i + 1) for i in range(4)]),
    "star": (5, [(0, i) for i in range(1, 5)]),
    "tree": (7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]),
    "ring": (5, [(i, (i + 1) % 5) for i in range(5)]),
    "single": (1, []),
}


def system(name: str, rank: bool = True) -> Any:
    """Blocks of `G G^T` on a graph, where each edge is a body with six numbers, and the dense matrix."""
    count, edges = GRAPHS[name]
    draw = np.random.default_rng(3)
    rows = [3, 5, 2, 4, 1, 3, 2][:count]
    bodies = [*edges, *((i, i) for i in range(count))]
    G = np.zeros((sum(rows), 6 * len(bodies)))
    ends = np.cumsum([0, *rows])
    for k, (i, j) in enumerate(bodies):
        for block in {i, j}:
            G[ends[block] : ends[block + 1], 6 * k : 6 * k + 6] = draw.standard_normal((rows[block], 6))
    for begin, end in zip(ends, ends[1:], strict=False):
        if not rank and end - begin > 1:
            # A constraint that the others of its block imply.
            G[end - 1] = G[begin : end - 1].sum(axis=0)
    A = G @ G.T
    order = EliminationOrder.of(count, edges)
    cut = [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]
    blocks = {(i, j): jnp.asarray(A[cut[i], cut[j]]) for i, j in order.edges}
    return order, blocks, A, cut


@pytest.mark.parametrize("name", of_the_long_suite(list(GRAPHS), set(GRAPHS) - {"path"}))
def test_solutions_are_those_of_the_dense_matrix(name):
    order, blocks, A, cut = system(name)
    b = np.random.default_rng(4).standard_normal(len(A))
    x = order.factored(blocks, 0.0).solve([jnp.asarray(b[part]) for part in cut], 1)
    right = np.linalg.solve(A, b)
    assert np.max(np.abs(np.concatenate(x) - right)) < 1e-11 * np.max(np.abs(right))


@pytest.mark.parametrize("name", GRAPHS)
def test_matrices_that_are_not_symmetric(name):
    order, _, A, cut = system(name)
    draw = np.random.default_rng(6)
    A = A + np.where(A != 0.0, 0.3 * draw.standard_normal(A.shape), 0.0)
    pairs = [(i, j) for i, near in enumerate(order.neighbours) for j in (i, *near)]
    factors = order.factored_general({(i, j): jnp.asarray(A[cut[i], cut[j]]) for i, j in pairs})
    b = draw.standard_normal(len(A))
    x = np.concatenate(factors.solve([jnp.asarray(b[part]) for part in cut], 1))
    right = np.linalg.solve(A, b)
    assert np.max(np.abs(A - A.T)) > 0.1
    assert np.max(np.abs(x - right)) < 1e-11 * np.max(np.abs(right))


@pytest.mark.parametrize("small", [1e-6, -1e-6])
def test_small_pivots_that_are_raised_keep_their_sign(small):
    """So that each correction takes a tenth of what is left, where a shift of that size may take it away."""
    order = EliminationOrder.of(2, [(0, 1)])
    A = np.array([[2.0, 0.5, 1.0], [0.3, 1.0, 0.2], [0.4, 0.7, 0.0]])
    A[2, 2] = A[2, :2] @ np.linalg.solve(A[:2, :2], A[:2, 2]) + small
    cut, one = [slice(0, 2), slice(2, 3)], jnp.ones(3)
    blocks = {(i, j): jnp.asarray(A[cut[i], cut[j]]) for i in range(2) for j in range(2)}
    factors = order.factored_general(blocks, [jnp.zeros(2), jnp.full(1, 1e-5)])
    np.testing.assert_allclose(factors.pivots[1], 10.0 * small, rtol=1e-8)
    right = [jnp.asarray(A[part]) @ one for part in cut]
    left = [abs(float(factors.solve(right, n)[1][0]) - 1.0) for n in (1, 2, 3)]
    np.testing.assert_allclose(left, [0.9, 0.81, 0.729], rtol=1e-6)


def test_a_pivot_of_zero_is_raised_too():
    order = EliminationOrder.of(1, [])
    factors = order.factored_general({(0, 0): jnp.ones((2, 2))}, [jnp.full(2, 1e-9)])
    np.testing.assert_allclose(np.sum(factors.solve([jnp.ones(2)], 1)[0]), 1.0)


def test_corrections_reach_a_right_hand_side_in_the_range_of_a_singular_matrix():
    order, blocks, A, cut = system("ring", rank=False)
    assert np.linalg.matrix_rank(A) < len(A)
    b = A @ np.random.default_rng(5).standard_normal(len(A))
    factors = order.factored(blocks, 1e-6)

    def residual(repetitions):
        x = np.concatenate(factors.solve([jnp.asarray(b[part]) for part in cut], repetitions))
        return np.max(np.abs(A @ x - b)) / np.max(np.abs(b))

    assert residual(3) < 1e-13
    assert residual(1) > 1e-8, "one correction alone leaves what epsilon adds"


def test_trees_fill_nothing_in():
    for name in ("path", "star", "tree"):
        count, edges = GRAPHS[name]
        order = EliminationOrder.of(count, edges)
        assert sum(map(len, order.below)) == len(edges)
    assert sum(map(len, EliminationOrder.of(*GRAPHS["ring"]).below)) > 5
