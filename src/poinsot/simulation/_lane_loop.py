"""The time loop for many runs at once."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from poinsot.core import Result, State
from poinsot.kernels import Components, Lanes, in_components, in_lanes, lanes_apart, objects
from poinsot.simulation._held_sines import held_sines
from poinsot.simulation._loop import LoopState, Marcher
from poinsot.simulation._solve import Solution

MOST = 64
"""Numbers in a state beyond which it is not taken apart: the list of operations would grow too long."""

each_run = partial(jax.vmap, in_axes=-1, out_axes=-1)


def comes_apart(marcher: Marcher, state: State) -> bool:
    """Whether a step of one run is short and made of operations on single components, without loops."""
    loop = jax.eval_shape(lambda state: marcher.start(marcher.problem.pack(state)), state)
    if loop.y.size > MOST:
        return False
    return in_components(jax.make_jaxpr(marcher.step)(loop).jaxpr)


def solve_lanes(marcher: Marcher, states: State, saves: int, save_every: int, apart: bool) -> Solution:
    """`solve` of a problem of one run, for states with many runs along their last axis.

    Args:
        marcher: what steps one run.
        states: the starts.
        saves: how often to save.
        save_every: steps between.
        apart: whether to take states apart, see `comes_apart`.
    """
    problem = marcher.problem
    y = each_run(problem.pack)(states)
    start = each_run(marcher.start)(y)
    layout: Any = _Apart(marcher, start) if apart else _Stacked(marcher)

    def save(carry, number):
        first = number * save_every
        carry = lax.fori_loop(first, first + save_every, layout.step, carry)
        loop = layout.loop(carry)
        return carry, jnp.where(loop.result == Result.successful, loop.y, jnp.nan)

    carry, saved = lax.scan(save, layout.carry(start), jnp.arange(saves))
    states = jax.vmap(each_run(problem.unpack))(jnp.concatenate([y[None], saved]))
    times = marcher.time(save_every * jnp.arange(saves + 1))
    end = layout.loop(carry)
    return Solution(times, states, end.result, end.n, end.iterations)


class _Stacked:
    """States as they are, with a last axis for the runs."""

    def __init__(self, marcher: Marcher):
        self.marcher = marcher

    def carry(self, loop: LoopState) -> LoopState:
        """What the loop carries, from the state of all runs."""
        return loop

    def loop(self, carry: LoopState) -> LoopState:
        """The state of all runs, from what the loop carries."""
        return carry

    def step(self, n, carry: LoopState) -> LoopState:
        """Step number `n` of all runs."""
        return each_run(lambda loop: self.marcher.step_unless_failed(loop, n))(carry)


class _Apart:
    """States taken apart, one array for each component: on a GPU one kernel writes them all."""

    def __init__(self, marcher: Marcher, loop: LoopState):
        self.leaves, self.tree = jax.tree.flatten(loop)
        self.lanes = Lanes(loop.y.shape[-1])
        numbers = jnp.zeros(self.lanes.count, dtype=int)
        functions = held_sines(self.lanes.count)
        self.advance = in_lanes(marcher.step_unless_failed, loop, numbers, functions=functions)

    def carry(self, loop: LoopState) -> list[Any]:
        """What the loop carries, from the state of all runs."""
        return self._laid_out([lanes_apart(leaf) for leaf in jax.tree.leaves(loop)])

    def _laid_out(self, parts: Sequence[Components]) -> list[Any]:
        return [
            [self.lanes.filled(jnp.asarray(one, leaf.dtype)) for one in part.flat]
            for part, leaf in zip(parts, self.leaves, strict=True)
        ]

    def _parts(self, carry: list[Any]) -> list[Components]:
        return [objects(leaf.shape[:-1], rows) for rows, leaf in zip(carry, self.leaves, strict=True)]

    def loop(self, carry: list[Any]) -> LoopState:
        """The state of all runs, from what the loop carries."""
        pairs = zip(self._parts(carry), self.leaves, strict=True)
        return jax.tree.unflatten(self.tree, [self.lanes.together(part, leaf.dtype) for part, leaf in pairs])

    def step(self, n, carry: list[Any]) -> list[Any]:
        """Step number `n` of all runs."""
        loop = jax.tree.unflatten(self.tree, self._parts(carry))
        return self._laid_out(jax.tree.leaves(self.advance(loop, objects((), [n]))))
