"""A traced function as a program: where its arguments stand in memory, and how it is called.

A function takes three trees of arrays: the *model*, whose zeros and ones are part of the program, the *grid*,
further numbers that all runs share, and the *runs*, with an axis of runs in front where there are many. Its
results belong to the runs.
"""

import ctypes
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend import core as jex

import poinsot.kernels.native._control
import poinsot.kernels.native._linear
import poinsot.kernels.native._moves
import poinsot.kernels.native._views  # noqa: F401  (registers its operations, as those before do)
from poinsot.kernels._components import evaluate, objects
from poinsot.kernels.native._blocks import STORED_DTYPES, Block, Bytes, Layout, Leaf, table_of
from poinsot.kernels.native._cache import CodeCache
from poinsot.kernels.native._calls import Call, RowsCall
from poinsot.kernels.native._emitter import LONG, SHORTER, Emitter, Program, TooLong
from poinsot.kernels.native._frozen import frozen
from poinsot.kernels.native._fusion import fused
from poinsot.kernels.native._ir import ALIGNED, DOUBLE, I1, I64, STORED, Builder, NotNative, Value
from poinsot.kernels.native._known import Known
from poinsot.kernels.native._lanes import in_lanes, in_rows
from poinsot.kernels.native._memory import Memory
from poinsot.kernels.native._rows import most_rows
from poinsot.kernels.native._target import ENTRY, Linked, lanes_of, object_code, target

HEAVIEST = 300_000
"""Weight of a trace beyond which writing it out takes too long."""
SPARSE = 512
"""Elements of an array of the model that is taken apart if at least half of them are part of the code."""
LONGEST = 100_000
"""Lines of a program beyond which the compiler makes no effort, or little for a long run."""
LONGEST_FUNCTION = 45_000
"""The same of one of its functions, where a line that only moves a number counts half.

The time grows faster than the length: 12,000 lines take two seconds, 58,000 up to forty. 140,000 take ten
with little effort, and one with none, at a third of the speed. XLA takes several times as long, and minutes
for some of these traces.
"""
MOST_PLACES = 300_000
"""Numbers that code made without effort may hold: each has its place on a stack of few megabytes."""
LIGHT = 1000
"""Lines of a program that takes two vectors of runs at once; one alone would wait for its own results."""
MOVE = re.compile(r"= load |store |= getelementptr")
LANES = re.compile(r"<(\d+) x ")


class NativeProgram:
    """A function compiled for one structure of its arguments.

    Args:
        traced: the function, with arrays like those that it takes.
        width: runs side by side in a vector; None for as many as suit the code, of long code one unless
            runs are rows.
        fast: whether multiplications and additions may be contracted.
        effort: of the compiler, from 0 to 3.
        rows: whether many runs are rows of ordinary arrays, see `of_rows`; else they are in blocks.
        known: for each array of the model which elements are part of the code, if not those of `frozen`.
    """

    result: Any
    """Structure of the results."""
    workspace: int
    text: str
    """The module; empty where another process has written it and there is nothing to improve."""
    hurried: bool
    """Whether it is too long to be compiled with effort before it is known to run for long."""

    def __init__(
        self,
        traced: "Traced",
        *,
        width: int | None,
        fast: bool,
        effort: int = 2,
        rows: bool = False,
        known: Sequence[np.ndarray] | None = None,
    ):
        self.result = traced.result
        if traced.jaxpr.effects:
            raise NotNative("the trace calls back into Python, or has other effects")
        model = traced.leaves[0]
        known = [frozen(leaf) for leaf in model] if known is None else known
        trace = _Trace(traced.jaxpr, traced.leaves, fast, rows, list(zip(model, known, strict=True)))
        program = self._written(trace, width or lanes_of(straight=False))
        if width is None and str(program.module).count("\n") <= LIGHT:
            program = self._written(trace, lanes_of(straight=True))
        elif width is None and not rows and _long(str(program.module)):
            program = self._written(trace, 1)
        self.workspace, self.text = program.workspace.size, str(program.module)
        self._linked: list[Linked] = []
        self.hurried = _long(self.text)
        if self.hurried:
            effort, places = 0, _places(self.text)
            if places > MOST_PLACES:
                raise NotNative(f"the code of the trace holds {places} numbers, more than {MOST_PLACES}")
        self._compile(effort)

    @classmethod
    def of(cls, function: Callable, model: Any, grid: Any, runs: Any, **options: Any) -> "NativeProgram":
        """The program of a function for arguments like these.

        Args:
            function: of model, grid and runs.
            model: tree of arrays; some of their elements become part of the code, see `frozen`.
            grid: tree of arrays that all runs share.
            runs: tree of arrays of one run.
            options: of the class.
        """
        return cls(trace_of(function, model, grid, runs), **options)

    @property
    def told(self) -> dict[str, Any]:
        """What another process needs of it, as plain data."""
        return {
            "result": self.result,
            "produced": [(leaf.shape, np.dtype(STORED_DTYPES[leaf.kind])) for leaf in self.produced.leaves],
            "width": self.width,
            "rows": self.rows,
            "workspace": self.workspace,
            "code": self._code,
            "text": zlib.compress(self.text.encode()) if self.hurried else b"",
        }

    @classmethod
    def of_told(cls, told: dict[str, Any], leaves: Sequence[Sequence[np.ndarray]]) -> "NativeProgram | None":
        """A program of another process, or None where its code is no longer there.

        Args:
            told: what it told.
            leaves: arrays of model, grid and run like those that it was made for.
        """
        code = CodeCache().get(told["code"])
        if code is None:
            return None
        program = object.__new__(cls)
        program.result, program.workspace, program._code = told["result"], told["workspace"], told["code"]
        program._placed(leaves, [_Aval(*one) for one in told["produced"]], told["width"])
        program.rows = told["rows"]
        program.text = zlib.decompress(told["text"]).decode() if told["text"] else ""
        program.hurried = bool(program.text)
        program._linked = [Linked(code)]
        program._call = program._linked[-1].function()
        return program

    def _compile(self, effort: int) -> None:
        self._code, code = object_code(self.text, target(), effort)
        # Code from before is kept: calls that were made of it go on with it.
        self._linked.append(Linked(code))
        self._call = self._linked[-1].function()

    def improve(self) -> None:
        """Compile code that was too long for any effort again with some: it will run for long."""
        if self.hurried:
            self._compile(effort=1)
            self.hurried = False

    def _written(self, trace: "_Trace", width: int) -> Program:
        """The code of a trace, for some runs side by side."""
        jaxpr = trace.jaxpr
        self._placed(trace.leaves, jaxpr.out_avals, width)
        self.rows = trace.rows and width > 1
        abreast = most_rows(jaxpr) if width == 1 else 0

        def written(long: int) -> Program:
            program = Program(jaxpr, max(width, abreast), trace.fast, rows=abreast > 1, long=long)
            weight = program.weights.of_code(jaxpr, program.is_function)
            if weight > HEAVIEST:
                raise NotNative(f"the trace has about {weight} operations on numbers, more than {HEAVIEST}")
            self._write(program, jaxpr, trace.known)
            return program

        try:
            try:
                return written(LONG)
            except TooLong:
                return written(SHORTER)
        except NotNative:
            raise
        except Exception as error:
            # A trace may hold anything; the plain kernel takes it, and the run says why.
            raise NotNative(f"the trace cannot be written out ({type(error).__name__}: {error})") from error

    def _placed(self, leaves: Sequence[Sequence[np.ndarray]], produced: Sequence[Any], width: int) -> None:
        """Places of arguments and results in memory."""
        model, grid, runs = ([_Aval(leaf.shape, leaf.dtype) for leaf in part] for part in leaves)
        self.width = width
        self.shared = Layout([*model, *grid], False, width)
        self.given = Layout(runs, True, width)
        self.produced = Layout(produced, True, width)

    def _write(
        self, program: Program, jaxpr: jex.ClosedJaxpr, model: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> None:
        """The work: for each tile of runs, load, compute, store."""
        larges = [
            f"ptr noalias {name}{k}"
            for name, layout in (("%sl", self.shared), ("%il", self.given), ("%ol", self.produced))
            for k in range(layout.pointers)
        ]
        if self.rows:
            larges += [f"ptr noalias %ir{k}" for k in range(len(self.given.leaves))]
            larges += [f"ptr noalias %or{k}" for k in range(len(self.produced.leaves))]
        blocks = [f"ptr noalias {name}" for name in ("%s", "%inputs", "%outputs", "%w")]
        parameters = [*blocks, *larges, "i64 %first", "i64 %last"]
        _write_entry(program, len(blocks) + len(larges))
        builder = Builder(program.module, "work", parameters, inlined=False)
        emitter = Emitter(program, builder)
        read = {
            atom for equation in jaxpr.jaxpr.eqns for atom in equation.invars if isinstance(atom, jex.Var)
        }
        read.update(atom for atom in jaxpr.jaxpr.outvars if isinstance(atom, jex.Var))
        shared = [
            self._shared(emitter, leaf, *(model[k] if k < len(model) else (None, None)))
            if jaxpr.jaxpr.invars[k] in read
            else np.zeros(leaf.shape, dtype=object)
            for k, leaf in enumerate(self.shared.leaves)
        ]
        builder.go("tile")
        builder.start("tile")
        tile = builder.phi(I64, False)
        tile.add(Value("%first", I64, False), "begin")
        for name, source, layout in (("%in", "%inputs", self.given), ("%out", "%outputs", self.produced)):
            if self.rows:
                # Rows go through the stack, which the compiler need not write where registers are enough.
                builder.entry.append(f"{name} = alloca [{layout.stride} x i8], align {ALIGNED}")
                continue
            offset = builder.fresh(I64, False, f"mul i64 {tile.value.text}, {layout.stride}")
            builder.effect(f"{name} = getelementptr i8, ptr {source}, i64 {offset.text}")
        for k, leaf in enumerate(self.given.leaves if self.rows else ()):
            in_lanes(emitter, f"%ir{k}", tile.value, self._tile_memory(emitter, "%in", "%il", leaf))
        runs = [self._received(emitter, leaf, tile.value) for leaf in self.given.leaves]
        results = evaluate(jaxpr, emitter, *shared, *runs)
        for leaf, part in zip(self.produced.leaves, results, strict=True):
            self._deliver(emitter, leaf, part, tile.value)
        for k, leaf in enumerate(self.produced.leaves if self.rows else ()):
            in_rows(emitter, self._tile_memory(emitter, "%out", "%ol", leaf), f"%or{k}", tile.value)
        following = builder.fresh(I64, False, f"add i64 {tile.value.text}, 1")
        more = builder.fresh(I1, False, f"icmp slt i64 {following.text}, %last")
        tile.add(following, builder.block)
        builder.go_if(more.text, "tile", "finished")
        builder.start("finished")
        builder.end()

    def _shared(self, emitter: Emitter, leaf: Leaf, model: np.ndarray | None, part: np.ndarray | None) -> Any:
        """An array that all runs share: numbers of the code where they are part of it, else loaded."""
        part = np.zeros(leaf.shape, dtype=bool) if part is None else part
        numbers = np.zeros(leaf.shape) if model is None else model
        # Where code is to be short, also what would fit into registers in another program.
        shortened = emitter.program.shortened and leaf.size > SHORTER
        # Of a matrix for each of many bodies most numbers may be zeros and ones.
        sparse = not shortened and leaf.size <= SPARSE and 2 * np.count_nonzero(part) >= leaf.size
        in_memory = leaf.large or (shortened and leaf.kind == DOUBLE)
        known = None
        if in_memory and np.any(part):
            known = Known(*(one.reshape(leaf.shape[0], -1) for one in (numbers, part)))
        pointer = f"%sl{leaf.offset}"
        if in_memory and not leaf.large:
            place = f"getelementptr i8, ptr %s, i64 {self.shared.place(leaf, 0)}"
            pointer = emitter.builder.value("ptr", False, place).text
        whole = Memory(pointer, leaf.kind, False, leaf.shape, fixed=True, known=known)
        if in_memory and not (sparse or np.all(part)):
            return whole

        def loaded(k: int) -> Value:
            if leaf.large:
                return emitter.memory.load(whole, np.int64(k))
            return emitter.shared(self.shared.place(leaf, k), leaf.kind)

        return objects(
            leaf.shape,
            [
                number if known else loaded(k)
                for k, (known, number) in enumerate(zip(part.flat, numbers.flat, strict=True))
            ],
        )

    def _received(self, emitter: Emitter, leaf: Leaf, tile: Value) -> Any:
        """An array of the runs of a tile."""
        wide = self.given.wide
        if leaf.large:
            pointer = self._tile_of(emitter, f"%il{leaf.offset}", leaf, tile, wide)
            # Not as fixed, though it is: functions would be written twice, once for states within a loop.
            return Memory(pointer, leaf.kind, wide, leaf.shape)
        places = [self.given.place(leaf, k) for k in range(leaf.size)]
        loaded = [emitter.get("%in", place, leaf.kind, wide, fixed=not self.rows) for place in places]
        return objects(leaf.shape, loaded)

    def _tile_memory(self, emitter: Emitter, block: str, large: str, leaf: Leaf) -> Memory:
        """An array of the block of one tile that rows go through."""
        pointer = f"{large}{leaf.offset}"
        if not leaf.large:
            pointer = emitter.builder.value(
                "ptr", False, f"getelementptr i8, ptr {block}, i64 {leaf.offset}"
            ).text
        return Memory(pointer, leaf.kind, True, leaf.shape)

    def _tile_of(self, emitter: Emitter, pointer: str, leaf: Leaf, tile: Value, wide: bool) -> str:
        if self.rows:
            return pointer
        stored = emitter.builder.type(STORED[leaf.kind], wide)
        place = emitter.builder.fresh(I64, False, f"mul i64 {tile.text}, {leaf.size}")
        return emitter.builder.value(
            "ptr", False, f"getelementptr {stored}, ptr {pointer}, i64 {place.text}"
        ).text

    def _deliver(self, emitter: Emitter, leaf: Leaf, part: Any, tile: Value) -> None:
        """Store a result."""
        wide = self.produced.wide
        if leaf.large:
            pointer = self._tile_of(emitter, f"%ol{leaf.offset}", leaf, tile, wide)
            target = Memory(pointer, leaf.kind, wide, leaf.shape)
            part = emitter.in_order(part)
            source = part if isinstance(part, Memory) else emitter.memory.spilled(part, leaf.kind)
            emitter.memory.copied(source, target)
            return
        for k, one in enumerate(emitter.apart(part).flat):
            slot = emitter._slot("%out", self.produced.place(leaf, k), leaf.kind, wide)
            emitter.memory.store(slot, np.int64(0), one)

    def block(self, model, grid) -> Block:
        """What all runs share, ready for calls."""
        block = Block(self.shared, 1)
        block.fill([np.asarray(leaf) for tree in (model, grid) for leaf in jax.tree.leaves(tree)])
        return block

    def bound(self, model: Sequence[Any]) -> "Call":
        """The program with the arrays of a model, as a function of grid and run."""
        return Call(self, [np.asarray(leaf) for leaf in model])

    def of_rows(self, model: Sequence[Any]) -> "RowsCall":
        """The program with the arrays of a model, as a function of grid and of many runs."""
        return RowsCall(self, [np.asarray(leaf) for leaf in model])

    def __call__(self, shared: Block, runs) -> Any:
        """Results for many runs, which stand in front of every array and fill whole vectors."""
        arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(runs)]
        tiles = len(arrays[0]) // self.width if self.given.wide else 1
        given, produced = Block(self.given, tiles), Block(self.produced, tiles)
        given.fill(arrays)
        self.run(shared, given, produced, 0, tiles)
        return jax.tree.unflatten(self.result, produced.arrays())

    def run(self, shared: Block, given: Block, produced: Block, first: int, last: int) -> None:
        """Compute some tiles of runs, from one block into another."""
        workspace = Bytes(self.workspace)
        table = table_of(self.pointers(shared, given, produced, workspace))
        self._call(ctypes.addressof(table), first, last)

    def pointers(self, shared: Block, given: Block, produced: Block, workspace: Bytes) -> list[int]:
        """What stands in the table of the entry before the rows; the blocks must be kept."""
        heads = [shared.addresses, given.addresses, produced.addresses]
        larges = [one for head in heads for one in head[1:]]
        return [*(head[0] for head in heads), workspace.address, *larges]

    @property
    def entry(self) -> Any:
        """The machine code, as a function of the address of a table of pointers and the numbers of tiles."""
        return self._call


class Traced(NamedTuple):
    """A function traced for arguments of some structure."""

    jaxpr: jex.ClosedJaxpr
    result: Any
    """Structure of the results."""
    leaves: list[list[np.ndarray]]
    """Arrays of model, grid and run."""


def trace_of(function: Callable, model: Any, grid: Any, runs: Any) -> Traced:
    """The trace of a function that a program is made of."""
    trees = [jax.tree.flatten(tree) for tree in (model, grid, runs)]
    leaves = [[np.asarray(leaf) for leaf in found] for found, _ in trees]
    structures = [structure for _, structure in trees]
    counts = np.cumsum([0, *map(len, leaves)])

    def flat(*arrays):
        parts = (arrays[a:b] for a, b in zip(counts, counts[1:], strict=False))
        return function(*(jax.tree.unflatten(one, part) for one, part in zip(structures, parts, strict=True)))

    shapes = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for part in leaves for leaf in part]
    jaxpr, result = jax.make_jaxpr(flat, return_shape=True)(*shapes)
    return Traced(fused(_needed(jaxpr)), jax.tree.structure(result), leaves)


def _write_entry(program: Program, pointers: int) -> None:
    """The function that is called from outside: one table of pointers takes less time than many arguments."""
    builder = Builder(program.module, ENTRY, ["ptr %table", "i64 %first", "i64 %last"], internal=False)
    given = []
    for k in range(pointers):
        slot = builder.fresh("ptr", False, f"getelementptr ptr, ptr %table, i64 {k}")
        given.append(f"ptr {builder.fresh('ptr', False, f'load ptr, ptr {slot.text}').text}")
    builder.effect(f"call void @work({', '.join([*given, 'i64 %first', 'i64 %last'])})")
    builder.end()


@dataclass(frozen=True)
class _Trace:
    """What is written, and how; see `NativeProgram`."""

    jaxpr: jex.ClosedJaxpr
    leaves: list[list[np.ndarray]]
    """Arrays of model, grid and run."""
    fast: bool
    rows: bool
    known: Sequence[tuple[np.ndarray, np.ndarray]]
    """Arrays of the model, and which of their elements are part of the code."""


class _Aval:
    """Shape and type of an array."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), dtype


def _long(text: str) -> bool:
    """Whether the compiler would take long for a program."""
    functions = text.split("\ndefine ")
    largest = max(one.count("\n") - len(MOVE.findall(one)) // 2 for one in functions)
    return text.count("\n") > LONGEST or largest > LONGEST_FUNCTION


def _places(text: str) -> int:
    """Numbers that the lines of a program make, each element of a vector counted."""
    return sum(int(found[1]) if (found := LANES.search(line)) else 1 for line in text.splitlines())


def _needed(jaxpr: jex.ClosedJaxpr) -> jex.ClosedJaxpr:
    """A trace without the operations that no result depends on."""
    needed = {atom for atom in jaxpr.jaxpr.outvars if isinstance(atom, jex.Var)}
    kept = []
    for equation in reversed(jaxpr.jaxpr.eqns):
        if equation.effects or not needed.isdisjoint(equation.outvars):
            kept.append(equation)
            needed.update(atom for atom in equation.invars if isinstance(atom, jex.Var))
    return jex.ClosedJaxpr(jaxpr.jaxpr.replace(eqns=kept[::-1]), jaxpr.consts)
