"""What a ready-made problem or system recommends: a start, a step, and the exact motion where it is known."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Self

import equinox as eqx
import jax
from jax.tree_util import Partial

from poinsot.core._arguments import Checked
from poinsot.core._show import Printable
from poinsot.core._state import State


class Recommendation(eqx.Module):
    """Where a problem or system is usually started, in which steps, and what is known of its motion."""

    name: str | None = eqx.field(static=True)
    start: State | None
    dt: float | None = eqx.field(static=True)
    exact: Callable[..., State] | None


class Recommending(Printable, Checked):
    """A problem or system, which may come with a recommendation, as all of `pt.library` do."""

    recommendation: Recommendation | None = eqx.field(default=None, kw_only=True)
    """See `start`, `dt` and `exact`. It changes nothing in the equations."""

    @property
    def start(self) -> State:
        """The recommended state at time 0, for `pt.simulate`; an AttributeError where there is none."""
        if self.recommendation is None or self.recommendation.start is None:
            raise AttributeError(f"this {type(self).__name__} has no recommended start; give a state")
        return self.recommendation.start

    @property
    def dt(self) -> float:
        """A step that suits methods of order 2 to 6 from there; an AttributeError where there is none."""
        if self.recommendation is None or self.recommendation.dt is None:
            raise AttributeError(f"this {type(self).__name__} has no recommended step; choose dt")
        return self.recommendation.dt

    @property
    def exact(self) -> Callable[..., State] | None:
        """The exact motion `exact(t)` from `start`, or None where it is not known.

        An array of times gives states with time as first axis, like a trajectory.
        """
        return None if self.recommendation is None else self.recommendation.exact

    def recommending(
        self,
        start: State | None = None,
        dt: float | None = None,
        exact: Callable[..., State] | None = None,
        *,
        name: str | None = None,
    ) -> Self:
        """The same with a recommended start and step, and the exact motion from there.

        Args:
            start: state at time 0.
            dt: step that suits methods of order 2 to 6.
            exact: the motion as a function of time. Numbers in it are data if it is a `functools.partial` of
                a function of a module: then building the system again compiles nothing anew.
            name: what reports call a problem; a system of bodies has a name of its own.
        """
        if isinstance(exact, partial) and not isinstance(exact, Partial):
            exact = Partial(exact.func, *exact.args, **exact.keywords)
        # Rebuilt from its numbers: what `assemble` returns holds words too, and a copy of it does not.
        start = jax.tree.map(lambda part: part, start)
        copied = copy.copy(self)
        # A module is frozen once it is built; nobody else has this copy yet.
        object.__setattr__(copied, "recommendation", Recommendation(name, start, dt, exact))
        return copied
