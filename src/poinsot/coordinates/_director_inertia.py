"""Two kinetic energies of directors: the constant one of the Euler tensor, and the scaled one."""

import abc
from typing import Any, Literal

import equinox as eqx
import jax.core
import jax.numpy as jnp
import numpy as np

from poinsot.core.types import Scalar
from poinsot.rotation import unvec

from ._base import Moments
from ._frame import Frame, frame_moment, frame_rate, row_products
from ._sigma import sigma_value

FLAT = 1e-12
"""A planar moment below this part of the largest one belongs to a flat body."""


def planar_moments(J: Moments | np.ndarray) -> Any:
    r"""Eigenvalues of the Euler tensor, $d_1 = \tfrac12(J_2 + J_3 - J_1)$ and cyclic.

    Those of NumPy's numbers are numbers too, also within a trace.
    """
    return 0.5 * J.sum() - J


class AbstractDirectorInertia(eqx.Module):
    """Mass matrix of nine director components and what comes with it; see `AbstractCoordinates`."""

    @abc.abstractmethod
    def momentum(self, q: Frame, v: Frame, J: Moments) -> Frame:
        """Momentum of a velocity."""

    @abc.abstractmethod
    def velocity_force(self, q: Frame, v: Frame, J: Moments) -> Frame:
        """Force of inertia quadratic in the velocities."""

    @abc.abstractmethod
    def quasi_momentum(self, q: Frame, p: Frame) -> Frame:
        """Momenta that make the kinetic energy a sum of squares."""

    @abc.abstractmethod
    def quasi_inertia(self, J: Moments) -> Frame:
        """Inertia of each of them."""

    @abc.abstractmethod
    def singular(self, J: Moments) -> str | None:
        """Why the mass matrix has no inverse, and what to take instead; None if it has one."""


class EulerTensor(AbstractDirectorInertia):
    r"""Constant mass matrix $M = \operatorname{diag}(d_1 I, d_2 I, d_3 I)$, with the planar moments $d_k$."""

    def momentum(self, q: Frame, v: Frame, J: Moments) -> Frame:
        r"""Momentum $\operatorname{vec}(\dot R D)$."""
        return self.quasi_inertia(J) * v

    def velocity_force(self, q: Frame, v: Frame, J: Moments) -> Frame:
        """Zero: the mass matrix is constant."""
        return jnp.zeros_like(v)

    def quasi_momentum(self, q: Frame, p: Frame) -> Frame:
        """The momentum itself."""
        return p

    def quasi_inertia(self, J: Moments) -> Frame:
        """Each planar moment three times."""
        return jnp.repeat(planar_moments(J), 3)

    def singular(self, J: Moments) -> str | None:
        """A flat body has a planar moment of zero."""
        if isinstance(J, jax.core.Tracer):
            return None
        moments = planar_moments(np.asarray(J))
        k = int(np.argmin(moments))
        if moments[k] > FLAT * moments.max():
            return None
        return (
            f"the body is flat: its planar moment d{k + 1} = tr(J)/2 - J{k + 1} is {moments[k]:.3g} for "
            f"J = {np.asarray(J).tolist()}, so that the directors' constant mass matrix has no inverse; "
            "take Directors(sigma='mean'), or Group() with LieRattle"
        )


class ScaledInertia(AbstractDirectorInertia):
    r"""Mass matrix $M_\sigma = \tfrac{\sigma}{2} I + L\,J_\sigma L^T$ with $L = \tfrac12 T_d$.

    Here $J_\sigma = J - \sigma I$. On rotations it is $\sigma/2$ across the surface of the constraints and
    gives the moments J along it.
    """

    sigma: float | Literal["mean"] = eqx.field(static=True)

    def _value(self, J: Moments) -> Scalar:
        return sigma_value(self.sigma, J)

    def momentum(self, q: Frame, v: Frame, J: Moments) -> Frame:
        r"""Momentum $\tfrac{\sigma}{2} v + L\,J_\sigma L^T v$."""
        sigma = self._value(J)
        return 0.5 * sigma * v + 0.25 * frame_rate(q, (J - sigma) * frame_moment(q, v))

    def velocity_force(self, q: Frame, v: Frame, J: Moments) -> Frame:
        r"""Force $2 L(v)\,J_\sigma L(v)^T q$."""
        return 0.5 * frame_rate(v, (J - self._value(J)) * frame_moment(v, q))

    def quasi_momentum(self, q: Frame, p: Frame) -> Frame:
        r"""Products $G_d(q)\,p$ with the rows, then the body angular momentum $T_d(q)^T p$."""
        return jnp.concatenate([row_products(unvec(q), unvec(p)), frame_moment(q, p)])

    def quasi_inertia(self, J: Moments) -> Frame:
        r"""Inertia $\sigma/2$ of the three lengths, $\sigma$ of the three angles, then J."""
        sigma = self._value(J)
        return jnp.concatenate([sigma * jnp.array([0.5, 0.5, 0.5, 1.0, 1.0, 1.0]), J])

    def singular(self, J: Moments) -> str | None:
        """For sigma zero."""
        if self.sigma != 0.0:
            return None
        return (
            "sigma = 0 makes the mass matrix of the directors singular and its inverse is needed here; "
            "take Directors(), Directors(sigma='mean') or a positive sigma"
        )
