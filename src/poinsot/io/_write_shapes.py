"""Shapes of robots to URDF files, and the files of their meshes beside these."""

import filecmp
import shutil
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import jax.numpy as jnp
import numpy as np

from poinsot.core import InputError, quoted
from poinsot.io._robot_elements import Pose
from poinsot.io._write_numbers import origin_of, text_of
from poinsot.model import Geometry
from poinsot.rotation import to_matrix

MESHES = "meshes"
"""Folder beside the file for meshes that are elsewhere."""
SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length")}


class ShapeWriter:
    """Shapes as elements of links, for a file in some folder.

    Meshes in that folder are named from there. Others are copied to its folder "meshes", by `copy`: where a
    file is read, meshes are taken from its folder alone.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.copies: dict[Path, Path] = {}
        """Where each mesh from elsewhere goes."""

    def add(self, link: Element, shape: Geometry, origin: np.ndarray) -> None:
        """A shape of a link whose frame is at `origin` in the body.

        Raises:
            InputError: URDF has no such shape, or a mesh is not there.
        """
        rotation = np.asarray(to_matrix(jnp.asarray(shape.quaternion)))
        pose = Pose(rotation, np.asarray(shape.position) - origin)
        if shape.kind == "capsule":
            # URDF has none: a cylinder with a ball at each end is the same solid.
            radius, length = shape.size
            self._solid(link, shape, pose, "cylinder", shape.size)
            for end in (-0.5, 0.5):
                ball = Pose(rotation, pose.place + end * length * rotation[:, 2])
                self._solid(link, shape, ball, "sphere", (radius,))
        elif shape.kind == "mesh":
            geometry = _geometry(link, shape, pose)
            SubElement(geometry, "mesh", filename=self._file(shape), scale=text_of(shape.size))
        elif shape.kind in SIZES:
            self._solid(link, shape, pose, shape.kind, shape.size)
        else:
            raise InputError(
                f"geometry of {shape.body!r} has a shape of kind {shape.kind!r}, which URDF does not have; "
                "write with geometry=False"
            )

    @staticmethod
    def _solid(link: Element, shape: Geometry, pose: Pose, kind: str, size: tuple[float, ...]) -> None:
        keys = SIZES[kind]
        values = [size] if len(keys) == 1 else size
        numbers = {key: text_of(value) for key, value in zip(keys, values, strict=True)}
        SubElement(_geometry(link, shape, pose), kind, numbers)

    def _file(self, shape: Geometry) -> str:
        """The name of a mesh in the file."""
        name = shape.mesh or ""
        if "://" in name:
            return name
        mesh = Path(name).resolve()
        if not mesh.is_file():
            raise InputError(
                f"geometry of {shape.body!r}: mesh {quoted(name)} is not there; add it, or write with "
                "geometry=False"
            )
        folder = self.folder.resolve()
        place = mesh if mesh.is_relative_to(folder) else self._copied(mesh, folder / MESHES)
        return place.relative_to(folder).as_posix()

    def _copied(self, mesh: Path, folder: Path) -> Path:
        """Where a mesh is copied to, under a name that no other mesh has."""
        number = 1
        while mesh not in self.copies:
            last = "" if number == 1 else f"-{number}"
            place = folder / f"{mesh.stem}{last}{mesh.suffix}"
            there = place.exists() and not filecmp.cmp(mesh, place, shallow=False)
            if not there and place not in self.copies.values():
                self.copies[mesh] = place
            number += 1
        return self.copies[mesh]

    def copy(self) -> None:
        """Copy the meshes from elsewhere."""
        for mesh, place in self.copies.items():
            place.parent.mkdir(exist_ok=True)
            shutil.copyfile(mesh, place)


def _geometry(link: Element, shape: Geometry, pose: Pose) -> Element:
    element = SubElement(link, shape.role)
    origin_of(element, pose)
    return SubElement(element, "geometry")
