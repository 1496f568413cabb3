"""Throughput of an ensemble of heavy tops on JAX's default device, meant for a GPU.

Needs only jax, equinox and jaxtyping. Prints one JSON line, with the device and the versions, and checks some
of the runs against those of the CPU.
"""

import json
import time
from importlib.metadata import version

import jax
import jax.numpy as jnp
import numpy as np

import poinsot as pt
from poinsot.integrators.lie import LieSplitting

TOPS, STEPS, DT = 1_000_000, 10_000, 1e-3


def main() -> None:
    example = pt.library.gyro_top()
    formulation = pt.formulate(example, pt.coordinates.Group(), "group")
    single = formulation.start(example.start)
    spins = jnp.linspace(100.0, 300.0, TOPS)
    states = jax.tree.map(lambda part: jnp.broadcast_to(part, (TOPS, *part.shape)), single)
    states = pt.State(**dict(states.items()) | {"m": states.m.at[:, 2, 0].set(spins)})

    def run(chosen=states):
        return pt.ensemble(
            formulation.problem, LieSplitting(), chosen, dt=DT, steps=STEPS, save_every=STEPS, progress=False
        )

    tick = time.perf_counter()
    solution = run()
    first = time.perf_counter() - tick
    times = []
    for _ in range(3):
        tick = time.perf_counter()
        solution = run()
        times.append(time.perf_counter() - tick)
    few = np.linspace(0, TOPS - 1, 5).astype(int)
    with jax.default_device(jax.devices("cpu")[0]):
        alone = [
            pt.solve(
                formulation.problem,
                LieSplitting(),
                jax.tree.map(lambda part, i=i: np.asarray(part[i]), states),
                dt=DT,
                steps=STEPS,
                save_every=STEPS,
            ).m[-1]
            for i in few
        ]
    report = {
        "case": "heavy tops, Lie splitting",
        "tops": TOPS,
        "steps": STEPS,
        "steps_per_second": TOPS * STEPS / min(times),
        "first_call_s": first,
        "largest_difference_from_cpu": float(np.max(np.abs(solution.m[few, -1] - np.stack(alone)))),
        "failed": int(np.sum(solution.result != 0)),
        "device": jax.devices()[0].device_kind,
        "jax": version("jax"),
        "poinsot": pt.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
