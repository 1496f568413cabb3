"""Forward dynamics of open chains: one state, many states, steps of RK4, and how the cost grows.

The chain has hinges about z and y by turns, one metre apart; every link has unit mass, half a metre along, and moments
0.1, 0.2, 0.3. Other packages are measured in the same run where they are installed (Pinocchio here, MuJoCo under the
Python named in MUJOCO_PYTHON); their other times were measured once. Compile time is apart. Run on a quiet machine; `--quick` leaves
out the long chains. Names of parts run these alone: `calls`, `batches`, `steps`, `cost`.
"""  # noqa: E501

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _chain_peers import COM, INERTIA, SIZES, STORED, microseconds, pinocchio_chain, state
from _timing import Scoreboard, best_of, first_call

import poinsot as pt
from poinsot.kernels import Bound, Kernel, cores
from poinsot.simulation._loop import march_run

QUICK = "--quick" in sys.argv
WANTED = [one for one in sys.argv[1:] if not one.startswith("-")]
MANY = 4096
BATCHED = dict(zip(SIZES, (0.004, 0.04, 0.2, 0.8), strict=True))
STEPS = dict(zip(SIZES, (0.2, 1.5, 10.0, 35.0), strict=True))


def system_of(n: int) -> pt.System:
    """The chain, stretched along x where all angles are zero."""
    names = [f"link{k}" for k in range(n)]
    return pt.System(
        [pt.RigidBody(1.0, INERTIA, name=name) for name in names],
        joints=[
            pt.joints.Revolute(
                names[k - 1] if k else "ground", names[k], at=(k, 0, 0), axis=((0, 0, 1), (0, 1, 0))[k % 2],
                name=f"hinge{k}",
            )
            for k in range(n)
        ],
        reference={name: ((k + COM[0], 0, 0), (1, 0, 0, 0)) for k, name in enumerate(names)},
        potentials=[pt.potentials.UniformGravity()],
    )  # fmt: skip


def peers() -> dict[str, tuple[float, ...]]:
    """Times of other packages, those measured in this run in place of the stored ones."""
    found = dict(STORED)
    try:
        import pinocchio
    except ImportError:
        pass
    else:
        del found["Pinocchio 4.1 aba"]
        name = f"Pinocchio {pinocchio.__version__} aba, now"
        found[name] = tuple(microseconds(pinocchio_chain(n), 4000 // n) for n in SIZES)
    if "MUJOCO_PYTHON" in os.environ:
        own = Path(__file__).with_name("_chain_peers.py")
        printed = subprocess.run(
            [os.environ["MUJOCO_PYTHON"], own], capture_output=True, check=True, text=True
        )
        found = {name: times for name, times in found.items() if "MuJoCo" not in name}
        found |= {f"{name}, now": tuple(times) for name, times in json.loads(printed.stdout).items()}
    return found


def beside(others: dict[str, tuple[float, ...]], n: int, what: str) -> str:
    """Times of other packages at a size, for those whose names hold a word."""
    return "; ".join(f"{name} {times[SIZES.index(n)]:.3g}" for name, times in others.items() if what in name)


def calls(board: Scoreboard, others: dict) -> None:
    """One call from Python, with what the work itself takes."""
    for n in SIZES[: 3 if QUICK else 4]:
        chain = pt.OpenChain(system_of(n))
        (q, v), tau = state(n), np.zeros(n)
        first = first_call(lambda c=chain, q=q, v=v, tau=tau: c.forward_dynamics(q, v, tau))
        whole = microseconds(lambda c=chain, q=q, v=v, tau=tau: c.forward_dynamics(q, v, tau), 4000 // n)
        work = work_of(n, q, v)
        named = f"{beside(others, n, 'aba')}; {beside(others, n, 'mj_forward')}"
        detail = f"{whole:.3g} in all, first call {first:.2g} s; {named}"
        board.at_most(f"n = {n}: one call beyond the work, us", whole - work, 5.0, detail)


def work_of(n: int, q: np.ndarray, v: np.ndarray) -> float:
    """Microseconds of forward dynamics alone: a quarter of a step of RK4 in a compiled loop."""
    return 1e6 * step_seconds(pt.formulate(system_of(n), "joint", "recursive"), "rk4", q, v, 2000) / 4.0


def batches(board: Scoreboard, others: dict) -> None:
    """Many states at once, as rows of arrays of NumPy."""
    cases = [(f"n = {n}", system_of(n), BATCHED[n]) for n in SIZES[: 3 if QUICK else 4]]
    cases.append(("seven-axis arm", pt.library.seven_axis_arm(), 0.08))
    for name, system, bound in cases:
        chain = pt.OpenChain(system)
        n = chain.v_size
        q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, MANY, n))

        def go(chain=chain, q=q, v=v, tau=tau):
            return chain.forward_dynamics(q, v, tau)

        first = first_call(go)
        each = 1e6 * best_of(go, 50) / MANY
        detail = f"first call {first:.2g} s"
        if n in SIZES and "n =" in name:
            rollout = next(times[SIZES.index(n)] for name, times in others.items() if "rollout" in name)
            aba = next(times[SIZES.index(n)] for name, times in others.items() if "aba" in name)
            times = f"{rollout / each:.3g} times as long, aba on all cores {aba / cores() / each:.3g}"
            detail += f"; rollout takes {times}"
        board.at_most(f"{name}: {MANY} states, us a state", each, bound, detail)


def step_seconds(formulation, method: str, q: np.ndarray, v: np.ndarray, steps: int) -> float:
    problem = formulation.problem
    y = np.asarray(problem.pack(pt.State(q=q, v=v)))
    march = Bound(Kernel("native"), (problem, pt.integrators.by_name(method)))
    grid = np.float64(0.0), np.float64(1e-4), np.int64(steps)
    return best_of(lambda: march(march_run, grid, y), 9) / steps


def steps(board: Scoreboard, others: dict) -> None:
    """One simulation by RK4 in the recursive form."""
    for n in SIZES[: 3 if QUICK else 4]:
        formulation = pt.formulate(system_of(n), "joint", "recursive")
        each = 1e6 * step_seconds(formulation, "rk4", *state(n), max(50, 20_000 // n))
        board.at_most(f"n = {n}: a step of RK4, us", each, STEPS[n], beside(others, n, "mj_step"))


def cost(board: Scoreboard, others: dict) -> None:
    """How forward dynamics grow with the number of joints."""
    found = {}
    for n in (10, 100) if QUICK else (10, 100, 1000):
        formulation = pt.formulate(system_of(n), "joint", "recursive")
        found[n] = step_seconds(formulation, "rk4", *state(n), max(20, 10_000 // n))
    sizes = list(found)
    for a, b in zip(sizes, sizes[1:], strict=False):
        power = float(np.log(found[b] / found[a]) / np.log(b / a))
        detail = f"{1e6 * found[a]:.3g} to {1e6 * found[b]:.3g} us a step"
        board.at_most(f"exponent of the cost, {a} to {b} joints, RK4", power, 1.1, detail)


def main() -> None:
    board, others = Scoreboard("Open chains"), peers()
    began = time.perf_counter()
    for part in (calls, batches, steps, cost):
        if not WANTED or part.__name__ in WANTED:
            part(board, others)
    board.show()
    print(json.dumps({"seconds": round(time.perf_counter() - began), "cores": cores()}))


if __name__ == "__main__":
    main()
