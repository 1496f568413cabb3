"""Pair potentials that people write themselves."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from poinsot.core import InputError, UserFunction

from .._checks import as_array
from ._pair import AbstractPair, Squares, is_table
from ._timeless import check_number, timeless_function

_FIELD = "v of PairFunction"


class PairFunction(AbstractPair):
    r"""Any JAX function of the squared distance of two particles as a potential energy.

    Its derivative is taken by JAX. Written in $s = r^2$, many need no square root.

    Args:
        v: `v(s)` or `v(s, params)` for one pair of particles, s a number, returning a number.
        params: any pytree of numbers and arrays. An array with two axes is a table (particle, particle), of
            which v gets the entry of its two particles; any other it gets whole.

    Raises:
        InputError: v takes something else or does not return one number, or an array of params has more axes.

    Example:
        >>> import jax.numpy as jnp
        >>> import poinsot as pt
        >>> well = pt.potentials.PairFunction(lambda s, p: -p[0] * jnp.exp(-p[1] * s), (2.0, 0.5))
    """

    function: UserFunction
    params: Any

    def __init__(self, v: Callable, params: Any = None):
        self.function = timeless_function(v, ("s",), _FIELD, params=params)
        self.params = jax.tree.map(_parameter, params)
        one = self if self.table_shape is None else self.of(0, 0)
        check_number(lambda s: one.function(None, s, one.params), ((),), _FIELD)

    def value(self, s: Squares) -> Squares:
        """The energy at squared distances."""
        leaves, structure = jax.tree.flatten(self.params)

        def of_one(s, *entries):
            picked = iter(entries)
            mine = [next(picked) if is_table(leaf) else leaf for leaf in leaves]
            return self.function(None, s, jax.tree.unflatten(structure, mine))

        return jnp.vectorize(of_one)(s, *(leaf for leaf in leaves if is_table(leaf)))


def _parameter(leaf: Any):
    """A parameter as an array; tables get their axis for the pairs of bodies."""
    numbers = as_array(leaf, "params of PairFunction")
    if numbers.ndim > 2:
        raise InputError(
            f"params of PairFunction has an array of shape {numbers.shape}; it may have two axes at most, "
            "and is a table (particle, particle) then"
        )
    return numbers[:, :, None] if numbers.ndim == 2 else numbers
