"""Mechanisms described where they start: all joint coordinates are zero there, and nothing moves."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import poinsot as pt

J, METHOD = pt.joints, pt.integrators
LEAN, G = np.pi / 3, 9.81
FALL = -1.2 * G * np.cos(LEAN)
"""Angular acceleration of the cranks, by the equation in `pt.library.parallelogram`."""


@cache
def parallelogram() -> pt.System:
    """Two cranks that lean, and a bar on them; hinges are given in space."""
    foot, tip, bar = np.zeros(3), np.array([np.cos(LEAN), np.sin(LEAN), 0.0]), np.array([1.0, 0.0, 0.0])
    places = {"left": 0.5 * tip, "top": tip + 0.5 * bar, "right": bar + 0.5 * tip}
    lean = pt.rotation.about_z(LEAN)
    hinges = {
        ("ground", "left"): foot,
        ("left", "top"): tip,
        ("top", "right"): tip + bar,
        ("ground", "right"): bar,
    }
    return pt.System(
        [pt.RigidBody(1.0, (0.001, 1 / 12, 1 / 12), name=name) for name in places],
        joints=[J.Revolute(*ends, at=at, name=f"{ends[0]} {ends[1]}") for ends, at in hinges.items()],
        potentials=[pt.potentials.UniformGravity((0.0, -G, 0.0))],
        reference={name: (at, np.eye(3) if name == "top" else lean) for name, at in places.items()},
    )


METHODS = {
    "rattle": METHOD.Rattle(),
    "gauss": METHOD.ConstrainedGauss(2),
    "variational": METHOD.Variational(),
    "energy-momentum": METHOD.EnergyMomentum(),
    "radau": METHOD.ConstrainedRungeKutta(METHOD.RadauIIA(2).tableau),
}


@pytest.mark.parametrize(
    "method", [pytest.param(name, marks=() if name == "rattle" else pytest.mark.slow) for name in METHODS]
)
def test_first_steps_from_zero_angles(method):
    """Gaps there are differences of lengths, rounded like these, however small the angles are."""
    start = parallelogram().assemble()
    for dt in (1e-3, 1e-5):
        run: Any = pt.simulate(
            parallelogram(),
            start,
            t1=5 * dt,
            dt=dt,
            coordinates="joint",
            form="index3",
            integrator=METHODS[method],
            progress=False,
        )
        assert np.max(np.abs(run.q[0])) < 1e-15  # Nothing but rounding, however the pose is worked out.
        turned, angle = 0.5 * FALL * run.t**2, run.joint("ground left").angle
        # Next terms of the series, and errors of a method of order 2, are of this size.
        assert np.all(np.abs(angle - turned) <= 4.0 * np.abs(turned) * run.t**2 + 1e-14)
