"""What a controller follows: a motion of the joints, or a place where they stay."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Checked, InputError, Printable, UserFunction, brief, tried
from poinsot.model import OpenChain
from poinsot.model.open_chain import as_coordinates

Followed = tuple[Float[Array, " nq"], Float[Array, " nv"], Float[Array, " nv"]]
"""Coordinates, rates and accelerations."""


class Reference(Printable, Checked):
    """Coordinates, rates and accelerations as a function of time; made by `as_reference`."""

    target: Float[Array, " nq"] | None
    motion: UserFunction | None
    rates: int = eqx.field(static=True)

    def __repr__(self) -> str:
        return brief(self.motion if self.target is None else self.target)

    @property
    def takes_time(self) -> bool:
        """Whether it moves."""
        return self.target is None

    def __call__(self, t) -> Followed:
        """What is to be reached at a time."""
        if self.target is not None:
            return self.target, jnp.zeros(self.rates), jnp.zeros(self.rates)
        assert self.motion is not None
        return self.motion.raw(t, None)


def as_reference(value: Any, chain: OpenChain, controller: str) -> Reference:
    """A reference from what people give.

    Args:
        value: coordinates of all joints, or a function of time that returns coordinates, rates and
            accelerations, such as `quintic(...)`.
        chain: whose coordinates they are.
        controller: its name, for messages.

    Raises:
        InputError: it is neither, or has other sizes.
    """
    field = f"reference of {controller}"
    if not callable(value):
        return Reference(as_coordinates(chain.structure, value, field), None, chain.v_size)
    sizes = chain.q_size, chain.v_size, chain.v_size
    found = tried(field, value, jnp.zeros(()))
    shapes = [getattr(part, "shape", None) for part in jax.tree.leaves(found)]
    if shapes != [(size,) for size in sizes]:
        wanted = ", ".join(map(str, sizes))
        said = ", ".join(map(str, shapes)) or "nothing"
        plain = chain.q_size != chain.v_size and shapes == [(chain.q_size,)] * 3
        raise InputError(
            f"{field} returns arrays of shape {said}; it must return coordinates, rates and accelerations, "
            f"{wanted} numbers" + "; make the path with chain=..., by which quaternions turn" * plain
        )
    return Reference(None, UserFunction(value, True, False, field, users=True), chain.v_size)
