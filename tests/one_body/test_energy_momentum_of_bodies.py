"""Energy-momentum methods on a body with a nonlinear potential: what they keep, where, and for how long."""

from functools import cache

import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.analysis._body_standard import standard_body, standard_start
from poinsot.analysis._travel import travel
from poinsot.coordinates import Directors, Quaternions
from poinsot.integrators import RK4, AbstractIntegrator, EnergyMomentum

METHOD = EnergyMomentum()
SIZES = {"energy": 4.0, "L_z": 2.0}
"""Sizes of the terms that energy and vertical momentum of the standard body are made of."""
FORMULATIONS = {
    "quaternions, free": (Quaternions(), "hamiltonian"),
    "quaternions, multiplier": (Quaternions(), "index3"),
    "directors, free": (Directors(), "hamiltonian"),
    "directors, multipliers": (Directors(constraints="columns"), "index3"),
}


@cache
def opaque_body() -> pt.System:
    """The standard body with the same potential as one function, which declares nothing."""
    known = standard_body()
    return pt.System(
        known.bodies,
        freedom=known.freedom,
        potentials=[lambda x, R: sum(term.energy(0.0, x, R) for term in known.potentials)],
    )


@cache
def prepared(system_of, coordinates, form):
    formulation = pt.formulate(system_of(), coordinates, form).watched(standard_start())
    return formulation.problem, formulation.problem.pack(formulation.start(standard_start()))


def lost(
    formulation, steps, system_of=standard_body, method: AbstractIntegrator = METHOD
) -> dict[str, float]:
    """Largest deviations of energy and vertical momentum over a run, relative to their terms."""
    problem, y = prepared(system_of, *formulation)
    run = travel(problem, method, y, 0.05, steps)
    assert run.ok
    return {name: float(run.deviation[name]) / size for name, size in SIZES.items()}


@pytest.mark.parametrize(
    "name", of_the_long_suite(["quaternions, free", "directors, multipliers"], {"quaternions, free"})
)
def test_energy_and_vertical_momentum_over_ten_thousand_steps(name):
    deviation = lost(FORMULATIONS[name], 10_000)
    assert deviation["energy"] < 1e-12 and deviation["L_z"] < 1e-12


@pytest.mark.slow
def test_with_multipliers_velocities_leave_the_constraints_and_it_shows():
    problem, y = prepared(standard_body, *FORMULATIONS["directors, multipliers"])
    run = travel(problem, METHOD, y, 0.05, 100)
    assert np.max(run.deviation["constraint"]) < 1e-14 and np.max(run.deviation["constraint rate"]) > 1e-5


def test_the_same_over_a_hundred_thousand_steps():
    deviation = lost(FORMULATIONS["quaternions, free"], 100_000)
    assert deviation["energy"] < 1e-12 and deviation["L_z"] < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_same_over_a_hundred_thousand_steps_in_every_formulation(name):
    deviation = lost(FORMULATIONS[name], 100_000)
    assert deviation["energy"] < 1e-12 and deviation["L_z"] < 1e-12


def test_an_opaque_potential_leaves_the_energy_alone():
    deviation = lost(FORMULATIONS["quaternions, free"], 10_000, opaque_body)
    assert deviation["energy"] < 1e-12 and deviation["L_z"] > 1e-8
    assert EnergyMomentum().conserves == {"energy"}


@pytest.mark.slow
def test_constraints_on_rows_lose_the_vertical_momentum():
    """Products of rows change when the body turns in space, and their discrete forces exert a torque."""
    deviation = lost((Directors(constraints="rows"), "index3"), 1_000)
    assert deviation["energy"] < 1e-12 and deviation["L_z"] > 1e-6


def test_an_explicit_method_loses_both():
    deviation = lost(FORMULATIONS["quaternions, free"], 10_000, method=RK4())
    assert deviation["energy"] > 1e-7 and deviation["L_z"] > 1e-8


@pytest.mark.slow
def test_what_is_kept_is_what_the_bodies_show():
    """The energy and momentum of the trajectory, from positions and velocities, are those of the problem."""
    run = pt.simulate(
        standard_body(),
        standard_start(),
        t1=5.0,
        dt=0.05,
        coordinates=Quaternions(),
        form="hamiltonian",
        integrator=EnergyMomentum(),
        progress=False,
    )
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(run.angular_momentum[:, 2], run.angular_momentum[0, 2], rtol=0.0, atol=1e-13)
    assert np.ptp(run.angular_momentum[:, 0]) > 0.1


@pytest.mark.slow
def test_a_long_step_that_has_a_solution_finds_it():
    """A top that turns by 1.4 in a step: substitution diverges, Newton's method does not."""
    top = pt.library.regular_precession()
    run = pt.simulate(
        top,
        top.start,
        t1=0.5,
        dt=0.01,
        coordinates=Directors(),
        form="hamiltonian",
        integrator=EnergyMomentum(),
        progress=False,
    )
    assert run.result.ok
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-13)
    assert np.max(np.abs(run.constraint)) < 1e-13
