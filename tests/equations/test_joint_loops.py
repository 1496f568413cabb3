"""Loops, drives and couplings in joint coordinates: motion and reactions of redundant coordinates."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from deviations import deviation
from poinsot.analysis._body_form import symplectic_defect
from poinsot.integrators import AbstractIntegrator, StepInfo
from poinsot.integrators._base import Traits
from poinsot.kernels import once
from squeezer_in_the_plane import motion

J, methods = pt.joints, pt.integrators
INDICES = ("index0", "index1", "index2", "index3")


@cache
def spatial() -> pt.System:
    """Crank and rocker about skew axes, with a rod on ball joints between them: one joint is cut."""
    bodies = [
        pt.RigidBody(1.0, [[0.2, 0.01, 0.0], [0.01, 0.3, 0.02], [0.0, 0.02, 0.25]], name="crank"),
        pt.RigidBody(0.5, (0.05, 0.06, 0.07), name="rod"),
        pt.RigidBody(1.5, (0.3, 0.2, 0.25), name="rocker"),
    ]
    return pt.System(
        bodies,
        joints=[
            J.Revolute("ground", "crank", at=(0, 0, 0), axis=(0, 0.2, 1), name="A"),
            J.Spherical("crank", "rod", at=(0.5, 0.1, 0), name="B"),
            J.Spherical("rod", "rocker", at=(1.6, 0.2, 0.9), name="C"),
            J.Revolute("rocker", "ground", at=(1.5, 0, 0), axis=(1, 0.3, 0), name="D"),
        ],
        reference={
            "crank": ((0.2, 0.1, 0.05), (1, 0, 0, 0)),
            "rod": ((1.0, 0.2, 0.4), (0.8, 0, 0.6, 0)),
            "rocker": ((1.5, 0.1, 0.5), (1, 0, 0, 0)),
        },
        potentials=[pt.potentials.UniformGravity()],
        loads=[pt.loads.JointDamper("D", 0.1)],
    )


@cache
def geared() -> pt.System:
    """Two arms with a gear between them, on a cart that a drive moves."""
    bodies = [pt.RigidBody(1.0, (0.3, 0.2, 0.25), name=name) for name in ("cart", "one", "two")]
    return pt.System(
        bodies,
        joints=[
            J.Prismatic("ground", "cart", at=(0, 0, 0), axis=(1, 0, 0.2), name="rails"),
            J.Revolute("cart", "one", at=(0, 0, 0.1), axis=(0, 1, 0), name="left"),
            J.Revolute("two", "cart", at=(0.3, 0, 0.1), axis=(0, 1, 0.3), name="right"),
            J.Drive("rails", lambda t: 0.3 * jnp.sin(2.0 * t)),
            J.Coupling("left", "right", (2, 3), 0.1),
        ],
        reference={
            name: ((0.1 * k, 0.2, 0.3 * k), (1, 0, 0, 0)) for k, name in enumerate(("cart", "one", "two"))
        },
        potentials=[pt.potentials.UniformGravity()],
    )


@cache
def start(name: str) -> pt.State:
    if name == "spatial":
        return spatial().assemble(coordinates={"A": 0.4}, velocity={"A": 1.5})
    angles = {"left": 0.5, "right": -0.3}
    return geared().joint_state(angles, rates={"rails": 0.6, "left": 1.5, "right": -1.0})


SYSTEMS = {"spatial": spatial, "geared": geared}


@once
def _rates(formulation, t, state):
    """Rates of positions, rotations, velocities and angular velocities."""
    y = formulation.problem.pack(formulation.start(state, t))

    def seen(t, y):
        return formulation.poses(t, *formulation.rates(t, y))

    field = formulation.problem.vector_field(t, y)
    return jax.jvp(seen, (t, y), (jnp.ones_like(t), field))[1]


@cache
def rates(name: str, coordinates: str, form: str):
    return _rates(pt.formulate(SYSTEMS[name](), coordinates, form), jnp.asarray(0.0), start(name))


QUICK = {("geared", "index0")}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(name, form, marks=() if (name, form) in QUICK else pytest.mark.slow)
        for name in SYSTEMS
        for form in INDICES
    ],
)
def test_accelerations_are_those_on_the_group(name, form):
    right = rates(name, "group", "group")
    assert np.max(np.abs(right[2])) > 0.1
    for own, other in zip(rates(name, "joint", form), right, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-10 * (1.0 + np.max(np.abs(other))))


TIGHT: Any = {"integrator": "dormand-prince8", "rtol": 1e-13, "atol": 1e-13}


def ran(system: pt.System, t1: float, coordinates: Any, form: str, **options: Any) -> Any:
    return pt.simulate(
        system,
        system.start,
        t1=t1,
        coordinates=coordinates,
        form=form,
        progress=False,
        **(options or {"save_at": [0.5 * t1, t1]} | TIGHT),
    )


def same_reactions(system: pt.System, ours: Any, theirs: Any, tolerance: float) -> None:
    for joint in system.joints:
        one, other = ours.reaction(joint.name), theirs.reaction(joint.name)
        size = np.max(np.abs(other.force))
        assert size > 0.0, joint.name
        for name in ("force", "torque"):
            np.testing.assert_allclose(
                getattr(one, name), getattr(other, name), rtol=0, atol=tolerance * size, err_msg=joint.name
            )


@pytest.mark.slow
def test_a_four_bar_moves_as_on_the_group_with_one_reaction_in_every_joint():
    system = pt.library.four_bar()
    ours = ran(system, 1.0, "joint", "index0", integrator="gauss6", dt=2e-3, save_every=250)
    theirs = ran(system, 1.0, "group", "group")
    assert np.max(np.abs(theirs.position[-1] - theirs.position[0])) > 0.1
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        np.testing.assert_allclose(getattr(ours, name)[-2:], getattr(theirs, name)[-2:], rtol=0, atol=1e-9)
    assert deviation(ours, "joints") < 1e-13
    same_reactions(system, ours, theirs, 1e-8)


@pytest.mark.slow
def test_the_squeezer_moves_as_in_the_plane_and_on_the_group_with_one_reaction_in_every_joint():
    system, right = pt.library.squeezer(), motion(0.03)
    run = ran(system, 0.03, "joint", "index0", integrator="gauss6", dt=2e-5, save_every=500)
    turned = np.exp(1j * right[:, 2])
    found = run.rotation[-1, :, 0, 0] + 1j * run.rotation[-1, :, 1, 0]
    np.testing.assert_allclose(run.position[-1, :, :2], right[:, :2], rtol=0, atol=1e-9)
    assert np.max(np.abs(np.angle(found / turned))) < 1e-8
    assert deviation(run, "joints") < 1e-12
    theirs = ran(system, 0.03, "group", "group", integrator="rk4", dt=5e-6, save_every=2000)
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        size = max(1.0, float(np.max(np.abs(getattr(theirs, name)))))
        np.testing.assert_allclose(getattr(run, name), getattr(theirs, name), rtol=0, atol=1e-9 * size)
    same_reactions(system, run, theirs, 1e-8)


class Euler(AbstractIntegrator):
    """An explicit step without multipliers, which is not symplectic."""

    @property
    def traits(self) -> Traits:
        return methods.Rattle().traits

    def init(self, problem: Any, t, h, y):
        return jnp.zeros(0)

    def step(self, problem: Any, t, h, y, carry):
        q, p = problem.split(y)
        rate = jnp.concatenate([problem.dHdp(q, p), -problem.dHdq(t, q, p)])
        return y + h * rate, carry, StepInfo.implicit(jnp.asarray(True), jnp.asarray(1))


@cache
def on_a_plane() -> tuple[pt.System, pt.State]:
    """A body on a ball joint, with a point of it on a plane: the least that has both a ball and a loop."""
    place, point, normal = np.array([0.8, 0.2, 0.1]), np.array([1.2, 0.2, 0.3]), np.array([0.1, 0.3, 1.0])
    tensor = [[0.2, 0.01, 0.0], [0.01, 0.3, 0.02], [0.0, 0.02, 0.25]]
    system = pt.System(
        [pt.RigidBody(1.0, tensor, name="rod")],
        joints=[
            J.Spherical("ground", "rod", at=(0, 0, 0), name="ball"),
            J.PointOnPlane("ground", "rod", at=tuple(point), axis=tuple(normal), name="plane"),
        ],
        reference={"rod": (tuple(place), (1, 0, 0, 0))},
        potentials=[pt.potentials.UniformGravity()],
    )
    spin = 0.8 * normal + 0.5 * point
    start = system.state(position=[place], velocity=[np.cross(spin, place)], angular_velocity=[spin])
    return system, start


@pytest.mark.slow
def test_rattle_holds_loops_and_ball_joints_and_is_symplectic():
    """Derivatives of a step are what takes the time: of the mechanism in space they have 120,000 lines."""
    system, begin = on_a_plane()
    formulation = pt.formulate(system, "joint", "index3")
    assert symplectic_defect(formulation, methods.Rattle(), begin, 0.02) < 1e-12
    assert symplectic_defect(formulation, Euler(), begin, 0.02) > 1e-9
    run: Any = pt.simulate(
        system, begin, t1=2.0, dt=0.01, coordinates="joint", integrator=methods.Rattle(), progress=False
    )
    assert run.attributes["form"] == "index3"
    assert np.max(np.abs(run.position[-1] - run.position[0])) > 0.1
    for name in ("joints", "joint rates", "constraint"):
        assert deviation(run, name) < 1e-13, name


@pytest.mark.slow
def test_energy_of_a_driven_system_is_the_work_of_its_drive():
    run: Any = pt.simulate(
        geared(), start("geared"), t1=1.0, dt=0.01, coordinates="joint", form="index0", integrator="gauss6",
        progress=False,
    )  # fmt: skip
    gained = np.asarray(run.energy - run.energy[0])
    assert np.max(np.abs(gained)) > 0.1
    np.testing.assert_allclose(gained, run.work, rtol=0, atol=1e-8)


def test_what_is_refused():
    with pytest.raises(
        pt.InputError, match="'C' of rod and rocker closes a loop, and the form 'recursive' has no multiplier"
    ):
        pt.formulate(spatial(), "joint", "recursive")
    with pytest.raises(pt.InputError, match="'drive of rails' moves joints.*cut=True"):
        pt.OpenChain(geared())
    with pytest.raises(pt.InputError, match="Joint has no form 'null_space'"):
        pt.formulate(geared(), "joint", "null_space")
    assert pt.OpenChain(geared(), cut=True).v_size == 3
