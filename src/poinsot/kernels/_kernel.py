"""Which kernel runs the compiled functions of a run: native where it can, else plain."""

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

import equinox as eqx
import jax
import numpy as np

from poinsot.core import InputError
from poinsot.kernels._compile_time import compilation

Choice = Literal["auto", "native", "plain"]
VARIABLE = "POINSOT_KERNEL"
"""Environment variable that chooses for a whole process."""
SHORT = 256
"""Numbers of a state that is taken apart for native code: longer ones, of chains, have loops of their own."""
PROGRAMS = 512
"""Native programs that are remembered; the longest unused are forgotten."""
Function = Callable[[Any, Any, Any], Any]
"""Of a model, of numbers that all runs share, and of what belongs to one run; see `NativeProgram`."""


class Kernel:
    """Runs functions of arrays, each compiled once: through LLVM, or through XLA.

    Args:
        choice: "native", "plain", or "auto" for native on a CPU where it can.
        fast: whether native code may contract multiplications and additions. It then gives other bits on
            other processors.
        leave: leave out what the environment says.

    Raises:
        InputError: when the choice is none of the three.
    """

    def __init__(self, choice: Choice = "auto", fast: bool = False, *, leave: bool = False):
        if choice not in get_args(Choice):
            raise InputError(f"kernel = {choice!r}; it must be 'auto', 'native' or 'plain'")
        named: Any = os.environ.get(VARIABLE, "auto")
        if named not in get_args(Choice):
            raise InputError(f"{VARIABLE} = {named!r}; it must be 'auto', 'native' or 'plain'")
        self.choice: Choice = named if choice == "auto" and not leave else choice
        self.fast = fast
        self._reason = self._unavailable()
        if self.choice == "native" and self._reason is not None:
            raise InputError(f"kernel = 'native' cannot run here: {self._reason}; take kernel='auto'")

    @classmethod
    def lenient(cls) -> "Kernel":
        """One for checks and reports, which are native where they can be even if the steps have to be."""
        named = os.environ.get(VARIABLE, "auto")
        return cls("plain" if named == "plain" else "auto", leave=True)

    def __repr__(self) -> str:
        return f"Kernel({self.choice!r}, fast={self.fast})"

    @property
    def native(self) -> bool:
        """Whether native code is to be tried."""
        return self._reason is None

    @property
    def description(self) -> str:
        """What ran: "native", "native, fast", or "plain" with the reason."""
        if self._reason is None:
            return "native, fast" if self.fast else "native"
        return f"plain: {self._reason}"

    def give_up(self, reason: str) -> None:
        """Run plain from now on.

        Raises:
            InputError: when native was asked for.
        """
        if self.choice == "native":
            raise InputError(f"kernel = 'native' cannot run this: {reason}; take kernel='auto'")
        self._reason = reason

    def __call__(self, function: Function, model: Any, grid: Any, runs: Any) -> Any:
        """The function of one run, compiled."""
        return Bound(self, model)(function, grid, runs)

    def program(
        self,
        function: Function,
        model: Any,
        grid: Any,
        runs: Any,
        width: int | None = 1,
        effort: int = 2,
        rows: bool = False,
    ) -> Any | None:
        """The native program for arguments of this structure; None where the plain kernel is to run.

        Args:
            function: what is compiled.
            model: see `NativeProgram`, also for the others.
            grid: numbers that all runs share.
            runs: arrays of one run.
            width: runs side by side in a vector; None for as many as suit the code.
            effort: of the compiler, from 0 to 3.
            rows: whether many runs are rows of ordinary arrays.
        """
        if not self.native:
            return None
        from poinsot.kernels.native import NotNative

        try:
            return _compiled(function, (model, grid, runs), (width, self.fast, effort, rows))
        except NotNative as error:
            self.give_up(str(error))
            return None

    def _unavailable(self) -> str | None:
        """Why there is no native code at all, or None."""
        if self.choice == "plain":
            return "asked for"
        if jax.default_backend() != "cpu":
            return f"the device is a {jax.default_backend()}"
        try:
            import llvmlite  # noqa: F401
        except ImportError:
            return "the package llvmlite is not installed"
        return None


class Bound:
    """Functions of one model, whose structure is looked through once and not in every call.

    Args:
        kernel: what compiles them.
        model: what they have in common.
    """

    def __init__(self, kernel: Kernel, model: Any):
        self.kernel, self.model = kernel, model
        self._arrays, self._rest, self._structure = _Apart.of(model)
        self._calls: dict[Any, Any] = {}

    def __call__(self, function: Function, grid: Any, runs: Any, effort: int = 2) -> Any:
        """The function of one run; of one that is called once the compiler need not make much effort."""
        leaves = jax.tree.leaves((grid, runs))
        native = self._found(function, grid, runs, leaves, effort)
        if native is not None:
            return native.of_leaves(leaves)
        return _plain(function, self._structure, self._rest)(self._arrays, grid, runs)

    def native(self, function: Function, grid: Any, runs: Any) -> Any | None:
        """The function of grid and run in native code, a `Call`; None where the plain kernel is to run."""
        return self._found(function, grid, runs, jax.tree.leaves((grid, runs)))

    def _found(
        self, function: Function, grid: Any, runs: Any, leaves: Sequence[Any], effort: int = 2
    ) -> Any | None:
        """The native program with the model in place, by the shapes of its further arguments."""
        if not self.kernel.native:
            return None
        key = function, *map(np.shape, leaves)
        if key not in self._calls:
            program = self.kernel.program(function, self.model, grid, runs, effort=effort)
            self._calls[key] = None if program is None else program.bound(self._arrays)
        return self._calls[key]


_ARRAY = object()
"""Holds the place of an array among the leaves of a model."""


@lru_cache(maxsize=PROGRAMS)
def _plain(function: Function, structure: Any, rest: tuple) -> Callable:
    """The function compiled by XLA, for models that differ in numbers only.

    A call looks at arrays alone, unlike one of `eqx.filter_jit`, which goes through the whole model anew:
    that takes as long as hundreds of steps.
    """

    def call(arrays: list, grid: Any, runs: Any) -> Any:
        return function(_Apart([], rest, structure).with_arrays(arrays), grid, runs)

    return jax.jit(call)


def arrays(tree: Any) -> Any:
    """The arrays of a tree, without what is no array."""
    return eqx.filter(tree, _is_data)


def _is_data(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic, jax.Array))


_programs: OrderedDict[Any, Any] = OrderedDict()


class _Apart(NamedTuple):
    """A tree taken apart: its arrays, and what else tells it from others."""

    arrays: list[Any]
    rest: tuple[Any, ...]
    """Its leaves, with `_ARRAY` in the place of arrays."""
    structure: Any

    @classmethod
    def of(cls, tree: Any) -> "_Apart":
        leaves, structure = jax.tree.flatten(tree)
        known = [_is_data(leaf) for leaf in leaves]
        rest = tuple(_ARRAY if data else leaf for leaf, data in zip(leaves, known, strict=True))
        return cls([leaf for leaf, data in zip(leaves, known, strict=True) if data], rest, structure)

    @property
    def key(self) -> tuple:
        """What tells it from other trees beside the numbers in its arrays."""
        shapes = tuple((np.shape(leaf), leaf.dtype.str) for leaf in self.arrays)
        return shapes, self.rest, self.structure

    def with_arrays(self, arrays: Sequence[Any]) -> Any:
        """The tree with other arrays."""
        left = iter(arrays)
        leaves = [next(left) if leaf is _ARRAY else leaf for leaf in self.rest]
        return jax.tree.unflatten(self.structure, leaves)


def remembered(function: Callable, *trees: Any) -> Any:
    """The value of a function that looks at the structure of its arguments alone, found once for each.

    Args:
        function: must not depend on the numbers in the arrays.
        trees: its arguments.
    """
    key = function, *(_Apart.of(tree).key for tree in trees)
    try:
        known = _values.get(key, _ARRAY)
    except TypeError:
        return function(*trees)
    if known is _ARRAY:
        known = _values[key] = function(*trees)
        while len(_values) > PROGRAMS:
            _values.popitem(last=False)
    return known


_values: OrderedDict[Any, Any] = OrderedDict()


def _compiled(
    function: Function, given: tuple[Any, Any, Any], options: tuple[int | None, bool, int, bool]
) -> Any:
    """The native program, made when it is first asked for; options are its width, fast, effort and rows."""
    from poinsot.kernels.native import NativeProgram, NotNative, frozen, target

    parts = [_Apart.of(tree) for tree in given]
    model = [np.asarray(leaf) for leaf in parts[0].arrays]
    fixed = [frozen(leaf) for leaf in model]
    zeros = tuple(leaf[which].tobytes() + which.tobytes() for leaf, which in zip(model, fixed, strict=True))
    key = function, options, target(), zeros, *(part.key for part in parts)
    try:
        known = _programs.get(key)
    except TypeError as error:
        raise NotNative(f"the problem has parts that cannot be told apart ({error})") from error
    if isinstance(known, Exception):
        raise known
    if known is None:

        def whole(*arrays):
            return function(*(part.with_arrays(own) for part, own in zip(parts, arrays, strict=True)))

        try:
            with compilation():
                data = [part.arrays for part in parts]
                width, fast, effort, rows = options
                known = NativeProgram(whole, *data, width=width, fast=fast, effort=effort, rows=rows)
        except NotNative as error:
            _remember(key, error)
            raise
        _remember(key, known)
    _programs.move_to_end(key)
    return known


def programs_made() -> int:
    """Number of native programs that this process has made or tried to make."""
    return _made[0]


_made = [0]


def _remember(key: Any, program: Any) -> None:
    _made[0] += 1
    _programs[key] = program
    while len(_programs) > PROGRAMS:
        _programs.popitem(last=False)
