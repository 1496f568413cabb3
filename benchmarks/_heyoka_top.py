"""The gyro top by heyoka's adaptive Taylor series, in quaternion and body angular velocity."""

import time
from collections.abc import Callable

import numpy as np


def heyoka_integrator(y0: np.ndarray, J, mgl: float, tolerance: float):
    """The compiled integrator, at its start."""
    import heyoka as hy

    w, x, y, z, a, b, c = hy.make_vars("w", "x", "y", "z", "a", "b", "c")
    equations = [
        (w, 0.5 * (-x * a - y * b - z * c)),
        (x, 0.5 * (w * a + y * c - z * b)),
        (y, 0.5 * (w * b + z * a - x * c)),
        (z, 0.5 * (w * c + x * b - y * a)),
        (a, (2.0 * mgl * (y * z + w * x) + (J[1] - J[2]) * b * c) / J[0]),
        (b, (2.0 * mgl * (w * y - x * z) + (J[2] - J[0]) * c * a) / J[1]),
        (c, (J[0] - J[1]) / J[2] * a * b),
    ]
    return hy.taylor_adaptive(equations, list(y0), tol=tolerance)


def heyoka_runs(y0: np.ndarray, J, mgl: float, t1: float, tolerances) -> list[tuple[str, Callable]]:
    """A compiled run for each tolerance, which returns the final state."""

    def run(taylor) -> np.ndarray:
        taylor.time = 0.0
        taylor.state[:] = y0
        taylor.propagate_until(t1)
        return taylor.state.copy()

    runs = []
    for tolerance in tolerances:
        tick = time.perf_counter()
        taylor = heyoka_integrator(y0, J, mgl, tolerance)
        compiled = time.perf_counter() - tick
        runs.append((f"tol {tolerance:g}, compile {compiled:.1f} s", lambda taylor=taylor: run(taylor)))
    return runs
