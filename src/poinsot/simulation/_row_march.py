"""The time loop of a row of bodies: steps without looking, in one compiled program."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, Packed, Result
from poinsot.integrators import Composition
from poinsot.simulation._loop import LoopState, Marcher, record_rows, start_rows
from poinsot.simulation._row import Row


class RowMarcher(eqx.Module):
    """A `Marcher` that takes the steps of a `Row` without looking, and looks at the end.

    Where something is not finite then, it goes back to where it began: `plain` finds the step and the reason.
    """

    plain: Marcher
    row: Row

    def start(self, y: Packed) -> LoopState:
        """The state before the first step."""
        return start_rows(self.plain, y)

    def part_step(self, loop: LoopState, fraction) -> tuple[Packed, Array]:
        """As `Marcher.part_step`."""
        return self.plain.part_step(loop, fraction)

    def march(self, loop: LoopState, until) -> LoopState:
        """Steps up to step number `until`."""
        rows = self.row.with_margin(self.rows(loop), 1, 1)
        rows = self.row.steps(rows, jnp.int64(-1), self.plain.h, until - loop.n)
        return self.reached(loop, rows[:, 1:-1], until)

    def rows(self, loop: LoopState) -> Float[Array, "19 n"]:
        """All bodies where a run stands."""
        own = loop.carry[0] if self._composed else loop.carry
        return self.row.rows(self._problem, loop.y, own)

    def reached(self, loop: LoopState, rows: Float[Array, "19 n"], until) -> LoopState:
        """Where the run stands after steps from `loop`: at their end, or where it was if they failed."""
        y, own = self.row.packed(self._problem, rows)
        carry: Any = (own,) if self._composed else own
        finite = jnp.all(jnp.isfinite(rows))
        n, y, carry = jax.tree.map(
            lambda new, old: jnp.where(finite, new, old), (until, y, carry), (loop.n, loop.y, loop.carry)
        )
        result = jnp.where(finite, Result.successful, Result.non_finite).astype(jnp.int32)
        return LoopState(n, y, carry, result, loop.iterations)

    @property
    def _problem(self) -> Group:
        assert isinstance(self.plain.problem, Group)
        return self.plain.problem

    @property
    def _composed(self) -> bool:
        return isinstance(self.plain.integrator, Composition)

    def record(self, loop: LoopState, targets, fractions, count):
        """As `record`."""
        return record_rows(self, loop, targets, fractions, count)
