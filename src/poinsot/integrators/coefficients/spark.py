r"""Coefficients of partitioned methods that take forces and constraints at nodes of their own.

With inner nodes $c_i$ and weights $b_i$ for the motion, and outer nodes $\tilde c_j$ and weights
$\tilde b_j$ for the constraints, both of quadratures on $[0, 1]$,

$$ \begin{aligned}
   a_{ij} &= \int_0^{c_i} \ell_j, & \hat a_{ij} &= b_j - \frac{b_j a_{ji}}{b_i}, \\
   \bar a_{ij} &= \int_0^{\tilde c_i} \ell_j, &
   \tilde a_{ij} &= \tilde b_j - \frac{\tilde b_j \bar a_{ji}}{b_i}
   \end{aligned} $$

where $\ell_j$ are the Lagrange polynomials of the inner nodes. The matrices on the right
make the method symplectic.

Reference: Jay, SIAM J. Numer. Anal. 33 (1996) 368-387; Jay, SIAM J. Numer. Anal. 45 (2007) 1814-1842.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .._tableau import ButcherTableau
from .collocation import gauss, lobatto_iiia

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SparkCoefficients:
    """What a method with inner and outer nodes needs, as doubles."""

    name: str
    order: int
    reference: str
    nodes: Matrix
    """Inner nodes $c$."""
    weights: Matrix
    positions: Matrix
    r"""Matrix $a$: inner positions of inner rates."""
    momenta: Matrix
    r"""Matrix $\hat a$: inner momenta of inner forces."""
    outer_nodes: Matrix
    r"""Outer nodes $\tilde c$, the first 0 and the last 1."""
    outer_weights: Matrix
    outer_positions: Matrix
    r"""Matrix $\bar a$: outer positions of inner rates; its first row is zero, its last one $b$."""
    outer_momenta: Matrix
    r"""Matrix $\tilde a$: inner momenta of constraint forces; its last column is zero."""

    @property
    def mobility(self) -> Matrix:
        r"""Matrix $\bar a \tilde a$, less what vanishes: how far constraint forces move outer positions."""
        return (self.outer_positions @ self.outer_momenta)[1:, :-1]


def _coefficients(
    name: str, inner: ButcherTableau, outer: ButcherTableau, reference: str
) -> SparkCoefficients:
    from mpmath import MPContext

    mp = MPContext()
    mp.dps = 60
    c, b = ([mp.mpf(str(x)) for x in part] for part in (inner.c, inner.b))
    outer_c, outer_b = ([mp.mpf(str(x)) for x in part] for part in (outer.c, outer.b))
    stages = range(len(c))
    powers = mp.matrix([[x**k for k in stages] for x in c])

    def integrals(nodes):
        return mp.matrix([[x ** (k + 1) / (k + 1) for k in stages] for x in nodes]) * powers**-1

    def adjoint(matrix, weights):
        return [[w * (1 - matrix[j, i] / b[i]) for j, w in enumerate(weights)] for i in stages]

    def rounded(rows):
        return np.array([[float(x) if abs(x) > 1e-40 else 0.0 for x in row] for row in rows])

    a, a_outer = integrals(c), integrals(outer_c)
    return SparkCoefficients(
        name,
        inner.order,
        reference,
        inner.c_hi,
        inner.b_hi,
        rounded(a.tolist()),
        rounded(adjoint(a, b)),
        outer.c_hi,
        outer.b_hi,
        rounded(a_outer.tolist()),
        rounded(adjoint(a_outer, outer_b)),
    )


@cache
def gauss_lobatto(stages: int) -> SparkCoefficients:
    r"""Motion at `stages` Gauss nodes, constraints at one more Lobatto node: order $2s$.

    One stage is the midpoint rule with constraint forces at both ends of the step.
    """
    return _coefficients(
        f"Gauss-Lobatto SPARK ({stages} and {stages + 1} nodes)",
        gauss(stages),
        lobatto_iiia(stages + 1),
        "Jay, SIAM J. Numer. Anal. 45 (2007) 1814-1842",
    )


@cache
def lobatto_lobatto(stages: int) -> SparkCoefficients:
    r"""Motion and constraints at the same Lobatto nodes, the IIIA-IIIB pair: order $2s - 2$.

    Two stages are RATTLE.
    """
    tableau = lobatto_iiia(stages)
    return _coefficients(
        f"constrained Lobatto IIIA-IIIB ({stages} nodes)",
        tableau,
        tableau,
        "Jay, SIAM J. Numer. Anal. 33 (1996) 368-387; Hairer, Lubich, Wanner (2006), VII.1.4",
    )
