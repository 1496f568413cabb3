"""What every system of the library hands out: a problem, where it starts, and what is known of its motion."""

from collections.abc import Callable
from dataclasses import dataclass

from poinsot.core import AbstractProblem, State


@dataclass(frozen=True)
class System:
    """A ready-made system.

    Example:
        >>> import poinsot as pt
        >>> system = pt.library.kepler(eccentricity=0.6)
        >>> run = pt.simulate(system.problem, system.start, t1=10.0, dt=system.dt,
        ...                   integrator=pt.integrators.StormerVerlet())
    """

    name: str
    """Its name in `poinsot.library.names()`."""
    problem: AbstractProblem
    """The equations, with parameters and invariants. Systems of one kind share their functions, so that
    building one again, with other parameters, compiles nothing anew."""
    start: State
    """State at time 0."""
    dt: float
    """A step that suits methods of order 2 to 6."""
    exact: Callable[..., State] | None = None
    """The exact motion `exact(t)` from `start`, where it is known; an array of times gives states with time
    as first axis, like a trajectory."""
