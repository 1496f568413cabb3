"""Speed of the adaptive solvers beside the packages they use, or compete with, in one run.

Prints a table of error against time on the gyro top, with other packages as published, and ratios; compile
time apart. Run with nothing else going on.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import diffrax
import equinox as eqx
import heyoka as hy
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

sys.path.insert(0, str(Path(__file__).parent))

from _gyro_top import MGL, START, T_END, TOP, J, Row, error, show, time_at
from _heyoka_top import heyoka_integrator
from _timing import Scoreboard, best_of, first_call

import poinsot as pt
from poinsot.integrators import (
    Bdf,
    DormandPrince5,
    DormandPrince8,
    DormandPrince853,
    Lsoda,
    Odex,
    Radau5,
    Seulex,
    Taylor,
)
from poinsot.integrators.adaptive import AbstractAdaptive, Task, _host

NULL_SPACE = pt.formulate(TOP, pt.coordinates.Quaternions(), "null_space")
GROUP = pt.formulate(TOP, pt.coordinates.Group(), "group")
LADDERS = {
    DormandPrince5(): (1e-8, 1e-10, 1e-12),
    DormandPrince8(): (1e-8, 1e-10, 1e-12, 1e-13),
    Odex(): (1e-8, 1e-10, 1e-12, 1e-13),
    DormandPrince853(): (1e-8, 1e-10, 1e-12),
    Lsoda(): (1e-8, 1e-10, 1e-12),
    Bdf(): (1e-6, 1e-8),
    Radau5(): (1e-6, 1e-8),
    Seulex(): (1e-6, 1e-8, 1e-10),
    Taylor(dense=False): (1e-6, 1e-8, 1e-10, 1e-12, 1e-15),
}


def task(formulation, tolerance: float, t1: float = T_END) -> Task:
    y = np.asarray(formulation.problem.pack(formulation.start(TOP.start)))
    return Task(formulation.problem, y, 0.0, t1, tolerance, tolerance)


def run(solver: AbstractAdaptive, to_do: Task) -> np.ndarray:
    """The state at the end of a run."""
    engine = solver.start(to_do)
    while True:
        batch = engine.advance(10.0)
        if batch.t[-1] == to_do.t1:
            return batch.y[-1]


def by_diffrax(solver: diffrax.AbstractSolver, tolerance: float):
    """The same right-hand side by diffrax as its documentation has it, with parameters as `args`.

    As with ours, other parameters and tolerances then need no new compile.
    """
    arrays, rest = eqx.partition(NULL_SPACE.problem, eqx.is_array)
    start = task(NULL_SPACE, tolerance).y

    @jax.jit
    def solve(y, arrays, tolerance):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: eqx.combine(args, rest).vector_field(t, y)),
            solver,
            0.0,
            T_END,
            None,
            y,
            args=arrays,
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=10**6,
            adjoint=diffrax.ForwardMode(),
        ).ys[-1]

    return lambda: jax.block_until_ready(solve(start, arrays, tolerance))


def measured(who: str, formulation, tolerance: float, once: Callable[[], ArrayLike]) -> Row:
    """Error and time of a run that gives the state at its end."""
    compiled = first_call(once)
    milliseconds = 1e3 * best_of(once, 10 if compiled < 5.0 else 3)
    motion = formulation.motion(T_END, jnp.asarray(once()))
    off = error(np.asarray(motion.rotation[0]), np.asarray(motion.angular_velocity[0]))
    return Row(who, f"tol {tolerance:g}, first {compiled:.1f} s", off, milliseconds)


def accuracy() -> list[Row]:
    """Error against time of all solvers, each in the form it likes best, and of diffrax by hand."""
    rows = []
    for solver, tolerances in LADDERS.items():
        formulation = GROUP if isinstance(solver, Taylor) else NULL_SPACE
        for tolerance in tolerances:
            once = partial(run, solver, task(formulation, tolerance))
            rows.append(measured(f"poinsot, {type(solver).__name__}", formulation, tolerance, once))
    for tolerance in LADDERS[DormandPrince8()]:
        once = by_diffrax(diffrax.Dopri8(), tolerance)
        rows.append(measured("diffrax by hand, Dopri8", NULL_SPACE, tolerance, once))
    return rows


def in_turns(first: Callable, second: Callable) -> tuple[float, float]:
    """Best times of two calls, by turns, so that both find the machine alike."""
    times = np.array([(best_of(first, 10), best_of(second, 10)) for _ in range(10)])
    return tuple(times.min(axis=0))


def beside_diffrax(board: Scoreboard, rows: list[Row]) -> None:
    """Pairs of Dormand and Prince at one tolerance; Odex at one error."""
    for ours, theirs in ((DormandPrince5(), diffrax.Dopri5()), (DormandPrince8(), diffrax.Dopri8())):
        for tolerance in (1e-6, 1e-10):
            hand, own = by_diffrax(theirs, tolerance), partial(run, ours, task(NULL_SPACE, tolerance))
            seconds, reference = in_turns(own, hand)
            detail = f"{1e3 * seconds:.2f} against {1e3 * reference:.2f} ms"
            name = f"{type(ours).__name__}, tol {tolerance:g}: time over diffrax by hand"
            board.at_most(name, seconds / reference, 1.1, detail)
    pairs = [row for row in rows if row.who.endswith("Dopri8")]
    odex = [row for row in rows if row.who.endswith("Odex")]
    for target in (1e-6, 1e-9):
        ratio = time_at(odex, target) / time_at(pairs, target)
        board.at_most(f"Odex at error {target:g}: time over Dopri8 of diffrax by hand", ratio, 1.1)


def host_calls(board: Scoreboard) -> None:
    """What a call of the right-hand side from SciPy costs beyond its evaluation."""
    to_do = task(NULL_SPACE, 1e-9)
    field, count = _host.field(to_do.problem), 20_000

    def calls():
        for _ in range(count):
            field(0.0, to_do.y)

    @jax.jit
    def evaluations(y):
        body = lambda _, y: y + 1e-16 * to_do.problem.vector_field(0.0, y)  # noqa: E731
        return jax.lax.fori_loop(0, count, body, y)

    called = best_of(calls) / count
    inside = best_of(lambda: jax.block_until_ready(evaluations(to_do.y))) / count
    board.at_most("a call from SciPy, microseconds beyond the evaluation", 1e6 * (called - inside), 15.0)


def beside_heyoka(board: Scoreboard, spans: tuple[float, ...]) -> None:
    """Taylor series of the traced right-hand side beside equations written by hand."""
    hand = heyoka_integrator(START, J, MGL, 1e-15)
    for t1 in spans:

        def by_hand(t1=t1):
            hand.time, hand.state[:] = 0.0, START
            hand.propagate_until(t1)

        def with_output(t1=t1):
            hand.time, hand.state[:] = 0.0, START
            hand.propagate_until(t1, c_output=True)

        for solver, reference in ((Taylor(dense=False), by_hand), (Taylor(), with_output)):
            seconds, theirs = in_turns(partial(run, solver, task(GROUP, 1e-15, t1)), reference)
            what = "with dense output" if solver.dense else "its end alone"
            detail = f"{1e3 * seconds:.2f} against {1e3 * theirs:.2f} ms, heyoka {hy.__version__}"
            board.at_most(
                f"Taylor to T = {t1:g}, {what}: time over heyoka by hand", seconds / theirs, 1.3, detail
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the run to T = 6000 s")
    spans = (60.0,) if parser.parse_args().quick else (60.0, 6000.0)
    board = Scoreboard("Adaptive solvers")
    rows = accuracy()
    show(rows)
    beside_diffrax(board, rows)
    host_calls(board)
    beside_heyoka(board, spans)
    board.show()


if __name__ == "__main__":
    main()
