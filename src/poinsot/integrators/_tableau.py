r"""Butcher tableaux: the data of a Runge-Kutta method, checked when they are built.

$$ Y_i = y_0 + h \sum_j a_{ij} f(t_0 + c_j h, Y_j), \qquad y_1 = y_0 + h \sum_i b_i f(t_0 + c_i h, Y_i). $$
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.core import InputError

from ._digits import (
    EXACT_TOLERANCE,
    FLOAT_TOLERANCE,
    Coefficient,
    doubles,
    is_float,
    to_decimal,
    working_precision,
)
from ._order_conditions import SimplifyingConditions, simplifying_maxima, verify_order
from ._rooted_trees import ElementaryWeights, Matrix, Vector

MAX_TREE_ORDER = 8


@dataclass(frozen=True, init=False)
class ButcherTableau:
    r"""Coefficients of a Runge-Kutta method, kept to 50 digits and validated.

    Building one checks that $c_i = \sum_j a_{ij}$ and that the declared order is the true one: through
    $B(p)$, $C(\eta)$, $D(\zeta)$ at any order, else through all rooted trees up to order 8. An order that is
    declared too low is refused like one declared too high.

    Args:
        name: What the method is called.
        A: The square matrix $a_{ij}$. Entries may be int, float, Fraction, `mpf`, Decimal, or a string such
            as `"1/6"` or `"0.25"`.
        b: The weights.
        c: The nodes; the row sums of `A` if left out.
        order: The order claimed.
        reference: Where the coefficients come from.
        tolerance: Largest residual of a condition that counts as zero. By default 1e-35, or 1e-14 if some
            entry is a float. Raise it for coefficients printed with fewer digits.

    Raises:
        InputError: If the shapes disagree, or a condition fails; it names the condition and its residual.

    Example:
        >>> ButcherTableau("Heun", [[0, 0], [1, 0]], ["1/2", "1/2"], order=2).explicit
        True
    """

    name: str
    A: Matrix
    b: Vector
    c: Vector
    order: int
    reference: str
    tolerance: float

    def __init__(
        self,
        name: str,
        A: Sequence[Sequence[Coefficient]],
        b: Sequence[Coefficient],
        c: Sequence[Coefficient] | None = None,
        *,
        order: int,
        reference: str = "",
        tolerance: float | None = None,
    ):
        stages = len(b)
        lengths = [len(row) for row in A]
        if stages == 0 or lengths != [stages] * stages or (c is not None and len(c) != stages):
            nodes = "" if c is None else f" and {len(c)} nodes"
            raise InputError(
                f"{name}: A has rows of lengths {lengths}, with {stages} weights{nodes}; "
                f"A must be square, with as many rows as there are weights and nodes"
            )
        given = [x for row in (*A, b, () if c is None else c) for x in row]
        if tolerance is None:
            tolerance = FLOAT_TOLERANCE if any(map(is_float, given)) else EXACT_TOLERANCE
        matrix = tuple(
            tuple(to_decimal(x, f"{name}: A[{i}][{j}]") for j, x in enumerate(row)) for i, row in enumerate(A)
        )
        with working_precision():
            row_sums = tuple(sum(row, Decimal(0)) for row in matrix)
        nodes = row_sums if c is None else c
        values = {
            "name": name,
            "A": matrix,
            "b": tuple(to_decimal(x, f"{name}: b[{i}]") for i, x in enumerate(b)),
            "c": tuple(to_decimal(x, f"{name}: c[{i}]") for i, x in enumerate(nodes)),
            "order": order,
            "reference": reference,
            "tolerance": tolerance,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)
        with working_precision():
            self._check_row_sums(row_sums)
            conditions = simplifying_conditions(self)
            trees = ElementaryWeights([self.A], [self.b])
            verify_order(name, order, conditions, conditions.order, trees, MAX_TREE_ORDER, tolerance)

    def _check_row_sums(self, row_sums: Vector) -> None:
        for i, (node, row_sum) in enumerate(zip(self.c, row_sums, strict=True)):
            if abs(node - row_sum) > self.tolerance:
                raise InputError(
                    f"{self.name}: c[{i}] = {float(node)!r} is not the sum of row {i} of A, "
                    f"residual {abs(node - row_sum):.3e} > {self.tolerance:g}"
                )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Hashing fifty-digit decimals is slow, and a tableau is hashed at every call of a compiled step.
        return hash((self.name, self.A, self.b, self.c, self.order, self.reference, self.tolerance))

    @property
    def stages(self) -> int:
        """Number of stages."""
        return len(self.b)

    @cached_property
    def explicit(self) -> bool:
        """Whether each stage needs only the stages before it."""
        return all(self.A[i][j] == 0 for i in range(self.stages) for j in range(i, self.stages))

    @cached_property
    def symplectic(self) -> bool:
        """Whether the method is symplectic, see `is_symplectic`."""
        return is_symplectic(self)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the method is its own adjoint, see `is_symmetric`."""
        return is_symmetric(self)

    @cached_property
    def _matrix_doubles(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        hi, lo = doubles(x for row in self.A for x in row)
        return hi.reshape(self.stages, self.stages), lo.reshape(self.stages, self.stages)

    @cached_property
    def _weight_doubles(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return doubles(self.b)

    @property
    def A_hi(self) -> NDArray[np.float64]:
        """The doubles nearest to `A`."""
        return self._matrix_doubles[0]

    @property
    def A_lo(self) -> NDArray[np.float64]:
        """The doubles nearest to `A - A_hi`."""
        return self._matrix_doubles[1]

    @property
    def b_hi(self) -> NDArray[np.float64]:
        """The doubles nearest to `b`."""
        return self._weight_doubles[0]

    @property
    def b_lo(self) -> NDArray[np.float64]:
        """The doubles nearest to `b - b_hi`."""
        return self._weight_doubles[1]

    @cached_property
    def c_hi(self) -> NDArray[np.float64]:
        """The doubles nearest to `c`."""
        return doubles(self.c)[0]


def simplifying_conditions(tableau: ButcherTableau) -> SimplifyingConditions:
    r"""The largest $(p, \eta, \zeta)$ for which $B(p)$, $C(\eta)$, $D(\zeta)$ hold."""
    with working_precision():
        return simplifying_maxima(tableau.A, tableau.b, tableau.c, tableau.tolerance)


def order_by_trees(tableau: ButcherTableau, max_order: int = MAX_TREE_ORDER) -> int:
    """The largest order, up to `max_order`, at which the conditions of all rooted trees hold."""
    with working_precision():
        return ElementaryWeights([tableau.A], [tableau.b]).order(tableau.tolerance, max_order)


def is_symplectic(tableau: ButcherTableau) -> bool:
    r"""Whether $b_i a_{ij} + b_j a_{ji} = b_i b_j$ for all $i$, $j$.

    The condition makes the method keep quadratic invariants and the symplectic form; unless the method has
    stages that could be merged or left out, it is also necessary.
    """
    A, b, stages = tableau.A, tableau.b, range(tableau.stages)
    with working_precision():
        return all(
            abs(b[i] * A[i][j] + b[j] * A[j][i] - b[i] * b[j]) <= tableau.tolerance
            for i in stages
            for j in stages
        )


def is_symmetric(tableau: ButcherTableau) -> bool:
    r"""Whether $a_{s+1-i,s+1-j} + a_{ij} = b_j$ and $b_{s+1-j} = b_j$: the method is its own adjoint."""
    A, b, last = tableau.A, tableau.b, tableau.stages - 1
    with working_precision():
        return all(
            abs(A[last - i][last - j] + A[i][j] - b[j]) <= tableau.tolerance
            and abs(b[last - j] - b[j]) <= tableau.tolerance
            for i in range(last + 1)
            for j in range(last + 1)
        )


def adjoint(tableau: ButcherTableau) -> ButcherTableau:
    r"""The adjoint method, the inverse of the step with $-h$.

    $$ a^*_{ij} = b_{s+1-j} - a_{s+1-i,s+1-j}, \qquad b^*_j = b_{s+1-j}. $$
    """
    with working_precision():
        b = tableau.b[::-1]
        A = [[w - a for w, a in zip(b, row[::-1], strict=True)] for row in tableau.A[::-1]]
    return ButcherTableau(
        f"adjoint of {tableau.name}",
        A,
        b,
        order=tableau.order,
        reference=tableau.reference,
        tolerance=tableau.tolerance,
    )


def symplectic_adjoint(tableau: ButcherTableau) -> ButcherTableau:
    r"""The method that forms a symplectic pair with the given one.

    $$ \hat a_{ij} = b_j - \frac{b_j a_{ji}}{b_i}, \qquad \hat b = b. $$

    Its order is computed; it is often lower than that of the given method.

    Raises:
        InputError: If a weight vanishes.
    """
    A, b, stages = tableau.A, tableau.b, range(tableau.stages)
    if any(weight == 0 for weight in b):
        raise InputError(
            f"{tableau.name}: b = {tuple(map(float, b))} has a zero weight, so there is no symplectic adjoint"
        )
    with working_precision():
        matrix = tuple(tuple(b[j] - b[j] * A[j][i] / b[i] for j in stages) for i in stages)
        nodes = tuple(sum(row, Decimal(0)) for row in matrix)
        guaranteed = simplifying_maxima(matrix, b, nodes, tableau.tolerance).order
        by_trees = ElementaryWeights([matrix], [b]).order(tableau.tolerance, MAX_TREE_ORDER)
    return ButcherTableau(
        f"symplectic adjoint of {tableau.name}",
        matrix,
        b,
        order=max(guaranteed, by_trees),
        reference=tableau.reference,
        tolerance=tableau.tolerance,
    )
