"""Runs of one body with several steps at once, beside its exact motion."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.coordinates import AbstractOrientation
from poinsot.core import Result, State
from poinsot.equations import Formulation, formulate
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import once
from poinsot.model import System
from poinsot.rotation import to_matrix
from poinsot.simulation import solve

Begin = Callable[[System, Formulation, jax.Array], tuple[jax.Array, State]]
SEEN = ("position", "rotation", "angular_velocity", "energy", "angular_momentum", "constraint")
KNOWN = ("exact_position", "exact_rotation", "exact_angular_velocity")
ROUND_OFF = 1e-12
"""Of a time that is a number of steps."""


@dataclass(frozen=True)
class BodyRun:
    """What is seen of a body at the times of a run, time first, and where it should be."""

    h: float
    t: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    angular_velocity: np.ndarray
    energy: np.ndarray
    angular_momentum: np.ndarray
    constraint: np.ndarray
    exact_position: np.ndarray
    exact_rotation: np.ndarray
    exact_angular_velocity: np.ndarray
    taken: int
    """Steps taken before the end, or before one whose equations have no solution."""
    complete: bool
    """Whether the run reached its end."""

    @property
    def energy_change(self) -> float:
        """Largest change of the energy relative to its start; NaN for a run that failed."""
        return self._largest(self.energy / self.energy[0] - 1.0)

    @property
    def momentum_change(self) -> float:
        """Largest change of the angular momentum in space, relative to its start."""
        change = np.linalg.norm(self.angular_momentum - self.angular_momentum[0], axis=-1)
        return self._largest(change / np.linalg.norm(self.angular_momentum[0]))

    @property
    def displacement(self) -> np.ndarray:
        """Mass centre less its exact place."""
        return self.position - self.exact_position

    @property
    def height_error(self) -> float:
        """Largest error of the mass centre's height."""
        return self._largest(self.displacement[:, 2])

    @property
    def distance(self) -> float:
        """Largest distance of the mass centre from its exact place."""
        return self._largest(np.linalg.norm(self.displacement, axis=-1))

    def until(self, t1: float) -> "BodyRun":
        """The part of a complete run up to `t1`."""
        kept = np.sum(self.t <= t1 * (1.0 + ROUND_OFF))
        parts = {name: getattr(self, name)[:kept] for name in ("t", *SEEN, *KNOWN)}
        return dataclasses.replace(self, **parts, taken=int(kept) - 1)

    def _largest(self, values: np.ndarray) -> float:
        return float(np.max(np.abs(values))) if self.complete else float("nan")


def from_velocity(example: System, formulation: Formulation, h: jax.Array) -> tuple[jax.Array, State]:
    """The start of the example, at time 0."""
    return jnp.zeros_like(h), formulation.start(example.start)


def ladder(
    example: System,
    integrator: AbstractIntegrator,
    coordinates: AbstractOrientation,
    steps: Sequence[float],
    t1: float,
    *,
    form: str = "index3",
    begin: Begin = from_velocity,
) -> dict[float, BodyRun]:
    """Runs up to `t1` with each of the steps, compiled as one program.

    Args:
        example: one body, with its exact motion.
        integrator: the method.
        coordinates: of the rotation.
        steps: step sizes.
        t1: end; where a step does not divide it, the last multiple of the step before it.
        form: of the equations.
        begin: gives time and state from which a run with the step `h` starts.

    Returns:
        The runs by their steps.
    """
    formulation = formulate(example, coordinates, form)
    count = round(t1 / min(steps))
    exact = example.exact
    assert exact is not None, f"{example.name} has no exact motion"

    def run(h):
        t0, start = begin(example, formulation, h)
        grid = {"dt": h, "steps": count, "t0": t0}
        solution = solve(formulation.problem, integrator, start, **grid)
        packed = jax.vmap(formulation.problem.pack)(solution.state)
        motion = jax.vmap(formulation.motion)(solution.t, packed)
        place = exact(solution.t)
        known = (place.position, to_matrix(place.quaternion), place.angular_velocity)
        seen = [getattr(motion, name) for name in SEEN]
        return solution.t, seen, known, solution.steps, solution.result

    times, seen, known, taken, results = jax.tree.map(np.asarray, once(jax.vmap(run))(jnp.asarray(steps)))
    runs = {}
    for lane, h in enumerate(steps):
        kept = int(np.sum(times[lane] <= t1 * (1.0 + ROUND_OFF)))
        reached = int(taken[lane]) if results[lane] != Result.successful else count
        fields = dict(zip((*SEEN, *KNOWN), (*seen, *known), strict=True))
        runs[h] = BodyRun(
            h=h,
            t=times[lane, :kept],
            **{name: _of_the_body(values[lane, :kept]) for name, values in fields.items()},
            taken=min(reached, kept - 1),
            # Lanes of longer steps run on beyond the end; a failure there does no harm.
            complete=reached >= kept - 1,
        )
    return runs


def _of_the_body(values: np.ndarray) -> np.ndarray:
    """Without the axis of bodies, where there is one."""
    return values[:, 0] if values.ndim > 2 else values


def slope(coarse: float, fine: float, ratio: float) -> float:
    """Order at which an error shrinks when the step does by `ratio`."""
    return float(np.log(coarse / fine) / np.log(ratio))
