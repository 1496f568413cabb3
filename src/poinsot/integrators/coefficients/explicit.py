r"""Classical explicit Runge-Kutta methods; every coefficient is a fraction.

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), II.1 and II.5.
"""

from functools import cache

from .._tableau import ButcherTableau


@cache
def explicit_euler() -> ButcherTableau:
    r"""The explicit Euler method $y_1 = y_0 + h f(y_0)$."""
    return ButcherTableau("explicit Euler", [[0]], [1], order=1, reference="Euler (1768)")


@cache
def heun() -> ButcherTableau:
    r"""Heun's method of order 2 in the sense of the explicit trapezoidal rule.

    $$ y_1 = y_0 + \tfrac h2 \bigl( f(y_0) + f(y_0 + h f(y_0)) \bigr). $$

    Some authors give Heun's name to the method with $c_2 = 2/3$, or to one of order 3; this is neither.
    """
    return ButcherTableau(
        "Heun", [[0, 0], [1, 0]], ["1/2", "1/2"], [0, 1], order=2, reference="Heun, Z. Math. Phys. 45 (1900)"
    )


@cache
def rk4() -> ButcherTableau:
    r"""The classical Runge-Kutta method of order 4, with weights (1, 2, 2, 1)/6."""
    return ButcherTableau(
        "RK4",
        [[0, 0, 0, 0], ["1/2", 0, 0, 0], [0, "1/2", 0, 0], [0, 0, 1, 0]],
        ["1/6", "1/3", "1/3", "1/6"],
        [0, "1/2", "1/2", 1],
        order=4,
        reference="Kutta, Z. Math. Phys. 46 (1901)",
    )


@cache
def dormand_prince5() -> ButcherTableau:
    r"""The Dormand-Prince method with its weights of order 5.

    The seventh stage only serves the embedded estimate and the first stage of the next step; its weight is
    zero, and it is left out.
    """
    return ButcherTableau(
        "Dormand-Prince 5",
        [
            [0, 0, 0, 0, 0, 0],
            ["1/5", 0, 0, 0, 0, 0],
            ["3/40", "9/40", 0, 0, 0, 0],
            ["44/45", "-56/15", "32/9", 0, 0, 0],
            ["19372/6561", "-25360/2187", "64448/6561", "-212/729", 0, 0],
            ["9017/3168", "-355/33", "46732/5247", "49/176", "-5103/18656", 0],
        ],
        ["35/384", 0, "500/1113", "125/192", "-2187/6784", "11/84"],
        [0, "1/5", "3/10", "4/5", "8/9", 1],
        order=5,
        reference="Dormand, Prince, J. Comput. Appl. Math. 6 (1980), table 2, RK5(4)7M",
    )
