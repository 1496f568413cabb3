"""The symmetric top of chapter 2 as a rigid body, for the methods in quaternions and rotation matrices."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from poinsot.core import State
from poinsot.integrators import AbstractIntegrator
from poinsot.library import heavy_top
from poinsot.model import System
from poinsot.papers._reproduction import Number
from poinsot.papers.chaurasia2012._top import (
    AXIAL,
    END,
    GRAVITY,
    LENGTH,
    MASS,
    QUICK_END,
    STEP,
    TRANSVERSE,
    turning_points,
)
from poinsot.rotation import euler
from poinsot.simulation import BodyTrajectory, simulate

THETA, PSI, PHI = math.pi / 4, math.pi / 180, math.pi / 180
THETA_RATE, PSI_RATE, PHI_RATE = 1.0, 1.0, 100.0


def top(theta: float = THETA) -> tuple[System, State]:
    """The top with the data of section 2.5, and its start; `theta` tilts it otherwise."""
    system = heavy_top((TRANSVERSE, TRANSVERSE, AXIAL), mass=MASS, length=LENGTH, gravity=GRAVITY)
    across = PSI_RATE * math.sin(theta)
    Omega = (
        THETA_RATE * math.sin(PHI) - across * math.cos(PHI),
        THETA_RATE * math.cos(PHI) + across * math.sin(PHI),
        PHI_RATE + PSI_RATE * math.cos(theta),
    )
    return system, system.state(rotation=euler("zyz", (PSI, theta, PHI)), angular_velocity=Omega)


def run_top(
    integrator: AbstractIntegrator,
    coordinates,
    form: str,
    quick: bool,
    progress: bool | None,
    dt: float = STEP,
    t1: float | None = None,
) -> BodyTrajectory:
    """The top for 20 s, or 5 s if quick, or up to another time."""
    system, start = top()
    run = simulate(
        system,
        start,
        t1=t1 or (QUICK_END if quick else END),
        dt=dt,
        coordinates=coordinates,
        form=form,
        integrator=integrator,
        progress=progress,
    )
    assert isinstance(run, BodyTrajectory)
    return run


def limits(run: BodyTrajectory) -> tuple[float, float]:
    """Smallest and largest nutation angle that theory gives for the start of a run."""
    return turning_points(run.energy[0], run.angular_momentum[0, 2], run.angular_velocity[0, 0, 2])


def nutation(run: BodyTrajectory, within: float) -> list[Number]:
    """Both nutation angles beside theory."""
    tilt = np.arccos(run.rotation[:, 0, 2, 2])
    steepest, flattest = limits(run)
    return [
        Number.matches("smallest nutation angle [rad]", np.min(tilt), steepest, within, "theory"),
        Number.matches("largest nutation angle [rad]", np.max(tilt), flattest, within, "theory"),
    ]


def order(coarse: float, fine: float) -> float:
    """Order at which an error falls when the step is halved."""
    return math.log2(coarse / fine)


def measured_order(run: Callable[[float, float], BodyTrajectory]) -> Number:
    """Order of a method, from the path of the mass centre with three steps; `run` takes step and end."""
    paths = [run(STEP / parts, 1.0).position[::parts, 0] for parts in (1, 2, 4)]
    apart = [float(np.max(np.linalg.norm(a - b, axis=1))) for a, b in pairwise(paths)]
    return Number.matches(
        "order, from three steps up to t = 1", order(*apart), 2.0, 0.2, "order of the method"
    )


def change(values: np.ndarray) -> float:
    """Largest change relative to the start."""
    return float(np.max(np.abs(values / values[0] - 1.0)))
