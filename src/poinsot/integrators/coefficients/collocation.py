r"""Gauss, Radau and Lobatto methods with any number of stages, computed in high precision.

The nodes are the zeros of a combination of shifted Legendre polynomials,

$$ \text{Gauss: } P_s, \qquad \text{Radau (right): } P_s - P_{s-1}, \qquad \text{Lobatto: } P_s - P_{s-2}, $$

the weights follow from $B(s)$, and the matrix from linear conditions on its rows or columns:

| method | conditions | order |
|---|---|---|
| Gauss, Radau IIA, Lobatto IIIA | $C(s)$ | $2s$, $2s-1$, $2s-2$ |
| Lobatto IIIB | $D(s)$ | $2s-2$ |
| Lobatto IIIC | $C(s-1)$, $a_{i1} = b_1$ | $2s-2$ |

Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), II.1.3 and II.1.4.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import numpy as np

from poinsot.core import checked, whole

from .._digits import working_precision
from .._partitioned_tableau import PartitionedTableau
from .._tableau import ButcherTableau, symplectic_adjoint

MOST_STAGES = 32
"""More take seconds, and their order of 64 is far beyond what rounding leaves."""
GaussStages = Annotated[int, whole(1, MOST_STAGES)]
"""Stages of Gauss and Radau methods."""
LobattoStages = Annotated[int, whole(2, MOST_STAGES)]
"""Stages of Lobatto methods."""
HAIRER = "Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), "


def _context(stages: int) -> Any:
    """Arithmetic of its own precision: moment matrices lose more than a digit with each stage."""
    from mpmath import MPContext

    context = MPContext()
    context.dps = 70 + 2 * stages
    return context


def _legendre(mp: Any, degree: int, x: Any) -> tuple[Any, Any]:
    r"""$P_n(2x-1)$ and its derivative, by the three-term recurrence and its derivative."""
    z = 2 * x - 1
    value, slope, before, slope_before = mp.one, mp.zero, mp.zero, mp.zero
    for n in range(degree):
        value, before = ((2 * n + 1) * z * value - n * before) / (n + 1), value
        # Here `before` is P_n, and P'_{n+1} = P'_{n-1} + (2n + 1) P_n, twice that in x.
        slope, slope_before = slope_before + 2 * (2 * n + 1) * before, slope
    return value, slope


def _nodes(mp: Any, stages: int, lag: int) -> list[Any]:
    """Zeros of P_s - P_{s-lag}, or of P_s when `lag` is zero: doubles first, then Newton's method."""
    series = np.zeros(stages + 1)
    series[stages] = 1.0
    if lag:
        series[stages - lag] = -1.0
    nodes = []
    for start in np.sort(np.polynomial.legendre.legroots(series).real):
        x = (mp.mpf(float(start)) + 1) / 2
        for _ in range(8):
            value, slope = _legendre(mp, stages, x)
            if lag:
                other, other_slope = _legendre(mp, stages - lag, x)
                value, slope = value - other, slope - other_slope
            x -= value / slope
        nodes.append(x)
    return nodes


def _moments(mp: Any, c: list[Any]) -> tuple[Any, Any]:
    r"""The matrices $V_{jk} = c_j^{k-1}$ and $W_{ik} = c_i^k / k$ of $C(s)$, which reads $A V = W$."""
    stages = len(c)
    powers = mp.matrix(stages, stages)
    integrals = mp.matrix(stages, stages)
    for i, x in enumerate(c):
        power = mp.one
        for k in range(stages):
            powers[i, k] = power
            power *= x
            integrals[i, k] = power / (k + 1)
    return powers, integrals


def _weights(mp: Any, powers: Any) -> list[Any]:
    r"""The weights that satisfy $B(s)$."""
    stages = powers.rows
    return list(mp.lu_solve(powers.T, mp.matrix([mp.one / (k + 1) for k in range(stages)])))


def _by_collocation(mp: Any, c: list[Any], b: list[Any]) -> Any:
    powers, integrals = _moments(mp, c)
    return integrals * powers**-1


def _by_dual_collocation(mp: Any, c: list[Any], b: list[Any]) -> Any:
    r"""Solve $D(s)$: $(V^T \mathrm{diag}(b)) A = R$ with $R_{kj} = b_j (1 - c_j^k) / k$."""
    powers, integrals = _moments(mp, c)
    stages = range(len(c))
    moments = mp.matrix([[b[i] * powers[i, k] for i in stages] for k in stages])
    right = mp.matrix([[b[j] * (mp.one / (k + 1) - integrals[j, k]) for j in stages] for k in stages])
    return moments**-1 * right


def _by_fixed_first_column(mp: Any, c: list[Any], b: list[Any]) -> Any:
    r"""Solve $C(s-1)$ together with $a_{i1} = b_1$, which takes the place of the last column of $C(s)$."""
    powers, integrals = _moments(mp, c)
    last = len(c) - 1
    for i in range(len(c)):
        powers[i, last] = mp.one if i == 0 else mp.zero
        integrals[i, last] = b[0]
    return integrals * powers**-1


def _exact(mp: Any, value: Any) -> Any:
    """Set to zero what is zero up to rounding; every coefficient that is not is far larger."""
    return mp.zero if abs(value) < mp.mpf(10) ** -55 else value


def _method(
    name: str,
    stages: int,
    lag: int,
    matrix: Callable[[Any, list[Any], list[Any]], Any],
    reference: str,
) -> ButcherTableau:
    mp = _context(stages)
    c = _nodes(mp, stages, lag)
    b = _weights(mp, _moments(mp, c)[0])
    A = matrix(mp, c, b)
    return ButcherTableau(
        f"{name} ({stages} stages)" if stages > 1 else f"{name} (1 stage)",
        [[_exact(mp, A[i, j]) for j in range(stages)] for i in range(stages)],
        b,
        order=2 * stages - lag,
        reference=reference,
    )


@checked
@cache
def gauss(stages: GaussStages) -> ButcherTableau:
    r"""Gauss collocation: $c_i$ the zeros of $P_s(2x-1)$, order $2s$, symplectic and symmetric."""
    return _method("Gauss", stages, 0, _by_collocation, HAIRER + "II.1.3; Butcher (1964)")


@cache
def implicit_midpoint() -> ButcherTableau:
    r"""The implicit midpoint rule $y_1 = y_0 + h f((y_0 + y_1)/2)$, which is Gauss with one stage."""
    return ButcherTableau(
        "implicit midpoint", [["1/2"]], [1], order=2, reference=HAIRER + "I (1.7); Gauss with one stage"
    )


@checked
@cache
def radau_iia(stages: GaussStages) -> ButcherTableau:
    r"""Radau IIA collocation: $c_s = 1$, order $2s-1$, stiffly accurate."""
    return _method("Radau IIA", stages, 1, _by_collocation, HAIRER + "II.1.3; Ehle (1969)")


@cache
def implicit_euler() -> ButcherTableau:
    r"""The implicit Euler method $y_1 = y_0 + h f(y_1)$, which is Radau IIA with one stage."""
    return ButcherTableau("implicit Euler", [[1]], [1], order=1, reference=HAIRER + "I (1.6)")


@checked
@cache
def lobatto_iiia(stages: LobattoStages) -> ButcherTableau:
    r"""Lobatto IIIA collocation: $c_1 = 0$, $c_s = 1$, order $2s-2$, symmetric."""
    return _method("Lobatto IIIA", stages, 2, _by_collocation, HAIRER + "II.1.3; Ehle (1969)")


@checked
@cache
def lobatto_iiib(stages: LobattoStages) -> ButcherTableau:
    r"""Lobatto IIIB: the matrix from $D(s)$, order $2s-2$, symmetric.

    With two stages the row sums are (1/2, 1/2), not the Lobatto nodes (0, 1). The tableau keeps the row sums,
    so that time is treated like one more component of the state; alone it then takes the same step as the
    implicit midpoint rule. In the pair with IIIA the nodes are those of IIIA.
    """
    return _method("Lobatto IIIB", stages, 2, _by_dual_collocation, HAIRER + "II.1.4; Ehle (1969)")


@checked
@cache
def lobatto_iiic(stages: LobattoStages) -> ButcherTableau:
    r"""Lobatto IIIC: $a_{i1} = b_1$ and $C(s-1)$, order $2s-2$, stiffly accurate."""
    return _method("Lobatto IIIC", stages, 2, _by_fixed_first_column, HAIRER + "II.1.4; Chipman (1971)")


@checked
@cache
def lobatto_pair(stages: LobattoStages) -> PartitionedTableau:
    r"""Lobatto IIIA for the positions with IIIB for the momenta: order $2s-2$, symplectic and symmetric.

    With two stages it is the Stormer-Verlet scheme
    $p_{1/2} = p_0 - \tfrac h2 H_q(q_0, p_{1/2})$,
    $q_1 = q_0 + \tfrac h2 (H_p(q_0, p_{1/2}) + H_p(q_1, p_{1/2}))$,
    $p_1 = p_{1/2} - \tfrac h2 H_q(q_1, p_{1/2})$.
    """
    return PartitionedTableau(
        f"Lobatto IIIA-IIIB ({stages} stages)",
        position=lobatto_iiia(stages),
        momentum=lobatto_iiib(stages),
        order=2 * stages - 2,
        reference=HAIRER + "theorem II.2.2; Sun, J. Comput. Math. 11 (1993) 365-372",
    )


@cache
def sun_geng5() -> ButcherTableau:
    r"""Symplectic method of order 5: the mean of Radau IIA with three stages and its symplectic adjoint.

    $$ a_{ij} = \tfrac12 \Bigl( \bar a_{ij} + b_j - \frac{b_j \bar a_{ji}}{b_i} \Bigr). $$

    It is symplectic for any $\bar a$, and not symmetric here.
    """
    radau = radau_iia(3)
    mirror = symplectic_adjoint(radau)
    rows = zip(radau.A, mirror.A, strict=True)
    with working_precision():
        mean = [[(x + y) / 2 for x, y in zip(*row, strict=True)] for row in rows]
    return ButcherTableau(
        "Sun-Geng 5", mean, radau.b, order=5, reference="Sun, J. Comput. Math. 11 (1993) 250-260"
    )
