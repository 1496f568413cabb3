"""Many runs of one problem in machine code: runs along the lanes of vectors, tiles of them on every core."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from poinsot.core import Result, State
from poinsot.kernels import SHORT, Fitted, Kernel, filled, in_components, remembered, shared_out
from poinsot.kernels.native import Block, NativeProgram, lanes_of
from poinsot.simulation._loop import LoopState, Marcher, Model
from poinsot.simulation._progress import Progress
from poinsot.simulation._schedule import Pace
from poinsot.simulation._solve import Solution

ROOM = 1024
"""Numbers of a run, at least, that a chunk has room for where more than one state is saved."""
AT_ONCE = 2**23
"""Numbers of all runs that are saved in a chunk, about: more runs go one batch after the other."""


def begin_lane(model: Model, grid, state: State) -> LoopState:
    """One run before its first step."""
    return Marcher(model[0], model[1], *grid).start(model[0].pack(state))


def record_lane(model: Model, grid, loop: LoopState):
    """One run through step numbers `targets[:count]`, with the state at each; NaN once it has failed."""
    t0, h, first, targets, count = grid
    marcher = Marcher(model[0], model[1], t0, h)

    def advance(k, carry):
        loop, begin, buffer = carry
        loop = marcher.march_together(loop, begin, targets[k])
        row = jnp.where(loop.result == Result.successful, loop.y, jnp.nan)
        return loop, targets[k], buffer.at[k].set(row)

    buffer = jnp.zeros((targets.shape[0], *loop.y.shape))
    loop, _, buffer = lax.fori_loop(0, count, advance, (loop, first, buffer))
    return loop, buffer


def layout(model: Model, grid, state: State) -> tuple[LoopState, bool]:
    """Shapes of where one run stands, and whether its step has no loops."""
    loop = jax.eval_shape(lambda state: begin_lane(model, grid, state), state)
    step = jax.make_jaxpr(lambda loop: Marcher(model[0], model[1], *grid).step(loop))(loop)
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), loop), in_components(step.jaxpr)


class Batch:
    """Some of the runs, in blocks of memory that are stepped in place, chunk by chunk.

    Args:
        program: `record_lane`, compiled.
        loop: where the runs stand, the runs in front of every array.
    """

    def __init__(self, program: NativeProgram, loop: LoopState):
        self.program = program
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(loop)]
        self.tiles = len(leaves[0]) // program.width
        self.given, self.produced = Block(program.given, self.tiles), Block(program.produced, self.tiles)
        self.given.fill(leaves)

    def advance(self, shared: Block) -> None:
        """One chunk of steps of all runs."""
        run = self.program.run
        shared_out(lambda a, b: run(shared, self.given, self.produced, a, b), self.tiles)
        # Where the runs stand comes first among the results, in the places where it is given.
        rows = self.produced.bytes.reshape(self.tiles, -1)
        self.given.bytes.reshape(self.tiles, -1)[:] = rows[:, : self.program.given.stride]
        for own, new in zip(self.given.large, self.produced.large, strict=False):
            own[:] = new

    @property
    def results(self) -> tuple[LoopState, np.ndarray]:
        """Where the runs stand, and the saved states, the runs in front."""
        return jax.tree.unflatten(self.program.result, self.produced.arrays())


def ensemble_native(
    marcher: Marcher, states: State, count: int, saves: int, save_every: int, kernel: Kernel, progress
) -> Solution | None:
    """Runs from many starts; None where the native kernel cannot take them."""
    model, grid = (marcher.problem, marcher.integrator), (marcher.t0, marcher.h)
    one = jax.tree.map(lambda x: np.asarray(x[0]), states)
    # Tracing takes as long as many thousand steps of a run.
    loop, straight = remembered(layout, model, grid, one)
    if loop.y.size > SHORT and not marcher.problem.looped and kernel.choice != "native":
        kernel.give_up(f"a state of {loop.y.size} numbers is too long to be written out")
        return None
    width = lanes_of(straight)
    room = 1 if saves == 1 else max(64, ROOM // max(loop.y.size, 1) + 1)
    targets = np.zeros(room, dtype=np.int64)
    chunk = (*grid, np.int64(0), targets, np.int64(0))
    start = kernel.program(begin_lane, model, grid, one, width)
    program = kernel.program(record_lane, model, chunk, loop, width)
    if start is None or program is None:
        return None
    few = width * max(1, AT_ONCE // (width * room * max(loop.y.size, 1)))
    rows = np.empty((count, saves + 1, *loop.y.shape))
    ends = []
    steps = save_every * saves
    with Progress(progress, steps * count, marcher.integrator.name) as bar:
        for begin in range(0, count, few):
            own = rows[begin : begin + few]
            part = jax.tree.map(lambda x, at=begin: filled(np.asarray(x[at : at + few]), width), states)
            loops = start.program(start.block(grid), part)
            own[:, 0] = loops.y[: len(own)]
            batch = Batch(program.program, loops)
            plan = _Plan(program, grid, room, saves, save_every)
            for n in plan.chunks(batch, own):
                bar.update(steps * begin + n * len(own))
            end = batch.results[0]
            ends.append([one[: len(own)] for one in (end.result, end.n, end.iterations)])
    result, taken, iterations = (np.concatenate(column) for column in zip(*ends, strict=True))
    times = np.asarray(marcher.time(save_every * np.arange(saves + 1)))
    unpack: Any = jax.vmap(jax.vmap(marcher.problem.unpack))
    solution: Any = Solution
    return solution(
        t=np.broadcast_to(times, (count, saves + 1)),
        state=jax.tree.map(np.asarray, unpack(rows)),
        result=result,
        steps=taken,
        iterations=iterations,
        kernel=kernel.description,
    )


class _Plan(NamedTuple):
    """What is saved of a batch of runs."""

    program: Fitted
    grid: tuple[Any, Any]
    room: int
    saves: int
    save_every: int

    def chunks(self, batch: Batch, rows: np.ndarray) -> Iterator[int]:
        """Step through the whole run in chunks of about a quarter of a second, and fill in the saved states.

        Yields:
            The step number after each chunk.
        """
        pace, n, saved = Pace(), 0, 0
        while saved < self.saves:
            tick, reach = time.perf_counter(), n + pace.steps
            due = self.save_every * np.arange(saved + 1, min(saved + self.room, self.saves) + 1)
            targets = due[due <= reach]
            count = len(targets)
            # An interval longer than a chunk is walked in parts, whose states are thrown away.
            targets = targets if count else np.array([reach])
            padded = np.pad(targets, (0, self.room - len(targets))).astype(np.int64)
            grid = (*self.grid, np.int64(n), padded, np.int64(len(targets)))
            batch.advance(self.program.block(grid))
            rows[:, saved + 1 : saved + 1 + count] = batch.results[1][: len(rows), :count]
            pace.learn(int(targets[-1]) - n, time.perf_counter() - tick)
            n, saved = int(targets[-1]), saved + count
            yield n
