"""The trajectory of bodies: what can be seen of them, whatever the coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.core import State
from poinsot.equations import FormState, Formulation, Motion
from poinsot.model import AbstractSystem, Chain, RigidBody, System
from poinsot.simulation._trajectory import Method, Record, Trajectory, at_states

if TYPE_CHECKING:
    from poinsot.viz import BodyPlots

BALANCE = "energy less work done"
"""Name of the balance that takes the place of the energy where loads act or time enters."""


@dataclass(eq=False, repr=False)
class BodyTrajectory(Trajectory):
    """The saved states of a run of bodies.

    Beside the components of the state in its coordinates it has, as attributes with time first: `position`
    (time, body, 3), `rotation` (time, body, 3, 3), `quaternion` (time, body, 4) with a continuous sign,
    `velocity`, `angular_velocity` (body frame), `energy`, `linear_momentum`, `angular_momentum` (space frame,
    about the origin), `constraint`, `constraint_rate` and `multipliers`; and `work`, what loads and time have
    done on the bodies, where there are such.
    """

    motion: dict[str, np.ndarray] = field(default_factory=dict)
    """These arrays by name."""
    formulation: Formulation | None = None
    """System, coordinates and form; None after loading from a file, which keeps no code."""

    @classmethod
    def of_bodies(
        cls, formulation: Formulation, state: State, method: Method, record: Record
    ) -> "BodyTrajectory":
        """Label the arrays of a finished run, and look at the bodies."""
        watched = formulation.watched(state, record.t0)
        run = Trajectory.of(watched.problem, method, record)
        seen = at_states(_observe, formulation, record.times, record.packed)
        motion = {entry.name: getattr(seen, entry.name) for entry in fields(Motion)}
        motion["quaternion"] = continuous_sign(motion["quaternion"])
        conserved, attributes = run.conserved, run.attributes
        system = formulation.bodies.system
        if not (system.autonomous and system.conservative):
            power, slope, energy = at_states(_power, formulation, record.times, record.packed)
            motion["work"] = work_done(record.times, power, slope)
            conserved = {BALANCE: energy - motion["work"]} | conserved
        attributes |= {
            "system": system.name,
            "problem": f"{system.name} in {formulation.bodies.coordinates}, form {formulation.form!r}",
            "bodies": list(system.names),
            "inertia": _inertias(system).tolist(),
            "coordinates": repr(formulation.bodies.coordinates),
            "form": formulation.form,
            "loads": not system.conservative,
            **_particles(system),
        }
        return cls(
            problem=run.problem,
            t=run.t,
            components=run.components,
            conserved=conserved,
            result=run.result,
            attributes=attributes,
            history=run.history,
            motion=motion,
            formulation=formulation,
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
        return at_states(_observe, self.formulation, times, packed)

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
    def plot(self) -> "BodyPlots":
        """Pictures: `run.plot.axis()`, `run.plot.polhode()`, `run.plot.energy()` and others."""
        from poinsot.viz import BodyPlots

        return BodyPlots(self)

    def export(self, path: str | Path) -> None:
        """Write the particles and orientations for other programs: `.xyz`, `.lammpstrj` or `.gsd`."""
        from poinsot.io import export

        export(self, path)

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
            self.attributes["coordinates"],
            self.attributes["form"],
        )


def _inertias(system: AbstractSystem) -> np.ndarray:
    """Inertia of each body in its body frame, about its fixed point if it has one, else its mass centre."""
    inertias = np.array(system.body_inertias)
    moments = np.asarray(system.inertia)
    axes = system.placement.axes
    for k, body in enumerate(system.rotating):
        A = np.eye(3) if axes is None else np.asarray(axes[:, :, k])
        inertias[body] = (A * moments[:, k]) @ A.T
    return inertias


def _particles(system: AbstractSystem) -> dict[str, Any]:
    """Particles in the frame of each body with their masses, how a chain is closed, and its period.

    A chain has one entry, since its bodies are equal. A body that was not made of particles has one, its mass
    centre.
    """
    if isinstance(system, Chain):
        period = {"period": float(system.neighbours.period[0])} if system.closure == "periodic" else {}
        return _parts([system.body]) | {"closure": system.closure} | period
    return _parts(system.bodies) if isinstance(system, System) else {}


def _parts(bodies: Sequence[RigidBody]) -> dict[str, Any]:
    """Points and masses of the particles of bodies."""
    own = [body.particles for body in bodies]
    points = [np.zeros((1, 3)) if part is None else np.asarray(part.points) for part in own]
    masses = [
        np.reshape(body.mass, 1) if part is None else np.asarray(part.masses)
        for body, part in zip(bodies, own, strict=True)
    ]
    return {"particles": [p.tolist() for p in points], "particle_masses": [m.tolist() for m in masses]}


def _observe(formulation: Formulation, grid, at) -> Motion:
    return formulation.motion(*at)


def _power(formulation: Formulation, grid, at):
    return formulation.power(*at)


def continuous_sign(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions (time, body, 4) of the same rotations, each in the half nearer to the one before."""
    flips = np.sum(quaternions[1:] * quaternions[:-1], axis=-1) < 0.0
    signs = np.cumprod(np.where(flips, -1.0, 1.0), axis=0)
    return np.concatenate([quaternions[:1], signs[..., None] * quaternions[1:]])


def work_done(t: np.ndarray, power: np.ndarray, slope: np.ndarray) -> np.ndarray:
    r"""Time integral of the power by the corrected trapezoidal rule, from its values and its rates.

    $$ \int_0^h P\,dt = \tfrac h2 (P_0 + P_1) + \tfrac{h^2}{12} (\dot P_0 - \dot P_1) + O(h^5) $$
    """
    h = np.diff(t)
    pieces = 0.5 * h * (power[:-1] + power[1:]) + h**2 / 12.0 * (slope[:-1] - slope[1:])
    return np.concatenate([[0.0], np.cumsum(pieces)])
