"""One motion of a chain, whatever the coordinates, the form and the method, under every end condition.

The motion it is compared with comes from Newton's and Euler's equations written down by hand, in 80-bit
numbers and by extrapolation: nothing of it is the package's.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from chain_reference import Chain as Reference
from chain_reference import extrapolated, rotations
from poinsot.analysis._travel import travel
from poinsot.coordinates import Directors, Group, Quaternions
from poinsot.integrators import Composition, GaussLegendre, LieRattle, LieSplitting, Rattle, Variational
from poinsot.kernels import once

COUNT, SPACING, FORCE, HELD = 8, 2.0, (3.0, 0.0, 0.0), (14.2, 0.1, 0.0)
STILL = np.zeros(3, dtype=np.longdouble)


def path(t):
    """Where the last mass centre is led."""
    return jnp.stack([14.0 + 0.2 * jnp.sin(2.0 * t), 0.1 * t, 0.0 * t])


def pace(t):
    """Its velocity."""
    return np.array([0.4 * np.cos(2 * t), np.longdouble(1) / 10, 0], dtype=np.longdouble)


ENDS = {
    "clamped": (("clamped", "clamped"), Reference(still=(0, 7))),
    "force": (("clamped", pt.ends.force(FORCE)), Reference(still=(0,), forces={7: FORCE})),
    "displaced": (
        ("clamped", pt.ends.displaced(HELD)),
        Reference(still=(0,), pinned={7: lambda t: STILL}),
    ),
    "moved": (("clamped", pt.ends.displaced(path)), Reference(still=(0,), pinned={7: pace})),
    "free": ("free", Reference()),
}
SPLITTING = LieSplitting()
METHODS = {
    "Gauss 12": (Quaternions(), "hamiltonian", GaussLegendre(6)),
    "Gauss 6": (Quaternions(), "hamiltonian", GaussLegendre(3)),
    "Gauss 8, multiplier": (Quaternions(I0=1.0), "hamiltonian", GaussLegendre(4)),
    "Gauss 8, directors": (Directors(), "null_space", GaussLegendre(4)),
    "splitting of order 8": (Group(), "group", Composition(SPLITTING, "kahan-li8")),
    "splitting of order 6": (Group(), "group", Composition(SPLITTING, "kahan-li6")),
    "splitting of order 4": (Group(), "group", Composition(SPLITTING, "suzuki4")),
    "splitting": (Group(), "group", SPLITTING),
    "Lie-RATTLE": (Group(), "group", LieRattle()),
    "RATTLE": (Directors(), "index3", Rattle()),
    "RATTLE of order 6": (Directors(), "index3", Composition(Rattle(), "kahan-li6")),
    "RATTLE, quaternions": (Quaternions(I0=1.0), "index3", Rattle()),
    "variational": (Quaternions(sigma="mean"), "index3", Variational()),
}
HIGH = {
    "Gauss 12": 1e-2,
    "Gauss 6": 2.5e-3,
    "Gauss 8, multiplier": 4e-3,
    "Gauss 8, directors": 4e-3,
    "splitting of order 8": 4e-3,
    "RATTLE of order 6": 1.25e-3,
}
"""Steps with which methods of high order are to meet 1e-8."""
LOW = {
    "splitting": (2e-3, 2),
    "Lie-RATTLE": (2e-3, 2),
    "RATTLE": (2e-3, 2),
    "RATTLE, quaternions": (2e-3, 2),
    "variational": (2e-3, 2),
    "splitting of order 4": (5e-3, 4),
    "splitting of order 6": (5e-3, 6),
}
"""Steps at which the others are to show their order."""
EVERYWHERE = (
    "Gauss 12",
    "Gauss 8, multiplier",
    "splitting of order 8",
    "splitting",
    "RATTLE of order 6",
    "RATTLE",
    "variational",
)
"""Methods that are tried under all end conditions, the others under a force alone."""


def combinations(methods):
    """Ends with methods."""
    return [(end, method) for end in ENDS for method in methods if method in EVERYWHERE or end == "force"]


@cache
def started(end):
    chain = pt.library.particle_chain(count=COUNT, spacing=SPACING, ends=ENDS[end][0])
    return chain, chain.straight_state(velocity_scale=0.05, seed=0)


def vector(end, kind: type = np.longdouble):
    """The start as the reference has it."""
    _, state = started(end)
    reference = ENDS[end][1]
    parts = (state[name] for name in ("position", "quaternion", "velocity", "angular_velocity"))
    return reference.join(*(np.asarray(part) for part in parts)).astype(kind)


def shown(reference, y):
    """Positions, rotations, velocities and angular velocities at t = 1."""
    x, q, v, Omega = (part.astype(float) for part in reference.split(y))
    for body, velocity in reference.pinned.items():
        v[body] = velocity(1.0)
    return x, rotations(q), v, Omega


@cache
def exact(end):
    """The motion at t = 1, to 1e-11 (see the first test)."""
    reference = ENDS[end][1]
    return shown(reference, extrapolated(reference.slope, vector(end), 1.0, 50))


@once
def seen(formulation, t, y):
    motion = formulation.motion(t, y)
    return motion.position, motion.rotation, motion.velocity, motion.angular_velocity


@cache
def formulated(end, method):
    chain, state = started(end)
    coordinates, form, _ = METHODS[method]
    formulation = pt.formulate(chain, coordinates, form)
    return formulation, formulation.problem.pack(formulation.start(state))


def error(end, method, h) -> float:
    """Largest difference from the exact motion at t = 1."""
    formulation, y = formulated(end, method)
    run = travel(formulation.problem, METHODS[method][2], y, h, round(1.0 / h))
    assert run.ok
    found = seen(formulation, jnp.ones(()), run.y)
    return max(float(np.max(np.abs(a - b))) for a, b in zip(found, exact(end), strict=True))


@pytest.mark.slow
def test_the_exact_motion_is_one():
    """Two step sizes of the extrapolation and SciPy's DOP853 agree, and the energy is conserved."""
    reference = ENDS["force"][1]
    y = vector("force")
    finer = extrapolated(reference.slope, y, 1.0, 80)
    for part, other in zip(shown(reference, finer), exact("force"), strict=True):
        np.testing.assert_allclose(part, other, rtol=0.0, atol=1e-11)
    assert abs(reference.energy(finer) - reference.energy(y)) < 1e-11
    double = Reference(still=reference.still, forces=reference.forces, kind=np.float64)
    start = vector("force", np.float64)
    by_scipy = solve_ivp(double.slope, (0.0, 1.0), start, method="DOP853", rtol=1e-13, atol=1e-13)
    for part, other in zip(shown(double, by_scipy.y[:, -1]), exact("force"), strict=True):
        np.testing.assert_allclose(part, other, rtol=0.0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(("end", "method"), combinations(HIGH))
def test_methods_of_high_order_meet_the_motion(end, method):
    assert error(end, method, HIGH[method]) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(("end", "method"), combinations(LOW))
def test_the_others_come_near_with_their_order(end, method):
    h, order = LOW[method]
    coarse, fine = error(end, method, h), error(end, method, 0.5 * h)
    assert fine < 1e-2
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.15)


@pytest.mark.slow
def test_another_start_is_another_motion():
    """The control: a start that differs by a millionth is told apart."""
    formulation, y = formulated("free", "splitting of order 8")
    end = travel(formulation.problem, METHODS["splitting of order 8"][2], y.at[3].add(1e-6), 4e-3, 250)
    assert end.ok
    assert np.max(np.abs(seen(formulation, jnp.ones(()), end.y)[0] - exact("free")[0])) > 1e-7
