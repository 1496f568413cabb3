"""What to say where no position balances the loads."""

from typing import NoReturn

import equinox as eqx
import numpy as np

from poinsot.core import InputError
from poinsot.model import AbstractSystem
from poinsot.model.loads import AbstractLoad

from ._linearisation import Linearisation
from ._load_slopes import load_at_rest
from ._mode_labels import joint_motions, kinetic_shares
from ._shapes import mode_shapes, twists


def refuse_unbalanced(system: AbstractSystem, about: Linearisation) -> NoReturn:
    """Refuse loads that nothing balances, where the forces left are least.

    The load that is named does most work along these forces. What is left is stated along its joint, or that
    which moves most: the power of all forces at a rate of one there.
    """
    displacements = (-about.whole(about.slope) / about.roots)[:, None]
    load = max(system.loads, key=lambda one: abs(_power(system, about, one, displacements[:, 0])))
    raise InputError(
        f"no position balances the load {load.label} of {system.name!r}: the least force left that was "
        f"found is {_left(system, about, load, displacements)}; make the load smaller, add what holds "
        "against it, or start nearer to a place of rest"
    )


def _left(system: AbstractSystem, about: Linearisation, load: AbstractLoad, displacements: np.ndarray) -> str:
    """The force that is left, and where."""
    motions = joint_motions(system, about.point, twists(about, displacements))
    names, rates = motions.names, motions.rates
    if names:
        own = getattr(load, "joint", None)
        place = names.index(own) if own in names else motions.fastest[0]
        if rates[0, place] > 0.0:
            return f"{np.sum(about.slope**2) / rates[0, place]:.4g} along joint {names[place]!r}"
    shares = kinetic_shares(system, mode_shapes(system, about.point, displacements))
    return f"{about.force:.4g} on body {system.names[int(np.argmax(shares[0]))]!r}"


def _power(system: AbstractSystem, about: Linearisation, load: AbstractLoad, motion: np.ndarray) -> float:
    alone = eqx.tree_at(lambda one: one.loads, system, (load,))
    return float(load_at_rest(alone, about.point, about.order) @ motion)
