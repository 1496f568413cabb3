"""Joints in every coordinates and every form of the equations: one motion, whatever is integrated."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_joint_kinds import KINDS
from test_joint_kinds import start as joined_start
from test_joint_kinds import system as joined
from test_jointed_motion import G, linkage_by_hand

import poinsot as pt
from deviations import deviation
from poinsot.kernels import once
from poinsot.papers.lang2010._linkage import AT_HALF_A_SECOND

LINKAGE, BARS = pt.library.two_body_linkage(), pt.library.parallelogram()
FORMS = {
    "quaternions": ("null_space", "index0", "index1", "index2", "index3", "hamiltonian"),
    "directors": ("null_space", "index0", "index1", "index2", "index3"),
    "euler-angles": ("null_space", "index0", "index1", "index3"),
}
QUICK = {("quaternions", "null_space"), ("directors", "index0"), ("quaternions", "index3")}
CASES = [
    pytest.param(kind, form, marks=() if (kind, form) in QUICK else pytest.mark.slow)
    for kind, forms in FORMS.items()
    for form in forms
]


@once
def _rates(formulation, t, state):
    """Rates of positions, rotations, velocities and angular velocities, and the power of the drives."""
    y = formulation.problem.pack(formulation.start(state, t))

    def seen(t, y):
        return formulation.poses(t, *formulation.rates(t, y))

    field = formulation.problem.vector_field(t, y)
    return jax.jvp(seen, (t, y), (jnp.ones_like(t), field))[1]


def rates(system, coordinates, form, t=0.0, state=None):
    state = system.start if state is None else state
    return _rates(pt.formulate(system, coordinates, form), jnp.asarray(t), state)


@cache
def right_rates(system: str):
    if system == "linkage":
        return rates(LINKAGE, "group", "group")
    return rates(BARS, "group", "group", state=leaning())


@cache
def leaning() -> pt.State:
    """The parallelogram aslant, in motion."""
    across = np.array([-np.sin(0.8), np.cos(0.8), 0.0])
    along = np.array([np.cos(0.8), np.sin(0.8), 0.0])
    return BARS.state(
        position=[0.5 * along, 0.5 * along + [1.0, 0.0, 0.0], along + [0.5, 0.0, 0.0]],
        rotation=[pt.rotation.about_z(0.8), pt.rotation.about_z(0.8), np.eye(3)],
        velocity=[across, across, 2.0 * across],
        angular_velocity=[(0.0, 0.0, 2.0), (0.0, 0.0, 2.0), (0.0, 0.0, 0.0)],
    )


def agree(one, other, tolerance):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * (1.0 + np.max(np.abs(b))))


@pytest.mark.parametrize(("coordinates", "form"), CASES)
def test_accelerations_are_those_on_the_group(coordinates, form):
    agree(rates(LINKAGE, coordinates, form), right_rates("linkage"), 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("coordinates", "form"), CASES)
def test_accelerations_in_a_loop_with_redundant_conditions(coordinates, form):
    if coordinates == "euler-angles":
        # Angles about z, x, z are singular for bodies that turn about z alone.
        coordinates = pt.coordinates.EulerAngles("xyz")
    right = right_rates("parallelogram")
    fall = -1.2 * G * np.cos(0.8)
    np.testing.assert_allclose(right[3][:, 2], [fall, fall, 0.0], atol=1e-8)
    agree(rates(BARS, coordinates, form, state=leaning()), right, 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_joint_moves_alike_by_null_space_and_by_multipliers(kind):
    at: Any = {"state": joined_start(kind)}
    right = rates(joined(kind), "group", "group", **at)
    for coordinates, form in (("quaternions", "null_space"), ("directors", "index3")):
        agree(rates(joined(kind), coordinates, form, **at), right, 1e-11)
    free = rates(pt.System(joined(kind).bodies), "quaternions", "null_space", **at)
    assert np.max(np.abs(free[2] - right[2])) > 1e-2, "the joint does something"


def ran(system, coordinates, form, integrator, t1, dt=None, **options):
    given: Any = {"progress": False} | ({} if dt is None else {"dt": dt}) | options
    return pt.simulate(
        system, system.start, t1=t1, coordinates=coordinates, form=form, integrator=integrator, **given
    )


@cache
def by_hand(t1: float):
    return linkage_by_hand(t1)


@pytest.mark.slow
def test_what_the_linkage_is_compared_with_is_right_to_round_off_and_its_growth():
    """Beside extended precision and order 16; round-off grows ten thousandfold until then."""
    assert np.max(np.abs(by_hand(0.5) - AT_HALF_A_SECOND[:2])) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("form", ["null_space", "index0", "index1"])
@pytest.mark.parametrize("coordinates", ["quaternions", "directors", "euler-angles"])
def test_linkage_at_half_a_second(coordinates, form):
    """Chaotic: an error of 1e-12 is 1e-4 at t = 1."""
    # In the null space joints open by as much as the tolerance lets positions be wrong: 1.0e-12 at 1e-12.
    run = ran(LINKAGE, coordinates, form, "dormand-prince8", 0.5, rtol=1e-13, atol=1e-13)
    assert np.max(np.abs(run.position[-1] - by_hand(0.5))) < 1e-8
    bound = 1e-12 if form == "null_space" else 1e-7
    assert deviation(run, "joints") < bound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coordinates", "form"), [("group", "group"), ("joint", "recursive"), ("joint", "hamiltonian")]
)
def test_linkage_at_half_a_second_on_the_group_and_in_joint_coordinates(coordinates, form):
    # In the null space joints open by as much as the tolerance lets positions be wrong: 1.0e-12 at 1e-12.
    run = ran(LINKAGE, coordinates, form, "dormand-prince8", 0.5, rtol=1e-13, atol=1e-13)
    assert np.max(np.abs(run.position[-1] - by_hand(0.5))) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coordinates", "form"),
    [("quaternions", "hamiltonian"), ("quaternions", "index3"), ("directors", "index3")],
)
def test_linkage_at_half_a_second_with_multipliers(coordinates, form):
    """By Gauss' method of order 6, whose error must also fall like that."""
    errors = []
    for steps in (1000, 2000):
        run = ran(
            LINKAGE, coordinates, form, pt.integrators.ConstrainedGauss(3), 0.5, 0.5 / steps, save_every=steps
        )
        errors.append(np.max(np.abs(run.position[-1] - by_hand(0.5))))
    assert errors[-1] < 1e-8
    assert errors[1] < 1e-9 or 5.5 < np.log2(errors[0] / errors[1]) < 6.5, errors
    speed = max(1.0, np.max(np.abs(run.velocity)))
    assert deviation(run, "joints") < 1e-12 and deviation(run, "joint rates") < 1e-12 * speed


MECHANISMS = {"tree": (LINKAGE, 0.25), "loop": (pt.library.four_bar(), 0.5)}


@cache
def tightly(mechanism: str):
    """Places at the end, by another method on the group."""
    system, t1 = MECHANISMS[mechanism]
    return ran(system, "group", "group", "dormand-prince853", t1, rtol=1e-13, atol=1e-13).position[-1]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("form", ["null_space", "index0"])
@pytest.mark.parametrize("method", ["odex", "dormand-prince8", "taylor"])
def test_adaptive_solvers_with_joints(method, form, mechanism):
    """To their tolerance; in the null space the joints' rates are at round-off, whatever integrates."""
    system, t1 = MECHANISMS[mechanism]
    errors = []
    for tolerance in (1e-7, 1e-11):
        run = ran(system, "quaternions", form, method, t1, rtol=tolerance, atol=tolerance)
        errors.append(np.max(np.abs(run.position[-1] - tightly(mechanism))))
    assert errors[1] < 2e-9 and errors[1] < 0.1 * errors[0], errors
    rates, gaps = deviation(run, "joint rates"), deviation(run, "joints")
    assert rates < 1e-12 if form == "null_space" else 1e-14 < rates < 1e-7
    assert gaps < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("form", ["null_space", "index0"])
@pytest.mark.parametrize(
    "solver", [pt.integrators.Odex, pt.integrators.DormandPrince8, pt.integrators.Taylor]
)
def test_projection_closes_joints_after_each_step(solver, form, mechanism):
    system, t1 = MECHANISMS[mechanism]
    run = ran(system, "quaternions", form, solver(projection="both"), t1, rtol=1e-9, atol=1e-9)
    assert np.max(np.abs(run.position[-1] - tightly(mechanism))) < 1e-7
    speed = np.max(np.abs(run.velocity))
    assert deviation(run, "joints") < 1e-12 and deviation(run, "joint rates") < 1e-12 * max(1.0, speed)


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["quaternions", "directors"])
def test_null_space_needs_less_work_than_index_0(coordinates):
    """At half a second; below 1e-10 the growth of round-off hides the errors of both."""
    for tolerance in (1e-8, 1e-9, 1e-10):
        errors, work = [], []
        for form in ("null_space", "index0"):
            run = ran(LINKAGE, coordinates, form, "dormand-prince8", 0.5, rtol=tolerance, atol=tolerance)
            errors.append(np.max(np.abs(run.position[-1] - by_hand(0.5))))
            assert run.counts is not None
            work.append(run.counts.rhs)
        assert errors[0] < errors[1] and work[0] < work[1]


methods = pt.integrators
MULTIPLIERS = [
    ("directors", methods.Rattle(), 2),
    ("quaternions", methods.Rattle(), 2),
    ("euler-angles", methods.Rattle(), 2),
    (pt.coordinates.Quaternions(sigma="mean"), methods.Variational(), 2),
    ("directors", methods.Variational(), 2),
    ("quaternions", methods.EnergyMomentum(), 2),
    ("directors", methods.EnergyMomentum(), 2),
    ("quaternions", methods.ConstrainedRungeKutta(methods.LobattoIIIC(3).tableau), 4),
    ("directors", methods.Composition(methods.Rattle(), "suzuki4"), 4),
]


@pytest.mark.parametrize(
    ("coordinates", "integrator", "order"),
    [pytest.param(*case, marks=() if case is MULTIPLIERS[0] else pytest.mark.slow) for case in MULTIPLIERS],
)
def test_methods_with_multipliers_hold_the_joint_at_their_order(coordinates, integrator, order):
    errors, run = [], None
    for steps in (100, 200) if order == 2 else (50, 100):
        run = ran(LINKAGE, coordinates, "index3", integrator, 0.05, 0.05 / steps)
        assert deviation(run, "joints") < 1e-13
        if isinstance(integrator, methods.EnergyMomentum):
            assert deviation(run, "energy") < 1e-13 * abs(run.energy[0])
        else:
            assert deviation(run, "joint rates") < 1e-11
        errors.append(np.max(np.abs(run.position[-1] - by_hand(0.05))))
    assert order - 0.2 < np.log2(errors[0] / errors[1]) < order + 0.4
    assert run is not None
    # Angular momentum in space; the kinetic energy of Euler angles has no such symmetry step by step.
    if order == 2 and coordinates == "directors":
        assert deviation(run, "L_x") < 1e-13 * np.max(np.abs(run.angular_momentum))


SPARK = [
    ("quaternions", "hamiltonian", methods.ConstrainedGauss(2), (25, 50)),
    ("quaternions", "hamiltonian", methods.ConstrainedGauss(3), (25, 50)),
    ("quaternions", "index3", methods.ConstrainedGauss(2), (25, 50)),
    ("quaternions", "index3", methods.ConstrainedLobatto(4), (25, 50)),
    ("directors", "index3", methods.ConstrainedGauss(3), (25, 50)),
    ("directors", "index3", methods.ConstrainedLobatto(3), (50, 100)),
    ("euler-angles", "index3", methods.ConstrainedGauss(2), (50, 100)),
    ("euler-angles", "hamiltonian", methods.ConstrainedLobatto(4), (25, 50)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("coordinates", "form", "integrator", "steps"), SPARK)
def test_gauss_and_lobatto_with_joints(coordinates, form, integrator, steps):
    """Orders 4 and 6, joints and rates at round-off, unit quaternions without a multiplier."""
    errors = []
    for count in steps:
        run = ran(LINKAGE, coordinates, form, integrator, 0.05, 0.05 / count)
        errors.append(np.max(np.abs(run.position[-1] - by_hand(0.05))))
        assert deviation(run, "joints") < 1e-13
        assert deviation(run, "joint rates") < 1e-11
        if coordinates != "euler-angles":
            assert deviation(run, "constraint") < 1e-13
            assert deviation(run, "L_x") < 1e-13 * np.max(np.abs(run.angular_momentum))
    assert integrator.order - 0.2 < np.log2(errors[0] / errors[1]) < integrator.order + 0.4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coordinates", "form", "integrator"),
    [
        ("directors", "index3", methods.Rattle()),
        ("quaternions", "index3", methods.Variational()),
        ("directors", "index3", methods.EnergyMomentum()),
        ("quaternions", "index3", methods.ConstrainedGauss(2)),
        ("quaternions", "hamiltonian", methods.ConstrainedGauss(3)),
        ("directors", "index3", methods.ConstrainedLobatto(3)),
        ("quaternions", "null_space", methods.RK4()),
        ("quaternions", "index0", methods.RK4()),
    ],
)
def test_parallelogram_stays_closed_though_conditions_are_redundant(coordinates, form, integrator):
    """Past a level position, where its rank drops once more."""
    angle = bars_angle(1.0)
    run = ran(BARS, coordinates, form, integrator, 1.0, 2e-3, save_every=10)
    tip = run.position[-1, 2] - [0.5, 0.0, 0.0]
    assert np.min(run.rotation[:, 0, 1, 0]) < -0.5, "past the level"
    assert np.max(np.abs(tip - [np.cos(angle), np.sin(angle), 0.0])) < 1e-4
    # By RK4 closed joints are an invariant of the equations, kept to its order.
    explicit = isinstance(integrator, methods.ExplicitRungeKutta)
    assert deviation(run, "joints") < (1e-6 if explicit else 1e-13)


IDA = [("quaternions", "index1"), ("quaternions", "index3"), ("directors", "index3")]


@pytest.mark.slow
@pytest.mark.parametrize(("coordinates", "form"), IDA)
def test_backward_differentiation_with_joints(coordinates, form):
    """Errors follow the tolerance; the stabilised form gives closed joints, index 1 drifts."""
    errors, drift = [], 0.0
    for tolerance in (1e-8, 1e-10):
        run = ran(LINKAGE, coordinates, form, "ida", 0.05, rtol=tolerance, atol=tolerance)
        errors.append(np.max(np.abs(run.position[-1] - by_hand(0.05))))
        drift = deviation(run, "joints")
    assert errors[0] < 1e-6 and errors[1] < 1e-8
    assert drift < 1e-13 if form == "index3" else 1e-12 < drift < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(("coordinates", "form"), IDA)
def test_backward_differentiation_in_a_loop_with_redundant_conditions(coordinates, form):
    run = ran(BARS, coordinates, form, "ida", 0.5, rtol=1e-9, atol=1e-9)
    angle = bars_angle(0.5)
    tip = run.position[-1, 2] - [0.5, 0.0, 0.0]
    assert np.max(np.abs(tip - [np.cos(angle), np.sin(angle), 0.0])) < 1e-7
    assert deviation(run, "joints") < (1e-12 if form == "index3" else 1e-7)


def bars_angle(t1: float) -> float:
    """Angle of the cranks of the parallelogram, from its own equation."""
    return solve_ivp(
        lambda t, y: [y[1], -1.2 * G * np.cos(y[0])], (0, t1), [np.pi / 2, -1.0],
        method="DOP853", rtol=1e-13, atol=1e-13,
    ).y[0, -1]  # fmt: skip


def course(t):
    """Angle of the crank."""
    return 0.4 * jnp.sin(3.0 * t)


@cache
def driven() -> pt.System:
    """A crank that turns as a function of time, and a rod that hangs on it by another hinge."""
    bodies = [
        pt.RigidBody(2.0, (0.1, 0.2, 0.25), name="crank"),
        pt.RigidBody(1.0, (0.05, 0.3, 0.3), name="rod"),
    ]
    system = pt.System(
        bodies,
        joints=[
            pt.joints.Revolute("ground", "crank", at=(0, 0, 0), axis=(0, 0, 1), name="motor"),
            pt.joints.Revolute("crank", "rod", at=(0.5, 0, 0), axis=(0, 0, 1), name="elbow"),
            pt.joints.Drive("motor", course),
        ],
        reference={"rod": ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))},
        potentials=[pt.potentials.UniformGravity((0.0, -G, 0.0))],
    )
    return system.recommending(swung(system, 0.0, 0.3, -0.7), 1e-3)


def swung(system: pt.System, t: float, angle: float, rate: float) -> pt.State:
    """The state at a time with the rod at an angle in space."""
    theta, pace = 0.4 * np.sin(3.0 * t), 1.2 * np.cos(3.0 * t)
    arms = [np.array([np.cos(a), np.sin(a), 0.0]) for a in (theta, angle)]
    across = [np.array([-np.sin(a), np.cos(a), 0.0]) for a in (theta, angle)]
    return system.state(
        position=[np.zeros(3), 0.5 * arms[0] + 0.5 * arms[1]],
        rotation=[pt.rotation.about_z(a) for a in (theta, angle)],
        velocity=[np.zeros(3), 0.5 * pace * across[0] + 0.5 * rate * across[1]],
        angular_velocity=[(0.0, 0.0, pace), (0.0, 0.0, rate)],
    )


def rod_acceleration(t, angle):
    """Angular acceleration of the rod, by the angle alone."""
    theta, pace, bend = 0.4 * np.sin(3.0 * t), 1.2 * np.cos(3.0 * t), -3.6 * np.sin(3.0 * t)
    pivot = 0.5 * (
        bend * np.array([-np.sin(theta), np.cos(theta)]) - pace**2 * np.array([np.cos(theta), np.sin(theta)])
    )
    across = np.array([-np.sin(angle), np.cos(angle)])
    return -0.5 * ((pivot + [0.0, G]) @ across) / (0.3 + 0.25)


@once
def _energy_rate(formulation, t, state):
    y = formulation.problem.pack(formulation.start(state, t))
    field = formulation.problem.vector_field(t, y)
    rate = jax.jvp(formulation.energy, (t, y), (jnp.ones_like(t), field))[1]
    return rate, formulation.power(t, y)


DRIVEN = [
    ("quaternions", "null_space"),
    ("directors", "index0"),
    ("directors", "index3"),
    ("quaternions", "index1"),
    ("quaternions", "index3"),
    ("group", "group"),
]


@pytest.mark.parametrize(
    ("coordinates", "form"),
    [pytest.param(*case, marks=() if case == DRIVEN[1] else pytest.mark.slow) for case in DRIVEN],
)
def test_driven_pendulum_in_every_form(coordinates, form):
    system, t = driven(), 0.3
    state = swung(system, t, 0.5, -0.6)
    seen = rates(system, coordinates, form, t, state)
    np.testing.assert_allclose(seen[3][:, 2], [-3.6 * np.sin(0.9), rod_acceleration(t, 0.5)], rtol=1e-9)
    rate, power = _energy_rate(pt.formulate(system, coordinates, form), jnp.asarray(t), state)
    np.testing.assert_allclose(rate, power, rtol=1e-9)
    assert abs(power) > 1.0, "the drive does work"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coordinates", "form", "integrator", "order"),
    [
        ("quaternions", "null_space", methods.RK4(), 4),
        ("quaternions", "index0", methods.RK4(), 4),
        ("directors", "index3", methods.Rattle(), 2),
        ("quaternions", "index3", methods.EnergyMomentum(), 2),
    ],
)
def test_driven_pendulum_beside_its_angle(coordinates, form, integrator, order):
    angle = solve_ivp(
        lambda t, y: [y[1], rod_acceleration(t, y[0])], (0.0, 1.0), [0.3, -0.7],
        method="DOP853", rtol=1e-13, atol=1e-13,
    ).y[0, -1]  # fmt: skip
    theta = 0.4 * np.sin(3.0)
    right = 0.5 * np.array([np.cos(theta) + np.cos(angle), np.sin(theta) + np.sin(angle), 0.0])
    errors, run = [], None
    for steps in (100, 200) if order == 2 else (20, 40):
        run = ran(driven(), coordinates, form, integrator, 1.0, 1.0 / steps)
        errors.append(np.max(np.abs(run.position[-1, 1] - right)))
    assert order - 0.3 < np.log2(errors[0] / errors[1]) < order + 0.5
    assert run is not None
    assert deviation(run, "joints") < (1e-13 if form == "index3" else 1e-5)


def test_what_is_refused():
    with pytest.raises(pt.InputError, match="no place in the form 'hamiltonian' of Directors.*'index3'"):
        pt.formulate(LINKAGE, "directors", "hamiltonian")
    with pytest.raises(pt.InputError, match="I0 has a multiplier.*take 'index3', or Quaternions\\(\\)"):
        pt.formulate(LINKAGE, pt.coordinates.Quaternions(I0=1.0), "hamiltonian")
    canonical = pt.formulate(LINKAGE, "quaternions", "hamiltonian").problem
    for method, reason in (
        (methods.Rattle(), "keep the length of quaternions"),
        (methods.ConstrainedLobatto(3), "keep the length of quaternions"),
        (methods.Variational(), "needs a mass matrix"),
        (methods.Ida(), "needs equations with multipliers"),
    ):
        assert reason in str(method.refusal(canonical))
    with pytest.raises(pt.InputError, match="keep the length of quaternions.*take the form 'index3'"):
        pt.simulate(
            LINKAGE, LINKAGE.start, t1=0.1, dt=0.01, coordinates="quaternions", form="hamiltonian",
            integrator="rattle",
        )  # fmt: skip
    with pytest.raises(pt.InputError, match="EulerAngles has no constraints"):
        pt.formulate(pt.System(LINKAGE.bodies), "euler-angles", "index3")
    assert pt.formulate(LINKAGE, "euler-angles", "index3").problem.kind == "constrained"


def test_a_run_that_fails_along_joints_names_bodies_and_keeps_what_it_has():
    """Steps of RK4 far too long for Example C, in rates along its joints."""
    linkage = pt.library.two_body_linkage()
    with pytest.raises(pt.SimulationError, match="at 'first'") as failed:
        pt.simulate(
            linkage, linkage.start, t1=0.5, dt=0.01, integrator="rk4", form="null_space", progress=False
        )
    kept = failed.value.trajectory
    assert kept is not None and len(kept.t) > 1 and np.all(np.isfinite(kept.position))
