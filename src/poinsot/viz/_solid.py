"""Convex solids seen from a distance: rigid bodies made of particles, as patches on paper."""

from dataclasses import dataclass

import numpy as np

from poinsot.core import optional

FLAT = 1e-9
"""Relative thickness below which particles lie in a plane."""
LIGHT = np.array([-0.3, 0.6, 0.75])
"""Where light comes from, in the axes of the paper."""


@dataclass(frozen=True)
class View:
    """Parallel projection: axes of the paper, to the right, up and towards the eye, as rows."""

    axes: np.ndarray

    @classmethod
    def towards(cls, azimuth: float, elevation: float) -> "View":
        """Seen from a direction given in degrees, the z axis up."""
        a, e = np.radians([azimuth, elevation])
        eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        return cls(np.stack([right, np.cross(eye, right), eye]))

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Points `(..., 3)` in the axes of the paper."""
        return points @ self.axes.T


def faces(points: np.ndarray) -> list[np.ndarray]:
    """Faces of the convex hull of a body's particles, each a list of places, anticlockwise from outside.

    Particles in a plane have one face, seen from both sides; fewer than three have none.
    """
    spatial = optional("scipy.spatial", "adaptive", "the faces of a body")
    if len(points) < 3:
        return []
    centred = points - np.mean(points, axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    if len(points) == 3 or sizes[2] <= FLAT * sizes[0]:
        try:
            return [spatial.ConvexHull(centred @ axes[:2].T).vertices]
        except spatial.QhullError:
            return []
    hull = spatial.ConvexHull(centred)
    planes = np.round(hull.equations, 7)
    sides = [np.flatnonzero(np.all(planes == plane, axis=1)) for plane in np.unique(planes, axis=0)]
    return [_outline(centred, np.unique(hull.simplices[side]), hull.equations[side[0], :3]) for side in sides]


def _outline(points: np.ndarray, places: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Corners of a face in the order around it."""
    corners = points[places] - np.mean(points[places], axis=0)
    across = corners[0] / np.linalg.norm(corners[0])
    angles = np.arctan2(corners @ np.cross(normal, across), corners @ across)
    return places[np.argsort(angles)]


def patches(corners: np.ndarray, sides: list[np.ndarray]) -> list[tuple[np.ndarray, float]]:
    """What is seen of a solid: outlines of its faces that look at the eye, and how bright they are.

    Args:
        corners: of the solid, in the axes of the paper.
        sides: its faces.
    """
    seen = []
    for side in sides:
        face = corners[side]
        normal = np.cross(face[1] - face[0], face[2] - face[0])
        length = np.linalg.norm(normal)
        if len(sides) == 1:
            normal = normal * np.sign(normal[2])
        if length > 0.0 and normal[2] > 0.0:
            brightness = float(normal @ LIGHT) / (length * float(np.linalg.norm(LIGHT)))
            seen.append((face[:, :2], max(0.0, brightness)))
    return seen
