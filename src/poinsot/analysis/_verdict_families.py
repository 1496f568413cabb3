"""Errors of conserved quantities without drift, made up at random, beside the motions that they belong to.

Each function draws one error and the state whose function it is, on a grid over the unit of time. Frequencies
are drawn evenly in their logarithm, from a twentieth of an oscillation in the whole run to hundreds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FULL = 2.0 * np.pi


@dataclass(frozen=True)
class Made:
    """An error without drift."""

    x: np.ndarray
    """Times, from zero to one."""
    error: np.ndarray
    state: dict[str, np.ndarray]


def even(rng: np.random.Generator, low: float, high: float) -> float:
    """A number drawn evenly in its logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def noise(rng: np.random.Generator) -> Made:
    """Noise with a memory of a thousandth to a third of the run."""
    x, angle = _turning(rng, even(rng, 3.0, 200.0))
    memory = even(rng, 1e-3, 0.3) * len(x)
    fading = np.exp(-np.arange(5.0 * memory + 1.0) / memory)
    error = np.convolve(rng.standard_normal(len(x) + len(fading) - 1), fading, "valid")
    return Made(x, error, {"q": np.column_stack([np.cos(angle), error]), "p": np.sin(angle)[:, None]})


def oscillation(rng: np.random.Generator) -> Made:
    """One frequency."""
    x, angle = _turning(rng, even(rng, 0.05, 200.0))
    return Made(x, np.cos(angle), _oscillators(angle))


def fast_and_slow(rng: np.random.Generator) -> Made:
    """A fast oscillation and one that goes round a twentieth to three times, either of them the larger."""
    x, fast = _turning(rng, even(rng, 5.0, 200.0))
    slow = _angle(rng, x, even(rng, 0.05, 3.0))
    error = np.cos(fast) + 10.0 ** rng.uniform(-1.5, 1.5) * np.cos(slow + rng.uniform(0.0, FULL))
    return Made(x, error, _oscillators(fast, slow))


def modulated(rng: np.random.Generator) -> Made:
    """A fast oscillation whose amplitude changes slowly, and its mean with it."""
    x, fast = _turning(rng, even(rng, 5.0, 200.0))
    amplitude = 1.0 + rng.uniform(0.3, 0.95) * np.cos(_angle(rng, x, even(rng, 0.05, 3.0)))
    state = {label: (amplitude * part(fast))[:, None] for label, part in (("q", np.cos), ("p", np.sin))}
    return Made(x, amplitude * (rng.uniform(-2.0, 2.0) + np.cos(fast)), state)


def quasi_periodic(rng: np.random.Generator) -> Made:
    """Two to five frequencies of very different sizes."""
    cycles = [even(rng, 3.0, 200.0), *(even(rng, 0.05, 200.0) for _ in range(rng.integers(1, 5)))]
    x = _grid(rng, max(cycles))
    angles = [_angle(rng, x, number) for number in cycles]
    parts = [10.0 ** rng.uniform(-1.0, 1.0) * np.cos(angle + rng.uniform(0.0, FULL)) for angle in angles]
    return Made(x, np.sum(parts, axis=0), _oscillators(*angles))


def bursts(rng: np.random.Generator) -> Made:
    """A power of the distance along one to a hundred Kepler orbits: short bursts, one at each perihelion."""
    e, orbits = rng.uniform(0.3, 0.95), even(rng, 1.0, 100.0)
    samples = orbits * rng.uniform(3.0, 8.0) / (1.0 - e) ** 1.5 / even(rng, 1.0, 4.0)
    x = np.linspace(0.0, 1.0, max(int(samples), 40))
    mean = _angle(rng, x, orbits)
    anomaly = mean + e * np.sin(mean)
    for _ in range(50):
        anomaly = anomaly - (anomaly - e * np.sin(anomaly) - mean) / (1.0 - e * np.cos(anomaly))
    r, b = 1.0 - e * np.cos(anomaly), np.sqrt(1.0 - e**2)
    q = np.column_stack([np.cos(anomaly) - e, b * np.sin(anomaly)])
    p = np.column_stack([-np.sin(anomaly), b * np.cos(anomaly)]) / r[:, None]
    return Made(x, r ** -float(rng.integers(1, 4)), {"q": q, "p": p})


FAMILIES: dict[str, Callable[[np.random.Generator], Made]] = {
    "noise": noise,
    "oscillation": oscillation,
    "fast and slow": fast_and_slow,
    "modulated": modulated,
    "quasi-periodic": quasi_periodic,
    "bursts": bursts,
}


def _grid(rng: np.random.Generator, fastest: float) -> np.ndarray:
    """Forty to three thousand samples, five or more for each oscillation."""
    return np.linspace(0.0, 1.0, int(max(even(rng, 40.0, 3000.0), fastest * rng.uniform(5.0, 20.0))))


def _angle(rng: np.random.Generator, x: np.ndarray, cycles: float) -> np.ndarray:
    return FULL * (cycles * x + rng.uniform())


def _turning(rng: np.random.Generator, cycles: float) -> tuple[np.ndarray, np.ndarray]:
    x = _grid(rng, cycles)
    return x, _angle(rng, x, cycles)


def _oscillators(*angles: np.ndarray) -> dict[str, np.ndarray]:
    together = np.column_stack(angles)
    return {"q": np.cos(together), "p": np.sin(together)}
