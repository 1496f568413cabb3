"""The Lennard-Jones potential."""

from .._checks import Numbers
from ._pair import AbstractPair, Entries, Squares, as_positive_entries, as_strengths


class LennardJones(AbstractPair):
    r"""The Lennard-Jones potential of two particles, repulsion within a few diameters and a weak attraction.

    $$ v = 4 \varepsilon \left[\left(\frac{\sigma}{r}\right)^{12} - \left(\frac{\sigma}{r}\right)^6\right],
       \qquad v'(s) = \frac{12 \varepsilon}{s}\,u^3 (1 - 2 u^3), \quad u = \frac{\sigma^2}{s} $$

    It is zero at $r = \sigma$ and least, $-\varepsilon$, at $r = 2^{1/6} \sigma$.

    Args:
        epsilon: depth of the well; one number, or a table (particle, particle).
        sigma: distance of no energy; one number, or a table.
    """

    epsilon: Entries
    sigma: Entries

    def __init__(self, epsilon: Numbers, sigma: Numbers):
        self.epsilon = as_strengths(epsilon, "epsilon of LennardJones")
        self.sigma = as_positive_entries(sigma, "sigma of LennardJones")

    def value(self, s: Squares) -> Squares:
        """The energy at squared distances."""
        u = self.sigma * self.sigma / s
        u3 = u * u * u
        return 4.0 * self.epsilon * (u3 * (u3 - 1.0))

    def slope(self, s: Squares) -> Squares:
        """The derivative in the squared distance."""
        inverse = 1.0 / s
        u = self.sigma * self.sigma * inverse
        u3 = u * u * u
        return 12.0 * self.epsilon * (u3 * (1.0 - 2.0 * u3) * inverse)
