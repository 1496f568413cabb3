"""Orders 8 to 16, measured on a ladder of step sizes in 70 digits, where doubles would only show round-off.

The problem is nonlinear and not separable, H = p^2/2 - cos(q) (1 - p/6). The stage equations are solved by
plain fixed-point iteration on the stored decimals, so that no stepper of the package is involved.
"""

from functools import reduce
from itertools import pairwise

import mpmath
import pytest
from mpmath import mpf

from poinsot.integrators._digits import DIGITS
from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators.coefficients import gauss, lobatto_pair, radau_iia

START, END = ("0.8", "0.5"), mpf(1)
STEPS = (6, 12, 24)


@pytest.fixture(autouse=True)
def working_digits():
    with mpmath.workdps(70):
        yield


def field(q, p):
    """The Hamiltonian vector field $(H_p, -H_q)$."""
    sin, cos = mpmath.sin(q), mpmath.cos(q)
    return p + cos / 6, -sin * (1 - p / 6)


def rows(tableau: ButcherTableau):
    return [[mpf(str(a)) for a in row] for row in (*tableau.A, tableau.b)]


def step(for_q, for_p, h, q, p):
    """One step by fixed-point iteration; the last row of each matrix, the weights, gives the new value."""
    slopes = [field(q, p)] * (len(for_q) - 1)
    while True:
        *stages, new = [
            (
                q + h * mpmath.fdot(left, [k[0] for k in slopes]),
                p + h * mpmath.fdot(right, [k[1] for k in slopes]),
            )
            for left, right in zip(for_q, for_p, strict=True)
        ]
        before, slopes = slopes, [field(*stage) for stage in stages]
        change = max(abs(x[i] - y[i]) for x, y in zip(slopes, before, strict=True) for i in (0, 1))
        if change < mpf(10) ** -62:
            return new


def solve(position: ButcherTableau, momentum: ButcherTableau, steps: int):
    q, p = map(mpf, START)
    for_q, for_p = rows(position), rows(momentum)
    for _ in range(steps):
        q, p = step(for_q, for_p, END / steps, q, p)
    return q, p


def taylor(steps: int, degree: int = 60):
    """Integrate to END by Taylor series, with the recurrences of sin q and cos q."""
    h, (q, p) = END / steps, map(mpf, START)
    for _ in range(steps):
        Q, P, S, C = [q], [p], [mpmath.sin(q)], [mpmath.cos(q)]
        for n in range(degree):
            torque = mpmath.fdot(S, P[::-1]) / 6 - S[n]
            Q.append((P[n] + C[n] / 6) / (n + 1))
            P.append(torque / (n + 1))
            speed = [k * Q[k] for k in range(n + 1, 0, -1)]
            S, C = (
                [*S, mpmath.fdot(C, speed) / (n + 1)],
                [*C, -mpmath.fdot(S, speed) / (n + 1)],
            )
        q, p = (reduce(lambda total, term: total * h + term, reversed(series)) for series in (Q, P))
    return q, p


@pytest.fixture(scope="module")
def exact():
    with mpmath.workdps(70):
        solution, check = taylor(16), taylor(20)
        assert max(abs(x - y) for x, y in zip(solution, check, strict=True)) < mpf(10) ** -60
        return solution


def slopes(position: ButcherTableau, momentum: ButcherTableau, exact) -> list[float]:
    errors = []
    for steps in STEPS:
        q, p = solve(position, momentum, steps)
        errors.append(abs(q - exact[0]) + abs(p - exact[1]))
    assert errors[-1] > mpf(10) ** (10 - DIGITS), "the error must be that of the method"
    return [float(mpmath.log(x / y, 2)) for x, y in pairwise(errors)]


@pytest.mark.parametrize("stages", [5, 6, 7, 8])
def test_gauss_has_order_ten_to_sixteen(stages, exact):
    measured = slopes(gauss(stages), gauss(stages), exact)
    assert measured == pytest.approx([2 * stages] * 2, abs=0.15)


def test_radau_has_order_nine(exact):
    assert slopes(radau_iia(5), radau_iia(5), exact) == pytest.approx([9, 9], abs=0.15)


@pytest.mark.parametrize("stages", [5, 6])
def test_lobatto_pair_has_the_order_its_conditions_promise(stages, exact):
    pair = lobatto_pair(stages)
    assert slopes(pair.position, pair.momentum, exact) == pytest.approx([pair.order] * 2, abs=0.15)


def test_coefficients_rounded_to_doubles_lose_the_order(exact):
    """The control: the same ladder on doubles stalls at their round-off."""
    tableau = gauss(6)
    A, b = tableau.A_hi.tolist(), tableau.b_hi.tolist()
    rounded = ButcherTableau("rounded Gauss", A, b, order=12)
    assert slopes(rounded, rounded, exact)[-1] < 2.0
