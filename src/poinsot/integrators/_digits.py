"""Coefficients kept to 50 decimal digits, and their split into pairs of doubles.

A coefficient of a method is stored as a `decimal.Decimal` of 50 significant digits: immutable, hashable, its
value independent of any global precision. Doubles are made from it at the very end, so that they are right to
the last bit.
"""

from collections.abc import Iterable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from numbers import Rational, Real
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poinsot.core import InputError, quoted

DIGITS = 50
"""Significant digits of a stored coefficient."""

EXACT_TOLERANCE = 1e-35
"""Residual allowed in an algebraic condition when every coefficient is known to 40 digits or more."""

FLOAT_TOLERANCE = 1e-14
"""Residual allowed when a coefficient was given as a double."""


@runtime_checkable
class BinaryFloat(Protocol):
    """A real number of `mpmath`, recognised by its exact binary value without importing `mpmath`."""

    @property
    def _mpf_(self) -> tuple[int, int, int, int]: ...


Coefficient = int | float | str | Rational | Decimal | BinaryFloat
"""What a user may write for a coefficient: `1`, `0.5`, `"1/6"`, `"0.1234..."`, `Fraction(1, 6)`, an `mpf`."""


def working_precision():
    """Context manager for arithmetic with ten digits more than are stored."""
    return localcontext(Context(prec=DIGITS + 10))


def _to_fraction(value: Coefficient) -> Fraction:
    if isinstance(value, str | Decimal | Rational):
        return Fraction(value)
    if isinstance(value, BinaryFloat):
        from mpmath import isfinite
        from mpmath.libmp import to_rational

        if not isfinite(value):
            raise ValueError("infinite or not a number")
        return Fraction(*map(int, to_rational(value._mpf_)))
    return Fraction(float(value))


def to_decimal(value: Coefficient, field: str) -> Decimal:
    """Round a coefficient to 50 significant digits.

    Args:
        value: The coefficient; a double or an `mpf` is taken at its exact binary value.
        field: What to call it in an error message.

    Raises:
        InputError: If it is not a finite number.
    """
    try:
        exact = _to_fraction(value)
    except (ValueError, TypeError, AttributeError, OverflowError, ZeroDivisionError) as error:
        raise InputError(
            f"{field} = {quoted(value)} is not a finite number; "
            'give an int, a float, a Fraction, an mpf or a string such as "1/6" or "0.25"'
        ) from error
    return Context(prec=DIGITS).divide(Decimal(exact.numerator), Decimal(exact.denominator))


def is_float(value: Coefficient) -> bool:
    """Whether a coefficient carries only the 16 digits of a double."""
    # An mpf calls itself a Real too, but it has as many digits as its maker gave it.
    return isinstance(value, Real) and not isinstance(value, Rational | BinaryFloat)


def doubles(values: Iterable[Decimal]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Split decimals into the nearest doubles and the doubles nearest to what is left.

    $$ x_{hi} = \mathrm{fl}(x), \qquad x_{lo} = \mathrm{fl}(x - x_{hi}), $$

    so that `hi + lo`, unevaluated, carries about 32 digits. Both arrays are read-only.
    """
    exact = [Fraction(value) for value in values]
    hi = np.array([float(x) for x in exact], dtype=np.float64)
    lo = np.array([float(x - Fraction(float(h))) for x, h in zip(exact, hi, strict=True)], dtype=np.float64)
    hi.flags.writeable = lo.flags.writeable = False
    return hi, lo
