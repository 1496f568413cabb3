"""Speed of chains of rigid bodies beside LAMMPS and a Numba loop, on one core and on all, in one run.

Prints times per body and step, and ratios, compile time apart. Run with nothing else going on. LAMMPS is a
dependency of the benchmark alone, and may be in another environment:

    python benchmarks/chain.py --lammps other/bin/python
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

STEPS = {100: 20_000, 1_000: 4_000, 10_000: 800, 100_000: 80, 1_000_000: 64}
"""Bodies, and steps that take seconds: enough of them that the start of the run does not count."""
CORES = sorted(os.sched_getaffinity(0))
ONE_CORE = {100: 0.2, 1_000: 0.15, 10_000: 0.15, 100_000: 0.15, 1_000_000: 0.2}
"""Microseconds wanted per body and step."""


def splitting(count: int, steps: int) -> dict:
    """Our explicit splitting through the public interface."""
    import poinsot as pt

    chain = pt.library.particle_chain(count=count)
    start = chain.straight_state(velocity_scale=0.05, seed=0)

    def run():
        return pt.simulate(
            chain,
            start,
            t1=steps * 1e-3,
            dt=1e-3,
            save_every=steps,
            coordinates=pt.coordinates.Group(),
            integrator=pt.integrators.LieSplitting(),
            progress=False,
        )

    tick = time.perf_counter()
    run()
    first = time.perf_counter() - tick
    best = min(run().attributes["wall_seconds"] for _ in range(4))
    return {"seconds": best / (steps * count), "first_call_s": first}


def numba_loop(count: int, steps: int) -> dict:
    """The same as a scalar loop."""
    from _numba_chain import run

    def fresh():
        draw = np.random.default_rng(0).standard_normal((2, count, 3)) * 0.05
        draw[:, [0, -1]] = 0.0
        x, q = (
            np.arange(count)[:, None] * np.array([2.0, 0.0, 0.0]),
            np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        )
        return x, draw[0], q, draw[1]

    run(*fresh(), 1e-3, 1)
    times = []
    for _ in range(3):
        state = fresh()
        tick = time.perf_counter()
        run(*state, 1e-3, steps)
        times.append(time.perf_counter() - tick)
    return {"seconds": min(times) / (steps * count)}


def gauss(count: int, steps: int) -> dict:
    """A step of Gauss 6 over the right-hand sides it evaluates."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    from jax import lax

    import poinsot as pt

    chain = pt.library.particle_chain(count=count)
    formulation = pt.formulate(chain, pt.coordinates.Quaternions(), "hamiltonian")
    start = formulation.start(chain.straight_state(velocity_scale=0.05, seed=0))
    problem, y = formulation.problem, formulation.problem.pack(start)
    stages = 3

    @eqx.filter_jit
    def evaluations(problem, y, number):
        return lax.fori_loop(0, number, lambda _, y: y + 1e-12 * problem.vector_field(0.0, y), y)

    solve = eqx.filter_jit(
        lambda start: pt.solve(
            problem, pt.integrators.GaussLegendre(stages), start, dt=2e-3, steps=steps, save_every=steps
        )
    )

    number = 3 * steps
    # By turns, so that both find the machine alike.
    both = (lambda: evaluations(problem, y, jnp.int64(number)), lambda: solve(start))
    best = [np.inf, np.inf]
    for turn in range(9):
        for which, call in enumerate(both):
            tick = time.perf_counter()
            jax.block_until_ready(call())
            # The first turn compiles.
            best[which] = min(best[which], time.perf_counter() - tick if turn else np.inf)
    one, step = best[0] / number, best[1] / steps
    # The first guess is extrapolated: all right-hand sides are those of the iteration.
    done = solve(start)
    assert int(done.result) == 0, "the steps failed"
    each = stages * int(done.iterations) / steps
    return {
        "seconds": step / count,
        "evaluation_s": one / count,
        "evaluations": each,
        "ratio": step / (each * one),
    }


def many_particles(particles: int, steps: int) -> dict:
    """A chain of discs with so many particles on their two rims."""
    import poinsot as pt

    disc = pt.shapes.two_rim_disc(1.0, 0.5, particles, axis=0)
    chain = pt.library.particle_chain(disc, count=100, potential=pt.potentials.LennardJones(5.0, 1.0))

    def run():
        return pt.simulate(
            chain,
            chain.straight_state(velocity_scale=0.01),
            t1=steps * 1e-4,
            dt=1e-4,
            save_every=steps,
            coordinates=pt.coordinates.Group(),
            integrator=pt.integrators.LieSplitting(),
            progress=False,
        )

    run()
    best = min(run().attributes["wall_seconds"] for _ in range(3))
    return {"seconds": best / (steps * chain.count)}


CHILDREN = {"splitting": splitting, "numba": numba_loop, "gauss": gauss, "particles": many_particles}


def measured(case: str, cores: int, *numbers: int) -> dict:
    """One case in a process of its own, on so many cores."""
    chosen = ",".join(map(str, CORES[:cores]))
    command = [sys.executable, __file__, "--child", case, "--cores", chosen, *map(str, numbers)]
    return last_line(command)


def lammps(python: str, ranks: int, count: int, steps: int) -> dict:
    """LAMMPS on one core, or with one rank on each."""
    script = str(Path(__file__).parent / "_lammps_speed.py")
    command = [python, script, str(count), str(steps)]
    if ranks > 1:
        command = [str(Path(python).parent / "mpiexec"), "-n", str(ranks), *command]
    return last_line(command)


def last_line(command: list[str]) -> dict:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lammps", help="interpreter that has LAMMPS")
    parser.add_argument("--lengths", nargs="*", type=int, default=list(STEPS), help="numbers of bodies")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--cores", help=argparse.SUPPRESS)
    parser.add_argument("numbers", nargs="*", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        os.sched_setaffinity(0, map(int, options.cores.split(",")))
        print(json.dumps(CHILDREN[options.child](*options.numbers)))
        return
    from _timing import Scoreboard

    board = Scoreboard("Chains of tetrahedra, microseconds per body and step")
    for count in options.lengths:
        steps = STEPS[count]
        for cores in sorted({1, len(CORES)}):
            ours = measured("splitting", cores, count, steps)
            micro, where = 1e6 * ours["seconds"], f"{count} bodies, {cores} core{'s' * (cores > 1)}"
            wanted = ONE_CORE[count] if cores == 1 else 0.09 if count >= 10_000 else ONE_CORE[count]
            board.at_most(f"splitting, {where}", micro, wanted, f"first call {ours['first_call_s']:.1f} s")
            if cores == 1:
                loop = 1e6 * measured("numba", 1, count, max(1, steps // 2))["seconds"]
                board.at_least(f"Numba loop over ours, {where}", loop / micro, 1.0, f"{loop:.3f}")
            if options.lammps and count <= 100_000:
                peer = 1e6 * lammps(options.lammps, cores, count, max(10, steps // 4))["seconds"]
                board.at_least(f"LAMMPS over ours, {where}", peer / micro, 2.0, f"{peer:.3f}")
            print(board.rows[-1], flush=True)
    for count, steps in ((100, 400), (1_000, 80), (10_000, 24), (100_000, 8)):
        told = measured("gauss", 1, count, steps)
        detail = f"{told['evaluations']:.1f} evaluations of {1e6 * told['evaluation_s']:.3f}"
        board.at_most(
            f"step of Gauss 6 over its right-hand sides, {count} bodies", told["ratio"], 1.3, detail
        )
    particles = np.array([16, 32, 64, 128])
    times = [measured("particles", 1, int(each), 4000 // int(each))["seconds"] for each in particles]
    power = float(np.polyfit(np.log(particles[1:]), np.log(times[1:]), 1)[0])
    board.at_most("power of time in particles per body, from 2", abs(power - 2.0), 0.2, f"{power:.2f}")
    board.show()


if __name__ == "__main__":
    main()
