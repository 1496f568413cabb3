"""Many runs and many states on 1, 2, 4, 8 and 16 cores, as far as there are that many, and the gain of each.

Prints one JSON line for each number of cores: nanoseconds for a run and step, or for a state, and how many
times faster that is than one core. Needs jax, equinox, jaxtyping and llvmlite. Run on a quiet machine.
"""

import json
import os
import subprocess
import sys
from importlib.metadata import version

COUNTS = (1, 2, 4, 8, 16)
RUNS, STATES, STEPS = 16_384, 65_536, 200


def measured() -> dict[str, float]:
    """Nanoseconds of each case on the cores that this process may use."""
    import jax
    import numpy as np
    from _timing import best_of

    import poinsot as pt

    found = {}
    linkage = pt.library.two_body_linkage()
    formulation = pt.formulate(linkage, "group", "group")
    start = formulation.start(linkage.start)
    states = jax.tree.map(lambda part: np.repeat(np.asarray(part)[None], RUNS, axis=0), start)
    for name, method, dt in (
        ("Example C, LieRattle", pt.integrators.LieRattle(), 2.5e-4),
        ("Example C, RK4", pt.integrators.RK4(), 5e-5),
    ):

        def go(method=method, dt=dt):
            return pt.ensemble(
                formulation.problem, method, states, dt=dt, steps=STEPS, save_every=STEPS, progress=False
            )

        go()
        found[name] = 1e9 * best_of(go, 3) / (RUNS * STEPS)
    arm = pt.OpenChain(pt.library.seven_axis_arm())
    q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, STATES, arm.v_size))
    found["seven-axis arm, forward dynamics"] = (
        1e9 * best_of(lambda: arm.forward_dynamics(q, v, tau), 30) / STATES
    )
    return found


def main() -> None:
    """Measure in a process of its own for each number of cores."""
    if "--cores" in sys.argv:
        os.sched_setaffinity(0, range(int(sys.argv[sys.argv.index("--cores") + 1])))
        print(json.dumps(measured()))
        return
    one: dict[str, float] = {}
    for count in COUNTS:
        if count > len(os.sched_getaffinity(0)):
            break
        command = [sys.executable, __file__, "--cores", str(count)]
        found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        one = one or found
        print(
            json.dumps(
                {
                    "cores": count,
                    "nanoseconds": {name: round(time, 3) for name, time in found.items()},
                    "times_faster": {name: round(one[name] / time, 2) for name, time in found.items()},
                    "jax": version("jax"),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
