"""The native kernel beside the plain one: steps of one top, many runs, adaptive solvers, first calls.

Times of both kernels are measured in one run, compile time apart. Run on a quiet machine.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _gyro_top import MGL, T_END, TOP, J, error
from _gyro_top import START as START_TOP
from _heyoka_top import heyoka_runs
from _timing import Scoreboard, best_of

import poinsot as pt
from poinsot.kernels import Bound, Kernel
from poinsot.simulation._loop import march_run
from poinsot.simulation._subject import choose

C, M = pt.coordinates, pt.integrators
HEAVY = pt.library.heavy_top(inertia=(50.0, 42.0, 10.0), mgl=11.09 * 9.81)
START = HEAVY.state(rotation=pt.rotation.about_x(np.pi / 3), angular_velocity=(0, 0, 20))
STEPS = 100_000
ONE_TOP = {
    "LieSplitting": (M.LieSplitting(), C.Group(), 1e-3, 0.13),
    "LieRattle": (M.LieRattle(), C.Group(), 1e-3, 0.30),
    "Rattle, directors": (M.Rattle(), C.Directors(), 1e-3, None),
    "Variational, quaternions": (M.Variational(), C.Quaternions(sigma="mean"), 1e-3, 0.7),
    "EnergyMomentum, directors": (M.EnergyMomentum(), C.Directors(), 1e-3, None),
}
FIRST = """
import resource, time
import numpy as np, jax, poinsot as pt
top = pt.library.heavy_top(inertia=(50.0, 42.0, 10.0), mgl=11.09 * 9.81)
start = top.state(rotation=pt.rotation.about_x(np.pi / 3), angular_velocity=(0, 0, 20))
used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
before = used()
run = pt.simulate(top, start, t1=6.0, dt=0.01, coordinates=pt.coordinates.Group(),
                  integrator=pt.integrators.LieSplitting())
print(used() - before)
"""


def both(measure) -> tuple[float, float]:
    """A measurement with the native and with the plain kernel."""
    return measure("native"), measure("plain")


def one_top(board: Scoreboard) -> None:
    for name, (integrator, coordinates, dt, wanted) in ONE_TOP.items():
        formulation = choose(HEAVY, integrator, coordinates, None)
        y = np.asarray(formulation.problem.pack(formulation.start(START, 0.0)))

        def measure(kernel, problem=formulation.problem, integrator=integrator, y=y, dt=dt):
            march = Bound(Kernel(kernel), (problem, integrator))
            grid = np.float64(0.0), np.float64(dt), np.int64(STEPS)
            return best_of(lambda: jax.block_until_ready(march(march_run, grid, y))) / STEPS * 1e6

        native, plain = both(measure)
        board.at_most(f"one top, {name}, us a step", native, wanted or plain, f"plain {plain:.3g}")


def many_runs(board: Scoreboard) -> None:
    count, formulation = 10_000, pt.formulate(HEAVY, C.Group(), "group")
    spins = np.stack([np.zeros(count), np.zeros(count), np.linspace(15.0, 25.0, count)], axis=1)
    tops = jax.vmap(
        lambda w: formulation.start(HEAVY.state(rotation=pt.rotation.about_x(np.pi / 3), angular_velocity=w))
    )(spins)
    kepler = pt.Hamiltonian(lambda q, p: 0.5 * p @ p - 1.0 / jnp.sqrt(q @ q))
    e, zero = np.linspace(0.0, 0.5, count), np.zeros(count)
    orbits = pt.State(
        q=np.stack([1.0 - e, zero], axis=1), p=np.stack([zero, np.sqrt((1.0 + e) / (1.0 - e))], axis=1)
    )
    cases = {
        "10,000 tops, LieSplitting": (formulation.problem, M.LieSplitting(), tops, 0.001, 2000, 8.0),
        "10,000 Kepler orbits of a user's H, Gauss 6": (kepler, M.GaussLegendre(3), orbits, 0.05, 400, 35.0),
    }
    for name, (problem, integrator, states, dt, steps, wanted) in cases.items():

        def measure(kernel, given=(problem, integrator, states), dt=dt, steps=steps):
            grid = {"dt": dt, "steps": steps, "save_every": steps, "progress": False, "kernel": kernel}
            return best_of(lambda: pt.ensemble(*given, **grid), 3) / (steps * count) * 1e9

        native, plain = both(measure)
        board.at_most(f"{name}, ns a run and step", native, wanted, f"plain {plain:.3g}")


ADAPTIVE = (M.DormandPrince8(), C.Quaternions(), "null_space")
LADDER = (1e-11, 3e-12, 2e-12, 1.7e-12, 1.5e-12, 1.4e-12, 1.3e-12, 1.2e-12, 1e-12, 3e-13)
PRESERVING = {
    f"{name} ({what})": (M.by_name(name), C.Quaternions(), form)
    for form, what, names in (
        ("hamiltonian", "symplectic", ("gauss8", "gauss10", "gauss12", "gauss14", "gauss16")),
        ("null_space", "symmetric, keeps |q|", ("gauss14", "gauss16")),
    )
    for name in names
}
"""Methods that keep the structure of the motion, by what they keep."""
STEPS_TO_60 = (350, 400, 405, 410, 425, 450, 500, 600, 800, 1000, 1250, 1500, 2000, 3000)
TURNS = 12
LADDER_HEYOKA = (1e-9, 1e-10, 6e-11, 3e-11, 1e-11, 1e-12)


def gyro_top(board: Scoreboard) -> None:
    """Time of the loop to an error of 1e-9 at the end, the best tolerance or step that reaches it.

    Beside heyoka's Taylor series written by hand, by turns, so that all find the machine alike.
    """

    def run(kernel, method, accuracy):
        integrator, coordinates, form = method
        found = pt.simulate(
            TOP, TOP.start, t1=T_END, integrator=integrator, coordinates=coordinates, form=form,
            save_every=10**9, kernel=kernel, progress=False, throw=False, **accuracy,
        )  # fmt: skip
        if found.result is not pt.Result.successful:
            # A first step of three radians, without another before it, is too long to be solved.
            return math.inf, math.inf
        off = error(found.rotation[-1, 0], found.angular_velocity[-1, 0])
        return 1e3 * found.attributes["wall_seconds"], off

    def reaching(method, settings):
        return [one for one in settings if run("native", method, one)[1] <= 1e-9]

    tolerances = reaching(ADAPTIVE, [{"rtol": r, "atol": r} for r in LADDER])
    ways: dict[str, list[Any]] = {"Dormand-Prince 8": [(ADAPTIVE, one) for one in tolerances]}
    for who, method in PRESERVING.items():
        steps = reaching(method, [{"dt": T_END / n} for n in STEPS_TO_60])
        ways[who] = [(method, one) for one in steps[:3]]
    peers = [once for _, once in heyoka_runs(START_TOP, J, MGL, T_END, LADDER_HEYOKA) if _off(once()) <= 1e-9]
    times = {(who, kernel): float("inf") for who in ways for kernel in ("native", "plain")}
    heyoka = float("inf")
    for _ in range(TURNS):
        heyoka = min(heyoka, *(1e3 * best_of(once, 3) for once in peers))
        for (who, kernel), best in times.items():
            times[who, kernel] = min([best, *(run(kernel, *way)[0] for way in ways[who])])
    fastest = sorted(PRESERVING, key=lambda who: times[who, "native"])
    symplectic = next(who for who in fastest if "symplectic" in who)
    rows = [("Dormand-Prince 8", 1.3, 1.45), *((who, 1.0, 1.1) for who in {fastest[0]: 0, symplectic: 0})]
    for who, wanted, over in rows:
        native, plain = times[who, "native"], times[who, "plain"]
        board.at_most(f"gyro top to 1e-9, {who}, ms", native, wanted, f"plain {plain:.3g}")
        detail = f"heyoka {heyoka:.3g} ms"
        board.at_most(f"gyro top to 1e-9, {who}: time over heyoka by hand", native / heyoka, over, detail)


def _off(y: np.ndarray) -> float:
    """Error of a state of heyoka's: quaternion and body angular velocity."""
    R = pt.rotation.to_matrix(jnp.asarray(y[:4] / np.linalg.norm(y[:4])))
    return error(np.asarray(R), y[4:])


def first_calls(board: Scoreboard) -> None:
    def call(kernel: str, folder: str) -> float:
        about = os.environ | {"POINSOT_KERNEL": kernel, "POINSOT_CACHE_DIR": folder}
        done = subprocess.run([sys.executable, "-c", FIRST], env=about, capture_output=True, check=True)
        return float(done.stdout)

    with tempfile.TemporaryDirectory() as folder:
        first, plain = call("native", folder), call("plain", folder)
        board.at_most("first call of a top, s of CPU time", first, 1.0, f"plain {plain:.3g}")
        board.at_most("the same in a second process", call("native", folder), 0.7)


def main() -> None:
    board = Scoreboard("Native kernel, two cores")
    began = time.perf_counter()
    for part in (one_top, many_runs, gyro_top, first_calls):
        part(board)
    board.show()
    print(json.dumps({"seconds": round(time.perf_counter() - began), "cores": os.cpu_count()}))


if __name__ == "__main__":
    main()
