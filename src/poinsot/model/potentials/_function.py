"""Potential energies that people write themselves."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import InputError, UserFunction, checked, quoted
from poinsot.core.types import Scalar

from .._params import Parametrised
from .._places import as_bodies, as_body, body_field
from ._base import AbstractInvariantPotential, AbstractPotential, Directors, Positions
from ._each_body import OfEachBody

_LABELS = ("x", "R")


class Function(AbstractPotential):
    """Any JAX function of the poses as a potential energy.

    A plain function given to a system becomes this. Nothing is known about it but its values, so
    energy-momentum methods keep its energy only; see `OfInvariants`.

    Args:
        function: `f(x, R)`, `f(t, x, R)`, `f(x, R, params)` or `f(t, x, R, params)` with positions (body, 3)
            and rotation matrices (body, 3, 3) of all bodies, returning a number. It should be smooth in all
            nine components of each R.
        params: any pytree of numbers and arrays; those of the system when left out.
        body: take this body's `x` (3,) and `R` (3, 3) only; by name or place.
    """

    function: Parametrised
    body: int | None = body_field()

    def __init__(self, function: Callable, *, params: Any = None, body: int | str | None = None):
        self.function = Parametrised(function, _LABELS, "a potential", params)
        self.body = None if body is None else as_body(body, "body of Function")

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
        return self.function(t, x, R) if self.body is None else self.function(t, x[self.body], R[self.body])


@checked
def of_body(function: Callable, body: int | str = 0, *, params: Any = None) -> Function:
    """A potential energy of one body, `f(x, R)` with `x` (3,) and `R` (3, 3).

    The function may take `t` and `params` as in `Function`.

    Example:
        >>> import poinsot as pt
        >>> tied = pt.potentials.of_body(lambda x, R: 0.5 * (x @ x))
    """
    return Function(function, params=params, body=body)


class Field(OfEachBody, AbstractPotential):
    r"""A potential energy of each body by itself, such as that of an external field.

    $$ V = \sum_i f(x_i, R_i) $$

    Args:
        function: `f(x, R)` of one body, with `x` (3,) and `R` (3, 3), returning a number; it may take `t` and
            `params` as in `Function`.
        params: any pytree of numbers and arrays; those of the system when left out.
        bodies: those it acts on, by name or place; all when left out.

    Example:
        >>> import poinsot as pt
        >>> trap = pt.potentials.Field(lambda x, R, params: 0.5 * params["k"] * (x @ x), params={"k": 2.0})
    """

    function: Parametrised
    places: tuple[int, ...] | None = body_field()

    def __init__(self, function: Callable, *, params: Any = None, bodies: Sequence[int | str] | None = None):
        self.function = Parametrised(function, _LABELS, "function of Field", params)
        self.places = as_bodies(bodies, "bodies of Field")

    @property
    def takes_time(self) -> bool:
        """Whether the function takes `t`."""
        return self.function.takes_time

    def energy(self, t, x: Positions, R: Directors) -> Scalar:
        """Sum of the function's values."""
        values = jax.vmap(lambda x, R: self.function(t, x, R))(self.chosen(x), self.chosen(R))
        if values.ndim > 1:
            raise InputError(f"function of Field returns shape {values.shape[1:]}; it must return one number")
        return jnp.sum(values)


class OfInvariants(AbstractInvariantPotential):
    """A potential energy with declared invariants, so that energy-momentum methods keep momenta too.

    Args:
        invariants: `c(x, R) -> (k,)`, polynomials of degree two at most in positions and directors of all
            bodies, for instance squared distances and products of directors.
        energy_of: `v(c)` or `v(c, params)`, any smooth function that returns a number.
        params: any pytree of numbers and arrays; those of the system when left out.
    """

    c: UserFunction
    v: Parametrised

    def __init__(self, invariants: Callable, energy_of: Callable, *, params: Any = None):
        for field, value in (("invariants", invariants), ("energy_of", energy_of)):
            if not callable(value):
                raise InputError(f"{field} of OfInvariants = {quoted(value)}; it must be a function")
        self.c = UserFunction(invariants, False, False, "invariants of OfInvariants", users=True)
        self.v = Parametrised(energy_of, ("c",), "energy_of of OfInvariants", params)
        if self.v.takes_time:
            raise InputError(
                "energy_of of OfInvariants takes t; a potential of time is pt.potentials.Function"
            )

    @property
    def bodies(self) -> None:
        """All."""
        return None

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "k"]:
        """The user's invariants."""
        return self.c(0.0, x, R, None)

    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """The user's energy of them."""
        return self.v(0.0, c)
