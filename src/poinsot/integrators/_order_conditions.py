r"""The order of a Runge-Kutta method: simplifying assumptions at any order, trees where those say too little.

$$ B(p): \sum_i b_i c_i^{k-1} = \tfrac1k, \qquad
   C(\eta): \sum_j a_{ij} c_j^{k-1} = \tfrac{c_i^k}{k}, \qquad
   D(\zeta): \sum_i b_i c_i^{k-1} a_{ij} = \tfrac{b_j}{k} (1 - c_j^k) $$

for $k$ up to $p$, $\eta$, $\zeta$. Butcher's theorem: these give order $p$ if $p \le \eta + \zeta + 1$ and
$p \le 2\eta + 2$. The order is never more than $p$, since $B$ is itself a set of order conditions.

Reference: Butcher, Math. Comp. 18 (1964) 50-64; Hairer, Norsett, Wanner, Solving ODEs I, theorem II.7.4.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from poinsot.core import InputError

from ._rooted_trees import ElementaryWeights, Matrix, Vector


class SimplifyingConditions(NamedTuple):
    r"""The largest $p$, $\eta$, $\zeta$ for which $B(p)$, $C(\eta)$, $D(\zeta)$ hold."""

    p: int
    eta: int
    zeta: int

    @property
    def order(self) -> int:
        """The order that Butcher's theorem guarantees."""
        return min(self.p, self.eta + self.zeta + 1, 2 * self.eta + 2)

    def __str__(self) -> str:
        return f"B({self.p}), C({self.eta}), D({self.zeta})"


def _dot(left: Vector, right: Vector) -> Decimal:
    return sum((x * y for x, y in zip(left, right, strict=True)), Decimal(0))


def _largest(residual: Callable[[int], Decimal], limit: int, tolerance: float) -> int:
    """The largest k up to `limit` such that the conditions 1, ..., k all hold."""
    return next((k - 1 for k in range(1, limit + 1) if residual(k) > tolerance), limit)


def simplifying_maxima(A: Matrix, b: Vector, c: Vector, tolerance: float) -> SimplifyingConditions:
    """Find the largest simplifying conditions of a method; none can matter beyond twice its stages."""
    limit = 2 * len(b)
    power: list[Vector] = [tuple(Decimal(1) for _ in c)]
    for _ in range(limit):
        power.append(tuple(x * y for x, y in zip(power[-1], c, strict=True)))
    columns = tuple(zip(*A, strict=True))

    def quadrature(k: int) -> Decimal:
        return abs(_dot(b, power[k - 1]) - Decimal(1) / k)

    def collocation(k: int) -> Decimal:
        return max(abs(_dot(row, power[k - 1]) - x / k) for row, x in zip(A, power[k], strict=True))

    def adjoint(k: int) -> Decimal:
        moments = tuple(x * y for x, y in zip(b, power[k - 1], strict=True))
        data = zip(columns, b, power[k], strict=True)
        return max(abs(_dot(moments, column) - w * (1 - x) / k) for column, w, x in data)

    return SimplifyingConditions(*(_largest(f, limit, tolerance) for f in (quadrature, collocation, adjoint)))


def verify_order(
    owner: str,
    declared: int,
    conditions: SimplifyingConditions,
    guaranteed: int,
    weights: ElementaryWeights,
    max_tree_order: int,
    tolerance: float,
) -> None:
    """Refuse a declared order that is too high, cannot be proved, or is too low.

    Args:
        owner: The method, for the message.
        declared: The order claimed.
        conditions: Its simplifying conditions; only `p` bounds the order from above.
        guaranteed: An order known to hold.
        weights: Its order conditions by trees, consulted up to `max_tree_order`.
        max_tree_order: Where trees become too many.
        tolerance: Largest residual of a condition that counts as zero.

    Raises:
        InputError: With the failing condition and its residual.
    """
    if declared > guaranteed:
        if declared > max_tree_order:
            raise InputError(
                f"{owner}: order {declared} cannot be proved; the coefficients satisfy {conditions} "
                f"to {tolerance:g}, which guarantees order {guaranteed}"
            )
        for order in range(1, declared + 1):
            tree, residual = weights.worst(order)
            if residual > tolerance:
                raise InputError(
                    f"{owner}: declared order {declared}, but the condition of the tree {tree} "
                    f"(order {order}) fails with residual {residual:.3e} > {tolerance:g}; "
                    f"the order is {order - 1}"
                )
    higher = declared + 1
    by_trees = conditions.p >= higher and higher <= max_tree_order and weights.worst(higher)[1] <= tolerance
    if guaranteed >= higher or by_trees:
        raise InputError(
            f"{owner}: declared order {declared} is understated, all conditions of order {higher} hold; "
            f"declare the true order"
        )
