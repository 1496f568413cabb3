"""Paths on an ellipsoid in space, what lies behind it shown faintly."""

from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.viz._style import PALETTE, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BEHIND, SURFACE, FRONT = 1, 2, 3
"""Order of drawing."""


def draw_on_ellipsoid(ax: "Axes", form: np.ndarray, path: np.ndarray, names: tuple[str, str, str]) -> None:
    r"""A path on the ellipsoid $x \cdot A\,x = 1$, with its axes and its start.

    Args:
        ax: axes in space.
        form: the symmetric matrix $A$; the identity for the unit sphere.
        path: of shape `(points, 3)`, on the ellipsoid.
        names: of the three coordinate axes.
    """
    space: Any = ax
    space.computed_zorder = False
    _look_at(space, path)
    values, axes = np.linalg.eigh(form)
    # The symmetric root keeps the parallels around the third axis where that is a principal one.
    shape = (axes / np.sqrt(values)) @ axes.T
    _surface(space, form, shape)
    visible = _in_front(space, path @ form)
    for shown, style in (
        (~visible, {"zorder": BEHIND, "linewidth": 0.7, "alpha": 0.9}),
        (visible, {"zorder": FRONT, "linewidth": 1.0}),
    ):
        space.plot(*np.where(shown, path.T, np.nan), color=PALETTE[0], **style)
    mark = FRONT + 1 if visible[0] else BEHIND
    space.plot(*path[:1].T, "o", color=PALETTE[1], markersize=5, zorder=mark, label="start")
    for direction, name in zip(np.eye(3), names, strict=True):
        surface = direction / np.sqrt(direction @ form @ direction)
        space.plot(*np.outer(surface, [1.0, 1.15]), color=QUIET, linewidth=0.9, zorder=FRONT)
        space.text(*(1.23 * surface), name, ha="center", va="center", zorder=FRONT)
    extent = np.ptp([space.get_xlim(), space.get_ylim(), space.get_zlim()], axis=1)
    space.set_box_aspect(extent, zoom=1.35)
    space.set_axis_off()


def _look_at(space: Any, path: np.ndarray) -> None:
    """Turn towards the middle of the path, from a little above."""
    x, y, z = np.nanmean(path, axis=0)
    across = float(np.hypot(x, y))
    sideways = across > 0.3 * abs(z)
    azimuth = float(np.degrees(np.arctan2(y, x))) + 25.0 if sideways else -60.0
    space.view_init(elev=float(np.clip(np.degrees(np.arctan2(z, across)), -15.0, 35.0)), azim=azimuth)


def _in_front(space: Any, normals: np.ndarray) -> np.ndarray:
    """Which outward normals point to the eye."""
    elevation, azimuth = np.radians([space.elev, space.azim])
    eye = [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    return normals @ np.array(eye) >= 0.0


def _surface(space: Any, form: np.ndarray, shape: np.ndarray) -> None:
    """The ellipsoid as the image of the unit sphere, with parallels and meridians on its front."""
    latitude, longitude = np.linspace(0.0, np.pi, 49), np.linspace(0.0, 2.0 * np.pi, 97)
    patches = np.tensordot(shape, _sphere(latitude[:, None], longitude[None]), axes=1)
    space.plot_surface(*patches, color="#E3EBF2", alpha=0.65, linewidth=0, shade=False, zorder=SURFACE)
    turn = np.linspace(0.0, 2.0 * np.pi, 401)
    parallels = [_sphere(np.full(401, height), turn) for height in np.linspace(0.0, np.pi, 7)[1:-1]]
    meridians = [_sphere(turn, np.full(401, side)) for side in np.linspace(0.0, np.pi, 7)[:-1]]
    for circle in (*parallels, *meridians):
        line = shape @ circle
        seen = _in_front(space, line.T @ form)
        space.plot(*np.where(seen, line, np.nan), color="#B4C2CE", linewidth=0.5, zorder=SURFACE)


def _sphere(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Points of the unit sphere, the coordinates first; latitude counts from the pole."""
    across, height = np.broadcast_arrays(np.sin(latitude), np.cos(latitude) + 0.0 * longitude)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), height])
