"""Joints by name: one line each feeds scenario files."""

from collections.abc import Callable

from poinsot.core import Later, Registry

from ._base import AbstractJoint

REGISTRY: Registry[Callable[..., AbstractJoint]] = Registry(
    "joint",
    Later.each(
        __package__,
        {
            "spherical": "_spherical.Spherical",
            "revolute": "_revolute.Revolute",
            "prismatic": "_prismatic.Prismatic",
            "cylindrical": "_cylindrical.Cylindrical",
            "planar": "_planar.Planar",
            "screw": "_screw.Screw",
            "universal": "_universal.Universal",
            "fixed": "_fixed.Fixed",
            "distance": "_distance.Distance",
            "point-on-line": "_point_on_line.PointOnLine",
            "point-on-plane": "_point_on_plane.PointOnPlane",
        },
    ),
)
