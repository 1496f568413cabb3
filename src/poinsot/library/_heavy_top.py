"""The heavy top: a body that turns about a fixed point under gravity."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import InputError, checked, concrete
from poinsot.library._parameters import Vector, moments, positive, require, single
from poinsot.model import RigidBody, System, freedom, potentials

FLATNESS = 1e-10
"""How much m l^2 may exceed its bound, relative to it: the round-off of a flat body."""


@checked
def heavy_top(
    inertia: Vector,
    mgl: ArrayLike | None = None,
    *,
    mass: ArrayLike | None = None,
    length: ArrayLike | None = None,
    gravity: ArrayLike = 9.81,
) -> System:
    r"""A rigid body with a fixed point under gravity, its mass centre on the third principal axis.

    $$ J \dot\Omega = J\Omega \times \Omega + m g l\,(R_{32}, -R_{31}, 0)^T, \qquad V = m g l\,R_{33} $$

    with the inertia $J$ **about the fixed point**, which is the origin of space. Give `mgl`, or `mass` and
    `length`, or `mgl` with one of them. Rotations need $m g l$ alone; mass and length enter the position and
    velocity of the mass centre and the linear momentum. No body with these moments is longer than

    $$ l_{max} = \frac{J_1 + J_2 - J_3}{2\,m l}, \qquad m l = \frac{m g l}{g}, $$

    where it is a flat one, and where only `mgl` is given the length is taken to be half of that. A negative
    `mgl` or `length` hangs the body down from its fixed point; with `mgl=0` that is the mass centre.

    Args:
        inertia: three principal moments about the fixed point.
        mgl: weight times distance $l$ of the mass centre from the fixed point.
        mass: $m$.
        length: $l$.
        gravity: $g$.

    Returns:
        The system, for `state` and `pt.simulate`.

    Raises:
        InputError: too little or too much is given, or no rigid body has these numbers.

    Example:
        >>> import poinsot as pt
        >>> top = pt.library.heavy_top(inertia=(50, 42, 10), mgl=11.09 * 9.81)
        >>> start = top.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(0, 0, 20))
    """
    return top_on_point("heavy top", inertia, mgl, mass=mass, length=length, gravity=gravity)


def top_on_point(
    name: str,
    inertia: Vector,
    mgl: ArrayLike | None = None,
    *,
    mass: ArrayLike | None = None,
    length: ArrayLike | None = None,
    gravity: ArrayLike = 9.81,
) -> System:
    """The system of `heavy_top` under another name."""
    J = moments(inertia)
    spread = 0.5 * (J[0] + J[1] - J[2])
    g = single(gravity=gravity)["gravity"]
    positive(gravity=g)
    m, arm = _mass_and_length(mgl, mass, length, g, spread)
    steiner = m * arm * arm
    require(
        steiner <= (1.0 + FLATNESS) * spread,
        f"mass * length**2 = {steiner} with inertia = {inertia!r}; a body with these moments about its fixed "
        f"point has at most (J1 + J2 - J3) / 2 = {spread}",
    )
    weight = m * g * arm if mgl is None else mgl
    return System(
        RigidBody(m, (J[0] - steiner, J[1] - steiner, J[2]), name="top"),
        freedom=freedom.FixedPoint((0.0, 0.0, -arm)),
        potentials=[potentials.HeavyTop(weight)],
        name=name,
    )


def _mass_and_length(mgl, mass, length, gravity: Array, spread: Array) -> tuple[Array, Array]:
    """Mass and length from two of three, or from `mgl` alone; `spread` is the bound on m l^2."""
    offered = {"mgl": mgl, "mass": mass, "length": length}
    given = single(**{name: value for name, value in offered.items() if value is not None})
    if len(given) == 3:
        raise InputError("heavy_top has mgl, mass and length; leave one of them out")
    if "mass" in given:
        positive(mass=given["mass"])
    match sorted(given):
        case ["length", "mass"]:
            return given["mass"], given["length"]
        case ["mass", "mgl"]:
            return given["mass"], given["mgl"] / (gravity * given["mass"])
        case ["length", "mgl"]:
            mass = given["mgl"] / (gravity * given["length"])
            require(mass > 0.0, f"mgl = {mgl!r} and length = {length!r}; both must have one sign")
            return mass, given["length"]
        case ["mgl"]:
            return _middling(given["mgl"] / gravity, spread)
    raise InputError("heavy_top needs mgl, or mass and length")


def _middling(moment: Array, spread: Array) -> tuple[Array, Array]:
    """Mass and length of a body half as long as m l and the moments of inertia allow."""
    require(
        (spread > 0.0) | (moment == 0.0),
        "the third moment of inertia is the sum of the others: a flat body, whose mass centre lies in its "
        "plane; it cannot lie on the third axis off the fixed point",
    )
    balanced = moment == 0.0
    xp: Any = np if concrete(moment, spread) else jnp
    divisor = xp.where(balanced, 1.0, moment)
    length = xp.where(balanced, 0.0, 0.5 * spread / divisor)
    return xp.where(balanced, 1.0, 2.0 * divisor * divisor / spread), length
