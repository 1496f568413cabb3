"""Joints: what holds two bodies together, or a body to the ground.

- lower pairs: `Spherical`, `Revolute`, `Prismatic`, `Cylindrical`, `Planar`, `Screw`
- `Fixed`, `Universal`, `Distance`, `PointOnLine`, `PointOnPlane`
- `AbstractJoint` of one `Site`, a function of `Frames`: what a joint of your own is
- `Drive`, a coordinate of a joint as a function of time, and `Coupling`, two of them in a fixed ratio
"""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

from ._base import AbstractJoint
from ._condition import AbstractCondition
from ._coordinate import angular, wrapped
from ._frames import Frames, Subspace
from ._motion import Motion
from ._registry import REGISTRY
from ._site import Site, Where

if TYPE_CHECKING:
    from ._coupling import Coupling
    from ._cylindrical import Cylindrical
    from ._distance import Distance
    from ._drive import Drive
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
    "REGISTRY",
    "AbstractCondition",
    "AbstractJoint",
    "Coupling",
    "Cylindrical",
    "Distance",
    "Drive",
    "Fixed",
    "Frames",
    "Motion",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Revolute",
    "Screw",
    "Site",
    "Spherical",
    "Subspace",
    "Universal",
    "Where",
    "angular",
    "wrapped",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Coupling": "._coupling",
        "Cylindrical": "._cylindrical",
        "Distance": "._distance",
        "Drive": "._drive",
        "Fixed": "._fixed",
        "Planar": "._planar",
        "PointOnLine": "._point_on_line",
        "PointOnPlane": "._point_on_plane",
        "Prismatic": "._prismatic",
        "Revolute": "._revolute",
        "Screw": "._screw",
        "Spherical": "._spherical",
        "Universal": "._universal",
    },
)
