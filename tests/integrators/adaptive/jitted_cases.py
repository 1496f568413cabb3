"""Runs of compiled adaptive solvers, and problems for them."""

import functools
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

import poinsot as pt
from poinsot.core import AbstractProblem, Result
from poinsot.integrators.adaptive import AbstractAdaptive, Counts, Dense, Task


@dataclass(frozen=True)
class Outcome:
    """All steps of a run, the start included."""

    t: np.ndarray
    y: np.ndarray
    rejected: np.ndarray
    counts: Counts
    result: Result
    dense: list[Dense]
    """Of each batch."""
    orders: np.ndarray


def run(
    solver: AbstractAdaptive,
    problem: AbstractProblem,
    start,
    t1: float,
    tolerance: float,
    *,
    t0: float = 0.0,
    seconds: float = 10.0,
) -> Outcome:
    """A run on the engine itself, without anything of `pt.simulate`."""
    y = np.asarray(start, dtype=float)
    engine = solver.start(Task(problem, y, t0, t1, tolerance, tolerance))
    batches = []
    while not batches or (batches[-1].result is Result.successful and batches[-1].t[-1] != t1):
        batches.append(engine.advance(seconds))
    return Outcome(
        t=np.concatenate([[t0], *(batch.t for batch in batches)]),
        y=np.concatenate([y[None], *(batch.y for batch in batches)]),
        rejected=np.concatenate([batch.rejected for batch in batches]),
        counts=engine.counts,
        result=batches[-1].result,
        dense=[batch.dense for batch in batches],
        orders=np.concatenate([batch.dense.parts.order for batch in batches]).astype(int),
    )


@functools.cache
def gyro_top(form: str = "null_space") -> tuple[AbstractProblem, np.ndarray]:
    """Example A of Lang (2010) in quaternions, and its start."""
    top = pt.library.gyro_top()
    formulation = pt.formulate(top, pt.coordinates.Quaternions(), form)
    start = formulation.problem.pack(formulation.start(top.start))
    return formulation.problem, np.asarray(start)


END = 60.0
AT_THE_END = np.array(
    [
        -0.18732629467259093,
        0.5079647613809932,
        0.2668455930275978,
        0.7972917220196996,
        0.756009978045227,
        -0.27599588076719506,
        20.006758534296225,
    ]
)
"""Quaternion and angular velocity at t = 60, by Taylor series in extended precision (heyoka, 64 bits)."""


def error_at_the_end(outcome: Outcome) -> float:
    """Largest error of a run of the gyro top to t = 60."""
    assert outcome.result is Result.successful
    return float(np.max(np.abs(outcome.y[-1] - AT_THE_END)))


def slope(x, y) -> float:
    """Of a straight line through logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def oscillator() -> pt.ODE:
    """The harmonic oscillator: from (1, 0) its motion is (cos t, -sin t)."""
    return pt.ODE(lambda y: jnp.stack([y[1], -y[0]]))
