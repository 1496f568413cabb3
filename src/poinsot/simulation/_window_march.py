"""The time loop of an implicit method on a long row of bodies: in windows that stay in the cache."""

from typing import Self

import equinox as eqx
import jax

from poinsot.core import AbstractProblem, InWindows, Packed
from poinsot.core.types import IntScalar
from poinsot.integrators import AbstractIntegrator, FixedPoint, ImplicitRungeKutta
from poinsot.simulation._loop import LoopState, Marcher, record_rows, start_rows

MANY = 64
"""Bodies from which a row is cut on a CPU."""


def in_windows(problem: AbstractProblem, integrator: AbstractIntegrator) -> AbstractProblem:
    """A long row of bodies in windows, if the method can use them and a CPU runs it; else itself."""
    if not isinstance(integrator, ImplicitRungeKutta) or not isinstance(integrator.solver, FixedPoint):
        return problem
    local = problem.local_field
    if local is None or local.count < MANY or jax.default_backend() != "cpu":
        return problem
    return InWindows(problem, local)


class WindowMarcher(eqx.Module):
    """A `Marcher` of windows, for those who know the packed state of the row.

    States go there and back at the ends of a march; what the integrator carries stays in windows.
    """

    windows: Marcher

    @classmethod
    def of(cls, marcher: Marcher) -> Self | None:
        """The march in windows, or None where there is none or an event is watched for."""
        problem = in_windows(marcher.problem, marcher.integrator)
        if problem is marcher.problem or marcher.event is not None:
            return None
        return cls(Marcher(problem, marcher.integrator, marcher.t0, marcher.h))

    def start(self, y: Packed) -> LoopState:
        """The state before the first step."""
        return _with_state(start_rows(self.windows, self._problem.cut(y)), y)

    def march(self, loop: LoopState, until) -> LoopState:
        """As `Marcher.march`."""
        loop = self.windows.march(_with_state(loop, self._problem.cut(loop.y)), until)
        return _with_state(loop, self._problem.joined(loop.y))

    def part_step(self, loop: LoopState, fraction) -> tuple[Packed, IntScalar]:
        """As `Marcher.part_step`."""
        y, result = self.windows.part_step(_with_state(loop, self._problem.cut(loop.y)), fraction)
        return self._problem.joined(y), result

    def record(self, loop: LoopState, targets, fractions, count):
        """As `record`."""
        return record_rows(self, loop, targets, fractions, count)

    @property
    def _problem(self) -> InWindows:
        assert isinstance(self.windows.problem, InWindows)
        return self.windows.problem


def _with_state(loop: LoopState, y: Packed) -> LoopState:
    return eqx.tree_at(lambda one: one.y, loop, y)
