"""What a chain keeps over very many steps: unit quaternions, momenta, and the energy without a trend."""

from functools import cache

import numpy as np
import pytest

import poinsot as pt
from chain_reference import Chain as Reference
from poinsot.analysis._travel import travel
from poinsot.coordinates import Directors, Group, Quaternions
from poinsot.equations import MOMENTA
from poinsot.integrators import RK4, GaussLegendre, LieRattle, LieSplitting, Rattle
from poinsot.simulation import Verdict

pytestmark = pytest.mark.slow

COUNT = 8
METHODS = {
    "splitting": (Group(), LieSplitting(), 2e-3),
    "Lie-RATTLE": (Group(), LieRattle(), 2e-3),
    "RATTLE": (Directors(), Rattle(), 2e-3),
    "Gauss 6": (Quaternions(), GaussLegendre(3), 4e-3),
    "Runge-Kutta": (Quaternions(), RK4(), 4e-3),
}
"""Coordinates, method and step."""


@cache
def kicked(size: float) -> tuple[pt.Chain, pt.State]:
    """A free chain at an equilibrium, with random velocities of this standard deviation.

    Momenta and norms are watched where bodies turn fast enough to tell methods apart, the energy where the
    motion stays near the equilibrium.
    """
    chain = pt.library.particle_chain(count=COUNT, ends="free")
    reference = Reference(kind=np.float64)
    straight = chain.straight_state()
    start = np.asarray(straight.position) + 0.02 * np.random.default_rng(0).standard_normal((COUNT, 3))
    still = np.zeros((COUNT, 3))
    rest = reference.at_rest(reference.join(start, np.asarray(straight.quaternion), still, still))
    assert np.max(np.abs(reference.slope(0.0, rest))) < 1e-4
    position, quaternion, *_ = reference.split(rest)
    velocity, spin = size * np.random.default_rng(1).standard_normal((2, COUNT, 3))
    return chain, chain.state(position, quaternion, velocity, spin, normalise=True)


@cache
def kept(method: str, steps: int) -> dict[str, float]:
    """Largest errors along a run, looked at after each step.

    Momenta are in units of the sum of their absolute contributions at the start; "norm" is the largest error
    of the length of a quaternion.
    """
    chain, start = kicked(0.1)
    coordinates, integrator, dt = METHODS[method]
    form = {Group: "group", Directors: "index3"}.get(type(coordinates), "hamiltonian")
    formulation = pt.formulate(chain, coordinates, form).watched(start)
    end = travel(
        formulation.problem, integrator, formulation.problem.pack(formulation.start(start)), dt, steps
    )
    assert end.ok and int(end.steps) == steps
    found = {name: float(np.max(np.asarray(value))) for name, value in end.deviation.items()}
    sizes = contributions(chain, start)
    return {name: found[name] / size for name, size in sizes.items()} | {"norm": found["constraint"]}


def contributions(chain: pt.Chain, state: pt.State) -> dict[str, float]:
    """Sums of the absolute contributions of all bodies to the momenta."""
    p = 4.0 * np.asarray(state.velocity)
    R, J = np.asarray(pt.rotation.to_matrix(state.quaternion)), np.asarray(chain.body.moments)
    spin = np.einsum("nij,j,nj->ni", R, J, np.asarray(state.angular_velocity))
    orbit = np.cross(np.asarray(state.position), p)
    sums = np.sum(np.hstack([np.abs(p), np.abs(orbit) + np.abs(spin)]), axis=0)
    return dict(zip(MOMENTA, sums, strict=True))


def check(method: str, steps: int) -> None:
    errors = kept(method, steps)
    assert all(errors[name] < 1e-12 for name in MOMENTA), errors
    if method == "Gauss 6":
        assert errors["norm"] < 1e-13


def test_momenta_and_unit_quaternions_for_ten_thousand_steps():
    check("Gauss 6", 10_000)


def test_a_method_that_is_not_symplectic_keeps_neither():
    """The control. Linear momentum is linear in the state, which every Runge-Kutta method keeps."""
    errors = kept("Runge-Kutta", 10_000)
    assert all(errors[name] < 1e-12 for name in MOMENTA[:3])
    assert all(errors[name] > 1e-10 for name in MOMENTA[3:])
    assert errors["norm"] > 1e-11


@pytest.mark.parametrize("method", ["splitting", "Lie-RATTLE", "RATTLE", "Gauss 6"])
def test_momenta_and_unit_quaternions_for_a_hundred_thousand_steps(method):
    check(method, 100_000)


@cache
def run(method: str, steps: int) -> pt.Trajectory:
    chain, start = kicked(0.02)
    coordinates, integrator, dt = METHODS[method]
    return pt.simulate(
        chain,
        start,
        t1=dt * steps,
        dt=dt,
        coordinates=coordinates,
        integrator=integrator,
        save_every=steps // 1000,
        progress=False,
    )


def change(trajectory: pt.Trajectory) -> float:
    """Rise of a line through the energy along a run, relative to the range of the energy."""
    energy = trajectory.energy
    return abs(np.polyfit(trajectory.t, energy, 1)[0]) * trajectory.t[-1] / np.ptp(energy)


@pytest.mark.parametrize("method", ["splitting", "RATTLE", "Gauss 6"])
def test_no_trend_in_the_energy(method):
    """Either exact, or an oscillation along which nothing rises.

    A chain has many frequencies: where the ranges of both halves of a run are not yet alike, the verdict is
    that it is too short to tell. The line still tells a trend apart.
    """
    verdict = run(method, 100_000).report()["energy"].verdict
    assert verdict is not Verdict.drifting
    assert verdict is Verdict.exact or change(run(method, 100_000)) < 0.05


def test_a_method_that_is_not_symplectic_has_a_trend():
    """The whole chain turns less than once: the report cannot exclude that the trend comes of that."""
    assert run("Runge-Kutta", 100_000).report()["energy"].verdict in (Verdict.drifting, Verdict.short)
    assert change(run("Runge-Kutta", 100_000)) > 0.9
