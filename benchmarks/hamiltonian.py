"""Speed of the Hamiltonian core beside Numba and SciPy, measured in one run.

Prints ratios, with compile time apart. Run with nothing else going on: `make bench`.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import _numba_loops as loops
from _timing import Scoreboard, best_of, first_call

import poinsot as pt
from poinsot.integrators.runge_kutta._prediction import Extrapolation

GAUSS = pt.integrators.GaussLegendre(3)
TABLEAU = GAUSS.tableau
COEFFICIENTS = TABLEAU.A_hi, TABLEAU.b_hi, Extrapolation.of(TABLEAU).alone
CORES = len(__import__("os").sched_getaffinity(0))


def galactic(board: Scoreboard, steps: int) -> None:
    """One orbit, Gauss 6, h = 0.2: ours, Numba, and DOP853 at the same energy error."""
    system, h = pt.library.galactic_orbit(), 0.2
    abc = np.array([1.25, 1.0, 0.75])
    start = np.concatenate([system.start.q, system.start.p])

    def ours(save_every=steps):
        return pt.simulate(
            system,
            system.start,
            t1=steps * h,
            dt=h,
            integrator=GAUSS,
            save_every=save_every,
            progress=False,
        )

    compile_seconds = first_call(ours)
    seconds = best_of(ours, 3)
    numba_seconds = best_of(lambda: loops.gauss6_galactic(start.copy(), h, steps, *COEFFICIENTS, abc), 3)
    run, numba_end = ours(), start.copy()
    iterations = loops.gauss6_galactic(numba_end, h, 1000, *COEFFICIENTS, abc) / 1000
    detail = (
        f"{seconds / steps * 1e6:.2f} against {numba_seconds / steps * 1e6:.2f} us per step, "
        f"{run.attributes['iterations'] / steps:.1f} against {iterations:.1f} iterations, "
        f"compile {compile_seconds:.1f} s"
    )
    board.at_most("galactic orbit, Gauss 6: time over Numba's", seconds / numba_seconds, 2.5, detail)

    error = np.max(np.abs(ours(save_every=10).energy - run.energy[0]))
    scipy_seconds, scipy_error = dop853(start, steps * h, error, run.energy[0])
    detail = (
        f"{scipy_seconds:.1f} s with energy error {scipy_error:.1e}, ours {seconds:.2f} s with {error:.1e}"
    )
    board.at_least("galactic orbit: SciPy DOP853's time over ours", scipy_seconds / seconds, 30.0, detail)


def dop853(start: np.ndarray, t1: float, error: float, energy: float) -> tuple[float, float]:
    """Wall time and largest energy error of DOP853, its tolerance chosen for the given error.

    Its energy error grows with time, so the tolerance is found on a tenth of the interval for a tenth of
    the error, and the whole interval is then run once.
    """
    from scipy.integrate import solve_ivp

    a2, b2, c2 = 1.25**2, 1.0, 0.75**2

    def field(t, y):
        q, p = y[:3], y[3:]
        inverse = 2.0 / (1.0 + q[0] ** 2 / a2 + q[1] ** 2 / b2 + q[2] ** 2 / c2)
        return np.array(
            [
                p[0] + 0.25 * q[1],
                p[1] - 0.25 * q[0],
                p[2],
                0.25 * p[1] - q[0] / a2 * inverse,
                -0.25 * p[0] - q[1] / b2 * inverse,
                -q[2] / c2 * inverse,
            ]
        )

    def hamiltonian(y):
        q, p = y[:3], y[3:]
        rotation = 0.25 * (p[0] * q[1] - p[1] * q[0])
        return (
            0.5 * np.sum(p**2, axis=0)
            + rotation
            + np.log(1 + q[0] ** 2 / a2 + q[1] ** 2 / b2 + q[2] ** 2 / c2)
        )

    def run(end: float, rtol: float) -> float:
        solution = solve_ivp(field, (0.0, end), start, method="DOP853", rtol=rtol, atol=rtol)
        return float(np.max(np.abs(hamiltonian(solution.y) - energy)))

    part = t1 / 100.0
    tolerances = np.logspace(-5, -11, 7)
    errors = np.array([run(part, rtol) for rtol in tolerances])
    rtol = 10 ** np.interp(np.log10(error / 100.0), np.log10(errors[::-1]), np.log10(tolerances[::-1]))
    reached = []
    seconds = first_call(lambda: reached.append(run(t1, rtol)))
    return seconds, reached[0]


def kepler(board: Scoreboard, orbits: int, steps: int) -> None:
    """Many Kepler orbits at once: the library's system as an ensemble, a user's own H by plain vmap."""
    h, e = 0.05, jnp.linspace(0.0, 0.5, orbits)
    zero = jnp.zeros_like(e)
    states = pt.State(
        q=jnp.stack([1.0 - e, zero], axis=1), p=jnp.stack([zero, jnp.sqrt((1.0 + e) / (1.0 - e))], axis=1)
    )
    middle = np.concatenate([states.q[orbits // 2], states.p[orbits // 2]])
    library = pt.library.kepler()
    own = pt.Hamiltonian(lambda q, p: 0.5 * p @ p - 1.0 / jnp.linalg.norm(q))
    own_separable = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: -1.0 / jnp.linalg.norm(q))
    alone = 200_000
    numba_seconds = {
        "Gauss 6": best_of(lambda: loops.gauss6_kepler(middle.copy(), h, alone, *COEFFICIENTS)) / alone,
        "Verlet": best_of(lambda: loops.verlet_kepler(middle.copy(), h, alone)) / alone,
    }
    cases = (("Gauss 6", GAUSS, own), ("Verlet", pt.integrators.Splitting(), own_separable))
    for name, integrator, users in cases:

        def ensemble(integrator=integrator):
            return pt.ensemble(
                library, integrator, states, dt=h, steps=steps, save_every=steps, progress=False
            )

        @jax.jit
        def mapped(states, integrator=integrator, users=users):
            def orbit(state):
                return pt.solve(users, integrator, state, dt=h, steps=steps, save_every=steps).state

            return jax.vmap(orbit)(states)

        def plain(mapped=mapped):
            return jax.block_until_ready(mapped(states))

        for who, run, bound in (("library's system", ensemble, 0.5), ("user's H, plain vmap", plain, 0.2)):
            compile_seconds = first_call(run)
            per_step = best_of(run, 3) / (orbits * steps)
            share = numba_seconds[name] / per_step / CORES
            detail = (
                f"{per_step * 1e9:.0f} ns per orbit-step, Numba {numba_seconds[name] * 1e9:.0f} on one core, "
                f"compile {compile_seconds:.1f} s"
            )
            board.at_least(
                f"{orbits} Kepler orbits, {name}, {who}: share of {CORES} Numba cores", share, bound, detail
            )


def start_up(board: Scoreboard) -> None:
    """Wall time of importing the package and of asking for help."""
    everything = "import poinsot as pt; pt.simulate, pt.integrators, pt.library"
    commands = {
        "import poinsot, in seconds": ([sys.executable, "-c", "import poinsot"], 1.5),
        "import poinsot and load its core, in seconds": ([sys.executable, "-c", everything], 1.5),
        "poinsot --help, in seconds": ([str(Path(sys.executable).with_name("poinsot")), "--help"], 0.5),
    }
    for what, (command, bound) in commands.items():
        seconds = best_of(lambda command=command: subprocess.run(command, check=True, capture_output=True))
        board.at_most(what, seconds, bound)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    scale = 10 if parser.parse_args().quick else 1
    board = Scoreboard("Hamiltonian core")
    start_up(board)
    galactic(board, 1_000_000 // scale)
    kepler(board, 10_000, 1000 // scale)
    board.show()


if __name__ == "__main__":
    main()
