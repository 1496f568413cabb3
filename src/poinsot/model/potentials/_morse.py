"""The Morse potential."""

import jax.numpy as jnp

from .._checks import Numbers
from ._pair import AbstractPair, Entries, Squares, as_positive_entries, as_strengths


class Morse(AbstractPair):
    r"""The Morse potential of two particles, a bond that can break.

    $$ v = D \left(e^2 - 2 e\right), \qquad e = \exp\left(-\frac{r - l}{w}\right), \qquad
       v'(s) = \frac{D}{w}\,\frac{e\,(1 - e)}{r} $$

    It is least, $-D$, at $r = l$, with the stiffness $2 D / w^2$ there, and zero far away. Unlike
    Lennard-Jones it is finite at r = 0, where it has a kink: particles may pass through each other.

    Args:
        depth: D, of the well; one number, or a table (particle, particle).
        width: w, a length: the smaller, the stiffer the bond and the shorter its range. It is $1 / a$ where
            the potential is written with $e^{-a (r - l)}$.
        length: l, of the bond at rest.
    """

    depth: Entries
    width: Entries
    length: Entries

    def __init__(self, depth: Numbers, width: Numbers, length: Numbers):
        self.depth = as_strengths(depth, "depth of Morse")
        self.width = as_positive_entries(width, "width of Morse")
        self.length = as_positive_entries(length, "length of Morse")

    def value(self, s: Squares) -> Squares:
        """The energy at squared distances."""
        e = jnp.exp((self.length - jnp.sqrt(s)) * (1.0 / self.width))
        return self.depth * (e * (e - 2.0))

    def slope(self, s: Squares) -> Squares:
        """The derivative in the squared distance."""
        r = jnp.sqrt(s)
        rate = 1.0 / self.width
        e = jnp.exp((self.length - r) * rate)
        return self.depth * rate * (e * (1.0 - e) / r)
