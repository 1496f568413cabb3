"""Forward dynamics of many states of an arm with seven axes on JAX's default device, meant for a GPU.

Needs only jax, equinox and jaxtyping. Prints JSON lines, with the device and the versions: by the batched
call, and by `vmap` of the call for one state. Some states are checked against those of the CPU.
"""

import json
import time
from importlib.metadata import version

import jax
import jax.numpy as jnp
import numpy as np

import poinsot as pt

STATES = (100_000, 1_000_000)


def seconds(function, *given) -> tuple[float, float, jax.Array]:
    """Of the best of ten calls and of the first one, and the result."""
    tick = time.perf_counter()
    result = jax.block_until_ready(function(*given))
    first, times = time.perf_counter() - tick, []
    for _ in range(10):
        tick = time.perf_counter()
        jax.block_until_ready(function(*given))
        times.append(time.perf_counter() - tick)
    return min(times), first, result


def main() -> None:
    chain = pt.OpenChain(pt.library.seven_axis_arm())
    few = np.random.default_rng(1).uniform(-1, 1, (3, 8, chain.v_size))
    with jax.default_device(jax.devices("cpu")[0]):
        right = np.asarray(jax.jit(jax.vmap(chain.forward_dynamics))(*few))
    for count in STATES:
        states = np.random.default_rng(0).uniform(-1, 1, (3, count, chain.v_size))
        states[:, :8] = few
        given = [jnp.asarray(one) for one in states]
        for way, function in (
            ("batched call", jax.jit(chain.forward_dynamics)),
            ("vmap", jax.jit(jax.vmap(chain.forward_dynamics))),
        ):
            best, first, result = seconds(function, *given)
            report = {
                "case": f"forward dynamics, seven-axis arm, {way}",
                "states": count,
                "ns_per_state": 1e9 * best / count,
                "first_call_s": first,
                "largest_difference_from_cpu": float(np.max(np.abs(np.asarray(result[:8]) - right))),
                "device": jax.devices()[0].device_kind,
                "jax": version("jax"),
                "poinsot": pt.__version__,
                "date": time.strftime("%Y-%m-%d"),
            }
            print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
