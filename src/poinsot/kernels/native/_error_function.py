"""The error function in basic operations."""

from poinsot.kernels.native._arithmetic import Real, polynomial, select, with_sign_of
from poinsot.kernels.native._exponential import exp

# Minimax polynomial for erf(x) / x - 1 in x**2 < 1.0001, relative error of erf below 2e-17.
_INNER = (
    0.12837916709551256,
    -0.37612638903183343,
    0.11283791670936949,
    -0.02686617064195867,
    0.005223977596729535,
    -0.0008548325484566012,
    0.00012055280479585475,
    -1.4924465233065722e-05,
    1.6444144541930034e-06,
    -1.618393720140068e-07,
    1.3616432199001939e-08,
    -7.607251935247458e-10,
)
# Minimax polynomial for exp(x**2) erfc(x) on 1 <= x <= 6 in 1 / (x + 2) - _CENTRE, error of erf below 6e-19.
_CENTRE = 0.22916666666666666
_OUTER = (
    0.22142954022993165,
    1.5541782531938509,
    3.553742170387198,
    4.944626961705168,
    1.674394826518594,
    -6.587575402435066,
    -5.745860838230693,
    14.875455353484545,
    11.79921974940705,
    -48.63651702866185,
    -2.6911761614422384,
    164.65264769204404,
    -212.13790334502187,
)


def erf(x: Real) -> Real:
    """Return the error function: a polynomial up to 1, then 1 - exp(-x**2) times one of 1 / (|x| + 2)."""
    size = abs(x)
    outer = size > 1.0
    inner = select(outer, 1.0, size)
    small = inner + inner * polynomial(_INNER, inner * inner)
    # From 6 on the result is 1.
    size = select(size > 6.0, 6.0, size)
    large = 1.0 - exp(-(size * size)) * polynomial(_OUTER, 1.0 / (size + 2.0) - _CENTRE)
    return with_sign_of(select(outer, large, small), x)
