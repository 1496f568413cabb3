"""Loops of a trace along the same rows, put together into one.

Recursions along a chain are written one after the other, for people to read: poses outwards, then velocities,
then forces inwards. Each is a `scan` over the links, and hands its results to the next in memory. Where a
loop reads of another nothing but the row of the same number, both can go along the rows together: results
stay in registers, and those that nobody else reads need no memory at all. The operations on each number and
their order stay the same, and so do the bits.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
from jax.extend import core as jex

from poinsot.core import USERS
from poinsot.kernels._components import of_users
from poinsot.kernels.native._row_forms import Layout, of_rows
from poinsot.kernels.native._varying import scan_parts

SHORTEST = 6
"""Rows from which loops are put together; shorter ones may be written out."""
MOST = 400
"""Operations that a fused loop may come from."""


def fused(jaxpr: jex.ClosedJaxpr) -> jex.ClosedJaxpr:
    """A trace that computes the same with fewer loops."""
    return _Traces().closed(jaxpr)


class _Traces:
    """Traces that have been gone through: one that is called again stays one, and becomes one function."""

    def __init__(self):
        self._known: dict[int, tuple[Any, Any]] = {}

    def closed(self, jaxpr: jex.ClosedJaxpr) -> jex.ClosedJaxpr:
        return jex.ClosedJaxpr(self.inner(jaxpr.jaxpr), jaxpr.consts)

    def inner(self, jaxpr: Any) -> Any:
        if id(jaxpr) not in self._known:
            # The trace is kept: the id of one that is gone may be given again.
            self._known[id(jaxpr)] = jaxpr, self._fused(jaxpr)
        return self._known[id(jaxpr)][1]

    def _fused(self, jaxpr: Any) -> Any:
        equations = [self._of_equation(equation) for equation in jaxpr.eqns]
        lengths = {one.params["length"] for one in equations if one.primitive.name == "scan"}
        lengths = {length for length in lengths if length >= SHORTEST}
        if lengths:
            equations = _Loops(jaxpr, equations, lengths).fused()
        elif all(one is other for one, other in zip(equations, jaxpr.eqns, strict=True)):
            return jaxpr
        return jaxpr.replace(eqns=equations)

    def _of_equation(self, equation: Any) -> Any:
        """An operation with the loops of its own traces put together."""
        params = {name: self._of_param(value) for name, value in equation.params.items()}
        if all(params[name] is value for name, value in equation.params.items()):
            return equation
        return equation.replace(params=params)

    def _of_param(self, value: Any) -> Any:
        if isinstance(value, jex.ClosedJaxpr):
            inner = self.inner(value.jaxpr)
            return value if inner is value.jaxpr else jex.ClosedJaxpr(inner, value.consts)
        if isinstance(value, jex.Jaxpr):
            return self.inner(value)
        if isinstance(value, tuple) and value:
            parts = [self._of_param(one) for one in value]
            if all(one is other for one, other in zip(parts, value, strict=True)):
                return value
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value


@dataclass(frozen=True)
class _Loop:
    """An operation that goes along rows: a `scan`, or one that treats every row of an array by itself."""

    number: int
    equation: Any
    length: int
    fixed: tuple[Any, ...]
    """Operands that every row has in common."""
    start: tuple[Any, ...]
    """What is carried from row to row, before the first."""
    rows: tuple[Any, ...]
    """Operands of which each row has its own."""
    body: Callable[..., Sequence[Any]]
    """Of these three: what is carried on, and the rows of the results."""
    reverse: bool

    @property
    def direction(self) -> bool | None:
        """Whether it goes backwards; None where any order is right."""
        return self.reverse if self.start else None

    @property
    def ends(self) -> list[Any]:
        """Variables of what is carried, after the last row."""
        return self.equation.outvars[: len(self.start)]

    @property
    def results(self) -> list[Any]:
        """Variables of arrays with a row for each round."""
        return self.equation.outvars[len(self.start) :]


@dataclass(eq=False)
class _Unit:
    """Operations that stay together: one of any kind, or loops along the same rows."""

    numbers: list[int]
    loops: list[_Loop] = field(default_factory=list)

    @property
    def length(self) -> int:
        return self.loops[0].length

    @property
    def direction(self) -> bool | None:
        return next((loop.direction for loop in self.loops if loop.direction is not None), None)

    @property
    def fuses(self) -> bool:
        """Whether there is a loop to put something into."""
        return any(loop.equation.primitive.name == "scan" for loop in self.loops)


class _Loops:
    """The operations of one trace, while its loops are put together."""

    def __init__(self, jaxpr: Any, equations: Sequence[Any], lengths: set[int]):
        self.equations = equations
        self.maker = {atom: k for k, one in enumerate(equations) for atom in one.outvars}
        self.readers: dict[Any, list[int]] = {}
        for k, equation in enumerate(equations):
            for atom in _variables(equation.invars):
                self.readers.setdefault(atom, []).append(k)
        self.returned = set(_variables(jaxpr.outvars))
        self.units: list[_Unit] = []
        for k, equation in enumerate(equations):
            loop = _as_loop(k, equation, lengths)
            self.units.append(_Unit([k], [] if loop is None else [loop]))

    def fused(self) -> list[Any]:
        """All operations, in an order in which each follows those it reads."""
        for k in range(len(self.equations)):
            if self.units[k].loops:
                # The nearest first: of loops that exclude each other it is the one to join.
                for other in sorted(self._row_makers(self.units[k]), reverse=True):
                    self._join(self.units[other], self.units[k])
        written: list[Any] = []
        for unit in self._in_order():
            together = unit.fuses and (len(unit.loops) > 1 or self._has_dead_rows(unit.loops[0]))
            written += self._written(unit) if together else [self.equations[k] for k in unit.numbers]
        return written

    def _row_makers(self, unit: _Unit) -> set[int]:
        """Operations outside a unit whose results it reads row by row."""
        atoms = _variables(atom for loop in unit.loops for atom in loop.rows)
        makers = {self.maker[atom] for atom in atoms if atom in self.maker}
        return {k for k in makers if self.units[k] is not unit and self.units[k].loops}

    def _join(self, first: _Unit, second: _Unit) -> None:
        """Make two units one, where the rounds of both can go on together."""
        if first is second or first.length != second.length:
            return
        directions = {first.direction, second.direction} - {None}
        if len(directions) > 1 or len(first.numbers) + len(second.numbers) > MOST:
            return
        if not (self._by_rows_alone(first, second) and self._by_rows_alone(second, first)):
            return
        if self._reaches(first, second) or self._reaches(second, first):
            return
        first.numbers = sorted([*first.numbers, *second.numbers])
        first.loops = sorted([*first.loops, *second.loops], key=lambda loop: loop.number)
        for k in second.numbers:
            self.units[k] = first

    def _by_rows_alone(self, first: _Unit, second: _Unit) -> bool:
        """Whether all that the second unit reads of the first are rows of the same number."""
        rows = {atom for loop in first.loops for atom in loop.results}
        ends = {atom for loop in first.loops for atom in loop.ends}
        for loop in second.loops:
            common = set(_variables((*loop.fixed, *loop.start)))
            if common & (rows | ends) or ends.intersection(_variables(loop.rows)):
                return False
        return True

    def _reaches(self, first: _Unit, second: _Unit) -> bool:
        """Whether the second unit depends on the first through others."""
        last, seen = max(second.numbers), {id(first), id(second)}
        pending = [unit for unit in self._following(first) if unit is not second]
        while pending:
            unit = pending.pop()
            if id(unit) in seen or min(unit.numbers) > last:
                continue
            seen.add(id(unit))
            for after in self._following(unit):
                if after is second:
                    return True
                pending.append(after)
        return False

    def _following(self, unit: _Unit) -> Iterator[_Unit]:
        """Units that read results of one."""
        for k in unit.numbers:
            for atom in self.equations[k].outvars:
                for reader in self.readers.get(atom, ()):
                    if self.units[reader] is not unit:
                        yield self.units[reader]

    def _in_order(self) -> list[_Unit]:
        """Units, each after those it reads."""
        ordered: list[_Unit] = []
        seen: set[int] = set()
        # Depth first by hand: chains of operations are longer than Python recurses.
        for begin in self.units:
            pending = [(begin, False)]
            while pending:
                unit, ready = pending.pop()
                if ready:
                    ordered.append(unit)
                elif id(unit) not in seen:
                    seen.add(id(unit))
                    pending.append((unit, True))
                    read = (atom for k in unit.numbers for atom in _variables(self.equations[k].invars))
                    makers = sorted({self.maker[atom] for atom in read if atom in self.maker}, reverse=True)
                    pending += [(self.units[k], False) for k in makers if self.units[k] is not unit]
        return ordered

    def _outside(self, unit: _Unit, atom: Any) -> bool:
        """Whether anything but its own unit reads a variable."""
        return atom in self.returned or any(self.units[k] is not unit for k in self.readers.get(atom, ()))

    def _has_dead_rows(self, loop: _Loop) -> bool:
        unit = self.units[loop.number]
        return any(not self._outside(unit, atom) for atom in loop.results)

    def _written(self, unit: _Unit) -> list[Any]:
        """One loop in place of all those of a unit."""
        made = {atom for loop in unit.loops for atom in loop.results}
        length, reverse = unit.length, unit.direction or False
        fixed = _distinct(atom for loop in unit.loops for atom in loop.fixed)
        rows = [
            one for one in _distinct(atom for loop in unit.loops for atom in loop.rows) if one not in made
        ]
        start = [atom for loop in unit.loops for atom in loop.start]
        kept = [atom for loop in unit.loops for atom in loop.results if self._outside(unit, atom)]
        ends = [atom for loop in unit.loops for atom in loop.ends]

        def whole(fixed_values, start_values, row_values):
            def body(carried, row):
                values = dict(zip(fixed, fixed_values, strict=True)) | dict(zip(rows, row, strict=True))
                left, following = iter(carried), []
                for loop in unit.loops:
                    given = [
                        *(_read(values, atom) for atom in loop.fixed),
                        *(next(left) for _ in loop.start),
                        *(values[atom] for atom in loop.rows),
                    ]
                    results = loop.body(*given)
                    following += results[: len(loop.start)]
                    values.update(zip(loop.results, results[len(loop.start) :], strict=True))
                return following, [values[atom] for atom in kept]

            by_row = [
                Layout(_dims(atom), length).rows(one) for atom, one in zip(rows, row_values, strict=True)
            ]
            ended, found = jax.lax.scan(body, start_values, by_row, length, reverse)
            return ended, [
                Layout(_dims(atom), length).whole(one) for atom, one in zip(kept, found, strict=True)
            ]

        shapes = [[_shape(atom) for atom in atoms] for atoms in (fixed, start, rows)]
        traced = jax.make_jaxpr(whole)(*shapes)
        if traced.consts:
            return [self.equations[k] for k in unit.numbers]
        return _spliced(traced.jaxpr, [*fixed, *start, *rows], [*ends, *kept])


def _spliced(jaxpr: Any, operands: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """The operations of a trace between variables of another one."""
    names = dict(zip(jaxpr.invars, operands, strict=True))
    names |= dict(zip(jaxpr.outvars, results, strict=True))

    def renamed(atoms: Iterable[Any]) -> list[Any]:
        return [atom if isinstance(atom, jex.Literal) else names.get(atom, atom) for atom in atoms]

    return [one.replace(invars=renamed(one.invars), outvars=renamed(one.outvars)) for one in jaxpr.eqns]


def _as_loop(number: int, equation: Any, lengths: set[int]) -> _Loop | None:
    """An operation as a loop along the rows of arrays of one of these lengths; None where it is none."""
    if equation.effects:
        return None
    if equation.primitive.name == "scan":
        params, operands = equation.params, equation.invars
        if params["length"] not in lengths:
            return None
        consts, carries = scan_parts(params)
        fixed, start = tuple(operands[:consts]), tuple(operands[consts : consts + carries])
        rows = tuple(operands[consts + carries :])
        if any(isinstance(atom, jex.Literal) for atom in rows):
            return None
        body = _marked(equation, jex.jaxpr_as_fun(params["jaxpr"]))
        return _Loop(number, equation, params["length"], fixed, start, rows, body, params["reverse"])
    if len(equation.outvars) != 1:
        return None
    for length in lengths:
        operation = of_rows(equation, length)
        if operation is not None:
            by_row, function = operation
            return _row_by_row(number, equation, length, by_row, _marked(equation, function))
    return None


def _marked(equation: Any, function: Callable) -> Callable:
    """What an operation computes, marked as part of a user's function where the operation is."""
    return jax.named_scope(USERS)(function) if of_users(equation) else function


def _row_by_row(number: int, equation: Any, length: int, by_row: Sequence[bool], function: Callable) -> _Loop:
    """An operation on rows as a loop."""
    fixed = tuple(atom for atom, own in zip(equation.invars, by_row, strict=True) if not own)
    rows = tuple(atom for atom, own in zip(equation.invars, by_row, strict=True) if own)

    def body(*values):
        common, own = iter(values[: len(fixed)]), iter(values[len(fixed) :])
        return [function(*(next(own if flag else common) for flag in by_row))]

    return _Loop(number, equation, length, fixed, (), rows, body, False)


def _variables(atoms: Iterable[Any]) -> list[Any]:
    return [atom for atom in atoms if not isinstance(atom, jex.Literal)]


def _distinct(atoms: Iterable[Any]) -> list[Any]:
    """Variables, each once, in order."""
    return list(dict.fromkeys(_variables(atoms)))


def _read(values: dict[Any, Any], atom: Any) -> Any:
    return atom.val if isinstance(atom, jex.Literal) else values[atom]


def _dims(atom: Any) -> tuple[int, ...]:
    return atom.aval.shape


def _shape(atom: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(atom.aval.shape, atom.aval.dtype)
