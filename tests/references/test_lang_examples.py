"""Every formulation on Lang's examples: at its declared order to one motion, which is heyoka's."""

from functools import cache

import equinox as eqx
import jax
import numpy as np
import pytest
from heyoka_top import stored

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.coordinates import Directors, EulerAngles, Group, Quaternions
from poinsot.integrators import Composition, GaussLegendre
from poinsot.integrators.coefficients import radau_iia, rk4
from poinsot.integrators.constrained import ConstrainedRungeKutta, Rattle
from poinsot.integrators.energy_momentum import EnergyMomentum
from poinsot.integrators.lie import (
    KryslEndresNewmark,
    LieMidpoint,
    LieRattle,
    LieSplitting,
    MuntheKaas,
    TerzeRattle,
)
from poinsot.integrators.variational import Variational
from quickly import QUICK

GAUSS, RADAU = GaussLegendre(3), ConstrainedRungeKutta(radau_iia(3))
EULER = EulerAngles("zxz")
CASES = {
    "quaternions, Hamiltonian": (Quaternions(), "hamiltonian", GAUSS, 0.01),
    "quaternions, Hamiltonian, energy-momentum": (Quaternions(), "hamiltonian", EnergyMomentum(), 2e-3),
    "quaternions, index 3, Rattle": (Quaternions(), "index3", Rattle(), 2e-3),
    "quaternions, index 3, variational": (Quaternions(sigma="mean"), "index3", Variational(), 1e-3),
    "quaternions, index 2": (Quaternions(sigma="mean"), "index2", RADAU, 0.005),
    "quaternions, index 1": (Quaternions(), "index1", GAUSS, 0.02),
    "quaternions, index 0": (Quaternions(), "index0", GAUSS, 0.02),
    "quaternions, null space": (Quaternions(), "null_space", GAUSS, 0.01),
    "directors, Hamiltonian": (Directors(), "hamiltonian", GAUSS, 0.01),
    "directors, index 3, Rattle": (Directors(), "index3", Rattle(), 2e-3),
    "directors, index 3, variational": (Directors(sigma="mean"), "index3", Variational(), 1e-3),
    "directors, index 2": (Directors(), "index2", RADAU, 0.0025),
    "directors, index 1": (Directors(), "index1", GAUSS, 0.01),
    "directors, index 0": (Directors(), "index0", GAUSS, 0.01),
    "directors, null space": (Directors(), "null_space", GAUSS, 0.01),
    "Euler angles, Hamiltonian": (EULER, "hamiltonian", GAUSS, 0.01),
    "Euler angles, index 0": (EULER, "index0", GAUSS, 0.01),
    "Euler angles, null space": (EULER, "null_space", GAUSS, 0.01),
    "group, Gauss": (Group(), "group", GAUSS, 0.01),
    "group, splitting": (Group(), "group", LieSplitting(), 2e-3),
    "group, splitting, exact free motion": (Group(), "group", LieSplitting("exact"), 2e-3),
    "group, splitting of order 8": (Group(), "group", Composition(LieSplitting(), "kahan-li8"), 0.04),
    "group, Rattle": (Group(), "group", LieRattle(), 2e-3),
    "group, midpoint": (Group(), "group", LieMidpoint(), 2e-3),
    "group, Munthe-Kaas": (Group(), "group", MuntheKaas(rk4()), 2e-3),
    "group, Newmark": (Group(), "group", KryslEndresNewmark(), 2e-3),
    "group, Terze": (Group(), "group", TerzeRattle(), 2.5e-5),
}
"""Coordinates, form, integrator, and a step at which the error shows its order."""


@cache
def gyro_top():
    return pt.library.gyro_top()


def differences(reached, name: str, place: int = 0) -> float:
    """Largest difference in a component of R or Omega from the stored motion."""
    reference = stored(name)
    return max(
        float(np.max(np.abs(reached[0] - reference.R[place]))),
        float(np.max(np.abs(reached[1] - reference.Omega[place]))),
    )


@eqx.filter_jit(**QUICK)
def pose(formulation, t, state):
    """Rotation and body angular velocity of the one body."""
    motion = formulation.motion(t, formulation.problem.pack(state))
    return motion.rotation[0], motion.angular_velocity[0]


def end_of_runs(coordinates, form: str, integrator, dt: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Ends at t = 10 with steps dt and dt / 2; the latter in two runs, which need no other program."""
    formulation, steps = pt.formulate(gyro_top(), coordinates, form), round(10.0 / dt)
    ends = []
    for parts in (1, 2):
        state = formulation.start(gyro_top().start)
        for part in range(parts):
            run = pt.solve(
                formulation.problem,
                integrator,
                state,
                dt=dt / parts,
                steps=steps,
                t0=part * 5.0,
                save_every=steps,
            )
            assert int(run.result) == 0
            state = jax.tree.map(lambda saved: saved[-1], run.state)
        ends.append(tuple(np.asarray(part) for part in pose(formulation, 10.0, state)))
    return ends


@pytest.mark.parametrize(
    "name", of_the_long_suite(tuple(CASES), {"quaternions, null space", "group, splitting"})
)
def test_formulation_converges_to_the_motion_of_example_a(name):
    """The error falls with the declared order, and what extrapolation leaves of it is far smaller."""
    order, (coarse, fine) = CASES[name][2].order, end_of_runs(*CASES[name])
    errors = [differences(reached, "example A") for reached in (coarse, fine)]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.05 * order
    limit = [b + (b - a) / (2.0**order - 1.0) for a, b in zip(coarse, fine, strict=True)]
    assert differences(limit, "example A") < 0.2 * errors[1]


NULL_SPACE = {"quaternions": Quaternions(), "directors": Directors(), "Euler angles": EULER}


def end(example, t1: float, dt: float, coordinates) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and body angular velocity at the end of a run in the null-space form."""
    run = pt.simulate(
        example,
        example.start,
        t1=t1,
        dt=dt,
        coordinates=coordinates,
        form="null_space",
        integrator=GaussLegendre(6),
        save_every=round(t1 / dt),
        progress=False,
    )
    return run.rotation[-1, 0], run.angular_velocity[-1, 0]


@pytest.mark.parametrize("name", of_the_long_suite(tuple(NULL_SPACE), {"quaternions"}))
def test_null_space_forms_follow_example_a_for_a_minute(name):
    reached = end(gyro_top(), 60.0, 0.02, NULL_SPACE[name])
    assert differences(reached, "example A", place=1) < 1e-8


@pytest.mark.parametrize("name", of_the_long_suite(tuple(NULL_SPACE), {"directors"}))
def test_null_space_forms_follow_the_tennis_racket(name):
    """Round-off grows by 1e7 in the second case and by 1e11 in the third."""
    for disturbance, t1, bound in ((1e-1, 0.4, 1e-8), (1e-5, 1.0, 1e-6), (1e-3, 1.2, 1e-3)):
        example = pt.library.tennis_racket(disturbance=disturbance)
        reached = end(example, t1, 2e-3, NULL_SPACE[name])
        assert differences(reached, f"example B, 1e{round(np.log10(disturbance))}") < bound
