"""Random traced programs, and what JAX makes of each of their operations.

A program returns all its intermediate values. So each operation is compared by itself: JAX computes it alone,
not compiled with others, of the values that native code has found for its operands. Errors do not add up,
nothing is chaotic, and what XLA does to whole programs is not part of the comparison: it reorders sums,
contracts products, leaves out `+ 0`.

Known faults of XLA are left out too:

- it takes numbers below 2.2e-308 for zero, as operands and as results;
- a compiled division of constant integers by zero stops the process (here operands are arguments).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
from jax import lax
from jax.core import Tracer
from native_cases import in_lanes, one_by_one, users
from test_elementary_functions import BOUNDS, EXACT, ulps

RUNS = 4
TINY, HUGE = np.finfo(float).tiny, np.finfo(float).max
REALS = [1e-3, 1e19, -3e9, 1e300, -1e300, HUGE, 1e-160, 1e-10]
REALS += [700.0, 4503599627370497.0]
ORDINARY = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 3.0, np.inf, -np.inf, np.nan, 0.3, -0.7, 6.5, -20.0]
"""For loops and derivatives, where operations within others might meet numbers that XLA takes for zero."""
WHOLE = [0, 1, -1, 2, 3, -3, 7, 31, 32, 63, 64, -64, 100, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
SHAPES = (), (3,), (3, 2), (2, 3), (6,)
"""Of results that further operations take."""
DTYPES = {"real": np.float64, "long": np.int64, "short": np.int32, "truth": np.bool_}
REORDERED = 1.0
"""By how many units of round-off of the sum of its terms, times their number, a sum may differ."""
EXACT = EXACT | {"atan2": mpmath.atan2, "pow": mpmath.power}


class Step(NamedTuple):
    """An operation of a program."""

    name: str
    apply: Callable
    operands: tuple[int, ...]
    """Places of its operands among all values before it."""
    function: str = ""
    """An elementary function: ordinary values are compared with mpmath, since XLA errs more than we do."""
    size: Callable | None = None
    """Of the operands: the size of the terms of a sum, which XLA adds in another order."""
    signs: bool = True
    """Whether zeros have the same signs."""


class Missing(Exception):
    """There is no value of a type and shape that an operation takes."""


class Program:
    """Arrays, some of them constants, and operations on them and on what came before.

    Args:
        rng: random numbers.
        shapes: shapes of arrays that are given.
        constants: share of the given arrays that are constants of the trace.
        extreme: whether very large and very small numbers are among those given.
    """

    def __init__(
        self, rng: np.random.Generator, shapes: Sequence[tuple[int, ...]], constants: float, *, extreme: bool
    ):
        self.rng, self.shapes = rng, shapes
        self.reals = np.array([*ORDINARY, *REALS] if extreme else ORDINARY)
        self.steps: list[Step] = []
        self.compared = RUNS if extreme else RUNS // 2
        """Runs of which JAX computes each operation; what takes long is done for fewer."""
        self.given: list[np.ndarray] = []
        self.is_constant: list[bool] = []
        for shape in shapes:
            for dtype in DTYPES.values():
                for _ in range(2):
                    # The first one is what the runs differ in.
                    self.is_constant.append(bool(self.given and rng.random() < constants))
                    self.given.append(np.stack([self.numbers(dtype, shape) for _ in range(RUNS)]))
        self.avals: list[tuple[Any, Any]] = [(one.shape[1:], one.dtype) for one in self.given]

    def numbers(self, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Special numbers, and ordinary ones."""
        rng, dtype = self.rng, np.dtype(dtype)
        if dtype.kind == "b":
            return rng.random(shape) < 0.5
        special = rng.choice(self.reals if dtype.kind == "f" else np.array(WHOLE), shape)
        if dtype.kind == "f":
            return np.where(rng.random(shape) < 0.4, rng.normal(size=shape), special)
        return np.where(rng.random(shape) < 0.4, rng.integers(-9, 9, shape), special).astype(dtype)

    def pick(self, dtype: Any = None, shape: Any = None) -> int:
        """A value of a type and shape, rather one of the last."""
        fitting = [
            k
            for k, (its_shape, its_dtype) in enumerate(self.avals)
            if its_shape is not None
            and (dtype is None or its_dtype == dtype)
            and (shape is None or its_shape == shape)
        ]
        if not fitting:
            raise Missing
        late = self.rng.random() < 0.6
        return int(self.rng.choice(fitting[-6:] if late else fitting))

    def add(self, step: Step) -> None:
        """Add an operation, whose result further ones may use."""
        shapes = [jax.ShapeDtypeStruct(*self.avals[k]) for k in step.operands]
        result = jax.eval_shape(step.apply, *shapes)
        if result.dtype in DTYPES.values():
            self.steps.append(step)
            # Few shapes: each new one costs a compilation of all that is done to it.
            again = result.shape in self.shapes or result.shape in SHAPES
            self.avals.append((result.shape, result.dtype) if again else (None, None))

    def function(self, *arrays: Any) -> list[Any]:
        """All results, of the arrays that are no constants."""
        rest = iter(arrays)
        # Constants are the same in all runs. JAX itself would convert single ones while it traces.
        values = [
            lax.squeeze(jnp.asarray(one[:1]), (0,)) if constant else next(rest)
            for one, constant in zip(self.given, self.is_constant, strict=True)
        ]
        for step in self.steps:
            values.append(step.apply(*(values[k] for k in step.operands)))
        return values[len(self.given) :]

    def wrong(self, *, lanes: bool) -> list[str]:
        """What native code computes otherwise than JAX."""
        runs = tuple(one for one, constant in zip(self.given, self.is_constant, strict=True) if not constant)
        found = (partial(in_lanes, width=RUNS) if lanes else one_by_one)(users(self.function), runs)
        said = []
        for run in range(self.compared):
            given = [one[0 if c else run] for one, c in zip(self.given, self.is_constant, strict=True)]
            values = [*given, *(one[run] for one in found)]
            for k, step in enumerate(self.steps):
                operands = [values[place] for place in step.operands]
                if any(map(is_subnormal, operands)):
                    continue
                UNDERFLOWN.clear()
                with jax.disable_jit():
                    wanted = np.asarray(step.apply(*map(jnp.asarray, operands)))
                if not UNDERFLOWN and not agree(step, operands, values[len(given) + k], wanted):
                    said.append(f"{step.name} of {operands}: {values[len(given) + k]!r}, JAX {wanted!r}")
        return said


UNDERFLOWN: list[str] = []
"""Operations within an operation whose results XLA has taken for zero."""


def is_subnormal(x: np.ndarray) -> bool:
    return x.dtype.kind == "f" and bool(np.any((x != 0.0) & (np.abs(x) < TINY)))


def noted(name: str, operands: Sequence[Any], result: Any) -> Any:
    """A result, after a look whether it is zero because XLA has made it so."""
    if not isinstance(result, Tracer):
        whole = np.all([np.asarray(one) != 0.0 for one in operands], axis=0)
        if np.any(whole & (np.asarray(result) == 0.0) & np.isfinite(np.asarray(operands[-1]))):
            UNDERFLOWN.append(name)
    return result


def agree(step: Step, operands: Sequence[np.ndarray], found: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether a result is that of JAX, as far as its operation promises."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if found.dtype.kind != "f":
        return np.array_equal(found, wanted)
    if not np.array_equal(np.isnan(found), np.isnan(wanted)):
        return False
    ordinary = ~np.isnan(found)
    f, w = found[ordinary], wanted[ordinary]
    close = (f == w) | ((np.abs(f) <= 1.001 * TINY) & (np.abs(w) <= 1.001 * TINY))
    if step.function:
        close[~close] = accurate(step.function, *(one[ordinary][~close] for one in operands), f[~close])
    elif step.size is not None:
        with np.errstate(all="ignore"):
            size = np.broadcast_to(step.size(*operands), wanted.shape)[ordinary]
            close |= (np.abs(f - w) <= REORDERED * np.finfo(float).eps * size) | ~np.isfinite(size)
    signed = (np.signbit(f) == np.signbit(w)) | (not step.signs)
    return bool(np.all(close & (signed | ((f != 0.0) & (w != 0.0)))))


def accurate(name: str, *operands_and_results: np.ndarray) -> np.ndarray:
    """Where results of an elementary function are within its bound of the exact ones."""
    right = np.zeros(operands_and_results[0].shape, dtype=bool)
    for k, (*operands, found) in enumerate(zip(*operands_and_results, strict=True)):
        if np.all(np.isfinite(operands)):
            with mpmath.workdps(50):
                right[k] = (
                    ulps(found, EXACT[name](*[mpmath.mpf(float(one)) for one in operands])) <= BOUNDS[name]
                )
    return right
