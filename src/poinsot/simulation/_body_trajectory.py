"""The trajectory of bodies: what can be seen of them, whatever the coordinates."""

from collections.abc import MutableMapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Array
from numpy.typing import ArrayLike

from poinsot.core import AbstractProblem, InputError, Result, State
from poinsot.equations import MOMENTA, FormState, Formulation, Motion
from poinsot.model import AbstractSystem, Chain, RigidBody, System
from poinsot.simulation._clock import timed
from poinsot.simulation._evaluation import Evaluated, at_states, components_of, conserved_of
from poinsot.simulation._joint_motion import (
    CouplingReaction,
    DriveReaction,
    JointMotion,
    Reaction,
    SeenJoints,
    described,
)
from poinsot.simulation._scale import Scale
from poinsot.simulation._singularities import Singularity
from poinsot.simulation._trajectory import Method, Record, Trajectory

if TYPE_CHECKING:
    from poinsot.viz import BodyPlots

BALANCE = "energy less work done"
"""Name of the balance that takes the place of the energy where loads act or time enters."""


STUCK = (
    Result.stage_equations_not_converged,
    Result.non_finite,
    Result.step_too_small,
    Result.joints_may_fold,
)
"""Ends of a run at which a mechanism may have met a configuration that it cannot pass."""
REACH = 4.0
"""Steps before such a configuration in which equations may find no solution any more."""
FEW = 3
"""Singularities of joints that a report lists."""
NAMES = tuple(entry.name for entry in fields(Motion))
"""What is seen of bodies."""
GROUPS = (
    ("position", "rotation", "quaternion"),
    ("velocity", "angular_velocity"),
    ("energy",),
    ("linear_momentum", "angular_momentum"),
    ("constraint", "constraint_rate"),
    ("multipliers",),
)
"""The same, those together that are computed together."""


@dataclass(frozen=True)
class Parts:
    """A function of a formulation and a packed state: some parts of the motion."""

    names: tuple[str, ...]

    def __call__(self, formulation: Formulation, grid, at) -> dict[str, Array]:
        """These parts, by name."""
        t, y = at
        return formulation.parts(t, y, self.names)


@dataclass(eq=False)
class SeenBodies:
    """The saved states of a run of bodies, and what is computed of them."""

    formulation: Formulation
    start: State
    t0: float
    times: np.ndarray
    packed: np.ndarray
    work: ArrayLike | None
    """What loads and time have done on the bodies until each state, where there are such."""

    @cached_property
    def watched(self) -> Formulation:
        """The formulation with all that the motion conserves among the problem's invariants."""
        return self.formulation.watched(self.start, self.t0)

    @cached_property
    def joints(self) -> SeenJoints:
        """The joints of the system along the run."""
        return SeenJoints(self.formulation, self.times, self.packed)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Names of what is seen, those together that are computed together."""
        return GROUPS if self.work is None else (*GROUPS, ("work",))

    def motion(self, names: tuple[str, ...] | None) -> dict[str, np.ndarray]:
        """Parts of the motion, by name."""
        wanted = tuple(name for name in NAMES if names is None or name in names)
        found = at_states(Parts(wanted), self.formulation, self.times, self.packed) if wanted else {}
        if "quaternion" in found:
            found["quaternion"] = continuous_sign(found["quaternion"])
        if self.work is not None and (names is None or "work" in names):
            found["work"] = np.asarray(self.work)
        return found

    def conserved(self, names: tuple[str, ...] | None) -> dict[str, np.ndarray]:
        """Everything that is conserved, by name."""
        conserved = conserved_of(self.watched.problem, self.times, self.packed)
        if self.work is None:
            return conserved
        energy = at_states(_energy, self.formulation, self.times, self.packed)
        return {BALANCE: energy - np.asarray(self.work)} | conserved


@dataclass(eq=False, repr=False)
class BodyTrajectory(Trajectory):
    """The saved states of a run of bodies.

    Beside the components of the state in its coordinates it has, as attributes with time first: `position`
    (time, body, 3), `rotation` (time, body, 3, 3), `quaternion` (time, body, 4) with a continuous sign,
    `velocity`, `angular_velocity` (body frame), `energy`, `linear_momentum`, `angular_momentum` (space frame,
    about the origin), `constraint`, `constraint_rate` and `multipliers`; and `work`, what loads and time have
    done on the bodies, where there are such.
    """

    motion: MutableMapping[str, np.ndarray] = field(default_factory=dict)
    """These arrays by name."""
    formulation: Formulation | None = None
    """System, coordinates and form; None after loading from a file, which keeps no code."""
    seen: "SeenBodies | None" = field(default=None, kw_only=True)
    """What is computed of the states when it is asked for; None likewise."""

    @classmethod
    def of_bodies(
        cls, formulation: Formulation, state: State, method: Method, record: Record
    ) -> "BodyTrajectory":
        """Label the arrays of a finished run; what is seen of the bodies is computed when asked for."""
        system = formulation.bodies.system
        seen = SeenBodies(formulation, state, record.t0, record.times, record.packed, record.work)
        attributes = record.attributes(formulation.problem, method) | {
            "system": system.name,
            "problem": f"{system.name} in {formulation.bodies.coordinates}, form {formulation.form!r}",
            "bodies": list(system.names),
            "inertia": _inertias(system),
            "coordinates": repr(formulation.bodies.coordinates),
            "form": formulation.form,
            "loads": not system.conservative,
            **_particles(system),
            **({} if system.linkage is None else described(system.linkage)),
            **_shapes(system),
            **_rows(system, record),
        }
        seconds = attributes["seconds"]
        return cls(
            problem=formulation.problem,
            t=record.times,
            components=components_of(formulation.problem, record.packed),
            conserved=Evaluated(seen.conserved, None, seconds),
            result=record.result,
            attributes=attributes,
            history=record.history,
            motion=Evaluated(seen.motion, seen.groups, seconds),
            formulation=formulation,
            seen=seen,
        )

    def __getattr__(self, name: str) -> np.ndarray:
        motion = self.__dict__.get("motion", {})
        if name in motion:
            return motion[name]
        return super().__getattr__(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.motion})

    def _seen(self, times: np.ndarray, packed: np.ndarray) -> Motion:
        assert self.formulation is not None
        return Motion(**at_states(Parts(NAMES), self.formulation, times, packed))

    @property
    def _judged(self) -> AbstractProblem | None:
        return None if self.seen is None else self.seen.watched.problem

    @property
    def heading(self) -> dict[str, str]:
        """What was run, for the head of a report."""
        about = self.attributes
        return {
            "system": about.get("system", "unknown"),
            "coordinates": f"{about.get('coordinates', 'unknown')} ({self._sizes})",
            "form": about.get("form", "unknown"),
        }

    @property
    def remarks(self) -> dict[str, str]:
        """Where joints lost rank, if they did; where that is not quickly found, how to find it."""
        if self.seen is None or self.seen.formulation.bodies.system.linkage is None:
            return {}
        if not self.seen.joints.few_conditions:
            return {
                "singular": "not looked for among so many conditions and states; run.singularities() does"
            }
        found = self.seen.joints.singularities
        more = f" and {len(found) - FEW} more" if len(found) > FEW else ""
        where = "; ".join(map(str, found[:FEW]))
        return {"singular": f"{len(found)} times, at {where}{more}"} if found else {}

    @property
    def dead_point(self) -> str | None:
        """The singular configuration that the run has failed at, in words; None if there is none."""
        jointed = self.seen is not None and self.seen.formulation.bodies.system.linkage is not None
        if not jointed or self.result not in STUCK or len(self) < 2:
            return None
        step = self.attributes["dt"] if self.history is None else self.steps.h[-1]
        found = self._joints.dead_point(REACH * abs(step))
        return f"a singular configuration of joints ({found})" if found else None

    @property
    def plot(self) -> "BodyPlots":
        """Pictures: `run.plot.axis()`, `run.plot.polhode()`, `run.plot.energy()` and others."""
        from poinsot.viz import BodyPlots

        return BodyPlots(self)

    def joint(self, name: str) -> JointMotion:
        """The motion of a joint: `run.joint("motor").angle`, `.position`, `.rate`, `.rotation`.

        Args:
            name: of the joint.

        Raises:
            InputError: there is no such joint, or the run was loaded from a file.
        """
        with timed(self.seconds, "evaluation"):
            return self._joints.joint(name)

    def reaction(self, name: str) -> Reaction | DriveReaction | CouplingReaction:
        """What a joint does: `run.reaction("motor").force`, `.torque`, `.local`; of a drive also `.power`.

        Force and torque are those on the first body by the second, about the joint's point in the first body,
        in space.

        Args:
            name: of a joint, a drive or a coupling.

        Raises:
            InputError: there is none of this name, or the run was loaded from a file.
        """
        with timed(self.seconds, "evaluation"):
            return self._joints.reaction(name)

    def efforts(self) -> np.ndarray:
        """Forces of the controller along all rates of the joints, (time, force).

        Raises:
            InputError: the run has no controller, or was loaded from a file.
        """
        with timed(self.seconds, "evaluation"):
            return self._joints.efforts

    def singularities(self) -> list[Singularity]:
        """Kinematic singularities that the run passed: when, and which joints lost rank there.

        They are seen where the smallest singular value comes down and up again over several saved states;
        next to such a one the motion is interpolated between states.

        Raises:
            InputError: the system has no joints, or the run was loaded from a file.
        """
        with timed(self.seconds, "evaluation"):
            return self._joints.singularities

    @property
    def _joints(self) -> SeenJoints:
        if self.seen is None:
            raise InputError(
                "a run that was loaded keeps no code, so its joints cannot be looked at; save what you need "
                "of them"
            )
        return self.seen.joints

    def export(self, path: str | Path) -> None:
        """Write the particles and orientations for other programs: `.xyz`, `.lammpstrj` or `.gsd`."""
        from poinsot.io import export

        export(self, path)

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """What deviations of each conserved quantity are measured against; momenta as vectors."""
        scales = super().scales
        for vector in (MOMENTA[:3], MOMENTA[3:]):
            parts = [name for name in vector if name in scales]
            scales |= dict.fromkeys(parts, Scale.largest(scales[name] for name in parts)) if parts else {}
        if BALANCE in scales:
            # Energy and work are what it is the difference of; a great energy at the end may be an error.
            energy, work = np.abs(self.motion["energy"]), float(np.max(np.abs(self.motion["work"])))
            size = float(energy[0]) + work
            scales[BALANCE] = Scale(float(np.max(energy)) + work, size, size)
        return scales

    @property
    def energy(self) -> np.ndarray:
        """Kinetic and potential energy at the saved times."""
        return self.motion["energy"]

    @property
    def final(self) -> State:
        """The last saved state of the bodies, to start another run from.

        In the same coordinates and form that run goes on with the very numbers of this one, drift from the
        constraints included; in others it starts from what is seen of the bodies.
        """
        seen = ("position", "quaternion", "velocity", "angular_velocity")
        return FormState(
            {name: self.motion[name][-1] for name in seen},
            super().final,
            self.attributes.get("coordinates", ""),
            self.attributes.get("form", ""),
        )


def _inertias(system: AbstractSystem) -> list:
    """Inertia of each body in its body frame, about its fixed point if it has one, else its mass centre.

    Where all are equal there is one.
    """
    inertias, placement = np.asarray(system.body_inertias), system.placement
    if not placement.pinned and np.all(inertias == inertias[:1]):
        return inertias[:1].tolist()
    inertias, moments = np.array(inertias), np.asarray(system.inertia)
    for body in placement.pinned:
        k = placement.rotating.index(body)
        A = np.eye(3) if placement.axes is None else np.asarray(placement.axes[:, :, k])
        inertias[body] = (A * moments[:, k]) @ A.T
    return inertias.tolist()


def _particles(system: AbstractSystem) -> dict[str, Any]:
    """Particles in the frame of each body with their masses, how a chain is closed, and its period.

    A chain has one entry, since its bodies are equal. A body that was not made of particles has one, its mass
    centre.
    """
    if isinstance(system, Chain):
        period = {"period": float(system.neighbours.period[0])} if system.closure == "periodic" else {}
        return _parts([system.body]) | {"closure": system.closure} | period
    return _parts(system.bodies) if isinstance(system, System) else {}


def _shapes(system: AbstractSystem) -> dict[str, Any]:
    """Shapes of the bodies, for pictures."""
    shapes = system.geometry if isinstance(system, System) else ()
    return {"shapes": [asdict(shape) for shape in shapes]} if shapes else {}


def _rows(system: AbstractSystem, record: Record) -> dict[str, str]:
    """How the steps of a chain went: along its row, or all bodies at once and why."""
    if not isinstance(system, Chain) or "rows" in record.told:
        return {}
    reason = "loads act" if system.loads else system.not_local
    if reason is None and record.told.get("kernel", "").startswith("native"):
        reason = "the chain is short enough for native code"
    return {"rows": f"no, all bodies at once: {reason or 'the integrator or a stop condition needs them'}"}


def _parts(bodies: Sequence[RigidBody]) -> dict[str, Any]:
    """Points and masses of the particles of bodies."""
    own = [body.particles for body in bodies]
    points = [np.zeros((1, 3)) if part is None else np.asarray(part.points) for part in own]
    masses = [
        np.asarray(body.mass).reshape(1) if part is None else np.asarray(part.masses)
        for body, part in zip(bodies, own, strict=True)
    ]
    return {"particles": [p.tolist() for p in points], "particle_masses": [m.tolist() for m in masses]}


def _energy(formulation: Formulation, grid, at):
    return formulation.energy(*at)


def continuous_sign(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions (time, body, 4) of the same rotations, each in the half nearer to the one before."""
    flips = np.sum(quaternions[1:] * quaternions[:-1], axis=-1) < 0.0
    signs = np.cumprod(np.where(flips, -1.0, 1.0), axis=0)
    return np.concatenate([quaternions[:1], signs[..., None] * quaternions[1:]])
