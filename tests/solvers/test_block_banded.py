"""Block-tridiagonal elimination and Newton's method in blocks, beside dense linear algebra."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from long_suite import of_the_long_suite
from poinsot.core import Blocks
from poinsot.solvers import EPS, BlockMatrix, Stopping, _block_banded, linearised, newton

STOPPING = Stopping(tolerance=1e-4, max_iterations=30)

RAGGED = np.array([7, 2, 5, 2, 5, 7, 2, 9, 9, 5, 5, 9])
"""Blocks of three, four, two and three unknowns, in no order."""


def size(dx):
    return jnp.max(jnp.abs(dx)) / EPS


def normal(*shape: int) -> np.ndarray:
    """Random numbers, the same in every test whichever ran before."""
    return np.random.default_rng(11).normal(size=shape)


def band(places: np.ndarray, coupled: bool) -> np.ndarray:
    """A random matrix with entries where blocks are coupled, and the strongest within blocks.

    Strong enough that elimination without exchange of rows between blocks is stable; but within each of them
    rows are exchanged, so that pivots have to be looked for.
    """
    _, block = np.unique(places, return_inverse=True)
    apart = np.abs(block[:, None] - block[None])
    full = np.where(apart <= int(coupled), normal(*apart.shape) + 12.0 * np.eye(len(places)), 0.0)
    for k in range(block.max() + 1):
        here = np.flatnonzero(block == k)
        full[here] = full[np.roll(here, 1)]
    return full


def limit(dense: np.ndarray, places: np.ndarray, x: np.ndarray) -> float:
    r"""How far two solutions may be apart, of which one is by elimination in blocks.

    Without exchange of rows between blocks the computed solution is that of a matrix which is off by
    $c\,\varepsilon\, \|L\| \|U\|$, with $L$ and $U$ the factors in blocks and $c$ growing with their size
    (Higham, Accuracy and Stability of Numerical Algorithms, theorem 13.6). The condition number takes that
    to the solution.
    """
    _, block = np.unique(places, return_inverse=True)
    lower, upper = np.eye(len(dense)), dense.copy()
    for k in range(block.max()):
        here, after = block == k, block > k
        factor = np.linalg.solve(upper[np.ix_(here, here)].T, upper[np.ix_(after, here)].T).T
        lower[np.ix_(after, here)] = factor
        upper[after] -= factor @ upper[here]
    growth = float(np.linalg.norm(lower, 2) * np.linalg.norm(upper, 2) / np.linalg.norm(dense, 2))
    size = int(np.max(np.bincount(block)))
    return 2.0 * size * EPS * growth * float(np.linalg.cond(dense)) * float(np.linalg.norm(x))


def blocked(dense: np.ndarray, blocks: Blocks) -> BlockMatrix:
    return linearised(lambda x: jnp.asarray(dense) @ x, jnp.zeros(len(dense)), blocks)[1].completed(blocks)


def test_blocks_hold_every_unknown_once():
    blocks = Blocks.of(RAGGED, coupled=True)
    assert (blocks.count, blocks.size, blocks.colours) == (4, 4, 3)
    x = jnp.asarray(normal(len(RAGGED)))
    parts = blocks.split(x)
    np.testing.assert_array_equal(blocks.join(parts), x)
    np.testing.assert_array_equal(np.sort(parts[:, 0][blocks.filled[:, 0] == 0.0]), np.sort(x[RAGGED == 2]))
    assert blocks.filled.sum() == 16 - 12 and not np.any(np.asarray(parts) * blocks.filled)
    # Equal blocks, component by component: nothing has to be moved.
    np.testing.assert_array_equal(Blocks.of(np.tile(range(4), 3)).split(x), x.reshape(3, 4))


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize(
    "places",
    of_the_long_suite(
        {
            "ragged": (RAGGED,),
            "one": (np.zeros(3, int),),
            "two": (np.tile([0, 1], 3),),
            "thirty": (np.tile(range(30), 4),),
        },
        {"ragged", "one", "two"},
    ),
)
def test_solutions_are_those_of_the_dense_matrix(places, coupled):
    blocks = Blocks.of(places, coupled=coupled)
    dense = band(places, coupled)
    b = normal(len(places))

    @jax.jit
    def solved(b):
        matrix = blocked(dense, blocks)
        column = blocks.split(b)
        results = matrix.solve(column), matrix.transpose.solve(column), matrix.times(column)
        return [blocks.join(part) for part in results]

    solution, transposed, product = solved(jnp.asarray(b))
    for found, matrix in ((solution, dense), (transposed, dense.T)):
        exact = np.linalg.solve(matrix, b)
        np.testing.assert_allclose(found, exact, rtol=0.0, atol=limit(matrix, places, exact))
        assert limit(matrix, places, exact) < 1e-13, "the elimination must be stable"
    np.testing.assert_allclose(product, dense @ b, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("coupled", [False, True])
def test_one_direction_after_the_other_gives_the_same_jacobian(coupled, monkeypatch):
    """Of many unknowns; here of twelve, which would go all at once."""
    blocks, weights = Blocks.of(RAGGED, coupled=coupled), jnp.asarray(band(RAGGED, coupled))
    x = jnp.asarray(normal(len(RAGGED)))

    def found():
        return jax.jit(lambda x: linearised(lambda x: jnp.sin(weights @ x), x, blocks))(x)

    at_once = found()
    monkeypatch.setattr(_block_banded, "LONG", 1)
    for one, other in zip(jax.tree.leaves(found()), jax.tree.leaves(at_once), strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-14)
        assert np.max(np.abs(other)) > 0.1


@pytest.mark.slow
def test_what_stands_outside_the_blocks_is_missed():
    """The control: a matrix with more than the blocks hold is not the one that is solved with."""
    dense = band(RAGGED, coupled=True)
    b = jnp.ones(len(RAGGED))
    blocks = Blocks.of(RAGGED)
    found = blocks.join(blocked(dense, blocks).solve(blocks.split(b)))
    assert np.max(np.abs(found - np.linalg.solve(dense, b))) > 1e-2


def springs(stiffness):
    """Equilibrium of a row of hardening springs between walls, in components and as a function of all."""

    def residual(q):
        stretch = jnp.diff(jnp.concatenate([jnp.zeros(1), q, jnp.full(1, 3.0)]))
        force = stiffness * stretch + stretch**3
        return force[:-1] - force[1:] - 0.3

    return residual, jnp.linspace(0.1, 2.0, 9)


@pytest.mark.slow
def test_newton_in_blocks_is_newton():
    def both(stiffness):
        residual, guess = springs(stiffness)
        row = Blocks.of(np.arange(9) // 2, coupled=True)
        return newton(residual, guess, size, STOPPING, row), newton(residual, guess, size, STOPPING)

    (row, info), (dense, dense_info) = jax.jit(both)(2.0)
    np.testing.assert_allclose(row, dense, rtol=0.0, atol=8 * EPS)
    assert bool(info.converged) and int(info.iterations) == int(dense_info.iterations)

    weights = jnp.arange(1.0, 10.0)
    along = jax.jit(jax.jacfwd(lambda k: [jnp.sum(weights * x) for x, _ in both(k)]))(2.0)
    back = [jax.jit(jax.grad(lambda k, i=i: jnp.sum(weights * both(k)[i][0])))(2.0) for i in (0, 1)]
    np.testing.assert_allclose([along[0], *back], along[1], rtol=1e-13)
