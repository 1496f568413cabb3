r"""Pairs of Butcher tableaux, one for the positions and one for the momenta.

$$ Q_i = q_0 + h \sum_j a_{ij} H_p(Q_j, P_j), \qquad P_i = p_0 - h \sum_j \hat a_{ij} H_q(Q_j, P_j), $$

$$ q_1 = q_0 + h \sum_i b_i H_p(Q_i, P_i), \qquad p_1 = p_0 - h \sum_i b_i H_q(Q_i, P_i). $$
"""

from dataclasses import dataclass
from functools import cached_property

from poinsot.core import InputError

from ._digits import working_precision
from ._order_conditions import SimplifyingConditions, verify_order
from ._rooted_trees import ElementaryWeights
from ._tableau import ButcherTableau, simplifying_conditions

MAX_BICOLOURED_TREE_ORDER = 6


@dataclass(frozen=True)
class PartitionedTableau:
    r"""A partitioned Runge-Kutta method, validated when built.

    Both tableaux must have the same weights. If they also have the same nodes, the smaller ones of their
    conditions $B$, $C$, $D$ hold for both colours of vertices, and Butcher's theorem applies to the pair; a
    symmetric pair has even order, so an odd bound is raised by one. Else all bicoloured trees up to order 6
    decide. In a time-dependent problem the stage times are the nodes of `position`.

    Args:
        name: What the method is called.
        position: Tableau $(a_{ij}, b)$ of $q' = H_p$.
        momentum: Tableau $(\hat a_{ij}, b)$ of $p' = -H_q$.
        order: The order claimed for the pair.
        reference: Where the pair comes from.

    Raises:
        InputError: If stages or weights differ, or the order is not the declared one.
    """

    name: str
    position: ButcherTableau
    momentum: ButcherTableau
    order: int
    reference: str = ""

    def __post_init__(self):
        first, second = self.position, self.momentum
        if first.stages != second.stages:
            raise InputError(
                f"{self.name}: {first.name} has {first.stages} stages and {second.name} has {second.stages}; "
                f"a pair needs as many of both"
            )
        difference = max(abs(x - y) for x, y in zip(first.b, second.b, strict=True))
        if difference > self.tolerance:
            raise InputError(
                f"{self.name}: the weights of {first.name} and {second.name} differ by {difference:.3e}; "
                f"a pair needs the same weights, or it is symplectic only where H = T(p) + V(q)"
            )
        with working_precision():
            conditions, guaranteed = self.conditions()
            trees, limit = _elementary_weights(self), MAX_BICOLOURED_TREE_ORDER
            verify_order(self.name, self.order, conditions, guaranteed, trees, limit, self.tolerance)

    @property
    def tolerance(self) -> float:
        """Largest residual of a condition that counts as zero: the looser one of the two tableaux."""
        return max(self.position.tolerance, self.momentum.tolerance)

    @property
    def stages(self) -> int:
        """Number of stages."""
        return self.position.stages

    @cached_property
    def symplectic(self) -> bool:
        r"""Whether $b_i \hat a_{ij} + b_j a_{ji} = b_i b_j$."""
        A, A_hat, b, stages = self.position.A, self.momentum.A, self.position.b, range(self.stages)
        with working_precision():
            return all(
                abs(b[i] * A_hat[i][j] + b[j] * A[j][i] - b[i] * b[j]) <= self.tolerance
                for i in stages
                for j in stages
            )

    @property
    def symmetric(self) -> bool:
        """Whether the pair is its own adjoint: both tableaux are."""
        return self.position.symmetric and self.momentum.symmetric

    def conditions(self) -> tuple[SimplifyingConditions, int]:
        """Conditions common to both tableaux, and the order of the pair that they guarantee."""
        first, second = simplifying_conditions(self.position), simplifying_conditions(self.momentum)
        common = SimplifyingConditions(*map(min, zip(first, second, strict=True)))
        nodes = zip(self.position.c, self.momentum.c, strict=True)
        if any(abs(x - y) > self.tolerance for x, y in nodes):
            return common, 0
        odd = common.order % 2 == 1
        return common, common.order + (1 if odd and self.symmetric else 0)


def _elementary_weights(pair: PartitionedTableau) -> ElementaryWeights:
    return ElementaryWeights([pair.position.A, pair.momentum.A], [pair.position.b, pair.momentum.b])


def pair_order_by_trees(pair: PartitionedTableau, max_order: int = MAX_BICOLOURED_TREE_ORDER) -> int:
    """The largest order, up to `max_order`, at which the conditions of all bicoloured trees hold."""
    with working_precision():
        return _elementary_weights(pair).order(pair.tolerance, max_order)
