"""Speed of one rigid body beside Numba, SciPy and heyoka in one run, and beside other packages as published.

Prints a table of error against time and ratios, compile time apart. Run with nothing else going on.
"""

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from _gyro_top import MGL, START, T_END, TOP, J, Row, error, show, time_at
from _heyoka_top import heyoka_runs
from _numba_top import euler_equations, lie_splitting
from _peers import HEYOKA, PUBLISHED, SCIPY
from _timing import Scoreboard, best_of, first_call
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.coordinates import Group, Quaternions
from poinsot.integrators import Composition, GaussLegendre
from poinsot.integrators.lie import LieSplitting
from poinsot.integrators.variational import Variational

CORES = len(os.sched_getaffinity(0))
TARGETS = (1e-6, 1e-10)


class Case(NamedTuple):
    """A formulation and method of ours."""

    name: str
    coordinates: pt.coordinates.AbstractOrientation
    form: str
    integrator: pt.integrators.AbstractIntegrator

    def run(self, dt: float, steps: int, save_every: int | None = None):
        """A run as a function, in the coordinates of the formulation; compiled at its first call."""
        formulation = pt.formulate(TOP, self.coordinates, self.form)
        start = formulation.start(TOP.start)
        solve = partial(pt.solve, formulation.problem, self.integrator, start)
        keep = steps if save_every is None else save_every
        return formulation, lambda: jax.block_until_ready(solve(dt=dt, steps=steps, save_every=keep))


GAUSS = Case("Gauss 16, quaternions", Quaternions(), "hamiltonian", GaussLegendre(8))
GAUSS_GROUP = Case("Gauss 16, quaternion and momentum", Group(), "group", GaussLegendre(8))
SPLITTING = Case("splitting of order 8, group", Group(), "group", Composition(LieSplitting(), "kahan-li8"))
SPLITTING6 = Case("splitting of order 6, group", Group(), "group", Composition(LieSplitting(), "kahan-li6"))
OURS = (
    (GAUSS, (0.15, 0.12, 0.1, 0.075, 0.06)),
    (GAUSS_GROUP, (0.15, 0.12, 0.1, 0.075, 0.06)),
    (SPLITTING, (0.06, 0.05, 0.04, 0.03, 0.025, 0.02, 0.015)),
    (SPLITTING6, (0.04, 0.03, 0.02, 0.015, 0.01)),
)


def error_of(y: np.ndarray) -> float:
    return error(np.asarray(pt.rotation.to_matrix(pt.rotation.normalise(jnp.asarray(y[:4])))), y[4:])


def ours(case: Case, dt: float) -> Row:
    formulation, run = case.run(dt, round(T_END / dt))
    compiled, milliseconds = first_call(run), 1e3 * best_of(run, 10)
    end = jax.tree.map(lambda saved: saved[-1], run().state)
    motion = formulation.motion(T_END, formulation.problem.pack(end))
    reached = error(np.asarray(motion.rotation[0]), np.asarray(motion.angular_velocity[0]))
    return Row(f"poinsot, {case.name}", f"dt {dt:g}, compile {compiled:.1f} s", reached, milliseconds)


def scipy_rows() -> list[Row]:
    def field(t, y):
        return euler_equations(t, y, J, MGL)

    field(0.0, START)
    rows = []
    for method, tolerances in (("DOP853", (1e-8, 1e-10, 1e-12, 1e-13)), ("LSODA", (1e-8, 1e-10, 1e-12))):
        for tol in tolerances:
            run = partial(solve_ivp, field, (0.0, T_END), START, method=method, rtol=tol, atol=tol)
            milliseconds = 1e3 * best_of(run, 3)
            rows.append(Row(f"SciPy {method}, Numba", f"tol {tol:g}", error_of(run().y[:, -1]), milliseconds))
    return rows


def heyoka_rows() -> list[Row]:
    runs = heyoka_runs(START, J, MGL, T_END, (1e-6, 1e-8, 1e-9, 1e-12, 1e-14))
    return [Row("heyoka", setting, error_of(run()), 1e3 * best_of(run, 10)) for setting, run in runs]


def accuracy(board: Scoreboard) -> None:
    """Error against time, and our fastest run beside each peer's at two errors."""
    mine = [[ours(case, dt) for dt in steps] for case, steps in OURS]
    scipy, heyoka = scipy_rows(), heyoka_rows()
    show([row for rows in (*mine, scipy, heyoka) for row in rows])
    measured = {who: [row for row in scipy if row.who == who] for who in sorted({row.who for row in scipy})}
    # Of two ratios of the machines the smaller one: a busy moment must not make others look slow.
    calibrations = [(measured["SciPy DOP853, Numba"], PUBLISHED[SCIPY]), (heyoka, PUBLISHED[HEYOKA])]
    for target in TARGETS:
        best = min(time_at(rows, target) for rows in mine)
        for who, rows in measured.items():
            times = f"{time_at(rows, target):.1f} ms, ours {best:.2f} ms"
            board.at_least(f"error {target:g}: {who} over ours", time_at(rows, target) / best, 1.0, times)
        speed = min(time_at(here, target) / time_at(there, target) for here, there in calibrations if here)
        for who, rows in PUBLISHED.items():
            if who.startswith(("SciPy", "heyoka")):
                continue
            scaled = speed * time_at(rows, target)
            detail = (
                f"published {time_at(rows, target):.1f} ms, here worth {scaled:.1f} ms, ours {best:.2f} ms"
            )
            board.at_least(f"error {target:g}: {who} (published) over ours", scaled / best, 1.0, detail)


def trend(board: Scoreboard, t1: float) -> None:
    """Energy over a hundred times the interval: the shift of its mean beside the size of its error."""
    for case, dt in ((SPLITTING, 0.04), (SPLITTING6, 0.04)):
        steps = round(t1 / dt)
        formulation, run = case.run(dt, steps, save_every=10)
        run()
        seconds, solution = best_of(run, 1), run()
        packed = jax.vmap(formulation.problem.pack)(solution.state)
        conserved = jax.vmap(formulation.problem.conserved)(solution.t, packed)
        energy = np.asarray(conserved["energy"])
        off = energy / energy[0] - 1.0
        tenth = len(off) // 10
        shift, peak = abs(off[-tenth:].mean() - off[:tenth].mean()), np.max(np.abs(off))
        detail = f"{seconds:.2f} s, largest error {peak:.1e}, shift of the mean {shift:.1e}"
        board.at_most(f"T = {t1:g} s, {case.name}, dt {dt:g}: shift over error", shift / peak, 0.1, detail)


def numba_step() -> float:
    """Seconds of a step of the hand-written splitting."""
    steps, start = 200_000, np.concatenate([START[:4], J * START[4:]])
    return best_of(lambda: lie_splitting(start.copy(), J, MGL, 1e-3, steps)) / steps


def steps_of_one_top(board: Scoreboard) -> None:
    """One top: the explicit splitting and the implicit variational step beside the hand-written splitting."""
    numba = numba_step()
    cases = (
        (Case("LieSplitting", Group(), "group", LieSplitting()), 200_000, 3.5),
        (Case("Variational", Quaternions(sigma="mean"), "index3", Variational()), 20_000, 40.0),
    )
    for case, steps, bound in cases:
        _, run = case.run(1e-3, steps)
        compiled, seconds = first_call(run), best_of(run, 3) / steps
        detail = f"{seconds * 1e6:.2f} against {numba * 1e6:.3f} us, compile {compiled:.1f} s"
        board.at_most(f"one top, {case.name}: step over Numba's splitting", seconds / numba, bound, detail)


def ensemble(board: Scoreboard, tops: int, steps: int) -> None:
    """Many tops with different spins, beside as many Numba loops as there are cores."""
    formulation = pt.formulate(TOP, Group(), "group")

    def start(spin):
        Omega = jnp.stack([jnp.zeros_like(spin), jnp.zeros_like(spin), spin])
        return formulation.start(TOP.state(rotation=TOP.start.quaternion, angular_velocity=Omega))

    states = jax.vmap(start)(jnp.linspace(10.0, 30.0, tops))

    def run():
        return pt.ensemble(
            formulation.problem,
            LieSplitting(),
            states,
            dt=1e-3,
            steps=steps,
            save_every=steps,
            progress=False,
        )

    compiled, seconds, numba = first_call(run), best_of(run, 3) / (tops * steps), numba_step()
    detail = f"{seconds * 1e9:.1f} ns per step, Numba {numba * 1e9:.0f} on one core, compile {compiled:.1f} s"
    board.at_least(f"{tops} tops: throughput over {CORES} Numba loops", numba / seconds / CORES, 2.0, detail)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the long run and of the ensemble's steps"
    )
    scale = 10 if parser.parse_args().quick else 1
    board = Scoreboard("One body")
    steps_of_one_top(board)
    ensemble(board, 10_000, 1000 // scale)
    accuracy(board)
    trend(board, 6000.0 / scale)
    board.show()


if __name__ == "__main__":
    main()
