"""Joints: what holds two bodies together, or a body to the ground.

- lower pairs: `Spherical`, `Revolute`, `Prismatic`, `Cylindrical`, `Planar`, `Screw`
- `Fixed`, `Universal`, `Distance`, `PointOnLine`, `PointOnPlane`
"""

from ._base import AbstractJoint, Frames
from ._cylindrical import Cylindrical
from ._distance import Distance
from ._fixed import Fixed
from ._planar import Planar
from ._point_on_line import PointOnLine
from ._point_on_plane import PointOnPlane
from ._prismatic import Prismatic
from ._revolute import Revolute
from ._screw import Screw
from ._spherical import Spherical
from ._universal import Universal

__all__ = [
    "AbstractJoint",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Frames",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Revolute",
    "Screw",
    "Spherical",
    "Universal",
]
