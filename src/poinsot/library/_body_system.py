"""What an example of rigid bodies hands out: the bodies, where they start, what is known of their motion."""

from collections.abc import Callable
from dataclasses import dataclass

from poinsot.core import State
from poinsot.model import System


@dataclass(frozen=True)
class BodySystem:
    """A ready-made example of rigid bodies.

    Example:
        >>> import poinsot as pt
        >>> example = pt.library.gyro_top()
        >>> run = pt.simulate(example.system, example.start, t1=10.0, dt=example.dt,
        ...                   coordinates=pt.coordinates.Group(), integrator=pt.integrators.LieSplitting())
    """

    name: str
    """Its name in `poinsot.library.body_names()`."""
    system: System
    """Bodies, freedom and potentials."""
    start: State
    """State at time 0."""
    dt: float
    """A step that suits methods of order 2 to 6."""
    exact: Callable[..., State] | None = None
    """The exact motion `exact(t)` from `start`, where it is known; an array of times gives states with time
    as first axis, like a trajectory."""
