"""The Gay-Berne potential."""

import equinox as eqx
import jax.numpy as jnp

from poinsot.core import InputError, quoted
from poinsot.core.types import Rot, Scalar, Vec3

from .._checks import Numbers, as_array, as_positive
from ._pose_pair import AbstractPosePair


class GayBerne(AbstractPosePair):
    r"""The Gay-Berne potential of two equal bodies of revolution: Lennard-Jones with a shape.

    With the axes $u_1, u_2$, the distance r along $\hat r$, and $\rho = (r - \sigma + \sigma_s) / \sigma_s$,

    $$ V = 4 \varepsilon \left(\rho^{-12} - \rho^{-6}\right), \qquad
       \sigma = \sigma_s\,h(\chi)^{-1/2}, \qquad
       \varepsilon = \varepsilon_0 \left[1 - \chi^2 (u_1 \cdot u_2)^2\right]^{-\nu/2} h(\chi')^{\mu}, $$

    $$ h(\chi) = 1 - \frac{\chi}{2} \left[
       \frac{(\hat r \cdot u_1 + \hat r \cdot u_2)^2}{1 + \chi\,u_1 \cdot u_2} +
       \frac{(\hat r \cdot u_1 - \hat r \cdot u_2)^2}{1 - \chi\,u_1 \cdot u_2} \right], \qquad
       \chi = \frac{\kappa^2 - 1}{\kappa^2 + 1}, \quad
       \chi' = \frac{\kappa'^{1/\mu} - 1}{\kappa'^{1/\mu} + 1}. $$

    $\kappa$ is the length of a body over its breadth, below one for discs, and $\kappa'$ the depth of the
    well side by side over that end to end, whatever $\mu$ and $\nu$ are. With $\kappa = \kappa' = 1$ it is
    Lennard-Jones between the mass centres. At $\rho = 0$ the energy is infinite; bodies nearer than that
    overlap, where the formula has no meaning and the energy is not a number.

    Args:
        epsilon: $\varepsilon_0$, the depth of the well of two bodies crossed at right angles, side on.
        sigma: $\sigma_s$, the breadth.
        kappa: length over breadth.
        kappa_prime: well depth side by side over end to end.
        mu: exponent $\mu$, positive.
        nu: exponent $\nu$.
        axis: which body axis is the axis of revolution, 0, 1 or 2.

    Reference:
        J. G. Gay and B. J. Berne, J. Chem. Phys. 74 (1981) 3316.
    """

    epsilon: Scalar
    sigma: Scalar
    kappa: Scalar
    kappa_prime: Scalar
    mu: Scalar
    nu: Scalar
    axis: int = eqx.field(static=True)

    def __init__(
        self,
        epsilon: Numbers,
        sigma: Numbers,
        *,
        kappa: Numbers = 3.0,
        kappa_prime: Numbers = 5.0,
        mu: Numbers = 2.0,
        nu: Numbers = 1.0,
        axis: int = 2,
    ):
        self.epsilon = as_positive(epsilon, "epsilon of GayBerne")
        self.sigma = as_positive(sigma, "sigma of GayBerne")
        self.kappa = as_positive(kappa, "kappa of GayBerne")
        self.kappa_prime = as_positive(kappa_prime, "kappa_prime of GayBerne")
        self.mu = as_positive(mu, "mu of GayBerne")
        self.nu = as_array(nu, "nu of GayBerne", ())
        if isinstance(axis, bool) or axis not in (0, 1, 2):
            raise InputError(f"axis of GayBerne = {quoted(axis)}; it must be 0, 1 or 2")
        self.axis = axis

    def energy(self, d: Vec3, R1: Rot, R2: Rot) -> Scalar:
        """The energy of one pair of bodies."""
        u1, u2 = R1[:, self.axis], R2[:, self.axis]
        r = jnp.sqrt(jnp.sum(d * d))
        along1, along2, cosine = jnp.sum(d * u1) / r, jnp.sum(d * u2) / r, jnp.sum(u1 * u2)
        chi, chi_prime = _anisotropy(self.kappa**2), _anisotropy(self.kappa_prime ** (1.0 / self.mu))
        depth = self.epsilon * (1.0 - (chi * cosine) ** 2) ** (-0.5 * self.nu)
        depth = depth * _shape(chi_prime, along1, along2, cosine) ** self.mu
        contact = self.sigma / jnp.sqrt(_shape(chi, along1, along2, cosine))
        rho = (r - contact + self.sigma) / self.sigma
        # An overlap must stop a run: a factor that is not a number makes the forces so as well.
        inverse = jnp.where(rho > 0.0, 1.0, jnp.nan) / rho
        inverse6 = inverse**6
        return 4.0 * depth * inverse6 * (inverse6 - 1.0)


def _anisotropy(ratio: Scalar) -> Scalar:
    """From a ratio to the number between -1 and 1 that is zero where the ratio is one."""
    return (ratio - 1.0) / (ratio + 1.0)


def _shape(chi: Scalar, along1: Scalar, along2: Scalar, cosine: Scalar) -> Scalar:
    """The function h of the three angles."""
    both, between = along1 + along2, along1 - along2
    return 1.0 - 0.5 * chi * (both**2 / (1.0 + chi * cosine) + between**2 / (1.0 - chi * cosine))
