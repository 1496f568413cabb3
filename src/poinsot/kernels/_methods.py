"""Methods of a model as functions of arrays: of one state or of many, native where they can be."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from itertools import compress
from math import prod
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import InputError, as_floats, check_argument, concrete, kind_of
from poinsot.kernels._apart import is_traced
from poinsot.kernels._kernel import Kernel
from poinsot.kernels._programs import jitted
from poinsot.kernels._snapshot import settled
from poinsot.kernels._states import each_of_states

F = TypeVar("F", bound=Callable)
FLOAT = np.dtype(np.float64)
_attribute = object.__getattribute__
PROGRAMS = "_programs_of_states"
"""Where a model keeps the programs of its methods."""


def of_states(**ranks: int) -> Callable[[F], F]:
    """Make a method of a module one that people call on arrays.

    On a CPU it runs in native code, which is compiled for a module and shapes of the arguments when it is
    first called. Arrays of NumPy, numbers and lists give arrays of NumPy, those of JAX give such of JAX.
    Arguments may have further axes in front, for many states, all the same ones; an argument without them
    is the same for all states. States run along the lanes of vectors and on all cores.

    Within a transformation of JAX, on a GPU, and where there is no native code it is the plain function.

    Args:
        ranks: for each argument that is an array its number of axes for one state. Other arguments, such as
            names, are part of the program.
    """

    def decorated(function: F) -> F:
        method: Any = Method(function, ranks)
        return method

    return decorated


class Method:
    """A function of a module and of arrays; see `of_states`."""

    def __init__(self, function: Callable, ranks: dict[str, int]):
        update_wrapper(self, function)
        self.function = function
        self._signature = inspect.signature(function)
        parameters = list(self._signature.parameters.values())[1:]
        self.names = [one.name for one in parameters]
        self.ranks = tuple(ranks.get(name) for name in self.names)
        self.defaults = tuple(one.default for one in parameters)
        self.required = sum(one is inspect.Parameter.empty for one in self.defaults)

        self._single = jitted(function)
        self._many = jitted(partial(each_of_states, function))

    def __repr__(self) -> str:
        return getattr(self.function, "__qualname__", "method")

    def __get__(self, module: Any, owner: Any = None) -> Any:
        return self if module is None else BoundMethod(self, module)

    def __call__(self, module: Any, *given: Any, **named: Any) -> Any:
        """Results of the function for one state or many."""
        count = len(given)
        if named or not self.required <= count <= len(self.names):
            bound = self._signature.bind(module, *given, **named)
            bound.apply_defaults()
            given = tuple(bound.arguments.values())[1:]
        elif count < len(self.names):
            given = given + self.defaults[count:]
        # A module looks at each attribute in Python, which takes longer than all else here.
        own = _attribute(module, "__dict__")
        programs = own.get(PROGRAMS)
        if programs is None:
            programs = own[PROGRAMS] = Programs()
            programs.fleeting = settled(module) is not module
        if programs.fleeting:
            # Users' functions may have changed since the last call.
            return self._first(settled(module), Programs(), given, None)
        key: Any = [self]
        for one in given:
            kind = type(one)
            if kind is np.ndarray and one.dtype is FLOAT:
                key.append(one.shape)
            else:
                key.append(float if kind is float else one)
        try:
            key = tuple(key)
            known = programs.get(key)
        except TypeError:
            # A list or an array of JAX has no hash.
            known, key = None, None
        return known(given) if known is not None else self._first(module, programs, given, key)

    def _first(self, module: Any, programs: "Programs", given: tuple[Any, ...], key: Any) -> Any:
        """The same for arguments of other kinds, or of shapes that have not been seen yet."""
        for one, rank, name in zip(given, self.ranks, self.names, strict=True):
            if rank is None:
                check_argument(one, name, kind_of(self.function.__annotations__.get(name, Any)))
        if is_traced(module, given):
            return self._plain(module, given)
        numbers = tuple(
            one if rank is None or one is None else np.asarray(as_floats(one, name))
            for one, rank, name in zip(given, self.ranks, self.names, strict=True)
        )
        axes, shapes, single = self._one_state(numbers)
        if not all(map(_is_hashable, shapes)):
            # No name or the like: the function says so.
            return self._plain(module, given)
        # The number of states is no part of the program.
        call = programs.get((self, axes, shapes))
        if call is None:
            call = programs[self, axes, shapes] = self._compiled(module, axes, single)
        if key is not None and all(map(_is_plain, given, self.ranks)):
            programs[key] = call
        result = call(numbers)
        in_jax = any(isinstance(one, jax.Array) for one in given)
        return jax.tree.map(jnp.asarray, result) if in_jax else result

    def _one_state(self, given: tuple[Any, ...]) -> tuple[tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]:
        """How many axes each argument has in front, shapes of those of one state, and such arguments."""
        lead, batched = self._axes_in_front(given)
        axes = tuple(len(lead) * many for many in batched)
        shapes = tuple(
            one.shape[front:] if isinstance(one, np.ndarray) else one
            for one, front in zip(given, axes, strict=True)
        )
        single = tuple(
            np.zeros(shape) if isinstance(one, np.ndarray) else one
            for one, shape in zip(given, shapes, strict=True)
        )
        return axes, shapes, single

    def _compiled(self, module: Any, axes: tuple[int, ...], single: tuple[Any, ...]) -> Callable:
        """A function of the arguments, for shapes like these."""
        numbers = [rank is not None and one is not None for rank, one in zip(self.ranks, single, strict=True)]
        many = any(axes)
        lifted = _Lifted(self.function, tuple(front > 0 for front in axes) if many else tuple(numbers))
        kernel = Kernel.lenient()
        if kernel.native:
            width = None if many else 1
            program = kernel.program(lifted, module, *lifted.apart(single), width, rows=many)
            if program is not None:
                if many:
                    return _Many(program.of_rows(), lifted.inside, max(axes), numbers)
                return _One(program.bound().of_leaves, numbers)
        return lambda given: jax.tree.map(np.asarray, self._plain(module, given))

    def _plain(self, module: Any, given: tuple[Any, ...]) -> Any:
        lead, batched = self._axes_in_front(given)
        if not lead:
            return self._single(module, *given)
        if jax.default_backend() == "cpu" or not concrete(module):
            return self._many(lead, batched, module, given)
        # With the numbers of the module in the program, products with its zeros fall away.
        fixed = tuple(None if rank is not None else one for rank, one in zip(self.ranks, given, strict=True))
        key, programs = (self, "fixed", lead, batched, fixed), _attribute(module, "__dict__")[PROGRAMS]
        if key not in programs:
            programs[key] = eqx.filter_jit(partial(self._fixed, lead, batched, _Held(module)))
        return programs[key](given)

    def _fixed(self, lead: tuple[int, ...], batched: Sequence[bool], module: "_Held", given: Any) -> Any:
        return each_of_states(self.function, lead, batched, module.module, given)

    def _axes_in_front(self, given: tuple[Any, ...]) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """The axes of many states, and which arguments have them.

        Raises:
            InputError: two arguments have different ones.
        """
        found: dict[str, tuple[int, ...]] = {}
        for name, rank, one in zip(self.names, self.ranks, given, strict=True):
            if rank is not None and one is not None and np.ndim(one) > rank:
                found[name] = np.shape(one)[: np.ndim(one) - rank]
        if len(set(found.values())) > 1:
            (first, axes), (other, more) = list(found.items())[0], list(found.items())[-1]
            raise InputError(
                f"{first} has the axes {axes} in front of the numbers of one state, and {other} has {more}; "
                "arguments of many states have the same axes in front, or none where one is for all"
            )
        return next(iter(found.values()), ()), tuple(name in found for name in self.names)


class BoundMethod(partial):
    """A method with its module; a pytree, as methods of modules are."""

    @property
    def __doc__(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.func.__doc__

    def __repr__(self) -> str:
        return f"{self.func!r} of {self.args[0]!r}"

    @property
    def __name__(self) -> str:
        return getattr(self.func, "__name__", "")


jax.tree_util.register_pytree_node(
    BoundMethod, lambda one: (one.args, one.func), lambda func, args: BoundMethod(func, *args)
)


class Programs(dict):
    """Functions of one module by method and shapes; a copy of the module starts without.

    Attributes:
        fleeting: whether the module has users' functions, so that none of these serves two calls.
    """

    fleeting: bool = False

    def __reduce__(self) -> Any:
        return Programs, ()


class _Held:
    """A module that is no argument of a compiled function but a part of it."""

    def __init__(self, module: Any):
        self.module = module


@dataclass(frozen=True)
class _Lifted:
    """A function of a module and its arguments as one of model, grid and runs."""

    function: Callable
    inside: tuple[bool, ...]
    """Which arguments belong to the runs; the others all runs share."""

    def apart(self, given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What runs share, and what belongs to them."""
        pairs = list(zip(given, self.inside, strict=True))
        return [one for one, own in pairs if not own], [one for one, own in pairs if own]

    def __call__(self, model: Any, grid: Any, runs: Any) -> Any:
        shared, own = iter(grid), iter(runs)
        return self.function(model, *(next(own if inside else shared) for inside in self.inside))


class _One:
    """A program of one state as a function of the arguments."""

    def __init__(self, of_leaves: Callable, numbers: Sequence[bool]):
        self.of_leaves, self.numbers = of_leaves, numbers

    def __call__(self, given: tuple[Any, ...]) -> Any:
        return self.of_leaves(compress(given, self.numbers))


class _Many:
    """A program of many states as a function of the arguments."""

    def __init__(self, call: Callable, inside: Sequence[bool], axes: int, numbers: Sequence[bool]):
        self.call, self.inside, self.axes = call, inside, axes
        self.shared = [number and not own for number, own in zip(numbers, inside, strict=True)]

    def __call__(self, given: tuple[Any, ...]) -> Any:
        runs, grid, axes = list(compress(given, self.inside)), compress(given, self.shared), self.axes
        if axes == 1:
            return self.call(grid, runs)
        lead = runs[0].shape[:axes]
        results = self.call(grid, [one.reshape(prod(lead), *one.shape[axes:]) for one in runs])
        return jax.tree.map(lambda leaf: leaf.reshape(*lead, *leaf.shape[1:]), results)


def _is_hashable(one: Any) -> bool:
    try:
        hash(one)
    except TypeError:
        return False
    return True


def _is_plain(one: Any, rank: int | None) -> bool:
    """Whether an argument needs no conversion."""
    return (
        rank is None or one is None or type(one) is float or (type(one) is np.ndarray and one.dtype is FLOAT)
    )
