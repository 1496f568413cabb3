"""What methods with multipliers keep of jointed systems over many steps."""

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis._mechanism_standard import standard_tree
from poinsot.analysis._travel import travel
from poinsot.integrators import AbstractIntegrator

methods = pt.integrators
EPS = 2.0**-52
MEAN = pt.coordinates.Quaternions(sigma="mean")


How = tuple[Any, str, AbstractIntegrator]
"""Coordinates, form and method."""


def travelled(system: pt.System, how: How, h: float, steps: int) -> dict[str, float]:
    """Largest deviations of what is conserved."""
    coordinates, form, method = how
    formulation = pt.formulate(system, coordinates, form).watched(system.start)
    y = formulation.problem.pack(formulation.start(system.start))
    run = travel(formulation.problem, method, y, h, steps)
    assert run.ok
    return {name: float(np.max(np.asarray(value))) for name, value in run.deviation.items()}


HELD: dict[str, How] = {
    "rattle, directors": ("directors", "index3", methods.Rattle()),
    "rattle, quaternions": ("quaternions", "index3", methods.Rattle()),
    "variational, sigma": (MEAN, "index3", methods.Variational()),
    "variational, directors": ("directors", "index3", methods.Variational()),
    "gauss, hamiltonian": ("quaternions", "hamiltonian", methods.ConstrainedGauss(2)),
    "rattle on the group": ("group", "group", methods.LieRattle()),
}


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        pytest.param(
            name, steps, marks=() if (name, steps) == ("rattle, directors", 1000) else pytest.mark.slow
        )
        for name in HELD
        for steps in (1000, 100_000)
    ],
)
def test_joints_stay_closed(name, steps):
    """Joints of a rod of length one and their rates at round-off, energy without a trend."""
    deviation = travelled(pt.library.rod_pendulum(1), HELD[name], 1e-2, steps)
    assert deviation["joints"] < 1e-12 and deviation["joint rates"] < 1e-12
    assert deviation["constraint"] < 1e-12
    assert deviation["energy"] < 2e-2


@cache
def floating() -> pt.System:
    """Two bodies on a ball joint that nothing else holds, one of them turning about no axis of its own."""
    system = pt.System(
        [pt.RigidBody(1.0, (0.9, 1.1, 0.7), name="one"), pt.RigidBody(0.8, (0.5, 0.6, 0.4), name="two")],
        joints=[pt.joints.Spherical("one", "two", at_first=(0.2, 0.1, -0.8), at_second=(-0.1, 0.3, 0.7))],
    )
    near = system.state(
        position=[(0.0, 0.0, 0.0), (0.3, -0.2, -1.5)],
        velocity=[(0.1, 0.2, -0.3), (0.0, 0.1, 0.0)],
        angular_velocity=[(0.7, -0.5, 1.1), (0.2, 0.9, -0.4)],
    )
    return system.recommending(system.assemble(near), 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
def test_momenta_of_a_floating_pair(name):
    steps = 10_000
    deviation = travelled(floating(), HELD[name], 0.02, steps)
    for momentum in ("p_x", "p_y", "p_z", "L_x", "L_y", "L_z"):
        assert deviation[momentum] < 16 * EPS * np.sqrt(steps) + steps * EPS


LOSING: dict[str, How] = {
    "energy-momentum, quaternions": ("quaternions", "index3", methods.EnergyMomentum()),
    "terze-rattle": ("group", "group", methods.TerzeRattle()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSING)
def test_what_declares_linear_momentum_alone_loses_the_angular_one(name):
    deviation = travelled(floating(), LOSING[name], 0.02, 2000)
    assert max(deviation[momentum] for momentum in ("p_x", "p_y", "p_z")) < 1e-12
    assert max(deviation[momentum] for momentum in ("L_x", "L_y", "L_z")) > 1e-6


@pytest.mark.slow
def test_energy_momentum_keeps_all_of_a_floating_pair_in_directors():
    deviation = travelled(floating(), ("directors", "index3", methods.EnergyMomentum()), 0.02, 10_000)
    for name in ("p_x", "p_y", "p_z", "L_x", "L_y", "L_z", "energy", "joints"):
        assert deviation[name] < 1e-12, name


def bowl(x, R):
    """A potential that declares nothing of itself."""
    return 0.3 * jnp.sum(jnp.cos(x)) + 0.1 * jnp.sum(R[:, 0, 1] ** 3)


POTENTIALS = {
    "gravity": lambda: pt.potentials.UniformGravity((0.0, 0.0, -9.81)),
    "pair": lambda: pt.potentials.LennardJones(0.1, 1.0),
    "function": lambda: bowl,
}


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["directors", "quaternions"])
@pytest.mark.parametrize("kind", POTENTIALS)
def test_energy_momentum_keeps_the_energy_for_every_potential(kind, coordinates):
    tree = standard_tree()
    assert isinstance(tree.system, pt.System)
    system = pt.System(tree.system.bodies, joints=tree.system.joints, potentials=[POTENTIALS[kind]()])
    system = system.recommending(tree.start, 0.02)
    deviation = travelled(system, (coordinates, "index3", methods.EnergyMomentum()), 0.02, 10_000)
    assert deviation["energy"] < 1e-11
    assert deviation["joints"] < 1e-12
    if kind != "function" and coordinates == "directors":
        assert deviation["L_z"] < 1e-12, "where potentials declare their invariants"
    rattle = travelled(system, (coordinates, "index3", methods.Rattle()), 0.02, 1000)
    assert rattle["energy"] > 1e-8, "which is no matter of course"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rattle, directors", "variational, sigma"])
def test_joints_of_a_loop_after_a_hundred_thousand_steps(name):
    """A crank-rocker of four metres, with redundant conditions: joints at position and velocity level."""
    deviation = travelled(pt.library.four_bar(), HELD[name], 1e-3, 100_000)
    assert deviation["joints"] < 1e-12 and deviation["joint rates"] < 1e-12


def trend(system: pt.System, method: str, dt: float, steps: int) -> float:
    """Change of the mean energy from the first to the last third of a run, in units of its range."""
    run = pt.simulate(
        system, system.start, t1=steps * dt, dt=dt, coordinates="group", integrator=method, save_every=20,
        progress=False,
    )  # fmt: skip
    first, _, last = np.array_split(np.asarray(run.energy), 3)
    return abs(np.mean(last) - np.mean(first)) / np.ptp(run.energy)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "hinge_pendulum", "bricard", "gimbals", "slider_crank"])
def test_energy_has_no_trend(name):
    assert trend(getattr(pt.library, name)(), "lie-rattle", 1e-3, 100_000) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "hinge_pendulum"])
def test_the_trend_of_a_method_that_is_not_symplectic_is_seen(name):
    assert trend(getattr(pt.library, name)(), "rk4", 1e-2, 20_000) > 0.3
