"""Systems in joint coordinates: the same motion as on the group, canonical, with unit quaternions kept."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import symplecticity
from poinsot.coordinates import Joint
from poinsot.integrators import RK4, GaussLegendre, LieRattle, StormerVerlet

J = pt.joints
QUICK: Any = {"compiler_options": {"xla_backend_optimization_level": 0}}
FORMS = ("hamiltonian", "covariant")


@cache
def crane() -> pt.System:
    """A cart on rails, a boom on a hinge, a load on a ball joint that is given from the load to the boom."""
    bodies = [
        pt.RigidBody(2.0, (0.3, 0.4, 0.5), name="cart"),
        pt.RigidBody(1.0, [[0.2, 0.01, 0.0], [0.01, 0.3, 0.02], [0.0, 0.02, 0.25]], name="boom"),
        pt.RigidBody(0.5, (0.05, 0.06, 0.07), name="load"),
    ]
    joints = [
        J.Prismatic("ground", "cart", at=(0, 0, 0), axis=(1, 0, 0), name="rails"),
        J.Revolute("cart", "boom", at=(0, 0, 0.2), axis=(0, 1, 0), name="hinge"),
        J.Spherical("load", "boom", at=(0, 0, 1.2), name="hook"),
    ]
    return pt.System(
        bodies,
        joints=joints,
        reference={
            name: ((0.0, 0.1 * k, 0.7 * k), (1, 0, 0, 0)) for k, name in enumerate(("cart", "boom", "load"))
        },
        potentials=[
            pt.potentials.UniformGravity(),
            pt.potentials.Spring(pt.potentials.Marker("cart"), (0.0, 0.0, 0.0), stiffness=20.0),
        ],
    )


@cache
def start() -> pt.State:
    return crane().joint_state(
        {"rails": 0.3, "hinge": 0.8, "hook": (0.3, -0.5, 0.2)},
        rates={"hinge": -1.0, "hook": (0.5, 1.0, -0.7)},
    )


def run(form: str | None, t1: float = 1.0, dt: float = 5e-4, integrator: Any = None, coordinates: Any = None):
    return pt.simulate(
        crane(),
        start(),
        t1=t1,
        dt=dt,
        coordinates=coordinates or Joint(),
        form=form,
        integrator=integrator or RK4(),
        save_every=round(t1 / dt),
        progress=False,
    )


@pytest.mark.parametrize("form", ["recursive", *(pytest.param(one, marks=pytest.mark.slow) for one in FORMS)])
def test_every_form_gives_the_motion_that_the_group_has(form):
    ours, theirs = run(form), run("group", coordinates=pt.coordinates.Group())
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        begin, end = getattr(ours, name)
        assert np.max(np.abs(end - begin)) > 0.1, name
        np.testing.assert_allclose(end, getattr(theirs, name)[-1], rtol=0, atol=1e-9)


@eqx.filter_jit(**QUICK)
def _gradients(energy, q, p):
    own = energy.dq(0.0, q, p, None), energy.dp(0.0, q, p, None)
    return own, jax.grad(lambda q, p: energy.value(0.0, q, p, None), argnums=(0, 1))(q, p)


@pytest.mark.slow
def test_gradients_of_the_energy_are_its_derivatives_also_off_the_unit_sphere():
    problem: Any = pt.formulate(crane(), Joint(), "hamiltonian").problem
    draw = np.random.default_rng(0)
    q, p = jnp.asarray(draw.standard_normal((2, 6)))
    for own, derivative in zip(*_gradients(problem.function, q, p), strict=True):
        np.testing.assert_allclose(own, derivative, rtol=0, atol=1e-12 * np.max(np.abs(derivative)))


@pytest.mark.slow
def test_a_step_is_symplectic_and_keeps_unit_quaternions():
    formulation = pt.formulate(crane(), Joint(), "hamiltonian")
    state = formulation.start(start())
    problem: Any = formulation.problem
    assert symplecticity(problem, GaussLegendre(2), state, 0.05).defect < 1e-13
    assert symplecticity(problem, RK4(), state, 0.05).defect > 1e-9
    after = run("hamiltonian", t1=20.0, dt=0.02, integrator=GaussLegendre(2))
    assert abs(np.linalg.norm(np.asarray(after.q)[-1, 2:]) - 1.0) < 1e-13
    control = run("hamiltonian", t1=20.0, dt=0.02)
    assert abs(np.linalg.norm(np.asarray(control.q)[-1, 2:]) - 1.0) > 1e-9


@cache
def satellite() -> pt.System:
    """A body that floats, with an arm on a ball joint, in a field that pulls the arm back."""
    bodies = [
        pt.RigidBody(3.0, (0.5, 0.6, 0.8), name="hull"),
        pt.RigidBody(1.0, (0.05, 0.2, 0.21), name="boom"),
    ]
    return pt.System(
        bodies,
        joints=[J.Spherical("hull", "boom", at=(0.4, 0.1, 0.0), name="ball")],
        reference={"boom": ((0.9, 0.1, 0.0), (1, 0, 0, 0))},
        potentials=[
            pt.potentials.Spring(pt.potentials.Marker("boom"), pt.potentials.Marker("hull"), stiffness=2.0)
        ],
    )


@cache
def branched() -> pt.System:
    """A column that turns, with an arm on a slide, a load on a ball joint under it, and a wheel beside."""
    names = ("column", "arm", "load", "wheel")
    places = ((0.0, 0.1, 0.4), (0.5, 0.1, 0.8), (0.9, 0.0, 0.5), (-0.4, 0.2, 0.3))
    tensor = np.array([[0.2, 0.01, 0.0], [0.01, 0.3, 0.02], [0.0, 0.02, 0.25]])
    bodies = [pt.RigidBody(1.0 + 0.3 * k, tensor * (1 + 0.5 * k), name=name) for k, name in enumerate(names)]
    return pt.System(
        bodies,
        joints=[
            J.Revolute("ground", "column", at=(0, 0, 0), axis=(0.2, 0, 1), name="pivot"),
            J.Prismatic("column", "arm", at=(0.2, 0, 0.8), axis=(1, 0, 0.2), name="slide"),
            J.Spherical("arm", "load", at=(0.9, 0.1, 0.8), name="hook"),
            J.Revolute("wheel", "column", at=(-0.3, 0.2, 0.3), axis=(1, 0.3, 0), name="axle"),
        ],
        reference={name: (place, (1, 0, 0, 0)) for name, place in zip(names, places, strict=True)},
        potentials=[pt.potentials.UniformGravity(), pt.potentials.JointSpring("slide", 30.0)],
    )


def begun(system: pt.System) -> pt.State:
    if system is crane():
        return start()
    if system is satellite():
        rates = {"hull": (0.1, 0.0, -0.2, 0.4, 0.5, -0.3), "ball": (0.3, -0.8, 0.5)}
        return system.joint_state({"ball": (0.2, -0.4, 0.3)}, rates=rates)
    angles = {"pivot": 0.4, "slide": 0.1, "hook": (0.2, -0.1, 0.3), "axle": 0.5}
    return system.joint_state(angles, rates={"pivot": 1.0, "hook": (0.5, 0.3, -0.7), "axle": -1.2})


REDUNDANT: dict[str, tuple[Any, str]] = {
    "group": ("group", "group"),
    "quaternions": ("quaternions", "null_space"),
    "directors": ("directors", "index0"),
    # The boom turns about y through all angles, so the middle one is about x.
    "Euler angles": (pt.coordinates.EulerAngles("yxz"), "null_space"),
}
TIGHT: Any = {"integrator": "dormand-prince8", "rtol": 1e-12, "atol": 1e-12, "progress": False}


@cache
def in_joint_coordinates(make: Any) -> Any:
    return moved(make, "joint", "recursive")


def moved(make: Any, coordinates: Any, form: str) -> Any:
    system = make()
    chosen: Any = {"coordinates": coordinates, "form": form}
    return pt.simulate(system, begun(system), t1=1.0, save_at=[0.5, 1.0], **chosen, **TIGHT)


@pytest.mark.slow
@pytest.mark.parametrize("kind", REDUNDANT)
@pytest.mark.parametrize("make", [crane, branched, satellite])
def test_redundant_coordinates_have_the_same_motion_and_one_reaction_in_every_joint(make, kind):
    ours, theirs = in_joint_coordinates(make), moved(make, *REDUNDANT[kind])
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        begin, *later = getattr(theirs, name)
        assert np.max(np.abs(later[-1] - begin)) > 0.1, name
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-9)
    for joint in make().joints:
        one, other = ours.reaction(joint.name), theirs.reaction(joint.name)
        assert np.max(np.abs(other.force)) > 0.1
        np.testing.assert_allclose(one.force, other.force, rtol=0, atol=1e-8)
        np.testing.assert_allclose(one.torque, other.torque, rtol=0, atol=1e-8)


def floated(steps: int, integrator: Any) -> Any:
    """A run of the satellite that keeps its end, and a few states on the way."""
    moving = begun(satellite())
    grid: Any = {"t1": 0.02 * steps, "dt": 0.02, "save_every": steps // 10, "progress": False}
    return pt.simulate(
        satellite(), moving, coordinates=Joint(), form="hamiltonian", integrator=integrator, **grid
    )


def lengths(run: Any) -> np.ndarray:
    """How far the quaternions of base and ball joint are from unit length."""
    quats = np.stack([np.asarray(run.q)[:, 3:7], np.asarray(run.q)[:, 7:11]], axis=1)
    return np.abs(np.linalg.norm(quats, axis=2) - 1.0)


@pytest.mark.slow
def test_base_and_ball_joint_keep_their_unit_length_for_a_hundred_thousand_steps():
    run = floated(100_000, GaussLegendre(2))
    assert np.max(lengths(run)) < 1e-13
    change = np.abs(run.energy - run.energy[0])
    assert np.max(change) < 1e-5
    assert np.max(lengths(floated(1000, RK4()))[-1]) > 1e-9


@pytest.mark.slow
def test_a_run_is_seen_as_any_other_and_goes_on_from_its_end():
    whole: Any = run("hamiltonian", t1=0.2, dt=0.01, integrator=StormerVerlet())
    assert set(whole.conserved) == {"energy", "constraint"}
    angle = whole.joint("hinge").angle
    assert abs(angle[0] - 0.8) < 1e-13
    np.testing.assert_allclose(whole.position[0], start().position, atol=1e-14)
    half = run("hamiltonian", t1=0.1, dt=0.01, integrator=StormerVerlet())
    rest = pt.simulate(
        crane(),
        half.final,
        t0=0.1,
        t1=0.2,
        dt=0.01,
        coordinates="joint",
        integrator=StormerVerlet(),
        save_every=10,
        progress=False,
    )
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pt.formulate(crane(), Joint(), "index0"), "no form 'index0'; take 'recursive'"),
        (lambda: pt.formulate(crane(), "group", "covariant"), "one of joint coordinates"),
        (lambda: pt.formulate(pt.library.four_bar(), "joint", "hamiltonian"), "closes a loop"),
        (lambda: pt.formulate(pt.library.particle_chain(), "joint", "hamiltonian"), "has no joints"),
        (lambda: crane().joint_state({"hok": 1.0}), "did you mean hook"),
        (lambda: run(None, integrator=LieRattle()), "Lie RATTLE needs a problem"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(pt.InputError, match=said):
        call()
