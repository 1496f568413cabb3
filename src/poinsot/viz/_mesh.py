"""Meshes from files, for pictures: triangles of STL and OBJ files."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from poinsot.core import read_regular

LARGEST = 64 * 2**20
"""Bytes of a file that is read; a larger one is no shape for a picture."""
MOST = 6000
"""Triangles of a mesh that are drawn; of a finer one its corners are put together on a grid."""
BINARY = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])

Mesh = tuple[np.ndarray, np.ndarray]
"""Corners `(n, 3)`, and places of those of each triangle `(m, 3)`."""


@lru_cache(maxsize=64)
def mesh_of(path: str) -> Mesh | None:
    """The triangles of a file; None where it is not there, too large, broken or of another format."""
    file = Path(path)
    readers = {".stl": _stl, ".obj": _obj}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        return None
    try:
        points, triangles = reader(read_regular(file, LARGEST))
    except (OSError, ValueError, IndexError):
        return None
    if len(triangles) == 0 or not np.all(np.isfinite(points)) or np.max(triangles) >= len(points):
        return None
    return _thinned(points, triangles)


def _stl(data: bytes) -> Mesh:
    """Binary files have a head of 80 bytes and the number of triangles; others are text."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + BINARY.itemsize * count:
        corners = np.frombuffer(data, BINARY, count, 84)["corners"].astype(float)
    else:
        words = data.decode("ascii", "replace").split("vertex")[1:]
        corners = np.array([[float(one) for one in word.split()[:3]] for word in words]).reshape(-1, 3, 3)
    points, places = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return points, places.reshape(-1, 3)


def _obj(data: bytes) -> Mesh:
    """Lines `v x y z` are corners; lines `f a b c ...` are faces, fans of triangles, counted from one."""
    points, triangles = [], []
    for line in data.decode("utf-8", "replace").splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            points.append([float(one) for one in rest[:3]])
        elif word == "f":
            places = [int(one.split("/")[0]) for one in rest]
            places = [place - 1 if place > 0 else len(points) + place for place in places]
            triangles += [[places[0], a, b] for a, b in zip(places[1:-1], places[2:], strict=True)]
    return np.array(points, dtype=float).reshape(-1, 3), np.array(triangles, dtype=int).reshape(-1, 3)


def _thinned(points: np.ndarray, triangles: np.ndarray) -> Mesh:
    """The mesh on a grid so coarse that few triangles are left: corners of one cell become one."""
    low, size = points.min(axis=0), float(np.max(np.ptp(points, axis=0)))
    cells = 128
    while len(triangles) > MOST and cells > 4:
        grid = np.round((points - low) * (cells / max(size, 1e-300))).astype(int)
        _, first, places = np.unique(grid, axis=0, return_index=True, return_inverse=True)
        fewer = np.sort(places.reshape(-1)[triangles], axis=1)
        fewer = np.unique(fewer[(fewer[:, 0] < fewer[:, 1]) & (fewer[:, 1] < fewer[:, 2])], axis=0)
        if len(fewer) <= MOST:
            return points[first], fewer
        cells = cells * 3 // 4
    return points, triangles
