"""Which joints a controller acts on, and what it compares."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, as_array, concrete, did_you_mean, quoted
from poinsot.model import OpenChain, System
from poinsot.model.joints import wrapped

Places = tuple[int, ...]
"""Places in the vector of rates."""


def as_chain(chain: Any, controller: str) -> OpenChain:
    """The chain of a controller, with the parameters of its system in it."""
    if isinstance(chain, System):
        chain = OpenChain(chain)
    if not isinstance(chain, OpenChain):
        raise InputError(f"chain of {controller} = {quoted(chain)}; it must be pt.OpenChain(system)")
    return chain.with_own_params()


def acted_on(chain: OpenChain, joints: Sequence[str] | None, controller: str) -> Places:
    """Places of the rates of these joints; of all joints when left out, without bodies that no joint carries.

    Raises:
        InputError: there is no such joint, or there is none at all.
    """
    slots = {slot.name: range(slot.v[0], slot.v[0] + slot.v[1]) for slot in chain.slots}
    jointed = [joint.name for joint in chain.system.joints if joint.name in slots]
    if isinstance(joints, str):
        joints = [joints]
    if joints is not None and not isinstance(joints, Sequence):
        raise InputError(f"joints of {controller} = {quoted(joints)}; it must be a list of names")
    for name in joints or ():
        if name not in slots:
            hint = did_you_mean(name, list(slots), f"there are {', '.join(list(slots)[:12])}")
            raise InputError(f"joints of {controller} has {quoted(name)}, which is no joint; {hint}")
    chosen = jointed if joints is None else list(joints)
    if not chosen:
        raise InputError(f"{controller} has no joint to act on; name one, joints=[...]")
    return tuple(place for name in dict.fromkeys(chosen) for place in slots[name])


def as_gains(value: Any, count: int, field: str) -> Float[Array, " n"]:
    """A number for each rate, not negative, from one for all or one for each.

    Raises:
        InputError: there are more or fewer, or one of them is negative.
    """
    numbers = as_array(value, field)
    if numbers.shape not in ((), (count,)):
        raise InputError(
            f"{field} has shape {numbers.shape}; it must be one number, or a list of {count}: "
            "one for each rate"
        )
    if concrete(numbers) and np.any(np.asarray(numbers) < 0.0):
        raise InputError(f"{field} = {quoted(value)}; none may be negative")
    return jnp.broadcast_to(numbers, (count,))


def deviation(chain: OpenChain, q: Array, to: Array) -> Float[Array, " nv"]:
    """Rates that bring coordinates to others in a unit of time, of angles the nearer way round."""
    plain = chain.difference(q, to)
    angles = [
        place
        for slot in chain.slots
        for place, label in zip(range(slot.v[0], slot.v[0] + slot.v[1]), slot.labels, strict=True)
        if "angle" in label
    ]
    return plain.at[np.array(angles, dtype=int)].set(wrapped(plain[np.array(angles, dtype=int)]))


def spread(chain: OpenChain, places: Places, forces: Float[Array, " n"]) -> Float[Array, " nv"]:
    """Forces along all rates from those along some."""
    return jnp.zeros(chain.v_size).at[np.array(places)].set(forces)


def check_all_acted_on(chain: OpenChain, controller: str) -> None:
    """Refuse bodies that no joint carries, on which no motor acts."""
    jointed = {joint.name for joint in chain.system.joints}
    free = [slot.name for slot in chain.slots if slot.name not in jointed]
    if free:
        raise InputError(
            f"{controller} needs a force on every coordinate, and no joint carries {quoted(free[0])}; take "
            "PDGravity or Feedback for the joints alone"
        )
