"""What steps with joints keep: the symplectic form on the surface of closed joints, momenta, the joints."""

from typing import Any

import numpy as np
import pytest

import poinsot as pt
from deviations import deviation
from poinsot.analysis import certify_body
from poinsot.analysis._body_certificate import SPECIMENS, SYMPLECTIC
from poinsot.analysis._body_form import symplectic_defect, tangents
from poinsot.integrators import RK4, AbstractIntegrator, LieRattle
from poinsot.integrators._base import Traits

MECHANISMS = pytest.mark.parametrize("mechanism", ["tree", "loop"])


class Projected(AbstractIntegrator):
    """Runge-Kutta with joints closed after each step: on the surface, and not symplectic there."""

    @property
    def traits(self) -> Traits:
        return RK4().traits

    def init(self, problem: Any, t, h, y):
        return RK4().init(problem, t, h, y)

    def step(self, problem: Any, t, h, y, carry):
        y, carry, info = RK4().step(problem, t, h, y, carry)
        return problem.project(t + h, y, "both"), carry, info


def defect(mechanism, method, h=None):
    on = SPECIMENS[mechanism]()
    formulation = pt.formulate(on.system, "group", "group")
    return symplectic_defect(formulation, method, on.start, on.step if h is None else h)


def test_a_step_of_a_rod_on_a_ball_joint_is_symplectic_and_one_of_runge_kutta_is_not():
    rod = pt.library.rod_pendulum(1)
    formulation = pt.formulate(rod, "group", "group")
    assert symplectic_defect(formulation, LieRattle(), rod.start, 0.05) < SYMPLECTIC
    assert symplectic_defect(formulation, RK4(), rod.start, 0.05) > 1e3 * SYMPLECTIC


@pytest.mark.slow
@MECHANISMS
def test_a_step_with_joints_is_symplectic(mechanism):
    assert defect(mechanism, LieRattle()) < SYMPLECTIC


@pytest.mark.slow
def test_tangent_vectors_are_those_of_closed_joints():
    """Two for each degree of freedom, also where conditions are redundant."""
    for mechanism, freedoms in (("tree", 4), ("loop", 1)):
        on = SPECIMENS[mechanism]()
        assert tangents(on.system, on.start).shape == (24, 2 * freedoms)


@pytest.mark.slow
@MECHANISMS
def test_projection_does_not_make_runge_kutta_symplectic(mechanism):
    for method in (RK4(), Projected()):
        assert defect(mechanism, method, 0.1) > 1e3 * SYMPLECTIC


@pytest.mark.slow
def test_certificates_with_joints_tell_projected_runge_kutta_from_what_it_is_not():
    certificate = certify_body(Projected(), "group", "group", specimen="tree")
    assert certificate.order == pytest.approx(4.0, abs=0.15)
    assert certificate.symmetric is not None and certificate.symmetric > 1e-12
    assert certificate.position is not None and certificate.position < 1e-13
    assert certificate.momentum is not None and certificate.momentum > 1e-12


def test_a_method_that_holds_no_joints_is_refused():
    certificate = certify_body("lie-splitting", "group", "group", specimen="tree")
    assert certificate.refused is not None and "does not hold joints" in certificate.refused
    with pytest.raises(pt.InputError, match="system 'tre' is not known; did you mean tree"):
        certify_body("rk4", "group", "group", specimen="tre")


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [pt.library.two_body_linkage, pt.library.parallelogram, pt.library.rod_pendulum, pt.library.bricard],
)
def test_joints_after_a_hundred_thousand_steps(make):
    """Joints at round-off of the size of the system, and energy without a trend."""
    system = make()
    dt = 2e-4 if make is pt.library.two_body_linkage else 1e-3
    run = pt.simulate(
        system, system.start, t1=1e5 * dt, dt=dt, coordinates="group", integrator="lie-rattle",
        save_every=50, progress=False,
    )  # fmt: skip
    assert run.result.ok
    report, size = run.report(), np.max(np.abs(run.position))
    speed = np.max(np.abs(run.velocity))
    assert deviation(run, "joints") < 1e-12 * size
    assert deviation(run, "joint rates") < 1e-12 * speed
    assert report["energy"].verdict != "drifting"
    halves = np.array_split(run.energy, 2)
    assert np.ptp(halves[1]) < 2.0 * np.ptp(halves[0]), "no trend"


class Leaking(AbstractIntegrator):
    """Body angular momenta off by a little after each step, and with them the rates of joints."""

    leak: float

    @property
    def traits(self) -> Traits:
        return LieRattle().traits

    def init(self, problem: Any, t, h, y):
        return LieRattle().init(problem, t, h, y)

    def step(self, problem: Any, t, h, y, carry):
        y, carry, info = LieRattle().step(problem, t, h, y, carry)
        parts = problem.split(y)
        return problem.join(parts._replace(m=parts.m + self.leak)), carry, info


@pytest.mark.slow
@pytest.mark.parametrize(("leak", "exact"), [(0.0, True), (1e-14, False)])
def test_round_off_of_the_rates_of_joints_is_that_of_velocities(leak, exact):
    """About the axis of a slender bar an error of 1e-14 in a momentum is one of 1e-11 in its velocity."""
    system = pt.library.bricard()
    run = pt.simulate(
        system, system.start, t1=1.0, dt=1e-3, coordinates="group", integrator=Leaking(leak), save_every=10,
        progress=False,
    )  # fmt: skip
    row = run.report()["joint rates"]
    assert row.roundoff < 1e-12
    assert (row.verdict == "exact to round-off") is exact
