"""Loops and branches of a trace: scan, while, cond."""

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.kernels._components import Components, evaluate, is_number, objects
from poinsot.kernels.native._emitter import SHORTCUTS, SHORTER, Emitter, whole
from poinsot.kernels.native._ir import I1, I64, NotNative, Phi, Value, kind_of
from poinsot.kernels.native._known import Known, Rounds
from poinsot.kernels.native._memory import Memory
from poinsot.kernels.native._operations import same_bits
from poinsot.kernels.native._varying import scan_parts, scan_varying, varying, while_varying

UNROLLED = 128
"""Weight up to which a loop of known length is written out."""
LIGHT = 24
"""Weight up to which both sides of a branch are computed and one is selected."""
BRANCH = 512
"""Elements up to which the result of a branch is handed on one by one; more of them are in memory."""
BUFFER = 64
"""Elements from which an array that a loop carries stays in memory."""


class Carry:
    """What a loop carries: components as values that depend on the way, long arrays in memory.

    Args:
        emitter: who writes the function.
        start: arrays before the loop.
        avals: their types.
        varying: which of them differ from run to run.
    """

    def __init__(self, emitter: Emitter, start: Sequence[Any], avals: Sequence[Any], varying: Sequence[bool]):
        self.emitter, self.avals = emitter, avals
        self.kinds = [kind_of(aval.dtype) for aval in avals]
        self.varying = [flag and emitter.lanes for flag in varying]
        self.start = [
            self._placed(part, kind, wide)
            for part, kind, wide in zip(start, self.kinds, self.varying, strict=True)
        ]

    def _placed(self, part: Any, kind: str, wide: bool) -> Any:
        memory = self.emitter.memory
        if isinstance(part, Memory):
            if part.owned and part.wide == wide:
                return part
            if part.size <= BUFFER:
                return memory.components(part)
            own = memory.allocate(kind, wide, part.shape)
            with memory.unmasked():
                memory.copied(part, own)
            return own
        if part.size <= BUFFER:
            return part
        return memory.filled(part, kind, wide)

    def enter(self, block: str) -> list[Any]:
        """The arrays at the head of the loop, reached for the first time from a block."""
        self.phis: list[list[Phi]] = []
        heads: list[Any] = []
        for part, kind, wide in zip(self.start, self.kinds, self.varying, strict=True):
            if isinstance(part, Memory):
                self.phis.append([])
                heads.append(part)
                continue
            row = [self.emitter.builder.phi(kind, wide) for _ in range(part.size)]
            self.phis.append(row)
            heads.append(objects(part.shape, [phi.value for phi in row]))
        for row, part in zip(self.phis, self.start, strict=True):
            for phi, one in zip(row, () if isinstance(part, Memory) else part.flat, strict=True):
                phi.add(one, block)
        self.heads = heads
        return heads

    def spread(self) -> None:
        """Spread what varies over the lanes, before the loop: a loop's head holds nothing but its phis."""
        builder = self.emitter.builder
        for k, (part, wide) in enumerate(zip(self.start, self.varying, strict=True)):
            if wide and not isinstance(part, Memory):
                spread = [builder.spread(one) if isinstance(one, Value) else one for one in part.flat]
                self.start[k] = objects(part.shape, spread)

    def settle(self, results: Sequence[Any], mask: Value | None) -> list[Any]:
        """What goes into the next round, where runs that are done keep what they have."""
        emitter, settled = self.emitter, []
        # All that is read from long arrays is read before one of them is overwritten.
        results = [
            self._aside(emitter.in_order(part), head) if isinstance(head, Memory) else emitter.apart(part)
            for part, head in zip(results, self.heads, strict=True)
        ]
        for part, head, wide in zip(results, self.heads, self.varying, strict=True):
            if isinstance(head, Memory):
                emitter.memory.copied(part, head)
                settled.append(head)
                continue
            following = []
            for one, before in zip(part.flat, head.flat, strict=True):
                if mask is not None:
                    one = emitter.ops.select(mask, one, before)
                if wide and isinstance(one, Value):
                    one = emitter.builder.spread(one)
                following.append(one)
            settled.append(objects(head.shape, following))
        return settled

    def _aside(self, part: Any, head: Memory) -> Memory:
        """A long result where copying another into its place does not change it."""
        memory = self.emitter.memory
        if not isinstance(part, Memory):
            return memory.spilled(np.asarray(part), head.kind)
        alone = sum(isinstance(one, Memory) for one in self.heads) == 1
        if alone or part.pointer == head.pointer:
            return part
        own = memory.allocate(part.kind, part.wide, part.shape)
        with memory.unmasked():
            memory.copied(part, own)
        return own

    def close(self, settled: Sequence[Any]) -> None:
        """The way back to the head of the loop, from the present block."""
        block = self.emitter.builder.block
        for row, part in zip(self.phis, settled, strict=True):
            for phi, one in zip(row, () if isinstance(part, Memory) else part.flat, strict=True):
                phi.add(one, block)


@contextmanager
def masked(emitter: Emitter, mask: Value | None):
    """Write what only some of the lanes take part in."""
    before = emitter.memory.mask
    emitter.memory.mask = mask
    try:
        yield
    finally:
        emitter.memory.mask = before


def _owned(parts: Sequence[Any]) -> list[Any]:
    """Constants of a loop, which its body must not overwrite."""
    return [part.borrowed() if isinstance(part, Memory) else part for part in parts]


def _varies(part: Any) -> bool:
    if isinstance(part, Memory):
        return part.wide
    return any(isinstance(one, Value) and one.wide for one in part.flat)


@whole("while")
def _while(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """A loop as long as a condition holds; a lane in which it holds no longer keeps its values."""
    params, builder = equation.params, emitter.builder
    tests, bodies = params["cond_nconsts"], params["body_nconsts"]
    test, body = _owned(operands[:tests]), _owned(operands[tests : tests + bodies])
    start, avals = operands[tests + bodies :], params["body_jaxpr"].out_avals
    flags = [list(map(_varies, parts)) for parts in (test, body, start)]
    carry = Carry(emitter, start, avals, while_varying(params, *flags)[0])
    carry.spread()
    outer = emitter.memory.mask
    begin, head, inside, done = builder.block, *map(builder.name_of, ("while", "body", "done"))
    builder.go(head)
    builder.start(head)
    state = carry.enter(begin)
    with builder.scope():
        (goes,) = evaluate(params["cond_jaxpr"], emitter, *test, *_owned(state))
        each = emitter.apart(goes)
        goes, mask = _any_of(emitter, each), None
        if isinstance(goes, Value) and goes.wide:
            mask = goes = goes if outer is None else emitter.ops.both(goes, outer)
        builder.go_if(
            builder.any(goes) if isinstance(goes, Value) else builder.text(goes, I1, False), inside, done
        )
        builder.start(inside)
        with masked(emitter, outer if mask is None else mask):
            results = evaluate(params["body_jaxpr"], emitter, *body, *state)
            if each.ndim:
                results = [_where(emitter, each, new, old) for new, old in zip(results, state, strict=True)]
            settled = carry.settle(results, mask)
        carry.close(settled)
        builder.go(head)
    builder.start(done)
    return state


def _any_of(emitter: Emitter, each: Components) -> Any:
    """Whether any of the conditions of a loop holds: after `vmap` it has one for each of its rows."""
    total = each.flat[0]
    for one in each.flat[1:]:
        known = is_number(total) and is_number(one)
        total = np.bool_(total or one) if known else emitter.ops.apply("or", {}, (total, one))
    return total


def _where(emitter: Emitter, each: Components, new: Any, old: Any) -> Components:
    """Rows of the new array where their condition holds, else of the old one."""
    if isinstance(new, Memory) or isinstance(old, Memory):
        raise NotNative("the trace has a loop over long arrays with a condition for each row")
    rows = np.broadcast_to(each.reshape(each.shape + (1,) * (new.ndim - each.ndim)), new.shape)
    chosen = [emitter.ops.select(*three) for three in zip(rows.flat, new.flat, old.flat, strict=True)]
    return objects(new.shape, chosen)


@whole("scan")
def _scan(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """A loop of known length; a short one is written out."""
    params = equation.params
    (consts, carries), length = scan_parts(params), params["length"]
    fixed, start = (
        [emitter.in_order(part) for part in parts]
        for parts in (operands[:consts], operands[consts : consts + carries])
    )
    rows = operands[consts + carries :]
    weight = emitter.program.weights.of(params["jaxpr"])
    if length * weight <= UNROLLED or length == 1:
        return _unrolled(emitter, params, _owned(fixed), start, rows)
    return _looped(emitter, equation, _owned(fixed), start, rows)


def _unrolled(emitter: Emitter, params: dict, fixed, start, rows) -> Sequence[Any]:
    carries, length = len(start), params["length"]
    rows = [emitter.apart(part) for part in rows]
    carry, columns = list(start), [None] * length
    for k in reversed(range(length)) if params["reverse"] else range(length):
        given = [objects(part.shape[1:], list(part[k].flat) if part.ndim > 1 else [part[k]]) for part in rows]
        results = evaluate(params["jaxpr"], emitter, *fixed, *carry, *given)
        carry, columns[k] = results[:carries], [emitter.apart(one) for one in results[carries:]]
    shapes = [aval.shape for aval in params["jaxpr"].out_avals[carries:]]
    stacked = [
        objects((length, *shape), [one for column in columns for one in column[j].flat])
        for j, shape in enumerate(shapes)
    ]
    return [*carry, *stacked]


def _looped(emitter: Emitter, equation: Any, fixed, start, rows) -> Sequence[Any]:
    params, builder, memory = equation.params, emitter.builder, emitter.memory
    carries, length, jaxpr = len(start), params["length"], params["jaxpr"]
    flags = scan_varying(params, list(map(_varies, (*fixed, *start, *rows))))
    kinds = [kind_of(atom.aval.dtype) for atom in equation.invars[len(fixed) + carries :]]
    sources = [
        part if isinstance(part, Memory) or _repeated(part) else _in_rows(emitter, part, kind)
        for part, kind in zip(rows, kinds, strict=True)
    ]
    known = [one.known for one in sources if isinstance(one, Memory) and one.known is not None]
    rounds = Rounds.of(known, length, emitter.program.weights.of(jaxpr))
    targets = [
        Target(emitter, aval, length, wide)
        for aval, wide in zip(jaxpr.out_avals[carries:], flags[carries:], strict=True)
    ]

    def passed(state: Sequence[Any], place: Any, among: slice) -> Sequence[Any]:
        """What is carried on from a row, whose results are stored."""
        given = [
            memory.row(source, place, among) if isinstance(source, Memory) else source[0]
            for source in sources
        ]
        results = evaluate(jaxpr, emitter, *fixed, *state, *given)
        with memory.unmasked():
            for target, part in zip(targets, results[carries:], strict=True):
                target.put(place, among, part)
        return results[:carries]

    first = range(rounds.apart)
    if not params["reverse"]:
        for k in first:
            start = passed(start, np.int64(k), slice(k, k + 1))
    carry = Carry(emitter, start, jaxpr.out_avals[:carries], flags[:carries])
    carry.spread()
    begin, head, done = builder.block, builder.name_of("scan"), builder.name_of("scanned")
    builder.go(head)
    builder.start(head)
    count = builder.phi(I64, False)
    count.add(np.int64(rounds.apart), begin)
    state = carry.enter(begin)
    with builder.scope():
        following, results, classes = count.value, state, rounds.classes(length)
        for among in reversed(classes) if params["reverse"] else classes:
            last = np.int64(length - 1 + rounds.apart)
            place = emitter.ops.binary("sub", last, following) if params["reverse"] else following
            results = passed(results, place, among)
            following = builder.fresh(I64, False, f"add i64 {following.text}, 1")
        settled = carry.settle(results, None)
        more = builder.fresh(I1, False, f"icmp slt i64 {following.text}, {length}")
        count.add(following, builder.block)
        carry.close(settled)
        builder.go_if(more.text, head, done)
    builder.start(done)
    # The loop ends after its body: what it hands on are the values of the last round.
    ends = [end if isinstance(end, Memory) else part for end, part in zip(state, settled, strict=True)]
    if params["reverse"]:
        for k in reversed(first):
            ends = list(passed(ends, np.int64(k), slice(k, k + 1)))
    # Rows stay where they are: the next loop reads them there, and who needs components loads them.
    return [*ends, *(target.filled for target in targets)]


class Target:
    """An array of results of a loop, a row for each round.

    Args:
        emitter: who writes the function.
        aval: type of a row.
        length: number of rows.
        wide: whether it differs from run to run.
    """

    def __init__(self, emitter: Emitter, aval: Any, length: int, wide: bool):
        self.emitter = emitter
        self.memory = emitter.memory.allocate(kind_of(aval.dtype), wide, (length, *aval.shape))
        self.known = Known(*(np.zeros((length, aval.size), one) for one in (aval.dtype, bool)))

    def put(self, place: Any, among: slice, part: Any) -> None:
        """Store a row, by its number, which is one of some; numbers in it are the same in all of these."""
        emitter, part = self.emitter, self.emitter.apart(part)
        first = place if part.size == 1 else emitter.memory.times(place, part.size)
        for k, one in enumerate(part.flat):
            emitter.memory.store(self.memory, emitter.memory.plus(first, k), one)
            if is_number(one):
                self.known.values[among, k], self.known.which[among, k] = one, True

    @property
    def filled(self) -> Memory:
        """The array; who writes into one with known numbers would have to forget them, and takes a copy."""
        if not np.any(self.known.which):
            return self.memory
        return replace(self.memory, known=self.known, owned=False)


def _in_rows(emitter: Emitter, part: Components, kind: str) -> Memory:
    """Components in memory, with the numbers among them known."""
    return replace(emitter.memory.spilled(part, kind), known=Known.of(part), owned=False)


def _repeated(part: Components) -> bool:
    """Whether an array is one row over and over, as where it was spread."""
    return part.ndim > 1 and part.shape[0] > 0 and part.strides[0] == 0


@whole("cond")
def _cond(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """A branch: taken where all runs agree, else a selection in each lane."""
    branches, which = equation.params["branches"], emitter.apart(operands[0]).item()
    given = list(operands[1:])
    if is_number(which):
        chosen = min(max(int(which), 0), len(branches) - 1)
        return evaluate(branches[chosen], emitter, *given)
    weight = sum(map(emitter.program.weights.of, branches))
    in_memory = any(isinstance(part, Memory) for part in given)
    if weight <= LIGHT and not in_memory:
        return _selected(emitter, which, [evaluate(branch, emitter, *given) for branch in branches])
    tests = _tests(emitter, which, len(branches))
    return _branched(emitter, branches, tests, _owned(given))


def _tests(emitter: Emitter, which: Value, count: int) -> list[Value]:
    """For each branch whether it is taken; an index outside takes the first or the last."""
    ops = emitter.ops
    if which.kind == I1:
        return [ops.negated(which), which]
    low = [ops.compare("", "sle", which, np.int64(0))]
    high = [ops.compare("", "sge", which, np.int64(count - 1))]
    return [*low, *(ops.compare("", "eq", which, np.int64(k)) for k in range(1, count - 1)), *high]


def _selected(emitter: Emitter, which: Value, results: Sequence[Sequence[Any]]) -> list[Any]:
    tests = _tests(emitter, which, len(results))
    chosen = [list(map(emitter.apart, results[0])), *results[1:]]
    parts = chosen[0]
    for test, others in zip(tests[1:], results[1:], strict=True):
        parts = [
            objects(
                part.shape,
                [
                    emitter.ops.select(test, yes, no)
                    for yes, no in zip(emitter.apart(other).flat, part.flat, strict=True)
                ],
            )
            for part, other in zip(parts, others, strict=True)
        ]
    return parts


def _branched(emitter: Emitter, branches, tests: list[Value], given: list[Any]) -> list[Any]:
    """Branches one after the other, each skipped where no run takes it; what was taken is kept.

    Components are joined where the ways meet; a long array is in memory, where each branch puts its own.
    """
    builder, avals = emitter.builder, branches[0].out_avals
    flags = zip(*(varying(branch, list(map(_varies, given))) for branch in branches), strict=True)
    wides = [emitter.lanes and (tests[0].wide or any(of_branches)) for of_branches in flags]
    longest = SHORTER if emitter.program.shortened else BRANCH
    places = [
        emitter.memory.allocate(kind_of(aval.dtype), wide, aval.shape) if aval.size > longest else None
        for aval, wide in zip(avals, wides, strict=True)
    ]
    forms = [
        (kind_of(aval.dtype), wide)
        for aval, wide, place in zip(avals, wides, places, strict=True)
        for _ in range(aval.size if place is None else 0)
    ]
    outer, so_far = emitter.memory.mask, [_nothing(kind) for kind, _ in forms]
    for k, (branch, test) in enumerate(zip(branches, tests, strict=True)):
        mask = outer
        if test.wide:
            mask = test if outer is None else emitter.ops.both(test, outer)
        begin, inside, after = builder.block, builder.name_of("branch"), builder.name_of("joined")
        taken = test if mask is None or not test.wide else mask
        builder.go_if(builder.any(taken), inside, after)
        builder.start(inside)
        with builder.scope(), masked(emitter, mask):
            flat = _put_away(emitter, evaluate(branch, emitter, *given), places)
            if test.wide and k > 0:
                flat = [emitter.ops.select(test, one, old) for one, old in zip(flat, so_far, strict=True)]
            flat = [
                builder.spread(one) if wide and isinstance(one, Value) else one
                for one, (_, wide) in zip(flat, forms, strict=True)
            ]
        end = builder.block
        builder.go(after)
        builder.start(after)
        so_far = _joined(emitter, forms, (so_far, begin), (flat, end))
    pieces = iter(so_far)
    return [
        objects(aval.shape, [next(pieces) for _ in range(aval.size)]) if place is None else place
        for aval, place in zip(avals, places, strict=True)
    ]


def _put_away(emitter: Emitter, results: Sequence[Any], places: Sequence[Memory | None]) -> list[Any]:
    """Components of the results of a branch, of which long arrays are copied to their places in memory."""
    flat: list[Any] = []
    for part, place in zip(results, places, strict=True):
        if place is None:
            flat += emitter.apart(part).flat
            continue
        part = emitter.in_order(part)
        source = part if isinstance(part, Memory) else emitter.memory.spilled(part, place.kind)
        emitter.memory.copied(source, place)
    return flat


def _joined(emitter: Emitter, forms, skipped: tuple[list, str], taken: tuple[list, str]) -> list[Any]:
    """Values where two ways meet, each given with the block that it comes from."""
    joined: list[Any] = []
    for (kind, wide), old, new in zip(forms, skipped[0], taken[0], strict=True):
        if old is new or (is_number(old) and is_number(new) and same_bits(old, new)):
            joined.append(old)
            continue
        phi = emitter.builder.phi(kind, wide)
        phi.add(old, skipped[1])
        phi.add(new, taken[1])
        joined.append(phi.value)
    return joined


def _nothing(kind: str) -> Any:
    """What stands for the result of a branch that is not taken."""
    return {"double": np.float64(0.0), I1: np.False_}.get(kind, np.int64(0))


NEAR = 0.785
"""Below pi/4: an angle that is reduced already."""


def _reduced_angle(emitter: Emitter, jaxpr: Any, given: Sequence[Any]) -> Sequence[Any]:
    """The reduction of an angle to a quadrant, skipped where the angle is small: the bits are the same."""
    (angle,) = map(emitter.apart, given)
    if angle.size != 1 or is_number(angle.flat[0]):
        return evaluate(jaxpr, emitter, angle)
    size = emitter.ops.unary("fabs", angle.flat[0])
    near = emitter.ops.compare("ole", "", size, np.float64(NEAR))
    return _branched(emitter, [jaxpr, _unreduced(angle.shape)], [emitter.ops.negated(near), near], [angle])


@cache
def _unreduced(shape: tuple[int, ...]) -> Any:
    return jax.make_jaxpr(lambda x: (jnp.zeros(shape), x, jnp.zeros(shape)))(np.zeros(shape))


SHORTCUTS["poinsot_reduce"] = _reduced_angle
