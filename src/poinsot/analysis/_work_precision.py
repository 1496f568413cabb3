"""Error against cost: the work-precision ladder."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from poinsot.analysis._order import reference_solution
from poinsot.core import AbstractProblem, InputError, Packed, Result, State
from poinsot.integrators import AbstractIntegrator
from poinsot.simulation._loop import LoopState, Marcher
from poinsot.simulation._validate import check_integrator, check_state


@dataclass(frozen=True)
class WorkPoint:
    """One run of one method."""

    method: str
    steps: int
    h: float
    error: float
    """Largest error of any component at the end; infinite when the run failed."""
    seconds: float
    """Shortest wall time of the repeats, without compilation."""
    iterations: int
    """Iterations of implicit equations, all steps together."""


@dataclass(frozen=True)
class WorkPrecision:
    """Runs of several methods on one problem, each at several step sizes."""

    points: tuple[WorkPoint, ...]
    compile_seconds: dict[str, float]
    """Time of the first call of each method, nearly all of it compilation."""

    def curve(self, method: str, work: str = "seconds") -> tuple[np.ndarray, np.ndarray]:
        """Work and errors of one method; `work` is `"seconds"`, `"steps"` or `"iterations"`."""
        points = [point for point in self.points if point.method == method]
        return np.array([getattr(point, work) for point in points]), np.array([p.error for p in points])

    def to_dict(self) -> dict:
        """Plain data, ready for JSON."""
        return {
            "points": [asdict(point) for point in self.points],
            "compile_seconds": dict(self.compile_seconds),
        }

    def __str__(self) -> str:
        lines = [f"{'method':24s}{'steps':>9s}{'h':>11s}{'error':>10s}{'seconds':>11s}{'iterations':>12s}"]
        for p in self.points:
            lines.append(
                f"{p.method:24s}{p.steps:9d}{p.h:11.3g}{p.error:10.1e}{p.seconds:11.2e}{p.iterations:12d}"
            )
        return "\n".join(lines)


def work_precision(
    problem: AbstractProblem,
    state: State,
    t1: float,
    methods: Mapping[str, AbstractIntegrator],
    *,
    steps: Sequence[int] | Mapping[str, Sequence[int]],
    t0: float = 0.0,
    reference: State | None = None,
    repeats: int = 3,
) -> WorkPrecision:
    """Measure what an error costs each method, on the machine at hand.

    Wall time is the least of `repeats` runs, with the result waited for; compilation is counted apart.

    Args:
        problem: what is solved.
        state: start.
        t1: end time.
        methods: integrators by name.
        steps: numbers of steps from `t0` to `t1`, for all methods or for each by name.
        t0: start time.
        reference: the exact solution at `t1`; else computed by `reference_solution`.
        repeats: runs of which the fastest counts.
    """
    if not methods:
        raise InputError("methods is empty; give integrators by name, e.g. {'RK4': pt.integrators.RK4()}")
    if repeats < 1:
        raise InputError(f"repeats = {repeats!r}; it must be at least 1")
    y = check_state(problem, state, t0)
    if reference is not None:
        exact = problem.pack(reference)
    else:
        exact = jax.vmap(problem.pack)(reference_solution(problem, state, [t1], t0=t0))[0]
    points, compiled = [], {}
    for name, integrator in methods.items():
        check_integrator(problem, integrator)
        ladder = steps[name] if isinstance(steps, Mapping) else steps
        _, compiled[name] = _timed(problem, integrator, y, t0, (t1 - t0) / ladder[0], 1)
        for count in ladder:
            h = (t1 - t0) / count
            runs = [_timed(problem, integrator, y, t0, h, count) for _ in range(repeats)]
            loop, seconds = runs[0][0], min(elapsed for _, elapsed in runs)
            ok = int(loop.result) == Result.successful
            error = float(jnp.max(jnp.abs(loop.y - exact))) if ok else np.inf
            points.append(WorkPoint(name, int(count), h, error, seconds, int(loop.iterations)))
    return WorkPrecision(tuple(points), compiled)


def _timed(problem, integrator, y: Packed, t0: float, h: float, count: int) -> tuple[LoopState, float]:
    """One run and its wall time."""
    marcher = Marcher(problem, integrator, jnp.asarray(t0, dtype=float), jnp.asarray(h, dtype=float))
    number = jnp.int64(count)
    began = time.perf_counter()
    loop = jax.block_until_ready(_run(marcher, y, number))
    return loop, time.perf_counter() - began


@eqx.filter_jit
def _run(marcher: Marcher, y: Packed, count) -> LoopState:
    return marcher.march(marcher.start(y), count)
