"""The particles of a run, frame by frame: what the formats of other programs are written from."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from poinsot.core import InputError
from poinsot.simulation import BodyTrajectory, Trajectory


@dataclass(frozen=True)
class Frame:
    """All bodies and their particles at one time."""

    number: int
    t: float
    position: Float[np.ndarray, "body 3"]
    """Mass centres."""
    quaternion: Float[np.ndarray, "body 4"]
    """Body to space, scalar first."""
    velocity: Float[np.ndarray, "body 3"]
    points: Float[np.ndarray, "particle 3"]
    """Particles in space."""
    rates: Float[np.ndarray, "particle 3"]
    """Their velocities."""


class Frames:
    """The frames of a run, made when they are asked for, and what is the same in all of them.

    Args:
        run: a run of bodies, as it ended or as it was loaded.

    Raises:
        InputError: the run is not one of bodies, or was stored without their particles.
    """

    def __init__(self, run: Trajectory):
        if not isinstance(run, BodyTrajectory):
            raise InputError(f"only runs of bodies have particles to export; this is a {type(run).__name__}")
        if "particle_masses" not in run.attributes:
            raise InputError("this run was stored without the particles of its bodies; run it again")
        self.run = run
        count = len(run.attributes["bodies"])
        # Equal bodies, as those of a chain, are stored once.
        kinds = np.arange(count) % len(run.attributes["particles"])
        points = [np.reshape(part, (-1, 3)) for part in run.attributes["particles"]]
        masses = [np.asarray(part) for part in run.attributes["particle_masses"]]
        self.offsets = np.concatenate([points[kind] for kind in kinds])
        self.masses = np.concatenate([masses[kind] for kind in kinds])
        self.body_masses = np.array([masses[kind].sum() for kind in kinds])
        self.body = np.repeat(np.arange(count), [len(points[kind]) for kind in kinds])

    def __len__(self) -> int:
        return len(self.run)

    def __iter__(self) -> Iterator[Frame]:
        return map(self._frame, range(len(self)))

    @property
    def period(self) -> float | None:
        """Length after which a periodic chain repeats itself along x; None of anything else."""
        return self.run.attributes.get("period")

    @cached_property
    def bounds(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Lowest and highest coordinates of the particles in all frames."""
        lowest, highest = np.full(3, np.inf), np.full(3, -np.inf)
        for frame in self:
            lowest = np.minimum(lowest, frame.points.min(axis=0))
            highest = np.maximum(highest, frame.points.max(axis=0))
        return lowest, highest

    def _frame(self, k: int) -> Frame:
        motion, body = self.run.motion, self.body
        R = motion["rotation"][k]
        spin = np.einsum("bij,bj->bi", R, motion["angular_velocity"][k])
        arms = np.einsum("pij,pj->pi", R[body], self.offsets)
        return Frame(
            number=k,
            t=float(self.run.t[k]),
            position=motion["position"][k],
            quaternion=motion["quaternion"][k],
            velocity=motion["velocity"][k],
            points=motion["position"][k][body] + arms,
            rates=motion["velocity"][k][body] + np.cross(spin[body], arms),
        )
