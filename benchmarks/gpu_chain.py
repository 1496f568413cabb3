"""Speed of one long chain on JAX's default device, meant for a GPU.

Needs only jax, equinox and jaxtyping. Prints one JSON line for each length, with the device and the versions,
and checks a short chain against the CPU.
"""

import argparse
import json
import time
from importlib.metadata import version

import jax
import numpy as np

import poinsot as pt

DT = 1e-3


def simulated(count: int, steps: int):
    """A run through the public interface."""
    chain = pt.library.particle_chain(count=count)
    start = chain.straight_state(velocity_scale=0.05, seed=0)
    return lambda: pt.simulate(
        chain,
        start,
        t1=steps * DT,
        dt=DT,
        save_every=steps,
        coordinates=pt.coordinates.Group(),
        integrator=pt.integrators.LieSplitting(),
        progress=False,
    )


def difference_from_cpu() -> float:
    """Largest difference of positions and quaternions after a while, from a run on the CPU."""
    here = simulated(1000, 200)()
    with jax.default_device(jax.devices("cpu")[0]):
        there = simulated(1000, 200)()
    pairs = ((getattr(here, name), getattr(there, name)) for name in ("position", "quaternion"))
    return max(float(np.max(np.abs(one - other))) for one, other in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lengths", nargs="*", type=int, default=[100_000, 1_000_000, 10_000_000])
    for count in parser.parse_args().lengths:
        steps = max(100, 4_000_000_000 // count)
        run = simulated(count, steps)
        tick = time.perf_counter()
        run()
        first = time.perf_counter() - tick
        tick = time.perf_counter()
        result = run()
        report = {
            "case": "chain of tetrahedra, Lie splitting",
            "bodies": count,
            "steps": steps,
            "ns_per_body_step": 1e9 * result.attributes["wall_seconds"] / (count * steps),
            "first_call_s": first,
            "whole_call_s": time.perf_counter() - tick,
            "energy_change": float(result.energy[-1] - result.energy[0]),
            "difference_from_cpu": difference_from_cpu() if count < 1_000_000 else None,
            "device": jax.devices()[0].device_kind,
            "jax": version("jax"),
            "poinsot": pt.__version__,
        }
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
