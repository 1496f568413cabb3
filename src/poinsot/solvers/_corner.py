"""Factors of small matrices, written out number by number."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class Corner(NamedTuple):
    r"""A small matrix as $L U$, a lower triangle with ones on its diagonal and an upper one.

    No pivots are chosen: the symmetric part of the matrix has to be definite. There are as many divisions as
    rows, however often one solves.
    """

    lower: list[list[Array]]
    """Rows of $L$ below the diagonal."""
    upper: list[list[Array]]
    """Rows of $U$ above the diagonal."""
    reciprocals: list[Array]
    """Of the diagonal of $U$."""

    @classmethod
    def unit(cls, size: int) -> "Corner":
        """Factors of the unit matrix."""
        zero = jnp.zeros(())
        lower = [[zero] * i for i in range(size)]
        return cls(lower, lower[::-1], [jnp.ones(())] * size)

    @classmethod
    def of(cls, A: Array, least: Float[Array, " n"] | None = None) -> "Corner":
        """Factors of any matrix.

        Args:
            A: the matrix.
            least: magnitudes that smaller pivots are raised to, with their signs.
        """
        size = len(A)
        rest = [[A[i, j] for j in range(size)] for i in range(size)]
        lower: list[list[Array]] = [[] for _ in range(size)]
        reciprocals: list[Array] = []
        for k in range(size):
            pivot = rest[k][k]
            if least is not None:
                raised = jnp.where(pivot < 0.0, -least[k], least[k])
                pivot = jnp.where(jnp.abs(pivot) < least[k], raised, pivot)
            reciprocals.append(1.0 / pivot)
            for i in range(k + 1, size):
                lower[i].append(rest[i][k] * reciprocals[k])
                for j in range(k + 1, size):
                    rest[i][j] = rest[i][j] - lower[i][k] * rest[k][j]
        return cls(lower, [rest[i][i + 1 :] for i in range(size)], reciprocals)

    @classmethod
    def symmetric(cls, A: Array) -> "Corner":
        r"""Factors $L D L^T$ of a symmetric matrix, from its lower half."""
        lower: list[list[Array]] = []
        columns: list[list[Array]] = []
        reciprocals: list[Array] = []
        for i in range(len(A)):
            column: list[Array] = []
            row: list[Array] = []
            for j in range(i + 1):
                across = lower[j] if j < i else row
                column.append(A[i, j] - sum((column[k] * across[k] for k in range(j)), start=jnp.zeros(())))
                if j < i:
                    row.append(column[j] * reciprocals[j])
            lower.append(row)
            columns.append(column)
            reciprocals.append(1.0 / column[i])
        upper = [[columns[k][i] for k in range(i + 1, len(A))] for i in range(len(A))]
        return cls(lower, upper, reciprocals)

    @classmethod
    def packed(cls, square: Float[Array, "n n"]) -> "Corner":
        """The factors from one array, see `square`."""
        size = len(square)
        return cls(
            [[square[i, j] for j in range(i)] for i in range(size)],
            [[square[i, j] for j in range(i + 1, size)] for i in range(size)],
            [square[i, i] for i in range(size)],
        )

    @property
    def square(self) -> Float[Array, "n n"]:
        """All numbers in one array, the reciprocals on the diagonal."""
        rows = zip(self.lower, self.reciprocals, self.upper, strict=True)
        return jnp.stack([jnp.stack([*left, middle, *right]) for left, middle, right in rows])

    def forward(self, b: Array) -> Array:
        """Solve with $L$; `b` is a vector or has columns."""
        x: list[Array] = []
        for i, row in enumerate(self.lower):
            x.append(b[i] - sum((row[k] * x[k] for k in range(i)), start=jnp.zeros_like(b[i])))
        return jnp.stack(x)

    def forward_turned(self, b: Array) -> Array:
        """Solve with $U^T$."""
        x: list[Array] = []
        for i, reciprocal in enumerate(self.reciprocals):
            known = sum((self.upper[k][i - k - 1] * x[k] for k in range(i)), start=jnp.zeros_like(b[i]))
            x.append((b[i] - known) * reciprocal)
        return jnp.stack(x)

    def backward(self, b: Array) -> Array:
        """Solve with $U$."""
        size = len(self.reciprocals)
        x: list[Array] = [b[0]] * size
        for i in reversed(range(size)):
            row = self.upper[i]
            known = sum((row[k - i - 1] * x[k] for k in range(i + 1, size)), start=jnp.zeros_like(b[i]))
            x[i] = (b[i] - known) * self.reciprocals[i]
        return jnp.stack(x)
