"""Rows of parallelograms through singular positions: energy at the passes, error and order, by `LieRattle`.

Ten seconds of IFToMM A02 with 1 to 40 loops, by the method of order 2 and its compositions of order 4 and 6. All bars
are level at each pass, and each loop could fold the other way. Prints for each run the largest change of energy from
one side of a pass to the other, at equal heights, the largest difference of energy within a swing, and the
error of the last pose against the equation of the pendulum, with the order from the run at twice the step. Energy is
relative to that of the row at rest upright.
"""  # noqa: E501

import argparse
import time

import numpy as np
from scipy.integrate import solve_ivp

import poinsot as pt

G, SPAN, SAVED = 9.81, 10.0, 2e-3
METHODS = {2: "lie-rattle", 4: "lie-rattle-suzuki4", 6: "lie-rattle-kahan-li6"}
SIDE = 0.3
"""Sine of the angle on both sides of a pass between which energies are compared."""


def pendulum(loops: int) -> float:
    """The angle of the upright bars at the end."""
    factor = ((loops + 1) / 2 + loops) / ((loops + 1) / 3 + loops)
    start = [np.pi / 2, -1.0]
    swing = solve_ivp(
        lambda t, y: [y[1], -factor * G * np.cos(y[0])], (0.0, SPAN), start, "DOP853", rtol=1e-13, atol=1e-13
    )
    return float(swing.y[0, -1])


def passes(heights: np.ndarray, energy: np.ndarray) -> list[float]:
    """Changes of the energy at the passes of the heights through zero."""
    changes = []
    for k in np.flatnonzero(heights[:-1] * heights[1:] < 0.0):
        before, after = np.flatnonzero(np.abs(heights[:k]) > SIDE), np.flatnonzero(np.abs(heights[k:]) > SIDE)
        if len(before) and len(after):
            changes.append(float(energy[k + after[0]] - energy[before[-1]]))
    return changes


def main() -> None:
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--loops", type=int, nargs="+", default=[1, 2, 8, 20, 40])
    asked.add_argument("--orders", type=int, nargs="+", default=[2, 4, 6], choices=METHODS)
    asked.add_argument("--steps", type=float, nargs="+", default=[2e-3, 1e-3, 5e-4, 2.5e-4])
    given = asked.parse_args()
    print(f"{'loops':>5} {'order':>5} {'step':>8} {'passes':>6} {'at a pass':>10} {'in a swing':>10} "
          f"{'error':>9} {'order':>6} {'seconds':>8}")  # fmt: skip
    for loops in given.loops:
        bars, angle = pt.library.parallelogram(loops=loops), pendulum(loops)
        size = G * (0.5 * (loops + 1) + loops)
        for order in given.orders:
            last = None
            for dt in given.steps:
                began, head = time.perf_counter(), f"{loops:5d} {order:5d} {dt:8g}"
                try:
                    run = pt.simulate(
                        bars, bars.start, t1=SPAN, dt=dt, integrator=METHODS[order], coordinates="group",
                        save_every=max(1, round(SAVED / dt)), progress=False,
                    )  # fmt: skip
                except pt.SimulationError as error:
                    print(head, error, flush=True)
                    continue
                heights, energy = run.rotation[:, 0, 1, 0], run.energy / size
                swings = np.split(energy, np.flatnonzero(np.diff(heights > 0.0)))
                at_pass, in_swing = np.abs(passes(heights, energy)), max(map(np.ptp, swings))
                tip = run.position[-1, bars.index("level0")] - [0.5, 0.0, 0.0]
                error = float(np.max(np.abs(tip - [np.cos(angle), np.sin(angle), 0.0])))
                slope = "" if last is None else f"{np.log2(last / error):6.2f}"
                print(
                    f"{head} {len(at_pass):6d} {np.max(at_pass):10.1e} {in_swing:10.1e} {error:9.1e} "
                    f"{slope:>6} {time.perf_counter() - began:8.1f}",
                    flush=True,
                )
                last = error


if __name__ == "__main__":
    main()
