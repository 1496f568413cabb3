"""What users' functions compute at the moment, so that programs follow what these refer to.

A function may read globals, closures, attributes and arrays that change between two runs, and nobody is told
of it. So each call that runs functions traces them anew, by themselves, which takes milliseconds. The trace
says what program is needed; its numbers are data of that program, as parameters are: others compile nothing.
"""

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend import core as jex

import poinsot
from poinsot.core import Calls, Kind, UserFunction, brief, is_array_like
from poinsot.kernels._canonical import RULES, NoForm, digest

SHORT = 400
"""Operations of a function within the user's that are written out in the place of its call."""
Tree = TypeVar("Tree")
_moments = itertools.count()


class Trace:
    """A user's function for arguments of one kind: operations, without the numbers that they take.

    Two traces are equal if they have the same operations, whatever they were traced from.
    """

    __slots__ = ("digest", "kind", "_program", "_result")

    def __init__(self, kind: Kind, program: jex.ClosedJaxpr, result: Any):
        self.kind, self._program, self._result = kind, program, result
        try:
            self.digest = digest(program, result, _rates(program))
        except NoForm:
            self.digest = f"of this process, {next(_moments)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and (self.digest, self.kind) == (other.digest, other.kind)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def kept(self) -> bool:
        """Whether another process finds it under the same digest."""
        return not self.digest.startswith("of")

    def __call__(self, numbers: Sequence[Any], given: tuple) -> Any:
        """The value of the function."""
        leaves = [leaf for leaf in jax.tree.leaves(given) if is_array_like(leaf)]
        values = jex.jaxpr_as_fun(self._program)(*numbers, *map(_as_array, leaves))
        return jax.tree.unflatten(self._result, values)


class Moment:
    """A user's function at one moment: what it computes for each kind of arguments is found once."""

    def __init__(self, function: Any, calls: Calls):
        self.function, self.calls = function, calls
        self._known: dict[Kind, tuple[Trace, tuple[Any, ...]]] = {}

    def __reduce__(self) -> Any:
        return Moment, (self.function, Calls())

    def takes(self, kind: Kind) -> bool:
        """Whether the function takes arguments of a kind; it may have been tried with others."""
        try:
            self.taken(kind)
        except Exception:
            return False
        return True

    def taken(self, kind: Kind) -> tuple[Trace, tuple[Any, ...]]:
        """The trace for a kind of arguments, and the numbers in it."""
        known = self._known.get(kind)
        if known is None:
            known = taken(self.function, kind)
            if not any(isinstance(one, Tracer) for one in known[1]):
                self._known[kind] = known
        return known


class Snapshot(eqx.Module):
    """A user's function as it was at one moment.

    Args:
        moment: the function.
        kinds: of arguments for which its numbers are data of the program that it is part of.
    """

    numbers: tuple[tuple[Any, ...], ...]
    """Of each trace those that stand in the function or in what it refers to."""
    traces: tuple[Trace, ...] = eqx.field(static=True)
    moment: Moment = eqx.field(static=True)

    def __init__(self, moment: Moment, kinds: Sequence[Kind] = ()):
        pairs = [moment.taken(kind) for kind in kinds]
        self.traces, self.numbers = tuple(one for one, _ in pairs), tuple(one for _, one in pairs)
        self.moment = moment

    def __repr__(self) -> str:
        return brief(self.moment.function)

    def __reduce__(self) -> Any:
        return Snapshot, (self.moment,)

    @property
    def __wrapped__(self) -> Any:
        """The function itself, for its signature."""
        return self.moment.function

    def __call__(self, *given: Any) -> Any:
        """The value of the function."""
        kind = Kind.of(given)
        for trace, numbers in zip(self.traces, self.numbers, strict=True):
            if trace.kind == kind:
                return trace(numbers, given)
        if not self.moment.takes(kind):
            # As it stands it fails in the way that people know, or returns what its caller refuses.
            return self.moment.function(*given)
        self.moment.calls.note(given)
        for found in _listening:
            found.append((self.moment, kind))
        trace, numbers = self.moment.taken(kind)
        return trace(numbers, given)


def is_users(node: Any) -> bool:
    """Whether a part of a tree is a function of the user, as it stands or as it was at some moment."""
    return isinstance(node, UserFunction) and (isinstance(node.function, Snapshot) or node.theirs)


def settled(tree: Tree) -> Tree:
    """The tree with its users' functions as they are at this moment; the same tree if it has none."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=is_users)
    if not any(map(is_users, leaves)):
        return tree
    return jax.tree.unflatten(structure, [seen(one) if is_users(one) else one for one in leaves])


def moment_of(user: UserFunction) -> Moment:
    """The moment of a user's function: now if it has none."""
    function = user.function
    return function.moment if isinstance(function, Snapshot) else Moment(function, user.calls)


def seen(user: UserFunction, kinds: Sequence[Kind] = ()) -> UserFunction:
    """A user's function at its moment, or now if it has none, for some kinds of arguments."""
    return replace(user, function=Snapshot(moment_of(user), kinds))


@contextmanager
def unforeseen() -> Iterator[list[tuple[Moment, Kind]]]:
    """Calls within the block of functions with arguments of kinds that they were not prepared for."""
    found: list[tuple[Moment, Kind]] = []
    _listening.append(found)
    try:
        yield found
    finally:
        _listening[:] = [other for other in _listening if other is not found]


_listening: list[list[tuple[Moment, Kind]]] = []


def taken(function: Any, kind: Kind) -> tuple[Trace, tuple[Any, ...]]:
    """The function traced now for one kind of arguments: its operations, and the numbers in them."""

    def whole(*arrays):
        left = iter(arrays)
        leaves = [next(left) if _is_array(one) else one[1] for one in kind.leaves]
        return function(*jax.tree.unflatten(kind.structure, leaves))

    shapes = [jax.ShapeDtypeStruct(*one) for one in kind.leaves if _is_array(one)]
    # JAX keeps traces by the functions that were traced, also of loops and calls within this one. None of
    # them may be from another moment, so each moment has a mark of its own, which is taken out again below.
    with set_xla_metadata(poinsot=str(next(_moments))):
        program, result = jax.make_jaxpr(whole, return_shape=True)(*shapes)
    program, numbers = _apart(_Unmarked().closed(program))
    return Trace(kind, program, jax.tree.structure(result)), numbers


def _is_array(one: Any) -> bool:
    return isinstance(one[0], tuple)


def _as_array(leaf: Any) -> Any:
    return np.asarray(leaf, dtype=float) if isinstance(leaf, float) else leaf


@cache
def _unmarked() -> Any:
    """What equations have beside their operation where nothing is said about it."""
    with set_xla_metadata(poinsot=None):
        return jax.make_jaxpr(lambda x: x + x)(1.0).eqns[0].ctx


class _Unmarked:
    """Takes the mark of its moment out of a trace."""

    def closed(self, jaxpr: jex.ClosedJaxpr) -> jex.ClosedJaxpr:
        return jex.ClosedJaxpr(self.open(jaxpr.jaxpr), jaxpr.consts)

    def open(self, jaxpr: Any) -> Any:
        return jaxpr.replace(
            eqns=[
                one.replace(params={k: self.param(v) for k, v in one.params.items()}, ctx=_unmarked())
                for one in jaxpr.eqns
            ]
        )

    def param(self, value: Any) -> Any:
        if isinstance(value, jex.ClosedJaxpr):
            return self.closed(value)
        if isinstance(value, jex.Jaxpr):
            return self.open(value)
        if type(value) in (tuple, list):
            return type(value)(map(self.param, value))
        return value


def _apart(closed: jex.ClosedJaxpr) -> tuple[jex.ClosedJaxpr, tuple[Any, ...]]:
    """A trace that takes the real numbers in it as arguments, before the others, and these numbers."""
    lifted = _Lifted()
    jaxpr = closed.jaxpr
    names = dict(zip(jaxpr.constvars, map(lifted.constant, jaxpr.constvars, closed.consts), strict=True))
    equations = lifted.written(jaxpr.eqns, names)
    results = [lifted.used(atom, names) for atom in jaxpr.outvars]
    fixed, values = zip(*lifted.fixed, strict=True) if lifted.fixed else ((), ())
    program = jaxpr.replace(
        constvars=list(fixed),
        invars=[*lifted.variables, *jaxpr.invars],
        outvars=results,
        eqns=equations,
    )
    return jex.ClosedJaxpr(program, values), tuple(lifted.numbers)


class _Lifted:
    """Real numbers taken out of a trace."""

    def __init__(self):
        self.variables: list[Any] = []
        self.numbers: list[Any] = []
        self.fixed: list[tuple[Any, Any]] = []
        """Variables and values of constants that stay in the trace, since they may be indices or the like."""

    def constant(self, variable: Any, value: Any) -> Any:
        """A constant of the trace."""
        fresh: Any = jex.Var(variable.aval)
        if isinstance(value, Tracer) or variable.aval.dtype == np.float64:
            self.variables.append(fresh)
            self.numbers.append(value if isinstance(value, jax.Array) else np.asarray(value))
        else:
            self.fixed.append((fresh, value))
        return fresh

    def used(self, atom: Any, names: dict[Any, Any]) -> Any:
        """A variable under its new name; one for a real number that stands in the trace."""
        if not isinstance(atom, jex.Literal):
            return names.get(atom, atom)
        aval: Any = atom.aval
        if aval.dtype != np.float64:
            return atom
        self.variables.append(jex.Var(aval))
        self.numbers.append(np.asarray(atom.val, dtype=float))
        return self.variables[-1]

    def written(self, equations: Sequence[Any], names: dict[Any, Any]) -> list[Any]:
        """Equations with variables for numbers, and short functions in the place of their calls."""
        done = []
        for one in equations:
            inner = one.params.get("jaxpr") if one.primitive.name in ("jit", "pjit") else None
            if isinstance(inner, jex.ClosedJaxpr) and len(inner.jaxpr.eqns) <= SHORT:
                own = dict(zip(inner.jaxpr.invars, (self.used(a, names) for a in one.invars), strict=True))
                constants = map(self.constant, inner.jaxpr.constvars, inner.consts)
                own |= dict(zip(inner.jaxpr.constvars, constants, strict=True))
                done += self.written(_renamed(inner.jaxpr, own), own)
                results = [self.used(atom, own) for atom in inner.jaxpr.outvars]
                names |= dict(zip(one.outvars, results, strict=True))
                continue
            # The exponent of a power decides how it is computed.
            kept = (
                one.invars[1:]
                if one.primitive.name == "pow" and isinstance(one.invars[1], jex.Literal)
                else []
            )
            free = one.invars[: len(one.invars) - len(kept)]
            done.append(one.replace(invars=[*(self.used(atom, names) for atom in free), *kept]))
        return done


def _renamed(jaxpr: Any, names: dict[Any, Any]) -> list[Any]:
    """The equations with new variables for their results, as the function may be called more than once."""
    for one in jaxpr.eqns:
        names |= {old: jex.Var(old.aval) for old in one.outvars}
    return [one.replace(outvars=[names[old] for old in one.outvars]) for one in jaxpr.eqns]


def _rates(program: jex.ClosedJaxpr) -> Any:
    """Traces of the first two derivatives, where a function brings rules of its own for them; else None.

    Rules of JAX and of this package are known by the names of their functions.
    """
    if not _has_own_rules(program.jaxpr):
        return None
    avals = [one.aval for one in program.jaxpr.invars]
    place = [k for k, one in enumerate(avals) if one.dtype == np.float64]
    shapes = [jax.ShapeDtypeStruct(avals[k].shape, avals[k].dtype) for k in place]
    found, function = [], jex.jaxpr_as_fun(program)

    def of_numbers(*numbers):
        given = [np.zeros(one.shape, one.dtype) for one in avals]
        for k, number in zip(place, numbers, strict=True):
            given[k] = number
        return [one for one in function(*given) if one.dtype == np.float64]

    for _ in range(2):
        of_numbers = _pulled_back(of_numbers)
        found.append(jax.make_jaxpr(of_numbers)(*shapes))
    return found


def _pulled_back(function: Any) -> Any:
    """All derivatives of the sum of the results."""

    def total(*numbers):
        return sum((one.sum() for one in function(*numbers)), start=np.zeros(()))

    return lambda *numbers: jax.grad(total, argnums=tuple(range(len(numbers))))(*numbers)


_KNOWN_SOURCES = tuple(f"{Path(one.__file__).parent}{os.sep}" for one in (jax, eqx, poinsot) if one.__file__)


def _has_own_rules(jaxpr: Any) -> bool:
    for one in jaxpr.eqns:
        for name in RULES & one.params.keys():
            told = getattr(getattr(one.params[name], "debug_info", None), "func_src_info", "") or ""
            if name != "debug_info" and not told.partition(" at ")[2].startswith(_KNOWN_SOURCES):
                return True
        if any(_has_own_rules(inner) for inner in _traces_in(one.params.values())):
            return True
    return False


def _traces_in(values: Iterable[Any]) -> Iterator[Any]:
    """Traces among parameters of an equation."""
    for value in values:
        if isinstance(value, jex.ClosedJaxpr | jex.Jaxpr):
            yield value.jaxpr if isinstance(value, jex.ClosedJaxpr) else value
        elif isinstance(value, tuple | list):
            yield from _traces_in(value)
