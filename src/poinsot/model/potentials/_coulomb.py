"""Forces between charges, bare and screened."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from .._checks import Numbers
from ._pair import AbstractPair, Entries, Squares, as_entries, as_nonnegative_entries


class Coulomb(AbstractPair):
    r"""The Coulomb potential of two charged particles.

    $$ v = \frac{C}{r}, \qquad v'(s) = -\frac{C}{2 r^3} $$

    Args:
        strength: C, the product of the two charges times the constant of the units; positive where they
            repel. One number, or a table (particle, particle): for bodies whose particles carry charges c
            it is `np.outer(c, c)`.

    Example:
        >>> import numpy as np
        >>> import poinsot as pt
        >>> charges = np.array([1.0, 1.0, -1.0, -1.0])
        >>> pair = pt.potentials.Coulomb(np.outer(charges, charges))
    """

    mutual: ClassVar[bool] = True
    strength: Entries

    def __init__(self, strength: Numbers):
        self.strength = as_entries(strength, "strength of Coulomb")

    def value(self, s: Squares) -> Squares:
        """The energy at squared distances."""
        return self.strength * jax.lax.rsqrt(s)

    def slope(self, s: Squares) -> Squares:
        """The derivative in the squared distance."""
        # One operation; a root and a division take three times as long on the CPU.
        inverse = jax.lax.rsqrt(s)
        return -0.5 * self.strength * (inverse * inverse * inverse)


class ScreenedCoulomb(AbstractPair):
    r"""The screened Coulomb potential, of Debye and Hückel in an electrolyte, of Yukawa elsewhere.

    $$ v = C\,\frac{e^{-\kappa r}}{r}, \qquad v'(s) = -\frac{C\,(1 + \kappa r)\,e^{-\kappa r}}{2 r^3} $$

    Args:
        strength: C, positive where the particles repel; one number, or a table (particle, particle).
        screening: $\kappa$, the inverse of the screening length; zero for none. One number, or a table.
    """

    mutual: ClassVar[bool] = True
    strength: Entries
    screening: Entries

    def __init__(self, strength: Numbers, screening: Numbers):
        self.strength = as_entries(strength, "strength of ScreenedCoulomb")
        self.screening = as_nonnegative_entries(screening, "screening of ScreenedCoulomb")

    def value(self, s: Squares) -> Squares:
        """The energy at squared distances."""
        inverse = jax.lax.rsqrt(s)
        return self.strength * jnp.exp(-self.screening * (s * inverse)) * inverse

    def slope(self, s: Squares) -> Squares:
        """The derivative in the squared distance."""
        inverse = jax.lax.rsqrt(s)
        decay = self.screening * (s * inverse)
        return -0.5 * self.strength * (1.0 + decay) * jnp.exp(-decay) * (inverse * inverse * inverse)
