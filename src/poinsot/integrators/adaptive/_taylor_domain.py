"""Where a right-hand side is defined: a Taylor series asks it at the start of every step alone."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

SAMPLES = 8
"""Points of a step, its end included, at which the right-hand side must be finite."""
BISECTIONS = 52
"""Halvings of the interval between two such points: down to round-off."""

NOT_BELOW_ZERO = frozenset({"sqrt", "rsqrt", "pow", "log"})
"""Functions that are defined wherever their argument is not negative."""
OF_AN_INTERVAL = frozenset({"asin", "acos", "acosh", "atanh", "log1p"})
"""Functions that are defined on another interval."""


class Definedness:
    """Whether operations, put together one after the other, are defined for all arguments.

    They are if they contain no number that is not finite, and no function of a bounded domain but of sums,
    products and powers that cannot be negative. Poles do not count: a series comes to no end near one.
    """

    def __init__(self):
        self.everywhere = True
        # By identity, since expressions are not compared; they are kept, so that no other takes their place.
        self._never_negative: dict[int, Any] = {}

    def constant(self, value: float) -> None:
        """Take note of a number."""
        self.everywhere &= bool(np.isfinite(value))

    def operation(self, name: str, operands: Sequence[Any], exponent: int | None, result: Any) -> None:
        """Take note of an operation."""
        known = [self._cannot_be_negative(operand) for operand in operands]
        if name in OF_AN_INTERVAL or (name in NOT_BELOW_ZERO and not known[0]):
            self.everywhere = False
        square = name == "square" or (name == "mul" and operands[0] is operands[1])
        even = exponent is not None and exponent % 2 == 0
        kept = name in {"add", "add_any", "mul", "div", "integer_pow", "select_n"} and all(known[-2:])
        if square or even or kept or name in {"exp", "cosh", "sqrt", "rsqrt", "pow"}:
            self._never_negative[id(result)] = result

    def _cannot_be_negative(self, operand: Any) -> bool:
        if isinstance(operand, (float, int, np.generic, np.ndarray)):
            return bool(np.asarray(operand) >= 0.0)
        return id(operand) in self._never_negative


def first_undefined(rates: Callable, times: np.ndarray, motion: Callable) -> tuple[int, float] | None:
    """Step in which the right-hand side first ceases to be finite, and the last time before, or None.

    Args:
        rates: the right-hand side at times `(k,)` and states `(k, n)`.
        times: start and ends of the steps.
        motion: states at times.
    """
    fractions = np.arange(1, SAMPLES + 1) / SAMPLES
    points = (times[:-1, None] + fractions * np.diff(times)[:, None]).reshape(-1)
    undefined = np.flatnonzero(~_finite(rates, motion, points))
    if not len(undefined):
        return None
    place = int(undefined[0])
    good, bad = np.append(times[0], points)[place : place + 2]
    for _ in range(BISECTIONS):
        middle = 0.5 * (good + bad)
        if _finite(rates, motion, np.array([middle]))[0]:
            good = middle
        else:
            bad = middle
    return place // SAMPLES, float(good)


def _finite(rates: Callable, motion: Callable, times: np.ndarray) -> np.ndarray:
    return np.all(np.isfinite(rates(times, motion(times))), axis=1)
