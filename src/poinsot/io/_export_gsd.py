"""GSD files in the schema of HOOMD-blue."""

from pathlib import Path
from typing import Any

import numpy as np

from poinsot.core import optional
from poinsot.io._export_frames import Frame, Frames

TYPES = ["body", "particle"]
ROOM = 1.01
"""Size of the box over that of the space which the particles need."""


def write_gsd(frames: Frames, path: Path) -> None:
    """Write every frame: the bodies first, at their mass centres and with orientations, then their particles.

    This is HOOMD's way to write rigid bodies: a particle of type `body` for each of them, and for each of its
    constituents its number in `particles.body`. Bodies that were not made of particles have no constituents.
    GSD holds single precision. The box is centred at the origin and holds all frames; a periodic chain is
    wrapped into its period, with images counted. The time is logged as `time`.

    Args:
        frames: what to write.
        path: the file.

    Raises:
        MissingPackageError: without the package `gsd`.
    """
    hoomd = optional("gsd.hoomd", "export", "a GSD file")
    box = _box(frames)
    with hoomd.open(path, "w") as file:
        for frame in frames:
            file.append(_snapshot(hoomd, frames, frame, box))


def _box(frames: Frames) -> np.ndarray:
    """Lengths of the box along x, y and z."""
    low, high = frames.bounds
    lengths = 2.0 * ROOM * np.maximum(np.abs(low), np.abs(high))
    lengths = np.where(lengths > 0.0, lengths, max(np.max(lengths), 1.0))
    if frames.period is not None:
        lengths[0] = frames.period
    return lengths


def _snapshot(hoomd: Any, frames: Frames, frame: Frame, box: np.ndarray) -> Any:
    """One frame in HOOMD's terms."""
    count = len(frame.position)
    of_bodies = np.bincount(frames.body, minlength=count)
    # A body that is only its mass centre is there already.
    parts = np.flatnonzero(of_bodies[frames.body] > 1)
    body = frames.body[parts]
    snapshot = hoomd.Frame()
    snapshot.configuration.step = frame.number
    snapshot.configuration.box = [*box, 0.0, 0.0, 0.0]
    particles = snapshot.particles
    particles.N = count + len(parts)
    particles.types = TYPES
    particles.typeid = np.repeat([0, 1], [count, len(parts)])
    particles.body = np.concatenate([np.arange(count), body])
    particles.mass = np.concatenate([frames.body_masses, frames.masses[parts]])
    particles.orientation = np.concatenate([frame.quaternion, frame.quaternion[body]])
    particles.velocity = np.concatenate([frame.velocity, frame.rates[parts]])
    position = np.concatenate([frame.position, frame.points[parts]])
    if frames.period is not None:
        images = np.floor(position[:, 0] / box[0] + 0.5)
        position[:, 0] -= images * box[0]
        particles.image = np.column_stack([images, np.zeros((len(images), 2))]).astype(np.int32)
    particles.position = position
    snapshot.log["time"] = np.array([frame.t])
    return snapshot
