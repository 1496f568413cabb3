"""Which kernel runs the compiled functions of a run: native where it can, else plain."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import jax
import numpy as np

from poinsot.core import InputError
from poinsot.kernels._apart import Apart
from poinsot.kernels._programs import Fitted, native, plain

Choice = Literal["auto", "native", "plain"]
VARIABLE = "POINSOT_KERNEL"
"""Environment variable that chooses for a whole process."""
SHORT = 256
"""Numbers of a state that is taken apart for native code: longer ones, of chains, have loops of their own."""
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
    ) -> Fitted | None:
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
            return native(function, (model, grid, runs), (width, self.fast, effort, rows))
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
        self.kernel, self._model = kernel, Apart.of(model)
        self._calls: dict[Any, Any] = {}

    def __call__(self, function: Function, grid: Any, runs: Any, effort: int = 2) -> Any:
        """The function of one run; of one that is called once the compiler need not make much effort."""
        leaves = jax.tree.leaves((grid, runs))
        native = self._found(function, grid, runs, leaves, effort)
        if native is not None:
            return native.of_leaves(leaves)
        key = "plain", function, *((np.shape(leaf), getattr(leaf, "dtype", None)) for leaf in leaves)
        if key not in self._calls:
            self._calls[key] = plain(function, (self._model, grid, runs))
        program, lists = self._calls[key]
        return program(lists[0], *([leaf for leaf in jax.tree.leaves(one)] for one in (grid, runs)))

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
            program = self.kernel.program(function, self._model, grid, runs, effort=effort)
            self._calls[key] = None if program is None else program.bound()
        return self._calls[key]
