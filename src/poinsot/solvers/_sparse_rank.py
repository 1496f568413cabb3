"""The rank of many sparse equations, and which of them depend on others, without a large matrix."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poinsot.solvers._graph_elimination import EliminationOrder

PANEL = 64
"""Rows of a front from which on dependences among them are looked for before it is complete."""
BATCH = 256
"""Dependences that are followed back to the equations at a time."""


class Equations(NamedTuple):
    """Some equations in a few of the unknowns."""

    matrix: np.ndarray
    unknowns: np.ndarray
    """Places of the unknowns that its columns belong to."""


class Turn(NamedTuple):
    """A rotation of some rows."""

    places: np.ndarray
    matrix: np.ndarray
    """An orthogonal matrix whose transpose has been applied to the rows."""


class _Piece(NamedTuple):
    """Rows that are still to be eliminated."""

    places: np.ndarray
    matrix: np.ndarray
    unknowns: np.ndarray


@dataclass(frozen=True)
class Dependence:
    r"""What elimination by rotations finds of the rows of $G$, group by group of the unknowns.

    The unknowns of a group stand in some rows, the front. Rotations of these rows leave $r$ of them with
    independent coefficients of the group, and the others without any:

    $$ Q^T \begin{pmatrix} F & H \end{pmatrix} = \begin{pmatrix} R & H_1 \\ 0 & H_2 \end{pmatrix}. $$

    So $r$ counts towards the rank, and $H_2$ stays for the groups that it meets, without combinations that
    are zero: these are dependences. Groups go in the order of least degree, so that fronts stay small, and
    a chain or a row of loops costs in proportion to its length. Decisions are made on singular values of
    fronts; since all is done by rotations, each changes $G$ by no more than the tolerance.
    """

    pivots: tuple[Equations, ...]
    r"""Rows $(R, H_1)$ of each front, in the order of elimination; rows of $R$ are orthogonal."""
    own: tuple[int, ...]
    """How many of the unknowns of each of these are of its group: the first ones."""
    dependent: tuple[int, ...]
    """Places of the rows that rotations have brought to zero."""
    turns: tuple[Turn, ...]
    rows: tuple[int, ...]
    """Number of rows of each set of equations."""

    @classmethod
    def of(cls, equations: Sequence[Equations], groups: np.ndarray, tolerance: float) -> "Dependence":
        """Eliminate the unknowns of all groups.

        Args:
            equations: sets of rows of length one.
            groups: number of the group that each unknown is in, from 0 on.
            tolerance: singular values up to this are zero.
        """
        rows = tuple(len(one.matrix) for one in equations)
        fronts = _Fronts(groups, tolerance)
        met = [np.unique(groups[one.unknowns]).tolist() for one in equations]
        for begin, one in zip(np.cumsum([0, *rows])[:-1], equations, strict=True):
            fronts.put(_Piece(begin + np.arange(len(one.matrix)), *one))
        pairs = {(i, j) for together in met for i in together for j in together if j < i}
        for group in EliminationOrder.of(max(groups, default=-1) + 1, sorted(pairs)).order:
            fronts.eliminate(group)
        return cls(
            tuple(fronts.pivots), tuple(fronts.own), tuple(fronts.dependent), tuple(fronts.turns), rows
        )

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        return sum(len(one.matrix) for one in self.pivots)

    def shares(self, tolerance: float) -> list[int]:
        """Of each set of equations, how many of its rows follow from other rows.

        Args:
            tolerance: share in a dependence of unit length from which on a row takes part.
        """
        ends = np.cumsum(self.rows)[:-1]
        grams = [np.zeros((count, count)) for count in self.rows]
        for batch in self.combinations():
            for gram, own in zip(grams, np.split(batch, ends), strict=True):
                gram += own @ own.T
        return [int(np.sum(np.linalg.eigvalsh(gram) > tolerance**2)) for gram in grams]

    def combinations(self) -> Iterator[np.ndarray]:
        """Combinations of rows that are zero, as orthonormal columns, some at a time."""
        for begin in range(0, len(self.dependent), BATCH):
            batch = np.array(self.dependent[begin : begin + BATCH])
            columns = np.zeros((sum(self.rows), len(batch)))
            columns[batch, np.arange(len(batch))] = 1.0
            for places, matrix in reversed(self.turns):
                columns[places] = matrix @ columns[places]
            yield columns

    def contradicted(self, right: np.ndarray) -> np.ndarray:
        r"""The part of right-hand sides that no unknowns reach: their projection on these combinations."""
        parts = (batch @ (batch.T @ right) for batch in self.combinations())
        return sum(parts, start=np.zeros_like(right))

    def solution(self, near: np.ndarray) -> np.ndarray:
        """Find unknowns with all left-hand sides zero, near to given ones, front by front."""
        found = near.copy()
        for (matrix, unknowns), own in zip(reversed(self.pivots), reversed(self.own), strict=True):
            lengths = np.sum(matrix[:, :own] ** 2, axis=1)
            found[unknowns[:own]] -= matrix[:, :own].T @ (matrix @ found[unknowns] / lengths)
        return found


class _Fronts:
    """An elimination in progress."""

    def __init__(self, groups: np.ndarray, tolerance: float):
        self.pivots: list[Equations] = []
        self.own: list[int] = []
        self.dependent: list[int] = []
        self.turns: list[Turn] = []
        self._groups, self._tolerance = groups, tolerance
        self._waiting: list[dict[int, _Piece]] = [{} for _ in range(max(groups, default=-1) + 1)]
        self._column = np.zeros(len(groups), dtype=int)
        self._count = 0

    def put(self, piece: _Piece) -> None:
        """Let rows wait for the groups that they meet."""
        for group in np.unique(self._groups[piece.unknowns]):
            self._waiting[group][self._count] = piece
        self._count += 1

    def eliminate(self, group: int) -> None:
        """Take the unknowns of a group out of all rows."""
        pieces = self._waiting[group]
        if not pieces:
            return
        unknowns = np.unique(np.concatenate([piece.unknowns for piece in pieces.values()]))
        inside = self._groups[unknowns] == group
        unknowns, own = np.append(unknowns[inside], unknowns[~inside]), int(np.sum(inside))
        places, front = np.zeros(0, dtype=int), np.zeros((0, len(unknowns)))
        self._column[unknowns] = np.arange(len(unknowns))
        for number, piece in list(pieces.items()):
            for met in np.unique(self._groups[piece.unknowns]):
                del self._waiting[met][number]
            wide = np.zeros((len(piece.matrix), len(unknowns)))
            wide[:, self._column[piece.unknowns]] = piece.matrix
            places, front = np.append(places, piece.places), np.concatenate([front, wide])
            if len(front) > max(PANEL, 2 * len(unknowns)):
                places, front = self._compressed(places, front)
        front, count = self._rotated(places, front, own)
        self.pivots.append(Equations(front[:count], unknowns))
        self.own.append(own)
        places, rest = self._compressed(places[count:], front[count:, own:])
        if len(rest):
            self.put(_Piece(places, rest, unknowns[own:]))

    def _compressed(self, places: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Independent combinations of rows; the others are dependences."""
        matrix, count = self._rotated(places, matrix, matrix.shape[1])
        self.dependent += places[count:].tolist()
        return places[:count], matrix[:count]

    def _rotated(self, places: np.ndarray, matrix: np.ndarray, columns: int) -> tuple[np.ndarray, int]:
        """Rows rotated so that the first ones are independent in some columns and the others zero there."""
        left, values, _ = np.linalg.svd(matrix[:, :columns])
        self.turns.append(Turn(places, left))
        return left.T @ matrix, int(np.sum(values > self._tolerance))
