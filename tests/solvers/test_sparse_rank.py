"""Rank and dependences of sparse equations, found front by front, against singular values of the whole."""

import numpy as np
import pytest

from poinsot.solvers import Dependence, Equations

ZERO, SIZE = 1e-8, 3


def wide(equations, unknowns: int) -> np.ndarray:
    """All equations in one matrix."""
    rows = []
    for one in equations:
        full = np.zeros((len(one.matrix), unknowns))
        full[:, one.unknowns] = one.matrix
        rows.append(full)
    return np.concatenate(rows)


def dense_shares(equations, unknowns: int) -> tuple[int, list[int]]:
    """Rank and shares from the singular value decomposition of the whole matrix."""
    left, values, _ = np.linalg.svd(wide(equations, unknowns))
    rank = int(np.sum(values > ZERO))
    ends = np.cumsum([len(one.matrix) for one in equations])[:-1]
    null = np.split(left[:, rank:], ends)
    return rank, [
        int(np.sum(np.linalg.svd(own, compute_uv=False) > 1e-6)) if rank < len(left) else 0 for own in null
    ]


def between(draw, first: int, second: int, rows: int) -> Equations:
    """Random rows of length one in the unknowns of two groups."""
    matrix = draw.standard_normal((rows, 2 * SIZE))
    unknowns = np.concatenate([SIZE * group + np.arange(SIZE) for group in (first, second)])
    return Equations(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), unknowns)


def ladder(draw, count: int) -> tuple[list[Equations], np.ndarray]:
    """Groups in a row, each joined to the next two; every fifth join is there twice."""
    equations = []
    for k in range(count - 2):
        equations += [between(draw, k, k + 1, 2), between(draw, k, k + 2, 1)]
        if k % 5 == 0:
            matrix, unknowns = equations[-2]
            turned = np.linalg.qr(draw.standard_normal((2, 2)))[0] @ matrix
            equations.append(Equations(turned / np.linalg.norm(turned, axis=1, keepdims=True), unknowns))
    return equations, np.repeat(np.arange(count), SIZE)


@pytest.mark.parametrize("seed", range(5))
def test_rank_and_shares_are_those_of_the_whole_matrix(seed):
    draw = np.random.default_rng(seed)
    count = 12
    groups = np.repeat(np.arange(count), SIZE)
    equations = []
    for _ in range(10):
        first, second = draw.choice(count, 2, replace=False)
        equations.append(between(draw, first, second, 3))
    # Differences of the same unknowns around a loop: what closes it follows from the others.
    ring = draw.choice(count, 4, replace=False).tolist()
    for first, second in zip(ring, [*ring[1:], ring[0]], strict=True):
        unknowns = np.concatenate([SIZE * group + np.arange(SIZE) for group in (first, second)])
        equations.append(Equations(np.hstack([np.eye(3), -np.eye(3)]) / np.sqrt(2.0), unknowns))
    found = Dependence.of(equations, groups, ZERO)
    rank, shares = dense_shares(equations, len(groups))
    assert rank < sum(found.rows)
    assert (found.rank, found.shares(1e-6)) == (rank, shares)
    assert found.rank + len(found.dependent) == sum(found.rows)


def test_a_row_that_is_a_little_off_is_independent():
    """The control: a dependence is one to round-off only, and what is off by 1e-6 is none."""
    draw = np.random.default_rng(0)
    equations, groups = ladder(draw, 20)
    found = Dependence.of(equations, groups, ZERO)
    copy = next(k for k in range(len(equations)) if found.shares(1e-6)[k] and len(equations[k].matrix) == 2)
    matrix, unknowns = equations[copy]
    off = matrix.copy()
    off[0] += 1e-6 * draw.standard_normal(off.shape[1])
    equations[copy] = Equations(off / np.linalg.norm(off, axis=1, keepdims=True), unknowns)
    other = Dependence.of(equations, groups, ZERO)
    assert other.rank == found.rank + 1 == dense_shares(equations, len(groups))[0]
    assert sum(other.shares(1e-6)) < sum(found.shares(1e-6))


def test_solutions_are_near_and_solve_all_equations():
    draw = np.random.default_rng(1)
    equations, groups = ladder(draw, 30)
    # Two ends are loose.
    found, near = Dependence.of(equations[3:], groups, ZERO), draw.standard_normal(len(groups))
    solution = found.solution(near)
    whole = wide(equations[3:], len(groups))
    assert np.max(np.abs(whole @ solution)) < 1e-12 * np.max(np.abs(solution))
    assert np.max(np.abs(solution)) > 0.1 and np.max(np.abs(whole @ near)) > 0.1
    np.testing.assert_allclose(found.solution(solution), solution, atol=1e-11 * np.max(np.abs(solution)))


def test_work_is_in_proportion_to_the_length_of_a_row():
    """Multiplications of all rotations, and the largest front."""
    found = [Dependence.of(*ladder(np.random.default_rng(2), count), ZERO) for count in (100, 200, 400)]
    work = [sum(len(places) ** 3 for places, _ in one.turns) for one in found]
    assert work[2] - work[1] == pytest.approx(2 * (work[1] - work[0]), rel=0.1)
    assert max(len(places) for one in found for places, _ in one.turns) <= 16


def test_many_groups_around_one():
    """What a hub is held by is compressed as it comes: no front is as large as their number."""
    draw, count = np.random.default_rng(3), 300
    equations = [between(draw, 0, k, 5) for k in range(1, count)]
    groups = np.repeat(np.arange(count), SIZE)
    found = Dependence.of(equations, groups, ZERO)
    assert found.rank == SIZE * count and max(len(places) for places, _ in found.turns) < 80
    assert found.shares(1e-6) == dense_shares(equations, len(groups))[1]
