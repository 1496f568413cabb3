"""What robot files say: links with their inertia and shapes, joints with their frames, as plain numbers."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from poinsot.core import on_device, quoted
from poinsot.kernels import at_once
from poinsot.model import Geometry
from poinsot.rotation import from_matrix

BOUNDLESS = 1e16
"""Limits as large as this are none."""


@dataclass(frozen=True, eq=False)
class Pose:
    """A rotation and a place."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    place: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: "Pose") -> "Pose":
        return Pose(self.rotation @ other.rotation, self.place + self.rotation @ other.place)

    @property
    def inverse(self) -> "Pose":
        """The pose that undoes it."""
        return Pose(self.rotation.T, -self.rotation.T @ self.place)


@dataclass(frozen=True, eq=False)
class Link:
    """A link: mass, mass centre, inertia and shapes in its own frame; massless unless it says otherwise."""

    name: str
    mass: float = 0.0
    centre: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    """About the mass centre."""
    shapes: tuple[tuple[Geometry, Pose], ...] = ()
    lost: tuple[str, ...] = ()
    """Of each mesh that is not to be had, why."""

    @property
    def massless(self) -> bool:
        """Whether it has no inertia at all."""
        return self.mass == 0.0 and not np.any(self.inertia)


@dataclass(frozen=True, eq=False)
class JointElement:
    """A joint between two links; one that moves freely is the freedom of its child."""

    name: str
    kind: str
    """"revolute", "continuous", "prismatic", "ball", "planar", "fixed" or "floating"."""
    parent: str
    child: str
    origin: Pose = field(default_factory=Pose)
    """Of the child in its parent, at rest."""
    axis: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    """In the child."""
    point: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """That the axis goes through, in the child."""
    limits: tuple[float, float] | None = None
    largest_effort: float | None = None
    largest_velocity: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    """Which is not simulated."""
    stiffness: float = 0.0
    rest: float = 0.0
    """Coordinate at which the spring is at rest."""
    mimic: tuple[str, float, float] | None = None
    """Joint that it follows, factor and offset."""

    @property
    def unfit(self) -> str | None:
        """Why its limits are left out, where the file gives some that are."""
        low, high = self.limits or (0.0, 0.0)
        if low > high:
            return "whose lower limit is above the upper one"
        if max(-low, high) >= BOUNDLESS:
            return "with a limit on one side alone"
        return None


def placed_shape(shape: Geometry, body: str, pose: Pose) -> Geometry:
    """A shape at a pose in a body."""
    quaternion = tuple(float(x) for x in at_once(from_matrix)(on_device(pose.rotation)))
    return replace(shape, body=body, position=tuple(float(x) for x in pose.place), quaternion=quaternion)


def mesh_path(name: str, folder: Path, where: str) -> tuple[str, str | None]:
    """The path of a mesh in the folder of its file, and why it is not to be had; nothing else is looked at.

    A name with a scheme such as `package://` is looked for by its end, and kept as it is when it is not
    found: what stands for the package is not known here. So is a plain path that leads out of the folder, or
    to no file; these are refused where shapes are read.
    """
    scheme, found, rest = name.partition("://")
    parts = Path(rest if found else name).parts
    if found:
        if ".." not in parts and scheme == "package":
            for tail in (parts, parts[1:]):
                if tail and _inside(folder, path := folder.joinpath(*tail)) and path.is_file():
                    return str(path), None
        return name, None
    path = folder / name
    if not _inside(folder, path):
        return name, (
            f"{where}: mesh {quoted(name)} is outside the folder of the file, and meshes are only read from "
            "there; put it there, or read with geometry=False"
        )
    if not path.is_file():
        return name, f"{where}: mesh {quoted(name)} is not there; add it, or read with geometry=False"
    return str(path), None


def _inside(folder: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
