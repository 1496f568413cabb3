"""A linear spring between particles."""

import jax
import jax.numpy as jnp

from .._checks import Numbers
from ._pair import AbstractPair, Entries, Squares, as_nonnegative_entries, as_strengths


class HarmonicPair(AbstractPair):
    r"""A linear spring between two particles.

    $$ v = \tfrac12 k\,(r - l)^2, \qquad v'(s) = \tfrac12 k \left(1 - \frac{l}{r}\right) $$

    Without a rest length it is $\tfrac12 k s$, smooth everywhere. With one it has a kink at r = 0, where the
    derivative of r is taken to be zero.

    Args:
        stiffness: k; one number, or a table (particle, particle) with zeros where there is no spring.
        length: l, at rest; one number, or a table.
    """

    stiffness: Entries
    length: Entries

    def __init__(self, stiffness: Numbers, length: Numbers = 0.0):
        self.stiffness = as_strengths(stiffness, "stiffness of HarmonicPair")
        self.length = as_nonnegative_entries(length, "length of HarmonicPair")

    def value(self, s: Squares) -> Squares:
        """The energy at squared distances."""
        apart = s > 0.0
        r = jnp.where(apart, jnp.sqrt(jnp.where(apart, s, 1.0)), 0.0)
        return 0.5 * self.stiffness * (r - self.length) * (r - self.length)

    def slope(self, s: Squares) -> Squares:
        """The derivative in the squared distance."""
        apart = s > 0.0
        inverse = jnp.where(apart, jax.lax.rsqrt(jnp.where(apart, s, 1.0)), 0.0)
        return 0.5 * self.stiffness * (1.0 - self.length * inverse)
