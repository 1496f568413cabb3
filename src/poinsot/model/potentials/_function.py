"""Potential energies that people write themselves."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from poinsot.core import InputError, UserFunction, user_function
from poinsot.core.types import Scalar

from .._checks import as_index
from ._base import AbstractInvariantPotential, AbstractPotential, Directors, Positions

_LABELS = ("x", "R")


class Function(AbstractPotential):
    """Any JAX function of the poses as a potential energy.

    A plain function given to a system becomes this. Nothing is known about it but its values, so
    energy-momentum methods keep its energy only; see `OfInvariants`.

    Args:
        function: `f(x, R)`, `f(t, x, R)`, `f(x, R, params)` or `f(t, x, R, params)` with positions (body, 3)
            and rotation matrices (body, 3, 3) of all bodies, returning a number. It should be smooth in all
            nine components of each R.
        params: any pytree of numbers and arrays.
        body: take this body's `x` (3,) and `R` (3, 3) only.
    """

    function: UserFunction
    params: Any
    body: int | None = eqx.field(static=True)

    def __init__(self, function: Callable, *, params: Any = None, body: int | None = None):
        try:
            self.function = user_function(function, _LABELS, "a potential")
        except TypeError as error:
            raise InputError(str(error)) from None
        if self.function.takes_params and params is None:
            raise InputError(
                f"potential {function!r} takes parameters; give them as "
                "pt.potentials.Function(f, params=...), or write it as f(x, R) or f(t, x, R)"
            )
        self.params = params
        self.body = None if body is None else as_index(body, "body of Function")

    @property
    def takes_time(self) -> bool:
        """Whether the function takes `t`."""
        return self.function.takes_time

    @property
    def bodies(self) -> tuple[int, ...] | None:
        """The one body, or all."""
        return None if self.body is None else (self.body,)

    def energy(self, t, x: Positions, R: Directors) -> Scalar:
        """The function's value."""
        if self.body is None:
            return self.function(t, x, R, self.params)
        return self.function(t, x[self.body], R[self.body], self.params)


def of_body(function: Callable, body: int = 0, *, params: Any = None) -> Function:
    """A potential energy of one body, `f(x, R)` with `x` (3,) and `R` (3, 3).

    The function may take `t` and `params` as in `Function`.

    Example:
        >>> import poinsot as pt
        >>> tied = pt.potentials.of_body(lambda x, R: 0.5 * (x @ x))
    """
    return Function(function, params=params, body=body)


class OfInvariants(AbstractInvariantPotential):
    """A potential energy with declared invariants, so that energy-momentum methods keep momenta too.

    Args:
        invariants: `c(x, R) -> (k,)`, polynomials of degree two at most in positions and directors of all
            bodies, for instance squared distances and products of directors.
        energy_of: `v(c) -> number`, any smooth function.
    """

    c: Callable
    v: Callable

    def __init__(self, invariants: Callable, energy_of: Callable):
        for field, value in (("invariants", invariants), ("energy_of", energy_of)):
            if not callable(value):
                raise InputError(f"{field} of OfInvariants = {value!r}; it must be a function")
        self.c, self.v = invariants, energy_of

    @property
    def bodies(self) -> None:
        """All."""
        return None

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "k"]:
        """The user's invariants."""
        return self.c(x, R)

    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """The user's energy of them."""
        return self.v(c)
