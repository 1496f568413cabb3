"""Composition schemes: step sizes for the factors of a high-order method, checked when they are built."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from poinsot.core import InputError, checked

from ._digits import (
    EXACT_TOLERANCE,
    FLOAT_TOLERANCE,
    Coefficient,
    doubles,
    is_float,
    to_decimal,
    working_precision,
)
from ._free_algebra import Word, composition_residuals
from ._rooted_trees import Vector

Base = Literal["symmetric", "adjoint pair"]
Factor = Literal["base", "adjoint"]


@dataclass(frozen=True, init=False)
class CompositionScheme:
    r"""Weights of a composition of one-step maps, kept to 50 digits and validated.

    With a symmetric base $\Phi_h$ of order 2 the weights $\gamma_1, \dots, \gamma_s$ mean

    $$ \Psi_h = \Phi_{\gamma_s h} \circ \dots \circ \Phi_{\gamma_2 h} \circ \Phi_{\gamma_1 h}. $$

    With any base $\chi_h$ of order 1 and its adjoint $\chi^*_h = \chi_{-h}^{-1}$ the weights
    $\beta_1, \alpha_1, \dots, \beta_s, \alpha_s$ mean

    $$ \Psi_h = \chi_{\alpha_s h} \circ \chi^*_{\beta_s h} \circ \dots
                \circ \chi_{\alpha_1 h} \circ \chi^*_{\beta_1 h}. $$

    In both cases the first weight belongs to the map that acts first, and `steps` lists the maps in the order
    in which they act. Building a scheme checks the order conditions of all words of degree up to `order`, the
    first of which is that the weights sum to 1, and that those of the next degree do not all hold.

    Args:
        name: What the scheme is called.
        weights: The weights in the order in which the maps act.
        order: The order claimed.
        base: `"symmetric"` or `"adjoint pair"`.
        reference: Where the weights come from.
        tolerance: Largest residual of a condition that counts as zero. By default 1e-35, or 1e-14 if some
            weight is a float. Raise it for weights printed with fewer digits.

    Raises:
        InputError: If a condition fails; it names the word and its residual.
    """

    name: str
    weights: Vector
    order: int
    base: Base
    reference: str
    tolerance: float

    @checked
    def __init__(
        self,
        name: str,
        weights: Sequence[Coefficient],
        *,
        order: int,
        base: Base = "symmetric",
        reference: str = "",
        tolerance: float | None = None,
    ):
        if not weights or (base == "adjoint pair" and len(weights) % 2):
            raise InputError(
                f"{name}: {len(weights)} weights; there must be at least one, and for an adjoint pair "
                f"an even number, beta and alpha by turns"
            )
        if tolerance is None:
            tolerance = FLOAT_TOLERANCE if any(map(is_float, weights)) else EXACT_TOLERANCE
        values = {
            "name": name,
            "weights": tuple(to_decimal(x, f"{name}: weights[{i}]") for i, x in enumerate(weights)),
            "order": order,
            "base": base,
            "reference": reference,
            "tolerance": tolerance,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)
        self._check_order()

    def _check_order(self) -> None:
        higher: list[Decimal] = []
        for word, residual in order_residuals(self, self.order + 1):
            if sum(word) > self.order:
                higher.append(residual)
            elif residual > self.tolerance:
                letters = " ".join(f"Y{k}" for k in word)
                raise InputError(
                    f"{self.name}: declared order {self.order}, but the condition of the word {letters} "
                    f"(order {sum(word)}) fails with residual {residual:.3e} > {self.tolerance:g}"
                )
        if max(higher) <= self.tolerance:
            raise InputError(
                f"{self.name}: declared order {self.order} is understated, all conditions of order "
                f"{self.order + 1} hold; declare the true order"
            )

    @property
    def stages(self) -> int:
        """Number of steps of the base, or of pairs of base and adjoint."""
        return len(self.weights) if self.base == "symmetric" else len(self.weights) // 2

    @cached_property
    def symmetric(self) -> bool:
        """Whether the weights read the same from both ends, so that the composition is its own adjoint."""
        pairs = zip(self.weights, reversed(self.weights), strict=True)
        return all(abs(x - y) <= self.tolerance for x, y in pairs)

    @cached_property
    def steps(self) -> tuple[tuple[Factor, Decimal], ...]:
        """The maps in the order in which they act: which one, and its weight."""
        if self.base == "symmetric":
            return tuple(("base", weight) for weight in self.weights)
        return tuple(("base" if i % 2 else "adjoint", weight) for i, weight in enumerate(self.weights))

    @cached_property
    def _doubles(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return doubles(self.weights)

    @property
    def weights_hi(self) -> NDArray[np.float64]:
        """The doubles nearest to the weights."""
        return self._doubles[0]

    @property
    def weights_lo(self) -> NDArray[np.float64]:
        """The doubles nearest to `weights - weights_hi`."""
        return self._doubles[1]


def order_residuals(scheme: CompositionScheme, max_degree: int) -> list[tuple[Word, Decimal]]:
    """Defect of every order condition up to a degree, with the word it belongs to."""
    step = 2 if scheme.base == "symmetric" else 1
    factors = [(weight, 1 if kind == "base" else -1) for kind, weight in scheme.steps]
    with working_precision():
        return list(composition_residuals(factors, tuple(range(1, max_degree + 1, step)), max_degree))


def splitting_weights(a: Sequence[Decimal], b: Sequence[Decimal]) -> tuple[Decimal, ...]:
    r"""Turn a splitting scheme into the weights of a base and its adjoint.

    The scheme acts as $A$ for $a_1 h$, then $B$ for $b_1 h$, $A$ for $a_2 h$, ..., $B$ for $b_s h$, and last
    $A$ for $a_{s+1} h$. With $\chi^*_h = \varphi^B_h \circ \varphi^A_h$ ($A$ acts first) and
    $\chi_h = \varphi^A_h \circ \varphi^B_h$ it is the composition with

    $$ \beta_1 = a_1, \qquad \alpha_i = b_i - \beta_i, \qquad \beta_{i+1} = a_{i+1} - \alpha_i, \qquad
       \alpha_s = a_{s+1}, $$

    the last of which holds because $\sum a_i = \sum b_i$. For a base other than a splitting the order is the
    same, since the order conditions do not know where $Y_1, Y_2, \dots$ come from.

    Reference: McLachlan, SIAM J. Sci. Comput. 16 (1995) 151-168.
    """
    weights = [a[0]]
    for along_b, along_a in zip(b, a[1:], strict=True):
        alpha = along_b - weights[-1]
        weights += [alpha, along_a - alpha]
    return tuple(weights[:-1])
