"""The interface of a potential energy of two particles, and the numbers it is made of."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import Checked, InputError, Printable

from .._checks import as_array, concrete

Squares = Float[Array, "*pairs"]
"""Squared distances between particles."""

Entries = Float[Array, "*entries"]
"""One number for all pairs of particles, or one for each: a table of shape (particle, particle, 1)."""


class AbstractPair(Printable, Checked):
    r"""A potential energy of two particles, as a function of the square of their distance.

    $$ V = v(s), \qquad s = r^2 = |\Delta|^2, \qquad \frac{\partial V}{\partial \Delta} = 2\,v'(s)\,\Delta $$

    In terms of s a force needs no square root unless v does. `value` and `slope` work element by element, on
    squared distances of any shape.

    Between two bodies each parameter is either one number, or a **table** (particle, particle) with one
    number for each particle of the first body and each of the second; for charges $c_k$, for instance,
    `Coulomb(np.outer(c, c))`. A table is kept with a third axis of length one, so that it goes with squared
    distances of shape (particle, particle, pairs of bodies); `of` picks out one pair of particles.
    """

    mutual: ClassVar[bool] = False
    """Whether its tables are products of a number of each particle: symmetric between equal bodies."""

    @abc.abstractmethod
    def value(self, s: Squares) -> Squares:
        """The energy v at squared distances."""

    def slope(self, s: Squares) -> Squares:
        """The derivative dv/ds at squared distances."""
        return jax.jvp(self.value, (s,), (jnp.ones_like(s),))[1]

    def energy(self, s: Squares) -> Squares:
        """The energy at squared distances, whose derivative is `slope`."""
        return _energy(self, s)

    @property
    def table_shape(self) -> tuple[int, int] | None:
        """Numbers of particles that its tables are for; None where all its parameters are single numbers.

        Raises:
            InputError: two tables are of different shapes.
        """
        shapes = sorted({leaf.shape[:2] for leaf in jax.tree.leaves(self) if is_table(leaf)})
        if len(shapes) > 1:
            raise InputError(
                f"{type(self).__name__} has tables of shapes {shapes[0]} and {shapes[1]}; "
                "all must be of one shape, (particle, particle)"
            )
        return shapes[0] if shapes else None

    def check_mutual(self) -> None:
        """Refuse products that are not symmetric, where a body is first in one pair and second in another.

        Raises:
            InputError: names the entries that differ.
        """
        for leaf in filter(is_table, jax.tree.leaves(self) if self.mutual else ()):
            table = np.asarray(leaf)[:, :, 0] if concrete(leaf) else np.eye(1)
            if table.shape[0] == table.shape[1] and not np.allclose(table, table.T, rtol=1e-9, atol=0.0):
                k, m = (int(place) for place in np.argwhere(table != table.T)[0])
                raise InputError(
                    f"{type(self).__name__} has a table that is not symmetric: [{k}, {m}] is "
                    f"{table[k, m]:g}, [{m}, {k}] is {table[m, k]:g}; between equal bodies they must be equal"
                )

    def of(self, first: int, second: int) -> Self:
        """The potential between two particles alone: of each table one entry; itself where there is no table.

        Args:
            first: place of the particle in the first body.
            second: place of the particle in the second body.
        """
        if self.table_shape is None:
            return self
        return jax.tree.map(lambda leaf: leaf[first, second, 0] if is_table(leaf) else leaf, self)


@eqx.filter_custom_jvp
def _energy(pair: AbstractPair, s: Squares) -> Squares:
    return pair.value(s)


@_energy.def_jvp
def _energy_jvp(primals, tangents):
    (pair, s), (of_pair, ds) = primals, tangents
    value = pair.value(s)
    change = jnp.zeros_like(value) if ds is None else pair.slope(s) * ds
    if jax.tree.leaves(of_pair):
        change = change + eqx.filter_jvp(lambda pair: pair.value(s), (pair,), (of_pair,))[1]
    return value, change


def as_entries(value: Any, field: str) -> Entries:
    """A number, or a table of them with an axis for the pairs of bodies."""
    numbers = as_array(value, field)
    if numbers.ndim == 0:
        return numbers
    if numbers.ndim == 2 and numbers.size:
        return numbers[:, :, None]
    raise InputError(
        f"{field} has shape {numbers.shape}; it must be one number or a table (particle, particle)"
    )


def as_positive_entries(value: Any, field: str) -> Entries:
    """A positive number, or a table of them."""
    entries = as_entries(value, field)
    _refuse(entries, lambda numbers: numbers <= 0.0, field, "must be positive")
    return entries


def as_nonnegative_entries(value: Any, field: str) -> Entries:
    """A number that is positive or zero, or a table of them."""
    entries = as_entries(value, field)
    _refuse(entries, lambda numbers: numbers < 0.0, field, "must not be negative")
    return entries


def as_strengths(value: Any, field: str) -> Entries:
    """A positive number, or a table with zeros for particles that do not interact."""
    entries = as_nonnegative_entries(value, field)
    _refuse(entries, lambda numbers: np.full(numbers.shape, not np.any(numbers)), field, "must be positive")
    return entries


def is_table(leaf: Any) -> bool:
    """Whether a parameter is a table: alone of them it has three axes."""
    return eqx.is_array(leaf) and leaf.ndim == 3


def _refuse(entries: Entries, wrong: Callable[[np.ndarray], np.ndarray], field: str, rule: str) -> None:
    """Refuse the first of some known numbers that is wrong."""
    if not concrete(entries):
        return
    places = np.argwhere(wrong(numbers := np.asarray(entries)))
    if len(places):
        place = tuple(int(i) for i in places[0])
        where = f"{field}[{place[0]}, {place[1]}]" if place else field
        raise InputError(f"{where} = {numbers[place]:g}; it {rule}")
