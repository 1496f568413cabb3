"""A trajectory: labelled arrays of a run, with what it conserved and how it ended."""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import ArrayLike

from poinsot._version import __version__
from poinsot.core import AbstractProblem, InputError, Result, State
from poinsot.integrators import AbstractIntegrator
from poinsot.integrators.adaptive import AbstractAdaptive, Counts
from poinsot.simulation._clock import Seconds, timed
from poinsot.simulation._evaluation import Evaluated, components_of, conserved_of, observables_of
from poinsot.simulation._history import History, Steps
from poinsot.simulation._scale import Scale, scales_of

if TYPE_CHECKING:
    import xarray

    from poinsot.simulation._error_estimate import ErrorEstimate
    from poinsot.simulation._report import Report, Row
    from poinsot.viz import TrajectoryPlots

Method = AbstractIntegrator | AbstractAdaptive


@dataclass(frozen=True)
class Record:
    """What comes out of the time loop: packed states, and how the run went."""

    times: np.ndarray
    packed: np.ndarray
    t0: float
    result: Result
    steps: int
    wall_seconds: float
    told: dict[str, Any]
    """What else is told about the run: its step, or its tolerances."""
    history: History | None = None
    """Steps, counts and dense output of an adaptive run."""
    work: ArrayLike | None = None
    """What loads and time have done on bodies until each state, where there are such."""
    samples: np.ndarray | None = None
    """Forces of a sampled controller, (sample, force)."""

    def attributes(self, problem: AbstractProblem, method: Method) -> dict[str, Any]:
        """What is told about the run beside its arrays."""
        failed = self.result is Result.stage_equations_not_converged and method.remedy is not None
        return {
            "version": __version__,
            "integrator": repr(method),
            "method": method.name,
            "traits": _traits(problem, method),
            **({"remedy": method.remedy} if failed else {}),
            "t0": self.t0,
            **self.told,
            "steps": self.steps,
            "wall_seconds": self.wall_seconds,
            "seconds": {},
        }


def _traits(problem: AbstractProblem, method: Method) -> dict[str, Any]:
    """What the method claims on a problem."""
    if isinstance(method, AbstractAdaptive):
        return {"order": method.traits.order, "stiff": method.traits.stiff}
    claims = method.claims(problem)
    return {
        "order": claims.order,
        "symmetric": claims.symmetric,
        "symplectic": claims.symplectic,
        "conserves": sorted(claims.conserves),
    }


@dataclass(frozen=True, eq=False)
class AtSaved:
    """Quantities of a problem at saved states, for `Evaluated`."""

    compute: Callable[[AbstractProblem, np.ndarray, np.ndarray], dict[str, np.ndarray]]
    problem: AbstractProblem
    times: np.ndarray
    packed: np.ndarray

    def __call__(self, names: tuple[str, ...] | None) -> dict[str, np.ndarray]:
        """All of them, whatever the names."""
        return self.compute(self.problem, self.times, self.packed)


@dataclass(eq=False)
class Trajectory:
    """The saved states of a run.

    Components of the state are attributes: `run.q`, `run.p` for a Hamiltonian, `run.y` for an ODE, each with
    time as its first axis; `run.t` are the times. What follows from the states, such as the energy, is
    computed when it is first asked for.
    """

    problem: AbstractProblem | None
    """What was solved; None after loading from a file, which keeps no code."""
    t: np.ndarray
    components: MutableMapping[str, np.ndarray]
    conserved: MutableMapping[str, np.ndarray]
    """Every conserved quantity at the saved times, by name."""
    result: Result
    attributes: dict[str, Any] = field(default_factory=dict)
    """Integrator, step or tolerances, step counts, version, and the scenario if there was one."""
    history: History | None = field(default=None, kw_only=True)
    """Of an adaptive run; see `steps`, `counts` and `at`."""
    further: MutableMapping[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    """What else is known at the saved times: `multipliers` of a problem with constraints."""
    again: "partial[Trajectory] | None" = field(default=None, repr=False, kw_only=True)
    """Runs it again, with other steps or tolerances; None after loading from a file, which keeps no code."""

    @classmethod
    def of(cls, problem: AbstractProblem, method: Method, record: Record) -> "Trajectory":
        """Label the arrays of a finished run."""
        states = record.packed
        attributes: dict[str, Any] = {"problem": problem.name} | record.attributes(problem, method)
        seconds, saved = attributes["seconds"], (problem, record.times, states)
        conserved = Evaluated(AtSaved(conserved_of, *saved), None, seconds)
        return cls(
            problem,
            record.times,
            components_of(problem, states),
            conserved,
            record.result,
            attributes,
            history=record.history,
            further=Evaluated(AtSaved(observables_of, *saved), [problem.observed], seconds),
        )

    def __getattr__(self, name: str) -> np.ndarray:
        components = self.__dict__.get("components", {})
        for arrays in (components, self.__dict__.get("further", {})):
            if name in arrays:
                return arrays[name]
        raise AttributeError(f"this trajectory has no {name!r}; its components are {', '.join(components)}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.components, *self.further})

    def __len__(self) -> int:
        return len(self.t)

    @property
    def energy(self) -> np.ndarray:
        """Energy at the saved times."""
        if "energy" not in self.conserved:
            raise AttributeError("this problem has no conserved energy; see `conserved` for what it has")
        return self.conserved["energy"]

    @property
    def final(self) -> State:
        """The last saved state, to start another run from."""
        return State(**{name: value[-1] for name, value in self.components.items()})

    @property
    def steps(self) -> Steps:
        """The steps that an adaptive solver has taken: `steps.t`, `steps.h`, `steps.rejected`."""
        return self._adaptive("steps").steps

    @property
    def counts(self) -> Counts:
        """What an adaptive run has cost: evaluations, Jacobians, accepted and rejected steps."""
        return self._adaptive("counts").counts

    def at(self, t: float | np.ndarray) -> Any:
        """The state at any time of an adaptive run, or at an array of times, by its dense output.

        Returns:
            A `State` with the problem's labels; of bodies their `Motion`. Axes of `t` come first.
        """
        times = np.asarray(t, dtype=float)
        packed = self._adaptive("at").states(times.reshape(-1))
        found = self._seen(times.reshape(-1), packed)
        return jax.tree.map(lambda value: np.reshape(value, (*times.shape, *value.shape[1:])), found)

    def _seen(self, times: np.ndarray, packed: np.ndarray) -> Any:
        """What packed states show."""
        assert self.problem is not None
        return State(**components_of(self.problem, packed))

    def _adaptive(self, name: str) -> History:
        if self.history is None:
            raise InputError(
                f"{name}: this run has fixed steps; only runs of adaptive solvers have a step history and a "
                "dense output (save_at=[...] gives the states of any run at chosen times)"
            )
        return self.history

    @property
    def message(self) -> str:
        """How the run ended, in a sentence."""
        if self.result is Result.successful:
            return self.result.message
        why = "; ".join([self.result.message, *filter(None, [self.attributes.get("remedy")])])
        why = self.attributes.get("fault", why)
        place = f", at {self.attributes['failed_at']}" if "failed_at" in self.attributes else ""
        if self.history is not None:
            return f"after {len(self.steps)} steps, at t = {self.steps.t[-1]:.12g}{place}: {why}"
        steps, t0, dt = (self.attributes[key] for key in ("steps", "t0", "dt"))
        return f"step {steps + 1}, from t = {t0 + steps * dt:.12g}{place}: {why}"

    @property
    def heading(self) -> dict[str, str]:
        """What was run, for the head of a report."""
        return {"problem": f"{self.attributes.get('problem', 'unknown')} ({self._sizes})"}

    @property
    def remarks(self) -> dict[str, str]:
        """What else a report says of the run."""
        return {}

    @property
    def _sizes(self) -> str:
        """Labels of the state with their shapes, those without numbers left out."""
        parts = {name: value.shape[1:] for name, value in self.components.items() if value.size}
        return ", ".join(f"{name} {' x '.join(map(str, shape))}" for name, shape in parts.items())

    @property
    def steps_taken(self) -> np.ndarray:
        """Steps taken until each saved state; the count of saved states where the step is not known."""
        elapsed = np.abs(self.t - self.t[0])
        if self.history is not None:
            ends = np.abs(self.steps.t - self.t[0])
            return np.interp(elapsed, ends, np.arange(len(ends), dtype=float))
        dt = self.attributes.get("dt")
        return np.arange(len(self), dtype=float) if dt is None else elapsed / abs(dt)

    @property
    def step_sizes(self) -> np.ndarray:
        """Size of the step that was taken from each saved state; zero where it is not known."""
        if self.history is None:
            return np.full(len(self), abs(self.attributes.get("dt", 0.0)))
        if not len(self.steps):
            return np.zeros(len(self))
        place = np.floor(self.steps_taken).astype(int)
        return np.abs(self.steps.h)[np.minimum(place, len(self.steps) - 1)]

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """What deviations of each conserved quantity are measured against."""
        with timed(self.seconds, "evaluation"):
            return scales_of(self._judged, self.t, self.components, self.conserved, self.step_sizes)

    @property
    def _judged(self) -> AbstractProblem | None:
        """The problem with everything that is conserved among its invariants."""
        return self.problem

    @property
    def seconds(self) -> Seconds:
        """What was waited for, by part: "compile", "run", "evaluation" and "saving", as far as done."""
        return self.attributes.get("seconds", {})

    @cached_property
    def dataset(self) -> "xarray.Dataset":
        """The run as an xarray Dataset with named dimensions."""
        from poinsot.io import to_dataset

        return to_dataset(self)

    def report(self, *, accuracy: bool = False) -> "Report":
        """What was conserved: size of the deviation, trend, verdict. Print it.

        Args:
            accuracy: also estimate the error of the motion, by the same run at half the step, or at
                tolerances a hundred times as small; that takes longer than the run itself.

        Raises:
            InputError: accuracy is asked of a run that was loaded, or that cannot be computed finer.
        """
        from poinsot.simulation._report import Report

        return replace(Report.of(self), accuracy=self.error_estimate if accuracy else None)

    @cached_property
    def error_estimate(self) -> "ErrorEstimate":
        """How far the run is from the exact motion, by the same run, computed finer."""
        from poinsot.simulation._error_estimate import ErrorEstimate

        with timed(self.seconds, "accuracy"):
            return ErrorEstimate.of(self)

    @cached_property
    def judged(self) -> "tuple[Row, ...]":
        """Rows of the report, found once: pictures and stored results show them too."""
        from poinsot.simulation._report import judged

        return judged(self)

    @property
    def plot(self) -> "TrajectoryPlots":
        """Pictures: `run.plot.energy()` and others."""
        from poinsot.viz import TrajectoryPlots

        return TrajectoryPlots(self)

    def save(self, path: str | Path) -> None:
        """Write to a Zarr store; `pt.load` reads it back equal."""
        from poinsot.io import save

        save(self, path)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in self.components.items())
        span = f"{len(self)} states from t = {self.t[0]:g} to {self.t[-1]:g}"
        return f"{type(self).__name__}({span}; {shapes}; {self.result.name})"
