"""Coordinates of a rotating body: how a rotation becomes numbers, and what its kinetic energy is in them.

Written for one body on small plain arrays; many bodies come by `jax.vmap` over a last axis.

- `Directors`: nine components of the directors, six constraints, constant or scaled mass matrix
- `Quaternions`: four components, one constraint, radial inertia or scaled mass matrix
- `EulerAngles`: three angles of any sequence, no constraint, singular at gimbal lock
- `Group`: elements of the rotation group, for methods that multiply rotations
- `Joint`: the coordinates of the joints of a system, along their tree
- `project`: onto the constraints of any of them, in the metric of the mass
"""

from ._base import AbstractCoordinates, AbstractOrientation
from ._directors import Directors
from ._euler_angles import EulerAngles
from ._group import Group
from ._joint import Joint
from ._projection import project
from ._quaternions import Quaternions
from ._registry import REGISTRY, as_coordinates, by_name, names

__all__ = [
    "AbstractCoordinates",
    "AbstractOrientation",
    "Directors",
    "EulerAngles",
    "Group",
    "Joint",
    "REGISTRY",
    "Quaternions",
    "as_coordinates",
    "by_name",
    "names",
    "project",
]
