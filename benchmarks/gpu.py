"""Throughput of ensembles on JAX's default device, meant for a GPU: needs only jax, equinox and jaxtyping.

Prints one JSON line for each case, with the device and the versions, and checks the runs against those of
the CPU.
"""

import json
import time
from importlib.metadata import version

import jax
import jax.numpy as jnp
import numpy as np

import poinsot as pt


def starts(orbits: int) -> pt.State:
    e = jnp.linspace(0.0, 0.5, orbits)
    zero = jnp.zeros_like(e)
    return pt.State(
        q=jnp.stack([1.0 - e, zero], axis=1), p=jnp.stack([zero, jnp.sqrt((1.0 + e) / (1.0 - e))], axis=1)
    )


def measure(name: str, integrator, orbits: int, steps: int) -> dict:
    system, states = pt.library.kepler(), starts(orbits)

    def run():
        return pt.ensemble(system, integrator, states, dt=0.05, steps=steps, save_every=steps, progress=False)

    tick = time.perf_counter()
    solution = run()
    first = time.perf_counter() - tick
    times = []
    for _ in range(3):
        tick = time.perf_counter()
        solution = run()
        times.append(time.perf_counter() - tick)
    few = np.linspace(0, orbits - 1, 5).astype(int)
    with jax.default_device(jax.devices("cpu")[0]):
        alone = [
            pt.solve(
                system,
                integrator,
                pt.State(q=np.asarray(states.q[i]), p=np.asarray(states.p[i])),
                dt=0.05,
                steps=steps,
                save_every=steps,
            ).q[-1]
            for i in few
        ]
    return {
        "case": name,
        "orbits": orbits,
        "steps": steps,
        "ns_per_orbit_step": min(times) / (orbits * steps) * 1e9,
        "first_call_s": first,
        "largest_difference_from_cpu": float(np.max(np.abs(solution.q[few, -1] - np.stack(alone)))),
        "failed": int(np.sum(solution.result != 0)),
        "device": jax.devices()[0].device_kind,
        "jax": version("jax"),
        "poinsot": pt.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }


def main() -> None:
    cases = (
        ("Verlet", pt.integrators.Splitting(), 1_000_000, 1000),
        ("Gauss 6", pt.integrators.GaussLegendre(3), 1_000_000, 200),
    )
    for case in cases:
        print(json.dumps(measure(*case)), flush=True)


if __name__ == "__main__":
    main()
