"""Loads that people write themselves."""

from collections.abc import Callable
from typing import Any

import equinox as eqx

from poinsot.core import InputError, quoted

from .._params import Parametrised
from ._base import AbstractLoad, Rotations, Vectors

_LABELS = ("x", "R", "v", "Omega")


class Function(AbstractLoad):
    """Any JAX function as a load.

    Args:
        function: `f(x, R, v, Omega) -> (force, torque)` with poses and velocities of all bodies, with `t`
            before them and `params` behind them where it takes these; forces (body, 3) at the mass centres
            in space, torques (body, 3) in the body frames.
        params: any pytree of numbers and arrays; those of the system when left out.
        takes_time: False for a function that takes `t` and does not depend on it.
    """

    function: Parametrised
    timed: bool = eqx.field(static=True)

    def __init__(self, function: Callable, *, params: Any = None, takes_time: bool = True):
        self.function = Parametrised(function, _LABELS, "a load", params, several=True)
        self.timed = takes_time and self.function.takes_time

    @property
    def takes_time(self) -> bool:
        """Whether the function depends on time."""
        return self.timed

    @property
    def bodies(self) -> None:
        """All."""
        return None

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """What the function returns."""
        wrench = self.function(t, x, R, v, Omega)
        if not isinstance(wrench, (tuple, list)) or len(wrench) != 2:
            shape = getattr(wrench, "shape", None)
            said = quoted(wrench) if shape is None else f"shape {shape}"
            raise InputError(f"a load returns {said}; it must return a force and a torque, (body, 3) each")
        return wrench[0], wrench[1]
