"""The exact end of a run, and how far another is from it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.analysis._order import reference_solution
from poinsot.coordinates import Quaternions
from poinsot.core import AbstractProblem, InputError, State, quoted
from poinsot.equations import Formulation, formulate
from poinsot.integrators import Taylor
from poinsot.kernels import once
from poinsot.model import AbstractSystem
from poinsot.rotation import to_matrix
from poinsot.simulation._adaptive_run import AdaptiveRun
from poinsot.simulation._validate import check_state

FINEST = 1e-30
"""Tolerance of the Taylor series in quadruple precision."""


@dataclass(frozen=True)
class Yardstick:
    """The exact end of a run."""

    exact: np.ndarray
    """All that is compared, as one list of numbers."""
    seen: Callable[[Formulation | None, np.ndarray], np.ndarray]
    """The same of a packed state, in its formulation where it is one of bodies."""
    norm: Callable[[np.ndarray], float]
    source: str
    """Where the exact end comes from."""

    def error(self, formulation: Formulation | None, y: np.ndarray) -> float:
        """How far a state is from the exact end; infinite where it is not finite."""
        error = self.norm(self.seen(formulation, y) - self.exact)
        return error if np.isfinite(error) else float("inf")


def yardstick(
    problem: AbstractProblem | AbstractSystem,
    state: State,
    span: tuple[float, float],
    reference: State | str | None,
) -> Yardstick:
    """The yardstick of a problem or of bodies; see `work_precision` for what `reference` may be."""
    if isinstance(reference, str) and reference not in ("taylor", "gauss"):
        raise InputError(f"reference = {quoted(reference)}; it must be 'taylor', 'gauss' or the state at t1")
    if isinstance(problem, AbstractSystem):
        return _of_bodies(problem, state, span, "taylor" if reference is None else reference)
    if isinstance(reference, State):
        exact, source = np.asarray(problem.pack(reference)), "given"
    else:
        exact, source = _exact(problem, state, span, reference or "gauss")
    return Yardstick(exact, lambda _, y: np.asarray(y), lambda e: float(np.max(np.abs(e))), source)


def _of_bodies(
    system: AbstractSystem, state: State, span: tuple[float, float], reference: State | str
) -> Yardstick:
    """Rotations and angular velocities, and places and velocities of the bodies that leave theirs."""
    turning, moving = list(system.rotating), list(system.translating)

    def compared(position, rotation, velocity, angular_velocity) -> np.ndarray:
        parts = rotation[turning], angular_velocity[turning], position[moving], velocity[moving]
        return np.concatenate([np.ravel(part) for part in parts])

    def seen(formulation: Formulation | None, y: np.ndarray) -> np.ndarray:
        motion = jax.tree.map(np.asarray, _motion(formulation, span[1], jnp.asarray(y)))
        return compared(motion.position, motion.rotation, motion.velocity, motion.angular_velocity)

    if isinstance(reference, State):
        rotation = np.asarray(to_matrix(reference["quaternion"]))
        rest = (np.asarray(reference[name]) for name in ("position", "velocity", "angular_velocity"))
        position, velocity, Omega = rest
        exact, source = compared(position, rotation, velocity, Omega), "given"
    else:
        formulation = formulate(system, Quaternions(), "null_space")
        start = once(formulation.start)(state, span[0])
        y, source = _exact(formulation.problem, start, span, reference)
        exact = seen(formulation, y)
    return Yardstick(exact, seen, lambda e: float(np.linalg.norm(e)), source)


@once
def _motion(formulation: Formulation, t, y):
    return formulation.motion(t, y)


def _exact(
    problem: AbstractProblem, state: State, span: tuple[float, float], way: str
) -> tuple[np.ndarray, str]:
    """The packed state at the end, and where it comes from."""
    t0, t1 = span
    if way == "taylor":
        try:
            return _by_taylor(problem, state, span)
        except InputError as error:
            warnings.warn(
                f"the reference is by Gauss of order 16 instead of Taylor series: {error}", stacklevel=4
            )
    end = reference_solution(problem, state, [t1], t0=t0)
    return np.asarray(jax.vmap(problem.pack)(end)[0]), "Gauss of order 16, steps halved"


def _by_taylor(problem: AbstractProblem, state: State, span: tuple[float, float]) -> tuple[np.ndarray, str]:
    solver = Taylor("quadruple", dense=False)
    run = AdaptiveRun.planned(solver, span, (None, FINEST, FINEST), (1, None), False)
    record = run(problem, check_state(problem, state, span[0]), None)
    if not record.result.ok:
        raise InputError(f"the run of {solver.name} to t1 = {span[1]!r} failed: {record.result.message}")
    return record.packed[-1], solver.name
