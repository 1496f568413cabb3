"""Elementary functions in basic operations, by the names of their JAX primitives.

Each is a function of float64 scalars whose trace holds only elementwise arithmetic of numbers and integers,
comparisons, selections and (in the trigonometric functions, for arguments beyond 1e5) one `lax.cond` with a
small table. Evaluated in strict IEEE arithmetic, without contraction, it gives the same bits everywhere.
Errors are below one unit in the last place, and below two for powers, hyperbolic functions, their inverses,
the logistic function and the error function.
"""

from collections.abc import Callable

from poinsot.kernels.native._error_function import erf
from poinsot.kernels.native._exponential import exp, exp2, expm1
from poinsot.kernels.native._hyperbolic import acosh, asinh, atanh, cosh, logistic, sinh, tanh
from poinsot.kernels.native._inverse_trigonometric import acos, asin, atan, atan2
from poinsot.kernels.native._logarithm import log, log1p
from poinsot.kernels.native._power import cbrt, pow
from poinsot.kernels.native._trigonometric import cos, sin, sincos, tan

__all__ = ["ELEMENTARY", "sincos"]

ELEMENTARY: dict[str, Callable] = {
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "atan2": atan2,
    "cbrt": cbrt,
    "pow": pow,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "logistic": logistic,
    "erf": erf,
}
"""From the name of a JAX primitive to its function of float64 scalars."""
