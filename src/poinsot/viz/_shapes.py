"""Shapes of bodies as files give them: corners and faces, drawn as shaded patches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.core import optional
from poinsot.viz._mesh import mesh_of
from poinsot.viz._solid import LIGHT, View, faces

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROUND = 20
"""Corners of a circle."""
DARK, BRIGHT = 0.45, 0.75
"""Share of a colour in the shade, and what light adds to it; above one it turns to white."""
FEW = 12
"""Faces up to which edges are drawn."""


@dataclass(frozen=True, eq=False)
class Solid:
    """Corners `(n, 3)` in the frame of its body, and faces as lists of places."""

    points: np.ndarray
    faces: Sequence[np.ndarray]

    def placed(self, position: np.ndarray, rotation: np.ndarray) -> "Solid":
        """The same at a pose."""
        return Solid(position + self.points @ rotation.T, self.faces)


def solids_of(shapes: Sequence[dict[str, Any]]) -> dict[str, tuple[Solid, ...]]:
    """What can be drawn of the shapes of each body: those to look at, else those that touch.

    A plane has no end and a mesh may be in a format that is not read here; these are left out.
    """
    found: dict[str, dict[str, list[Solid]]] = {"collision": {}, "visual": {}}
    for shape in shapes:
        solid = solid_of(shape["kind"], np.asarray(shape["size"], dtype=float), shape["mesh"])
        if solid is not None:
            pose = np.asarray(shape["position"]), _matrix(np.asarray(shape["quaternion"]))
            found[shape["role"]].setdefault(shape["body"], []).append(solid.placed(*pose))
    return {body: tuple(solids) for body, solids in (found["collision"] | found["visual"]).items()}


def solid_of(kind: str, size: np.ndarray, mesh: str | None) -> Solid | None:
    """A shape about its own origin; None where it cannot be drawn."""
    if kind == "mesh":
        read = None if mesh is None else mesh_of(mesh)
        if read is None:
            return None
        points, triangles = read
        return Solid(points * size, list(triangles))
    if kind == "box":
        corners = np.stack(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        return _convex(corners * size)
    if kind == "cylinder":
        return _convex(_rings([(size[0], -0.5 * size[1]), (size[0], 0.5 * size[1])]))
    if kind in ("sphere", "ellipsoid", "capsule"):
        heights = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ROUND // 2 + 1)
        radius, half = (size[0], 0.5 * size[1]) if kind == "capsule" else (1.0, 0.0)
        rings = [(radius * np.cos(a), radius * np.sin(a) + np.sign(a) * half) for a in heights]
        return _convex(_rings(rings) * (1.0 if kind == "capsule" else size))
    return None


def _rings(rings: Sequence[tuple[float, float]]) -> np.ndarray:
    """Points on circles about the z axis, of these radii at these heights; a point where a radius is zero."""
    angles = 2.0 * np.pi * np.arange(ROUND) / ROUND
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(ROUND)], axis=1)
    parts = [
        radius * circle + [0.0, 0.0, height] if radius > 1e-12 else np.array([[0.0, 0.0, height]])
        for radius, height in rings
    ]
    return np.concatenate(parts)


def _convex(points: np.ndarray) -> Solid:
    return Solid(points, faces(points))


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix of a unit quaternion."""
    w, v = quaternion[0], quaternion[1:]
    skew = np.cross(v, np.eye(3)).T
    return np.eye(3) + 2.0 * w * skew + 2.0 * skew @ skew


def draw_solids(ax: "Axes", view: View, placed: Sequence[tuple[Solid, np.ndarray, np.ndarray, str]]) -> None:
    """Faces of solids at their poses on the paper, the farthest first, darker where light does not fall.

    Args:
        ax: where to draw.
        view: how to look.
        placed: solids with position, rotation and colour each.
    """
    colours = optional("matplotlib.colors", "plot", "a picture")
    drawn: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []
    for solid, position, rotation, colour in placed:
        corners, own = view(solid.placed(position, rotation).points), np.array(colours.to_rgb(colour))
        for sides in {len(face) for face in solid.faces}:
            polygons = corners[np.array([face for face in solid.faces if len(face) == sides])]
            fills = _shaded(polygons, own)
            edges = fills if len(solid.faces) > FEW else np.broadcast_to(0.6 * own, fills.shape)
            depths = np.mean(polygons[:, :, 2], axis=1)
            drawn += zip(depths, polygons[:, :, :2], fills, edges, strict=True)
    drawn.sort(key=lambda one: one[0])
    _, polygons, fills, edges = zip(*drawn, strict=True)
    patches = optional("matplotlib.collections", "plot", "a picture").PolyCollection
    ax.add_collection(patches(polygons, facecolors=fills, edgecolors=edges, linewidths=0.4, zorder=2.5))


def _shaded(polygons: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """Colours of faces `(face, corner, 3)` in the axes of the paper.

    Faces of meshes are listed either way round: each counts as if it looked at the eye, and those that look
    away are hidden by others.
    """
    normals = np.cross(polygons[:, 1] - polygons[:, 0], polygons[:, 2] - polygons[:, 0])
    lengths = np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
    light = normals @ (LIGHT / np.linalg.norm(LIGHT)) * np.sign(normals[:, 2]) / lengths
    shade = (DARK + BRIGHT * np.maximum(light, 0.0))[:, None]
    return np.minimum(shade, 1.0) * colour + np.maximum(shade - 1.0, 0.0) * (1.0 - colour)
