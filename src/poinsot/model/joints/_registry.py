"""Joints by name: one line each feeds scenario files."""

from collections.abc import Callable

from poinsot.core import Registry

from ._base import AbstractJoint
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

REGISTRY: Registry[Callable[..., AbstractJoint]] = Registry(
    "joint",
    {
        "spherical": Spherical,
        "revolute": Revolute,
        "prismatic": Prismatic,
        "cylindrical": Cylindrical,
        "planar": Planar,
        "screw": Screw,
        "universal": Universal,
        "fixed": Fixed,
        "distance": Distance,
        "point-on-line": PointOnLine,
        "point-on-plane": PointOnPlane,
    },
)
