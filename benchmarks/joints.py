"""Jointed systems: time to an error, steps of long chains, many copies, energy over many steps.

Errors are those of the mass centres at the end, against our Dormand-Prince 8 at 1e-13, which is compared with
dense equations in NumPy integrated by SciPy. Times of other packages were measured once (`_joint_peers.py`).
Compile time is apart, and joints are closed to round-off in everything of ours: projection or the forces of
joints are in the time. Of several forms of the equations the fastest counts. Run on a quiet machine; `--quick` leaves
out long chains and SciPy. Names of parts run these alone: `errors`, `chains`, `copies`, `energy`, or a system.
"""  # noqa: E501

import json
import os
import sys
import time

import jax
import numpy as np
from _joint_peers import PEERS
from _joint_reference import end_positions
from _timing import Scoreboard, best_of

import poinsot as pt
from poinsot.kernels import Bound, Kernel
from poinsot.simulation._loop import march_run

M, G = pt.integrators, 9.81
QUICK = "--quick" in sys.argv
WANTED = [one for one in sys.argv[1:] if not one.startswith("-")]
TOLERANCES = [10.0 ** (-0.5 * k) for k in range(11, 24)]


def gravity(system, axis: int):
    """Weights along minus an axis."""

    def force(x, R):
        push = np.zeros_like(x)
        push[:, axis] = -G * np.asarray(system.masses)
        return push, np.zeros_like(x)

    return force


def spring_of_example_c(x, R):
    push = np.zeros_like(x)
    push[0] = -1e4 * x[0]
    return push, np.zeros_like(x)


def spring_and_motor(x, R):
    """Of the squeezer: a spring from the ground to a point of the third body, a torque on the first."""
    push, torque = np.zeros_like(x), np.zeros_like(x)
    arm, ground = np.array([0.00957, 0.00074, 0.0]), np.array([0.014, 0.072, 0.0])
    apart = ground - (x[2] + R[2] @ arm)
    length = np.linalg.norm(apart)
    push[2] = 4530.0 * (length - 0.07785) / length * apart
    torque[2] = np.cross(arm, R[2].T @ push[2])
    torque[0] = R[0].T @ np.array([0.0, 0.0, 0.033])
    return push, torque


def cases():
    """Name, system, end, forces of the reference, wanted milliseconds to 1e-6 and 1e-8, and forms to try."""
    two = ("group", "group"), ("quaternions", "null_space")
    cut = ("group", "group"), ("joint", "index0")
    rods, bars = pt.library.rod_pendulum(10), pt.library.four_bar()
    yield "Example C", pt.library.two_body_linkage(), 0.5, spring_of_example_c, (0.9, 1.2), two
    yield "ten rods", rods, 1.0, gravity(rods, 2), (0.6, 0.8), two[:1]
    yield "crank-rocker", bars, 5.0, gravity(bars, 1), (2.0, 3.0), cut
    yield "squeezer", pt.library.squeezer(), 0.03, spring_and_motor, (2.5, 4.0), cut


def run(system, t1: float, tolerance: float, form=("group", "group")):
    return pt.simulate(
        system, system.start, t1=t1, integrator=M.DormandPrince8(projection=True), coordinates=form[0],
        form=form[1], save_every=10**9, progress=False, rtol=tolerance, atol=tolerance,
    )  # fmt: skip


def milliseconds(system, t1: float, tolerance: float, form) -> float:
    """Time of the integration alone, without the work of loads, which `simulate` adds up for a system."""
    formulation = pt.formulate(system, *form)
    start = formulation.start(system.start)
    times = [
        pt.simulate(
            formulation.problem, start, t1=t1, integrator=M.DormandPrince8(projection=True),
            save_every=10**9, progress=False, rtol=tolerance, atol=tolerance,
        ).attributes["wall_seconds"]
        for _ in range(6)
    ]  # fmt: skip
    return 1e3 * min(times[1:])


def measured(system, t1: float, form, right) -> list[tuple[float, float, float]]:
    """Tolerances, errors and milliseconds."""
    points = []
    for tolerance in TOLERANCES:
        end = run(system, t1, tolerance, form).position[-1]
        error = float(np.max(np.linalg.norm(end - right, axis=1)))
        points.append((tolerance, error, milliseconds(system, t1, tolerance, form)))
    return points


def to_an_error(board: Scoreboard) -> None:
    for name, system, t1, force, wanted, forms in cases():
        if WANTED and "errors" not in WANTED and name.split()[0] not in WANTED:
            continue
        right = run(system, t1, 1e-13).position[-1]
        if not QUICK:
            other = end_positions(system, t1, force)
            board.at_most(f"{name}: two references apart", float(np.max(np.abs(right - other))), 1e-8)
        points = {form: measured(system, t1, form, right) for form in forms}
        for accuracy, bound in zip((1e-6, 1e-8), wanted, strict=True):
            reached = [
                (ms, tolerance, form)
                for form in forms
                for tolerance, error, ms in points[form]
                if error <= accuracy
            ]
            least, tolerance, form = min(reached)
            gap = run(system, t1, tolerance, form).report()["joints"].largest_deviation
            peers = [
                f"{peer} {min(one.milliseconds for one in ones if one.error <= 1.2 * accuracy):g}"
                for peer, ones in PEERS[name].items()
                if any(one.error <= 1.2 * accuracy for one in ones)
            ]
            detail = "; ".join([f"{' '.join(form)}, joints {gap:.1e}", *peers])
            board.at_most(f"{name} to {accuracy:g}, Dormand-Prince 8, ms", least, bound, detail)


def step_seconds(system, integrator, dt: float, steps: int) -> tuple[float, float]:
    """Seconds of a step, and of the first call."""
    formulation = pt.formulate(system, "group", "group")
    y = np.asarray(formulation.problem.pack(formulation.start(system.start)))
    march = Bound(Kernel("native"), (formulation.problem, integrator))
    grid = np.float64(0.0), np.float64(dt), np.int64(steps)
    began = time.perf_counter()
    jax.block_until_ready(march(march_run, grid, y))
    first = time.perf_counter() - began
    return best_of(lambda: jax.block_until_ready(march(march_run, grid, y)), 9) / steps, first


def steps_of_chains(board: Scoreboard) -> None:
    wanted = {"RK4": (5.0, 50.0, 500.0), "LieRattle": (8.0, 80.0, 800.0)}
    for name, integrator in (("RK4", M.RK4()), ("LieRattle", M.LieRattle())):
        found = []
        for links, bound in zip((10, 100, 1000)[: 1 if QUICK else 3], wanted[name], strict=False):
            seconds, first = step_seconds(pt.library.rod_pendulum(links), integrator, 1e-3, 20_000 // links)
            found.append(seconds)
            board.at_most(
                f"{links} links, {name}, us a step", seconds * 1e6, bound, f"first call {first:.2g} s"
            )
        for a, b, what in zip(found, found[1:], ("10 to 100", "100 to 1000"), strict=False):
            board.at_most(f"exponent of the cost, {what} links, {name}", float(np.log10(b / a)), 1.1)


def many_copies(board: Scoreboard) -> None:
    linkage, count, steps = pt.library.two_body_linkage(), 4096, 200
    formulation = pt.formulate(linkage, "group", "group")
    start = formulation.start(linkage.start)
    states = jax.tree.map(lambda part: np.repeat(np.asarray(part)[None], count, axis=0), start)
    for name, integrator, dt, bound in (
        ("LieRattle", M.LieRattle(), 2.5e-4, 0.2),
        ("RK4", M.RK4(), 5e-5, 0.1),
    ):

        def go(integrator=integrator, dt=dt):
            return pt.ensemble(
                formulation.problem, integrator, states, dt=dt, steps=steps, save_every=steps, progress=False
            )

        board.at_most(
            f"{count} copies of Example C, {name}, us a copy and step",
            best_of(go, 3) / (steps * count) * 1e6,
            bound,
        )


def energy(board: Scoreboard) -> None:
    r"""Over 1e5 steps of ten rods: $\max |E - E_0|$ over the energy of their fall, $g n^2/2$, and its trend.

    Every tenth step counts. The motion is chaotic, so the largest error of order 2 is that of one whip of the
    last rods: starts that differ by 1e-7 have 4e-4 to 8e-4. The standard deviation does not depend on them. A
    trend is the difference between the mean errors of the two halves, in standard deviations.
    """
    rods, steps = pt.library.rod_pendulum(10), 10_000 if QUICK else 100_000
    for name, method in (
        ("LieRattle", M.LieRattle()),
        ("composed to order 4", M.Composition(M.LieRattle(), "suzuki4")),
    ):
        found = pt.simulate(
            rods, rods.start, t1=steps * 1e-3, dt=1e-3, integrator=method, coordinates="group", save_every=10,
            progress=False,
        )  # fmt: skip
        change = (np.asarray(found.energy) - found.energy[0]) / (G * 50.0)
        largest, spread = float(np.max(np.abs(change))), float(np.std(change))
        wanted = 2e-4 if name == "LieRattle" else 1e-6
        label = f"energy of ten rods, {steps} steps, {name}"
        board.at_most(label, largest, wanted, f"standard deviation {spread:.1e}")
        if name == "LieRattle":
            first, second = (float(np.mean(half)) for half in np.array_split(change, 2))
            board.at_most("trend of the energy, standard deviations", abs(second - first) / spread, 1.0)


def main() -> None:
    board = Scoreboard("Jointed systems")
    began = time.perf_counter()
    to_an_error(board)
    for name, part in (("chains", steps_of_chains), ("copies", many_copies), ("energy", energy)):
        if not WANTED or name in WANTED:
            part(board)
    board.show()
    print(json.dumps({"seconds": round(time.perf_counter() - began), "cores": os.cpu_count()}))


if __name__ == "__main__":
    main()
