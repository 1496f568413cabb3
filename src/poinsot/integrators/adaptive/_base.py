"""Adaptive solvers: they choose their own steps, to meet a tolerance."""

import abc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from poinsot.core import AbstractProblem, Checked, Result, UserFunction
from poinsot.kernels import Kernel


@dataclass(frozen=True)
class AdaptiveTraits:
    """What an adaptive solver says of itself."""

    name: str
    """What the method is called."""
    order: int | None
    """Order of what it keeps of a step; None where it chooses the order too."""
    one_step: bool
    """Whether a step depends on the state at its start alone, so that projecting that state does no harm."""
    stiff: bool
    """Whether stiffness leaves its steps alone."""
    needs: Literal["ode", "dae"]
    """What it solves."""
    package: str | None
    """The package that does the work, where it is not this one."""
    extra: str | None
    """What to install for it: `pip install 'poinsot[extra]'`."""
    reference: str
    """Where it comes from."""


@dataclass(frozen=True)
class Task:
    """One run of one problem: from where, to where, how exactly."""

    problem: AbstractProblem
    y: np.ndarray
    """Packed start."""
    t0: float
    t1: float
    """End, before `t0` for a run backward."""
    rtol: float
    atol: float
    dt: float | None = None
    """The step that a solver with a monitor function in place of tolerances starts from."""
    kernel: Kernel = field(default_factory=Kernel)
    """What compiles the loops of a solver that is compiled."""


@dataclass
class Counts:
    """What a run has cost so far."""

    rhs: int = 0
    """Evaluations of the right-hand side, those for finite differences included."""
    jacobians: int = 0
    factorisations: int = 0
    accepted: int = 0
    rejected: int = 0


class Dense(Protocol):
    """The motion within the steps of a batch."""

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Packed states `(k, n)` at times `(k,)`, each within the batch."""
        ...


@dataclass(frozen=True)
class Batch:
    """Some accepted steps, one after the other."""

    t: np.ndarray
    """Times of their ends, `(k,)`."""
    y: np.ndarray
    """States there, `(k, n)`, after projection."""
    rejected: np.ndarray
    """Attempts that were rejected before each of them, `(k,)`."""
    dense: Dense
    result: Result = Result.successful
    """Why there will be no further step, unless successful."""


class Engine(abc.ABC):
    """A run in progress. Steps come in batches, as many at a time as suit the solver."""

    counts: Counts
    kernel: str = "plain: the solver is not compiled here"
    """What runs its steps."""

    @abc.abstractmethod
    def advance(self, seconds: float) -> Batch:
        """Further accepted steps, for about so long: at least one, unless the result says why none.

        Steps may pass `t1`, up to where a step happens to end, if the solver says so; the run then ends
        inside its last step, by its dense output.
        """


class AbstractAdaptive(Checked):
    """A solver that chooses its own steps.

    It gives an `Engine`, which hands out accepted steps with a dense output. Everything else is done outside,
    alike for all solvers: times to save at, events, singularities, progress, interruption.
    """

    @property
    @abc.abstractmethod
    def traits(self) -> AdaptiveTraits:
        """What the solver says of itself."""

    @abc.abstractmethod
    def start(self, task: Task) -> Engine:
        """Begin a run. Wrong input and a missing package are refused here with an `InputError`."""

    @property
    def name(self) -> str:
        """See `AdaptiveTraits.name`."""
        return self.traits.name

    @property
    def remedy(self) -> str | None:
        """What helps, beside a shorter step, where the implicit equations of a step do not converge."""
        return None

    @property
    def control(self) -> Literal["tolerance", "dt"]:
        """Whether the accuracy is set by tolerances or by a nominal step."""
        return "tolerance"

    def drifts(self, problem: AbstractProblem) -> bool:
        """Whether nothing but the equations keeps positions on the constraints of a problem."""
        return False

    @property
    def dense_output(self) -> bool:
        """Whether the states within the steps are kept."""
        return True

    @property
    def finest(self) -> float:
        """Relative tolerance below which rounding errors are no longer small beside it."""
        return 100.0 * float(np.finfo(float).eps)

    def observing(self, observed: Callable[[Callable], UserFunction]) -> "AbstractAdaptive":
        """The same solver, once `observed` has made of its user's functions such of the problem's state."""
        return self

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Why this solver cannot work on `problem`, or None if it can."""
        if problem.ordinary:
            return None
        return (
            "needs an ordinary differential equation; here the constraints are to be imposed by the "
            "integrator (the forms 'index0', 'null_space' and 'recursive' are ordinary)"
        )
