"""Which momenta are conserved, for systems where mechanics says so."""

import jax.numpy as jnp
import numpy as np
import pytest

from poinsot.model import RigidBody, System, freedom, loads, potentials
from poinsot.model.potentials import Marker
from poinsot.rotation import about_x

BODY = RigidBody(1.0, (1.0, 2.0, 2.5))
PIN = freedom.FixedPoint()
WEIGHT = potentials.UniformGravity()
TIE = potentials.Spring(
    Marker(0, (0.1, 0.2, 0.3)), Marker(1, (0.5, -0.2, 0.1)), stiffness=3.0, rest_length=0.4
)


def anchored(place):
    return potentials.Spring(place, Marker(0), stiffness=3.0, rest_length=0.4)


def tilted(t, x, R):
    """Depends on the height along a direction that turns with time."""
    return x[0, 0] * jnp.sin(t) + x[0, 2] * jnp.cos(t)


CASES = {
    "free": (System(BODY), "111111"),
    "falling": (System(BODY, potentials=[WEIGHT]), "110001"),
    "opaque": (System(BODY, potentials=[lambda x, R: 9.81 * x[0, 2]]), "110001"),
    "with time": (System(BODY, potentials=[tilted]), "010000"),
    "heavy top": (
        System(BODY, freedom=freedom.FixedPoint(), potentials=[potentials.HeavyTop(2.0)]),
        "000001",
    ),
    "orbit": (System(BODY, potentials=[potentials.GravityGradient(1.0)]), "000111"),
    "orbit aside": (System(BODY, potentials=[potentials.GravityGradient(1.0, centre=(0, 5, 0))]), "000010"),
    "two tied": (System([BODY, BODY], potentials=[TIE]), "111111"),
    "anchored": (System(BODY, potentials=[anchored((0, 0, 0))]), "000111"),
    "anchored aside": (System(BODY, potentials=[anchored((1, 0, 0))]), "000100"),
    "tied to a wall": (
        System([BODY, BODY], freedom=[freedom.Free(), freedom.Clamped((3, 0, 0))], potentials=[TIE]),
        "000000",
    ),
    "pinned at the origin": (System(BODY, freedom=freedom.FixedPoint((0.1, 0, -1))), "000111"),
    "pinned above": (System(BODY, freedom=freedom.FixedPoint((0.1, 0, -1), at=(0, 0, 2))), "000001"),
    "pinned aside": (System(BODY, freedom=freedom.FixedPoint((0.1, 0, -1), at=(1, 0, 2))), "000000"),
    "sliding": (
        System(BODY, freedom=freedom.Translation(), potentials=[potentials.UniformGravity()]),
        "110001",
    ),
    "sliding and turned by a spring": (
        System([BODY, BODY], freedom=[freedom.Free(), freedom.Translation()], potentials=[TIE]),
        "111000",
    ),
    "two pins": (
        System([BODY, BODY], freedom=[freedom.FixedPoint(at=(0, 0, z)) for z in (0, 1)], potentials=[TIE]),
        "000001",
    ),
    "loaded": (System(BODY, loads=[loads.LinearDamping(1.0)]), "000000"),
}


@pytest.mark.parametrize("case", CASES)
def test_conserved_momenta(case):
    system, expected = CASES[case]
    kinds = enumerate(system.freedom)
    places = [(0.3 + 2.0 * i, -0.4, 0.7) if free.translates else None for i, free in kinds]
    turns = [about_x(0.4) if free.rotates else None for free in system.freedom]
    found = system.symmetries(0.2, system.state(position=places, rotation=turns))
    assert "".join(str(int(kept)) for kept in np.asarray(found)) == expected


def test_special_positions_do_not_deceive():
    """At the bottom of a well no force acts, yet no momentum is conserved."""
    system = System(BODY, potentials=[lambda x, R: jnp.sum(jnp.array([1.0, 2.0, 3.0]) * x[0] ** 2)])
    assert not np.any(system.symmetries(0.0, system.state()))


def test_prescribed_motion():
    motion = freedom.Prescribed(lambda t: (jnp.stack([t, t, t]), jnp.eye(3)))
    system = System([BODY, BODY], freedom=[freedom.Free(), motion])
    assert not np.any(system.symmetries(0.0, system.state()))
