"""Loads that people write themselves."""

from collections.abc import Callable

import equinox as eqx

from ._base import AbstractLoad, Rotations, Vectors


class Function(AbstractLoad):
    """Any JAX function as a load.

    Args:
        function: `f(t, x, R, v, Omega) -> (force, torque)` with poses and velocities of all bodies; forces
            (body, 3) at the mass centres in space, torques (body, 3) in the body frames.
        takes_time: whether its value depends on `t`.
    """

    function: Callable
    timed: bool = eqx.field(static=True)

    def __init__(self, function: Callable, *, takes_time: bool = True):
        self.function, self.timed = function, takes_time

    @property
    def takes_time(self) -> bool:
        """What was said of the function."""
        return self.timed

    @property
    def bodies(self) -> None:
        """All."""
        return None

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """What the function returns."""
        force, torque = self.function(t, x, R, v, Omega)
        return force, torque
