"""Rows of parallelograms through their level positions, where each loop could fold the other way."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.library._kinematics import moving
from poinsot.library._parallelogram import Row

RATE = -5.0
"""Of the upright bars, in radians per second."""


def turning(loops: int, angle: float) -> tuple[pt.System, Any]:
    """A row whose upright bars turn down through an angle."""
    bars = pt.library.parallelogram(loops=loops)
    return bars, moving(bars, Row(loops), jnp.asarray(angle), jnp.asarray(RATE))


def ran(loops: int, angle: float, steps: int, dt: float, integrator: str = "lie-rattle") -> Any:
    bars, start = turning(loops, angle)
    return pt.simulate(
        bars, start, t1=steps * dt, dt=dt, coordinates="group", integrator=integrator, progress=False
    )


def sines(run: Any) -> np.ndarray:
    """Heights of the tips of the first upright bar."""
    return run.rotation[:, 0, 1, 0]


def landing(loops: int, height: float, before: int, dt: float) -> float:
    """The angle from which the bars have some height after so many steps."""
    angle = -RATE * before * dt
    for _ in range(5):
        angle -= float(sines(ran(loops, angle, before, dt))[-1]) - height
    return angle


@pytest.mark.parametrize("loops", [1, 2])
def test_steps_that_end_next_to_a_singular_position_are_as_good_as_others(loops):
    """The gaps leave the bars free to fold there: round-off of them, 1e-16, over the height."""
    dt, before = 1e-3, 3

    def change(height: float) -> tuple[float, float]:
        run = ran(loops, landing(loops, height, before, dt), 2 * before, dt)
        assert run.result.ok and abs(sines(run)[before] / height - 1.0) < 0.01
        folded = np.ptp(run.rotation[before, : loops + 1, 1, 0])
        return run.energy[-1] - run.energy[0], folded

    far, _ = change(2e-3)
    for height in (1e-6, 1e-8, -1e-8):
        near, folded = change(height)
        assert folded < 2e-10
        assert abs(near - far) < 1e-6 + 1e-12 / abs(height)


def test_a_row_of_twenty_passes_by_a_composition():
    """Forces of one part of a step reach the next one though they are a thousand times as large there."""
    for angle in np.linspace(0.008, 0.012, 9):
        run = ran(20, angle, 8, 5e-4, "lie-rattle-suzuki4")
        assert run.result.ok and sines(run)[0] > 0.0 > sines(run)[-1]
        assert np.ptp(run.energy[[0, -1]]) < 1e-8
