"""Homogeneous solids and sets of particles as rigid bodies.

The body frame has its origin at the mass centre and principal axes as directions; an axis of symmetry is
the third unless you choose another. Of a solid give either the mass or the density. Straight lines are left
out: a line without thickness has no inertia about itself; a slender `rod` has. `tetrahedron` and
`two_rim_disc` are made of particles, which chains of bodies need.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, Registry, checked, plain, quoted

from ._checks import Numbers, as_array, as_positive, concrete, shown
from ._particle_shapes import tetrahedron, two_rim_disc
from ._rigid_body import RigidBody

__all__ = [
    "REGISTRY",
    "box",
    "cone",
    "cone_tip",
    "cylinder",
    "disc",
    "ellipsoid",
    "rod",
    "sphere",
    "tetrahedron",
    "two_rim_disc",
]


@checked
def box(
    size: Numbers, *, mass: Numbers | None = None, density: Numbers | None = None, name: str = "box"
) -> RigidBody:
    r"""A box with edges a, b, c along the body axes.

    $$ J_1 = \tfrac{m}{12}(b^2 + c^2) \text{ and cyclic}, \qquad m = \varrho\,a b c $$

    Args:
        size: the three edges.
        mass: m, or
        density: mass per volume.
        name: of the body.
    """
    edges = _three(size, "size of a box")
    total = _mass(mass, density, edges.prod(), name)
    return RigidBody(total, total / 12.0 * _cyclic(edges), name=name)


@checked
def ellipsoid(
    semi_axes: Numbers,
    *,
    mass: Numbers | None = None,
    density: Numbers | None = None,
    name: str = "ellipsoid",
) -> RigidBody:
    r"""An ellipsoid with semi-axes a, b, c along the body axes.

    $$ J_1 = \tfrac{m}{5}(b^2 + c^2) \text{ and cyclic}, \qquad m = \tfrac43 \pi \varrho\,a b c $$

    Args:
        semi_axes: a, b, c.
        mass: m, or
        density: mass per volume.
        name: of the body.
    """
    halves = _three(semi_axes, "semi_axes of an ellipsoid")
    total = _mass(mass, density, 4.0 / 3.0 * math.pi * halves.prod(), name)
    return RigidBody(total, total / 5.0 * _cyclic(halves), name=name)


@checked
def sphere(
    radius: Numbers, *, mass: Numbers | None = None, density: Numbers | None = None, name: str = "sphere"
) -> RigidBody:
    r"""A solid sphere.

    $$ J_1 = J_2 = J_3 = \tfrac25 m r^2, \qquad m = \tfrac43 \pi \varrho\,r^3 $$

    Args:
        radius: r.
        mass: m, or
        density: mass per volume.
        name: of the body.
    """
    r = _positive(radius, "radius of a sphere")
    return ellipsoid((r, r, r), mass=mass, density=density, name=name)


@checked
def cylinder(
    radius: Numbers,
    height: Numbers,
    *,
    mass: Numbers | None = None,
    density: Numbers | None = None,
    name: str = "cylinder",
) -> RigidBody:
    r"""A circular cylinder about the third body axis; the mass centre is halfway up.

    $$ J_1 = J_2 = m \left(\tfrac{r^2}{4} + \tfrac{h^2}{12}\right), \quad J_3 = \tfrac12 m r^2, \qquad
       m = \pi \varrho\,r^2 h $$

    Args:
        radius: r.
        height: h.
        mass: m, or
        density: mass per volume.
        name: of the body.
    """
    r, h = _positive(radius, "radius of a cylinder"), _positive(height, "height of a cylinder")
    total = _mass(mass, density, math.pi * r * r * h, name)
    across = 0.25 * r * r + h * h / 12.0
    return RigidBody(total, tuple(total * one for one in (across, across, 0.5 * r * r)), name=name)


@checked
def rod(
    length: Numbers,
    *,
    radius: Numbers | None = None,
    mass: Numbers | None = None,
    density: Numbers | None = None,
    name: str = "rod",
) -> RigidBody:
    r"""A slender round rod along the first body axis: what mechanisms are made of.

    $$ J_1 = \tfrac12 m r^2, \quad J_2 = J_3 = m \left(\tfrac{r^2}{4} + \tfrac{l^2}{12}\right), \qquad
       m = \pi \varrho\,r^2 l $$

    Args:
        length: l.
        radius: r; a fiftieth of the length unless it is given.
        mass: m, or
        density: mass per volume.
        name: of the body.
    """
    along = _positive(length, "length of a rod")
    r = along / 50.0 if radius is None else _positive(radius, "radius of a rod")
    total = _mass(mass, density, math.pi * r * r * along, name)
    across = 0.25 * r * r + along * along / 12.0
    return RigidBody(total, tuple(total * one for one in (0.5 * r * r, across, across)), name=name)


@checked
def cone(
    radius: Numbers,
    height: Numbers,
    *,
    mass: Numbers | None = None,
    density: Numbers | None = None,
    name: str = "cone",
) -> RigidBody:
    r"""A circular cone about the third body axis, which points from the tip to the middle of the base.

    $$ J_1 = J_2 = \tfrac{3}{80} m \left(4 r^2 + h^2\right), \quad J_3 = \tfrac{3}{10} m r^2, \qquad
       m = \tfrac13 \pi \varrho\,r^2 h $$

    The mass centre is at $\tfrac34 h$ from the tip; `cone_tip` gives the tip in body coordinates, which is
    what a top that stands on it needs:

        pt.System(
            pt.shapes.cone(0.1, 0.2, mass=1.0),
            freedom=pt.freedom.FixedPoint(pt.shapes.cone_tip(0.2)),
            potentials=[pt.potentials.UniformGravity()],
        )

    Args:
        radius: r, of the base.
        height: h, from tip to base.
        mass: m, or
        density: mass per volume.
        name: of the body.
    """
    r, h = _positive(radius, "radius of a cone"), _positive(height, "height of a cone")
    total = _mass(mass, density, math.pi / 3.0 * r * r * h, name)
    across = 3.0 / 80.0 * (4.0 * r * r + h * h)
    return RigidBody(total, tuple(total * one for one in (across, across, 0.3 * r * r)), name=name)


@checked
def cone_tip(height: Numbers) -> tuple[float, float, Any]:
    r"""The tip of a `cone` of this height, $(0, 0, -\tfrac34 h)$ in body coordinates."""
    return (0.0, 0.0, -0.75 * as_positive(height, "height of a cone"))


@checked
def disc(
    radius: Numbers, *, mass: Numbers | None = None, density: Numbers | None = None, name: str = "disc"
) -> RigidBody:
    r"""A thin circular disc; the third body axis is normal to it.

    $$ J_1 = J_2 = \tfrac14 m r^2, \quad J_3 = \tfrac12 m r^2, \qquad m = \pi \varrho\,r^2 $$

    It is flat, one of its planar moments is zero, so that formulations with the inverse of the Euler tensor
    cannot take it.

    Args:
        radius: r.
        mass: m, or
        density: mass per **area**.
        name: of the body.
    """
    r = _positive(radius, "radius of a disc")
    total = _mass(mass, density, math.pi * r * r, name)
    return RigidBody(total, total * r * r * np.array([0.25, 0.25, 0.5]), name=name)


def _mass(mass: Numbers | None, density: Numbers | None, content: Array, name: str) -> Array:
    """The mass given, or density times volume or area."""
    if (mass is None) == (density is None):
        given = "neither mass nor density" if mass is None else "both mass and density"
        raise InputError(f"{quoted(name)} has {given}; give one of them, mass=... or density=...")
    if mass is not None:
        return _positive(mass, f"mass of {name!r}")
    return _positive(density, f"density of {name!r}") * content


def _positive(value: Any, field: str) -> Any:
    """A positive number, as NumPy's where it is known."""
    return plain(as_positive(value, field))


def _three(values: Numbers, field: str) -> Array:
    """Three positive lengths."""
    lengths = as_array(values, field, (3,))
    if concrete(lengths) and not bool(np.all(np.asarray(lengths) > 0.0)):
        raise InputError(f"{field} = {shown(lengths)}; all three must be positive")
    return plain(lengths)


def _cyclic(lengths: Array) -> Array:
    """Sums of the squares of the other two lengths."""
    squares = lengths * lengths
    return squares.sum() - squares


REGISTRY: Registry[Callable[..., RigidBody]] = Registry(
    "shape",
    {
        "box": box,
        "ellipsoid": ellipsoid,
        "sphere": sphere,
        "cylinder": cylinder,
        "rod": rod,
        "cone": cone,
        "disc": disc,
        "tetrahedron": tetrahedron,
        "two-rim-disc": two_rim_disc,
        "particles": RigidBody.from_particles,
    },
)
