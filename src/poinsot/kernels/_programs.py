"""Compiled functions, kept by what they are made of and found before anything is traced.

The key of a program is the function, the structure of its arguments (types, static fields, shapes, which
numbers are zeros that the code leaves out), the sources of this package, and what users' functions compute.
Numbers are data. Native programs are kept between processes as well; what XLA compiles is kept by JAX.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import equinox as eqx
import jax
import numpy as np

from poinsot.kernels._apart import Apart
from poinsot.kernels._compile_time import compilation
from poinsot.kernels._components import OutsideError
from poinsot.kernels._found import Given, Remembered, found, place_of

F = TypeVar("F", bound=Callable)
Tree = TypeVar("Tree")
Made = TypeVar("Made")


class Fitted(NamedTuple):
    """A native program and the arrays of a model for it."""

    program: Any
    model: list[np.ndarray]

    def bound(self) -> Any:
        """As a function of grid and run."""
        return self.program.bound(self.model)

    @property
    def width(self) -> int:
        """Runs side by side."""
        return self.program.width

    def of_rows(self) -> Any:
        """As a function of grid and of many runs, which are rows of arrays."""
        return self.program.of_rows(self.model)

    def block(self, grid: Any) -> Any:
        """What all runs share, in memory."""
        return self.program.block(self.model, grid)


_native = Remembered()
_plain = Remembered()
_values = Remembered()
_with_numbers = Remembered(64)
_made = [0]


def programs_made() -> int:
    """Number of native programs that this process has traced and written, or tried to."""
    return _made[0]


def native(function: Callable, trees: Sequence[Any], options: tuple[int | None, bool, int, bool]) -> Fitted:
    """The native program for a function of model, grid and run, made when it is first asked for.

    Args:
        function: what is compiled.
        trees: model, grid and run.
        options: width, fast, effort and rows, see `NativeProgram`.

    Raises:
        NotNative: it cannot be native code.
    """
    from poinsot.kernels.native import NativeProgram, NotNative, frozen, target, trace_of

    model = trees[0] if isinstance(trees[0], Apart) else Apart.of(trees[0])
    numbers = [np.asarray(leaf) for leaf in model.arrays]
    known = [frozen(leaf, one) for leaf, one in zip(numbers, model.measured, strict=True)]
    zeros = [(which, leaf[which]) for leaf, which in zip(numbers, known, strict=True)]
    given = Given([model, *trees[1:]], function, options, target(), zeros)

    def make(parts: list[Apart], key: str | None) -> Any:
        data = _numbers(parts)
        leaves = [[*numbers, *data], *([np.asarray(leaf) for leaf in part.arrays] for part in parts[1:])]
        kept = _read(key, leaves)
        if kept is not None:
            return kept
        width, fast, effort, rows = options
        _made[0] += 1
        try:
            with compilation():
                trace = trace_of(_whole(function, parts, len(data)), *leaves)
                # What has no name is found by its trace, so that at least no code is written.
                name = key or place_of("trace", trace.jaxpr, trace.result, zeros, target(), options)
                program = None if key or name is None else _native.get(name) or _read(name, leaves)
                if program is None:
                    program = NativeProgram(
                        trace,
                        width=width,
                        fast=fast,
                        effort=effort,
                        rows=rows,
                        known=[*known, *(np.zeros(np.shape(one), dtype=bool) for one in data)],
                    )
        except (NotNative, OutsideError) as error:
            name, program = key, NotNative(str(error))
        _write(name, parts, program)
        if key is None and name is not None:
            _native[name] = program
        return program

    value, parts = found(given, _native, make)
    if isinstance(value, Exception):
        raise value
    return Fitted(value, [*numbers, *map(np.asarray, _numbers(parts))])


def _numbers(parts: Sequence[Apart]) -> list[Any]:
    """Numbers in the users' functions of arguments."""
    return [number for part in parts for number in part.numbers]


def _whole(function: Callable, parts: Sequence[Apart], count: int) -> Callable:
    """The function of lists of arrays; so many numbers of users' functions follow those of the model."""

    def whole(model, *others):
        own, left = model[: len(model) - count], iter(model[len(model) - count :])
        given = [
            part.whole(arrays, [next(left) for _ in part.numbers])
            for part, arrays in zip(parts, (own, *others), strict=True)
        ]
        return function(*given)

    return whole


def _read(key: str | None, leaves: Sequence[Sequence[np.ndarray]]) -> Any | None:
    """The program of another process, or why there is none."""
    from poinsot.kernels.native import NativeProgram, NotNative, kept

    told = None if key is None else kept.get(f"program-{key}")
    if told is None:
        return None
    try:
        return NotNative(told["refused"]) if "refused" in told else NativeProgram.of_told(told, leaves)
    except (KeyError, TypeError, ValueError, zlib.error):
        return None  # Something else stands there.


def _write(key: str | None, parts: Sequence[Apart], program: Any) -> None:
    """Keep a program for other processes, if they find it under the same name."""
    from poinsot.kernels.native import kept

    if key is not None and all(
        trace.kept for part in parts for one in part.snapshots for trace in one.traces
    ):
        kept.put(
            f"program-{key}", {"refused": str(program)} if isinstance(program, Exception) else program.told
        )


def plain(
    function: Callable, trees: Sequence[Any], options: Any = None, jit: Any = jax.jit
) -> tuple[Any, Any]:
    """The function compiled by XLA, and the arrays of its arguments to call it with.

    Args:
        function: what is compiled.
        trees: its arguments.
        options: of the compiler.
        jit: what compiles it; `eqx.filter_jit` where results are not arrays alone.
    """
    given = Given(trees, function, jit is jax.jit, options)

    def lists(parts: list[Apart]) -> list[list[Any]]:
        first, *others = parts
        return [[*first.arrays, *_numbers(parts)], *(part.arrays for part in others)]

    def make(parts: list[Apart], key: str | None) -> Any:
        whole = _whole(function, parts, len(_numbers(parts)))
        if given.users:
            # To see how they are called, before what is compiled of it is kept.
            eqx.filter_eval_shape(whole, *lists(parts))
        return jit(whole, **({} if options is None else {"compiler_options": options}))

    program, parts = found(given, _plain, make)
    return program, lists(parts)


def jitted(function: F, options: Any = None) -> F:
    """A function compiled by XLA for each structure of its arguments, users' functions as they are now."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        program, arrays = plain(_Spread(function), [(arguments, named)], options, eqx.filter_jit)
        return program(*arrays)

    return cast(F, call)


@dataclass(frozen=True)
class _Spread:
    """A function of its arguments in one tree."""

    function: Callable

    def __call__(self, given: tuple[tuple, dict]) -> Any:
        return self.function(*given[0], **given[1])


def traced(function: Callable, given: tuple) -> tuple[Any, Any, list[Any]]:
    """The trace of a function, found once for each structure of its arguments.

    Returns:
        The trace, the structure of the results, and the arrays to evaluate it with.
    """

    def make(parts: list[Apart], key: str | None) -> tuple[Any, Any]:
        whole = _whole(_Spread(function), parts, len(parts[0].numbers))
        trace = jax.make_jaxpr(lambda *arrays: whole(arrays), return_shape=True)
        jaxpr, shapes = trace(*parts[0].arrays, *parts[0].numbers)
        return jaxpr, jax.tree.structure(shapes)

    (jaxpr, structure), parts = found(Given([(given, {})], function, "trace"), _values, make)
    return jaxpr, structure, [*parts[0].arrays, *parts[0].numbers]


def with_numbers(make: Callable[[Tree], Made], tree: Tree) -> Made:
    """What is made of a tree with the numbers in it, found once for each."""

    def made(parts: list[Apart], key: str | None) -> Made:
        return make(parts[0].whole(parts[0].arrays, parts[0].numbers))

    given = Given([tree], make, numbers=True)
    # What is made may be traced later: nothing is known then of a function that has not been called yet.
    known = _with_numbers if all(one.calls.kinds for one in given.users) else Remembered()
    return found(given, known, made)[0]


def remembered(function: Callable, *trees: Any) -> Any:
    """The value of a function that looks at the structure of its arguments alone, found once for each.

    Args:
        function: must not depend on the numbers in the arrays.
        trees: its arguments.
    """

    def make(parts: list[Apart], key: str | None) -> Any:
        return function(*(part.whole(part.arrays, part.numbers) for part in parts))

    return found(Given(trees, function), _values, make)[0]
