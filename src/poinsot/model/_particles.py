"""Mass properties of a set of particles."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, Printable, on_device, quoted
from poinsot.core.types import Scalar

from ._checks import as_array, concrete, shown

STRAIGHT = 1e-12
"""Smallest over largest moment of inertia below which particles lie on one line."""


class Particles(Printable):
    """Particles fixed in a body: masses, and points in the body frame relative to the mass centre."""

    masses: Float[Array, "particle"]
    points: Float[Array, "particle 3"]


def mass_properties(
    masses: Any, points: Any, name: str
) -> tuple[Scalar, Float[Array, "3"], Float[Array, "3 3"], Particles]:
    """Mass, mass centre, inertia about it, and the particles relative to it.

    Args:
        masses: one for each particle.
        points: their coordinates, in any frame.
        name: the body's, for error messages.
    """
    weights = as_array(masses, f"masses of {name!r}")
    places = as_array(points, f"points of {name!r}")
    if weights.ndim != 1 or places.shape != (*weights.shape, 3):
        raise InputError(
            f"masses of {quoted(name)} have shape {weights.shape} and points {places.shape}; "
            "they must be (particle,) and (particle, 3)"
        )
    if concrete(weights) and not np.all(np.asarray(weights) > 0.0):
        place = int(np.argmin(np.asarray(weights)))
        raise InputError(f"masses[{place}] of {name!r} = {float(weights[place]):g}; it must be positive")
    mass, centre, inertia, relative = _sums(weights, places)
    _refuse_lines(inertia, weights.shape[0], name)
    if _at_origin(centre, places):
        centre, relative = on_device(np.zeros(3)), places
    return mass, centre, inertia, Particles(weights, relative)


@jax.jit
def _sums(weights: Array, places: Array) -> tuple[Array, Array, Array, Array]:
    """Mass, mass centre, inertia about it, and places relative to it."""
    mass = jnp.sum(weights)
    centre = jnp.sum(weights[:, None] * places, axis=0) / mass
    relative = places - centre[None, :]
    second = jnp.sum(weights[:, None, None] * relative[:, :, None] * relative[:, None, :], axis=0)
    return mass, centre, jnp.trace(second) * jnp.eye(3) - second, relative


def _at_origin(centre: Array, places: Array) -> bool:
    """Whether the mass centre is the origin but for round-off, so that points are best kept as given."""
    if not concrete(centre, places):
        return False
    return bool(np.max(np.abs(centre)) <= 4.0 * np.finfo(float).eps * np.max(np.abs(places)))


def _refuse_lines(inertia: Array, count: int, name: str) -> None:
    """Particles on one line cannot be turned about it: their inertia has no inverse."""
    if not concrete(inertia):
        return
    moments = np.linalg.eigvalsh(np.asarray(inertia))
    if moments[0] <= STRAIGHT * moments[2]:
        raise InputError(
            f"the {count} particles of {quoted(name)} lie on one line or in one point (principal moments "
            f"{shown(np.maximum(moments, 0.0))}); a rigid body needs three that do not"
        )
