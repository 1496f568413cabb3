"""Numbers of an array in memory that are known while code is written, and what they save in loops."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Shaped

from poinsot.kernels._components import Components, is_number

HEAVY = 6000
"""Weight of a body that is written more than once for what is known in some of its rows only."""
WORTH = 2
"""Elements of a row that must become known for it, on average."""


class Known:
    """Elements of rows that are numbers of the code: zeros and ones of a model, and what follows from them.

    Args:
        values: a row for each row of the array, with all its elements one after the other.
        which: where these are the elements; elsewhere nothing is known.
    """

    def __init__(self, values: Shaped[np.ndarray, "row n"], which: Bool[np.ndarray, "row n"]):
        self.values, self.which = values, which

    @classmethod
    def of(cls, part: Components) -> "Known | None":
        """Numbers among components; None where there are none."""
        rows = part.reshape(part.shape[0], -1) if part.ndim and part.size else np.empty((0, 0), dtype=object)
        which = np.array([is_number(one) for one in rows.flat], dtype=bool).reshape(rows.shape)
        if not np.any(which):
            return None
        values = np.zeros(rows.shape, np.asarray(rows[which][0]).dtype)
        values[which] = rows[which]
        return cls(values, which)

    @property
    def form(self) -> tuple[bytes, bytes]:
        """What code depends on."""
        return self.which.tobytes(), np.where(self.which, self.values, 0).tobytes()

    def common(self, rows: slice) -> list[Any]:
        """Of each element the number that it is, to the bit, in all of some rows; else None."""
        values, same = self.values[rows], self._same(rows)
        return [values[0, k] if one else None for k, one in enumerate(same)]

    def count(self, rows: slice) -> int:
        """Number of elements that are the same in all of some rows."""
        return int(np.count_nonzero(self._same(rows)))

    def _same(self, rows: slice) -> Bool[np.ndarray, " n"]:
        values, which = self.values[rows], self.which[rows]
        bits = values.view(np.int64) if values.dtype == np.float64 else values
        return np.all(which, axis=0) & np.all(bits == bits[:1], axis=0)


class Rounds(NamedTuple):
    """How a loop goes along its rows: the first ones apart, and several of the others to a round.

    The first link of a chain hangs on the ground and often differs from the others; axes alternate. With such
    rows apart, or two to a round, more of their numbers are known.
    """

    apart: int = 0
    together: int = 1

    def classes(self, length: int) -> list[slice]:
        """Rows of the loop for which one piece of code is written."""
        return [slice(self.apart + k, length, self.together) for k in range(self.together)]

    @classmethod
    def of(cls, known: Sequence[Known], length: int, weight: int) -> "Rounds":
        """The way with the least code that makes the most of what is known.

        Args:
            known: of the arrays whose rows the loop reads.
            length: number of rows.
            weight: of the code of one row.
        """
        ways = [cls()]
        if known and weight <= HEAVY:
            # Rows that do not fill a round go before the others.
            ways += [cls(1, 1), cls(length % 2, 2), cls(1 + (length - 1) % 2, 2)]
        best, most = ways[0], -WORTH
        for one in ways:
            found = sum(part.count(rows) for part in known for rows in one.classes(length)) / one.together
            if found >= most + WORTH:
                best, most = one, found
        return best
