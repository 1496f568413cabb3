"""What a comparison of methods and formulations hands back: its points, and what was left out and why."""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from poinsot.core import checked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Work = Literal["rhs", "seconds", "steps", "iterations", "jacobians"]


@dataclass(frozen=True)
class WorkPoint:
    """One run of one method."""

    method: str
    formulation: str
    """Coordinates and form, of bodies; else empty."""
    tolerance: float | None
    """Of an adaptive solver, relative and absolute."""
    steps: int
    """Steps taken: accepted ones."""
    rejected: int
    h: float
    """Size of the steps, the median of those that an adaptive solver chose."""
    error: float
    """At the end; infinite when the run failed."""
    rhs: int | None
    """Evaluations of the right-hand side; of fixed steps only Runge-Kutta methods tell, else None."""
    jacobians: int
    iterations: int
    """Iterations of the implicit equations of a method with fixed steps, all steps together."""
    seconds: float
    """Shortest wall time of the repeats, without compilation."""
    result: str
    """How the run ended."""

    @property
    def label(self) -> str:
        """Method and formulation."""
        return label(self.method, self.formulation)


@dataclass(frozen=True)
class Refused:
    """A method in a formulation that was not run, or not to the end of its ladder."""

    method: str
    formulation: str
    reason: str


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def label(method: str, formulation: str) -> str:
    """Name of a curve."""
    return f"{method}, {formulation}" if formulation else method


@dataclass(frozen=True)
class WorkPrecision:
    """Runs of several methods on one problem, each at several accuracies and, of bodies, in formulations."""

    points: tuple[WorkPoint, ...]
    compile_seconds: dict[str, float] = field(default_factory=dict)
    """Time of the first run of each method, nearly all of it compilation, by label."""
    refused: tuple[Refused, ...] = ()
    """What was left out, and why."""
    reference: str = ""
    """Where the exact solution comes from."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods that have points."""
        return tuple(dict.fromkeys(point.method for point in self.points))

    @property
    def formulations(self) -> tuple[str, ...]:
        """Names of the formulations that have points."""
        return tuple(dict.fromkeys(point.formulation for point in self.points))

    def of(self, method: str, formulation: str | None = None) -> tuple[WorkPoint, ...]:
        """The points of one method, in one formulation or in all."""
        chosen = [point for point in self.points if point.method == method]
        return tuple(p for p in chosen if formulation is None or p.formulation == formulation)

    def curve(
        self, method: str, work: Work = "seconds", formulation: str | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Work and errors of one method, in one formulation where there are several."""
        points = self.of(method, formulation)
        cost = [np.nan if (value := getattr(point, work)) is None else value for point in points]
        return np.array(cost), np.array([point.error for point in points])

    def advantage(self, method: str, better: str, worse: str, work: Work = "rhs") -> float:
        """How many times the work of `better` the formulation `worse` takes; see `work_ratio`."""
        return work_ratio(self.curve(method, work, better), self.curve(method, work, worse))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON: what is not finite, such as the error of a failed run, is None."""
        return {
            "reference": self.reference,
            "points": [
                asdict(point) | {name: _finite(getattr(point, name)) for name in ("error", "h")}
                for point in self.points
            ],
            "refused": [asdict(one) for one in self.refused],
            "compile_seconds": dict(self.compile_seconds),
        }

    def plot(self) -> "Figure":
        """Errors against right-hand sides and against time, a row of panels for each method."""
        from poinsot.viz import plot_formalisms

        return plot_formalisms([asdict(point) for point in self.points])

    def __str__(self) -> str:
        width = max([6, *(len(point.label) for point in self.points)]) + 2
        columns = (("steps", 9), ("rejected", 10), ("h", 11), ("error", 10), ("rhs", 10), ("seconds", 11))
        lines = [f"{'method':{width}s}" + "".join(f"{name:>{size}s}" for name, size in columns)]
        for p in self.points:
            rhs = "" if p.rhs is None else str(p.rhs)
            lines.append(
                f"{p.label:{width}s}{p.steps:9d}{p.rejected:10d}{p.h:11.3g}{p.error:10.1e}{rhs:>10s}{p.seconds:11.2e}"
            )
        return "\n".join([*lines, *(f"not run: {reason}" for reason in self.reasons())])

    def reasons(self) -> list[str]:
        """Each reason for leaving something out, once, after what was left out."""
        found: dict[str, list[str]] = {}
        for one in self.refused:
            found.setdefault(one.reason, []).append(label(one.method, one.formulation))
        return [f"{'; '.join(dict.fromkeys(places))}: {reason}" for reason, places in found.items()]


@checked
def work_ratio(better: tuple[np.ndarray, np.ndarray], worse: tuple[np.ndarray, np.ndarray]) -> float:
    r"""How many times the work of one curve another takes for the same error, as a median over its points.

    For each point $(w, e)$ of `worse` the work of `better` at the error $e$ is found between its points, in
    logarithms. Where $e$ is larger than all its errors the cheapest of its points stands in, which makes the
    ratio smaller than it is; errors below all its own are left out.

    Args:
        better: work and errors of the one.
        worse: work and errors of the other.

    Returns:
        The ratio, above one where `better` deserves its name; NaN where nothing can be compared.
    """
    work, error = (np.asarray(values, dtype=float) for values in better)
    kept = np.isfinite(work) & np.isfinite(error) & (error > 0.0)
    if not np.any(kept):
        return float("nan")
    order = np.argsort(error[kept], kind="stable")
    errors, works = np.log(error[kept][order]), np.log(work[kept][order])
    theirs = np.log(np.maximum(np.asarray(worse[1], dtype=float), 1e-300))
    reached = np.isfinite(worse[0]) & (theirs >= errors[0])
    if not np.any(reached):
        return float("nan")
    same = np.interp(theirs[reached], errors, works)
    cheapest = theirs[reached] > errors[-1]
    same[cheapest] = np.min(works)
    return float(np.exp(np.median(np.log(np.asarray(worse[0], dtype=float)[reached]) - same)))
