"""Linear damping."""

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import InputError

from .._checks import Numbers, as_passive
from .._places import as_bodies, body_field
from ._base import AbstractLoad, Rotations, Vectors, marks


class LinearDamping(AbstractLoad):
    r"""Resistance in proportion to velocity.

    $$ f = -c\,v, \qquad \tau = -C\,\Omega $$

    It takes the power $c\,|v|^2 + \Omega\cdot C\,\Omega$ away.

    Args:
        translational: coefficient c of the velocity of the mass centre.
        rotational: coefficient C of the angular velocity, one number or three for the body axes.
        bodies: those it acts on, by name or place; all when left out.
        active: whether a negative coefficient is meant, which brings energy in.
    """

    translational: Float[Array, ""]
    rotational: Float[Array, "3"]
    places: tuple[int, ...] | None = body_field()

    def __init__(
        self,
        translational: Numbers = 0.0,
        rotational: Numbers = 0.0,
        *,
        bodies: Sequence[int | str] | None = None,
        active: bool = False,
    ):
        self.translational = as_passive(translational, "translational of LinearDamping", active)
        rate = as_passive(rotational, "rotational of LinearDamping", active, None)
        if rate.shape not in ((), (3,)):
            raise InputError(
                f"rotational of LinearDamping has shape {rate.shape}; it must be one number or three"
            )
        self.rotational = jnp.broadcast_to(rate, (3,))
        self.places = as_bodies(bodies, "bodies of LinearDamping")

    @property
    def takes_time(self) -> bool:
        """Time does not enter."""
        return False

    @property
    def bodies(self) -> tuple[int, ...] | None:
        """The bodies it acts on, None for all."""
        return self.places

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """Against the velocities."""
        count = x.shape[0]
        strength = jnp.asarray(marks(count, range(count) if self.places is None else self.places))[:, None]
        return -self.translational * strength * v, -strength * self.rotational[None] * Omega
