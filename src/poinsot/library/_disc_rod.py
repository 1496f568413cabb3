"""A rod made of discs that springs hold together."""

from typing import Any

import numpy as np

from poinsot.core import InputError, checked, quoted
from poinsot.model import Chain, potentials, shapes

RIM = 3
"""Particles on a rim."""


@checked
def disc_rod(
    count: int = 16,
    length: float = 10.0,
    radius: float = 0.5,
    *,
    density: float = 1.0,
    straight: float = 40.0,
    diagonal: float = 20.0,
    ends: Any = ("clamped", "clamped"),
) -> Chain:
    r"""A straight elastic rod of a given length and cross-section, cut into discs.

    Each disc has three particles on the rim of either face, and springs at rest go from those of one disc to
    those of the next: straight ahead, which resist stretch and bending, and diagonally, which resist shear
    and twist. Masses are proportional to the spacing a and stiffnesses to 1/a, so that chains of more and
    thinner discs approach one and the same rod. The straight chain is a minimum of the energy, zero.

    Args:
        count: number of discs, the ends included.
        length: of the rod, from centre to centre of clamped discs, or to the outer faces of free ones; the
            period of a periodic chain.
        radius: of the discs.
        density: mass per length.
        straight: stiffness times spacing of each of the three springs ahead.
        diagonal: stiffness times spacing of each of the six diagonal springs.
        ends: "clamped" or "free" for each end, or "periodic".
    """
    free = count if ends == "periodic" else count - 1 + 0.5 * list(_both(ends)).count("free")
    spacing = length / free
    body = shapes.two_rim_disc(
        radius, 0.5 * spacing, particles=2 * RIM, particle_mass=density * spacing / (2 * RIM), axis=0
    )
    points = np.asarray(body.principal_points)
    apart = points[None] + spacing * np.eye(3)[0] - points[:, None]
    stiffness = np.zeros((2 * RIM, 2 * RIM))
    # From the upper rim of a disc to the lower rim of the next.
    stiffness[RIM:, :RIM] = np.where(np.eye(RIM, dtype=bool), straight, diagonal) / spacing
    springs = potentials.HarmonicPair(stiffness, np.linalg.norm(apart, axis=-1))
    return Chain(body, count, spacing, springs, ends, name="rod of discs")


def _both(ends: Any) -> tuple[Any, Any]:
    """The condition of each end."""
    pair = (ends, ends) if isinstance(ends, str) else tuple(ends)
    if len(pair) != 2 or any(end not in ("clamped", "free") for end in pair):
        raise InputError(
            f"ends of a disc_rod = {quoted(ends)}; each is 'clamped' or 'free', or both are 'periodic'"
        )
    return pair
