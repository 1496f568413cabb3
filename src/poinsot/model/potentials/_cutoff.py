"""A pair potential that ends at a finite distance."""

import math
from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import whole

from .._checks import Numbers
from ._pair import AbstractPair, Entries, Squares, as_positive_entries

SMOOTHEST = 8
"""Derivatives at most: each takes the time of all before it to compile."""


class Cutoff(AbstractPair):
    r"""Another pair potential within a radius, and nothing beyond it.

    $$ \hat v(s) = v(s) - \sum_{j=0}^{m} \frac{v^{(j)}(s_c)}{j!}\,(s - s_c)^j \quad (s < s_c = r_c^2),
       \qquad \hat v(s) = 0 \quad (s \ge s_c) $$

    The potential is truncated and its Taylor polynomial of degree m at the radius taken off, so that it and
    its first m derivatives are continuous. With m = 1 these are energy and force; the Hessian still jumps,
    so that methods of high order lose it and frequencies change where a pair crosses the radius; with m = 2
    the Hessian is continuous too. The polynomial is one of $s = r^2$, which costs no square root; it changes
    the potential within the radius as well, the more the higher m and the nearer the radius. With m = 1 a
    Lennard-Jones well is 5 per cent shallower at $r_c = 2.5 \sigma$.

    Args:
        pair: the potential.
        radius: $r_c$, where it ends; one number, or a table (particle, particle).
        smooth: m, how many derivatives are continuous at the radius, 1 or more.
    """

    pair: AbstractPair
    radius: Entries
    smooth: int = eqx.field(static=True)

    def __init__(self, pair: AbstractPair, radius: Numbers, smooth: Annotated[int, whole(1, SMOOTHEST)] = 1):
        self.pair = pair
        self.radius = as_positive_entries(radius, "radius of Cutoff")
        self.smooth = smooth

    def value(self, s: Squares) -> Squares:
        """The energy at squared distances."""
        end = self.radius * self.radius
        derivatives = [self.pair.value(end), *self._slopes(end)]
        inside, within = _within(s, end)
        return jnp.where(inside, self.pair.value(within) - _taylor(derivatives, within - end), 0.0)

    def slope(self, s: Squares) -> Squares:
        """The derivative in the squared distance."""
        end = self.radius * self.radius
        inside, within = _within(s, end)
        return jnp.where(inside, self.pair.slope(within) - _taylor(self._slopes(end), within - end), 0.0)

    def _slopes(self, end: Entries) -> list[Entries]:
        """Derivatives of the potential at the radius, the first to that of degree m."""
        derivative, values = self.pair.slope, []
        for _ in range(self.smooth):
            values.append(derivative(end))
            derivative = _derivative(derivative)
        return values


def _within(s: Squares, end: Entries) -> tuple[Array, Squares]:
    """Which pairs are within the radius, and squared distances with the others moved to it.

    Moved, they cannot bring what is not a number into a derivative of `jnp.where`.
    """
    inside = s < end
    return inside, jnp.where(inside, s, end)


def _taylor(derivatives: list[Entries], z: Squares) -> Squares:
    """A polynomial given by its derivatives at zero, by Horner's rule."""
    highest = len(derivatives) - 1
    total = derivatives[highest] / math.factorial(highest)
    for degree in range(highest - 1, -1, -1):
        total = total * z + derivatives[degree] / math.factorial(degree)
    return total


def _derivative(function):
    """The derivative of a function that works element by element."""
    return lambda s: jax.jvp(function, (s,), (jnp.ones_like(s),))[1]
