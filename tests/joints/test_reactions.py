"""Coordinates and reactions of joints: closed formulas, statics, balance of momentum, redundant joints."""

from dataclasses import replace
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.rotation import to_matrix

G = 9.81
J = pt.joints
DOWN = pt.potentials.UniformGravity((0.0, -G, 0.0))


def ran(system, start, t1, dt, **options) -> Any:
    given: Any = {"coordinates": "group", "integrator": "lie-rattle", "progress": False} | options
    return pt.simulate(system, start, t1=t1, dt=dt, **given)


@cache
def swinging():
    """A rod of length 2 and mass 3 on a hinge at its end, fast enough to go round."""
    rod = pt.RigidBody(3.0, (0.01, 1.0, 1.0), name="rod")
    hinge = J.Revolute("ground", "rod", at=(-1.0, 0.0, 0.0), axis=(0, 0, 1), name="hinge")
    system = pt.System([rod], joints=[hinge], potentials=[DOWN])
    start = system.state(velocity=(0.0, 8.0, 0.0), angular_velocity=(0.0, 0.0, 8.0))
    return ran(system, start, 3.0, 0.01), ran(system, start, 3.0, 0.01, save_every=60)


def test_hinge_of_a_pendulum_over_several_turns():
    run, coarse = swinging()
    angle, rate, reaction = run.joint("hinge").angle, run.joint("hinge").rate, run.reaction("hinge")
    assert angle[-1] > 6.0 * np.pi and np.all(np.diff(angle) > 0.0)
    np.testing.assert_allclose(np.gradient(angle, run.t, edge_order=2), rate, atol=0.02)
    # Nearly a turn between saved states, where the least change of angle would go backwards.
    np.testing.assert_allclose(coarse.joint("hinge").angle, angle[::60], atol=1e-12)
    assert np.min(np.diff(np.unwrap(coarse.joint("hinge").angle % (2 * np.pi)))) < 0.0
    # m (a - g) on the rod, with the angular acceleration -3 g cos(angle)/4; the ground bears the opposite.
    zero = np.zeros_like(angle)
    out, along = (
        np.stack(part, axis=1)
        for part in ((np.cos(angle), np.sin(angle), zero), (-np.sin(angle), np.cos(angle), zero))
    )
    on_rod = 3.0 * (-0.75 * G * np.cos(angle)[:, None] * along - rate[:, None] ** 2 * out + [0.0, G, 0.0])
    np.testing.assert_allclose(reaction.force, -on_rod, atol=1e-10)
    np.testing.assert_allclose(reaction.torque, 0.0, atol=1e-10)


def test_names_that_are_not_there():
    run, _ = swinging()
    with pytest.raises(pt.InputError, match="a run that was loaded keeps no code"):
        replace(run, seen=None).joint("hinge")
    with pytest.raises(pt.InputError, match="no joint is called 'hing'; did you mean hinge"):
        run.joint("hing")
    with pytest.raises(pt.InputError, match="no joint, drive or coupling is called 'motor'"):
        run.reaction("motor")
    with pytest.raises(AttributeError, match="joint 'hinge' has no 'position'; it has angle"):
        _ = run.joint("hinge").position


@pytest.mark.slow
def test_ball_joint_of_a_conical_pendulum():
    """A rod that goes round the vertical at a constant angle, by the formula of steady precession."""
    system, start, force = conical()
    tight: Any = {"integrator": "dormand-prince8", "rtol": 1e-12, "atol": 1e-12}
    run = ran(system, start, 1.0, None, save_at=np.linspace(0.0, 1.0, 21), **tight)
    reaction, joint = run.reaction("ball"), run.joint("ball")
    # The rod is the first body: what acts on it by the ground.
    np.testing.assert_allclose(reaction.force, [force(t) for t in run.t], atol=1e-8)
    local = np.einsum("tij,ti->tj", run.rotation[:, 0], reaction.force)
    np.testing.assert_allclose(reaction.local.force, local, atol=1e-10)
    np.testing.assert_allclose(reaction.torque, 0.0, atol=1e-12)
    np.testing.assert_allclose(joint.rotation, np.swapaxes(run.rotation[:, 0], 1, 2), atol=1e-13)
    np.testing.assert_allclose(joint.displacement, 0.0, atol=1e-11)


@pytest.mark.slow
def test_hanging_chain_bears_what_hangs_below():
    weights = [1.0, 2.0, 3.0]
    links = [pt.RigidBody(m, (0.01 * m, 0.1 * m, 0.1 * m), name=f"link{k}") for k, m in enumerate(weights)]
    ends: Any = {"at_first": (0.5, 0, 0), "at_second": (-0.5, 0, 0)}
    pins = [J.Revolute("ground", "link0", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="top")]
    pins += [J.Spherical(f"link{k}", f"link{k + 1}", name=f"pin{k}", **ends) for k in range(2)]
    gravity = pt.potentials.UniformGravity((G, 0.0, 0.0))
    chain = pt.System(links, joints=pins, potentials=[gravity])
    run = ran(chain, chain.state(position=[(0.5 + k, 0, 0) for k in range(3)]), 0.02, 0.01)
    for name, below in (("top", 6.0), ("pin0", 5.0), ("pin1", 3.0)):
        np.testing.assert_allclose(run.reaction(name).force, 3 * [[below * G, 0, 0]], atol=1e-9)


@pytest.mark.slow
def test_reactions_and_loads_change_the_momenta():
    """Each body of a driven pair by itself: forces and torques on it against differences of its momenta."""
    bodies = [
        pt.RigidBody(1.0, (0.1, 0.3, 0.35), name="arm"),
        pt.RigidBody(0.5, (0.05, 0.1, 0.12), name="hand"),
    ]
    joints = [
        J.Revolute("ground", "arm", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), axis=(0, 1, 1), name="hip"),
        J.Cylindrical(
            "hand", "arm", at_first=(0, 0.2, 0), at_second=(0.5, 0, 0), axis=(1, 0, 0), name="wrist"
        ),
    ]
    push = pt.loads.Force(lambda t: jnp.stack([0.0 * t, jnp.sin(5 * t), 1.0 + t]), point=(0.1, 0, 0), body=1)
    system = pt.System(bodies, joints=joints, potentials=[DOWN], loads=[push])
    near = system.state(position=[(0.5, 0, 0), (1.0, -0.2, 0)], angular_velocity=[(0, 1, 1), (2, 1, 1)])
    run = ran(system, system.assemble(near), 0.01, 1e-4)
    hip, wrist, t, R = run.reaction("hip"), run.reaction("wrist"), run.t, run.rotation
    moments = np.array([[0.1, 0.3, 0.35], [0.05, 0.1, 0.12]])
    # About the mass centre of each body; joint points in space.
    at_hip = R[:, 0] @ np.array([-0.5, 0, 0])
    at_wrist = R[:, 0] @ np.array([0.5, 0, 0]), R[:, 1] @ np.array([0, 0.2, 0])
    pushed = np.stack([0 * t, np.sin(5 * t), 1 + t], axis=1)
    slid = run.position[:, 1] + at_wrist[1] - run.position[:, 0]
    forces = [
        -hip.force - wrist.force + [0, -G, 0],
        wrist.force + pushed + [0, -0.5 * G, 0],
    ]
    torques = [
        -hip.torque - np.cross(at_hip, hip.force) - wrist.torque - np.cross(slid, wrist.force),
        wrist.torque + np.cross(at_wrist[1], wrist.force) + np.cross(R[:, 1] @ np.array([0.1, 0, 0]), pushed),
    ]
    for k in range(2):
        momentum = np.array([1.0, 0.5])[k] * run.velocity[:, k]
        spin = np.einsum("tij,tj->ti", R[:, k], moments[k] * run.angular_velocity[:, k])
        for rate, total in ((momentum, forces[k]), (spin, torques[k])):
            slope = (rate[2:] - rate[:-2]) / 2e-4
            np.testing.assert_allclose(slope, total[1:-1], atol=1e-5)
            assert np.max(np.abs(slope)) > 0.1


def bars(last: pt.joints.AbstractJoint) -> pt.System:
    """A parallelogram whose last joint is given; as a hinge it repeats three conditions of the others."""
    end, begin = (0.5, 0.0, 0.0), (-0.5, 0.0, 0.0)
    bars = [pt.RigidBody(1.0, (1e-3, 1 / 12, 1 / 12), name=name) for name in ("left", "right", "top")]
    joints = [
        J.Revolute("ground", "left", at_first=(0, 0, 0), at_second=begin),
        J.Revolute("left", "top", at_first=end, at_second=begin),
        J.Revolute("top", "right", at_first=end, at_second=end),
        last,
    ]
    return pt.System(bars, joints=joints, potentials=[DOWN])


@pytest.mark.slow
def test_redundant_hinges_give_the_smallest_reactions_and_the_same_motion():
    ends: Any = {"at_first": (1, 0, 0), "at_second": (-0.5, 0, 0), "name": "foot"}
    runs = []
    for last in (J.Revolute("ground", "right", **ends), J.PointOnLine("ground", "right", **ends)):
        start = pt.library.parallelogram().start
        assert start is not None
        runs.append(ran(bars(last), start, 0.3, 2e-3, save_every=50))
    redundant, determined = runs
    np.testing.assert_allclose(redundant.position[-1], determined.position[-1], atol=1e-11)
    system = redundant.formulation.bodies.system
    linkage = system.linkage
    state = redundant.final
    x, quat, v, Omega = system.live(0.0, state)
    R = jnp.moveaxis(to_matrix(quat.T), 0, -1)
    jacobians = linkage.at(0.0, x, R, 0.0).jacobians
    G_rows = np.zeros((20, 18))
    for k, (block, part) in enumerate(zip(jacobians, linkage.parts, strict=True)):
        G_rows[5 * k : 5 * k + 5, list(part)] = block
    A = (G_rows * np.asarray(linkage.weights)) @ G_rows.T
    scale = np.sqrt(np.diag(A))
    assert np.linalg.matrix_rank(A / np.outer(scale, scale), tol=1e-10) == 17
    bend = np.concatenate(linkage.bends(0.0, x, R, jnp.concatenate([v.ravel(), Omega.ravel()])))
    pushed = np.zeros(18)
    pushed[3:6] = -G  # Accelerations of free fall along y; bars about z have no gyroscopic torque.
    right = -(bend + G_rows @ pushed)
    smallest = np.linalg.pinv(A / np.outer(scale, scale), rcond=1e-10) @ (right / scale) / scale
    # The first rows of a hinge are the force on its second body.
    for k, name in enumerate(("ground-left", "left-top", "top-right", "foot")):
        np.testing.assert_allclose(
            redundant.reaction(name).force[-1], -smallest[5 * k : 5 * k + 3], atol=1e-7
        )
    other = determined.reaction("foot")
    assert np.max(np.abs(redundant.reaction("foot").force[-1, :2] - other.force[-1, :2])) < 1e-7, (
        "in the plane"
    )


@cache
def conical():
    """A rod that goes round the vertical at a constant angle, with the force on it as a function of time."""
    mass, arm, moments, angle = 2.0, 0.7, (0.05, 0.4, 0.4), 0.6
    rate = np.sqrt(mass * G * arm / ((moments[1] + mass * arm**2 - moments[0]) * np.cos(angle)))
    ball = J.Spherical("rod", "ground", at_first=(-arm, 0, 0), at_second=(0, 0, 0), name="ball")
    rod = pt.RigidBody(mass, moments, name="rod")
    system = pt.System([rod], joints=[ball], potentials=[pt.potentials.UniformGravity((0, 0, -G))])
    R = np.array([[np.sin(angle), 0, np.cos(angle)], [0, 1, 0], [-np.cos(angle), 0, np.sin(angle)]])
    place = arm * R[:, 0]
    start = system.state(
        position=place,
        rotation=R,
        velocity=np.cross([0, 0, rate], place),
        angular_velocity=R.T @ [0.0, 0.0, rate],
    )

    def force(t):
        out = np.array([np.cos(rate * t), np.sin(rate * t), 0.0])
        return -mass * rate**2 * arm * np.sin(angle) * out + [0.0, 0.0, mass * G]

    return system, start, force


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coordinates", "form", "integrator", "order"),
    [
        ("directors", "index3", pt.integrators.Rattle(), 2),
        ("quaternions", "index3", pt.integrators.Variational(), 2),
        ("quaternions", "index3", pt.integrators.ConstrainedGauss(2), 4),
        ("directors", "index3", pt.integrators.ConstrainedRungeKutta(pt.integrators.RadauIIA(2).tableau), 3),
        ("quaternions", "hamiltonian", pt.integrators.ConstrainedGauss(2), 4),
    ],
)
def test_reactions_of_methods_with_multipliers_converge_at_their_order(coordinates, form, integrator, order):
    """Reactions follow from the state, so that they have its order, against the closed formula."""
    system, start, force = conical()
    errors = []
    for dt in (0.02, 0.01):
        run = ran(system, start, 1.0, dt, coordinates=coordinates, form=form, integrator=integrator)
        errors.append(np.max(np.abs(run.reaction("ball").force[-1] - force(1.0))))
    assert order - 0.2 < np.log2(errors[0] / errors[1]) < order + 0.4
    assert errors[1] > 1e-9, "above round-off"


OTHER_COORDINATES: dict[str, Any] = {
    "recursive": {"coordinates": "joint", "form": "recursive"},
    "hamiltonian": {"coordinates": "joint", "form": "hamiltonian", "integrator": "gauss6"},
    "covariant": {"coordinates": "joint", "form": "covariant"},
    "null space": {"coordinates": "quaternions", "form": "null_space"},
    "euler angles": {"coordinates": pt.coordinates.EulerAngles("xyz"), "form": "null_space"},
    "directors": {"coordinates": "directors", "form": "index0"},
    "index1": {"coordinates": "quaternions", "form": "index1"},
    "index2": {
        "coordinates": "directors",
        "form": "index2",
        "integrator": pt.integrators.ConstrainedRungeKutta(pt.integrators.RadauIIA(3).tableau),
    },
    "index3": {
        "coordinates": "quaternions",
        "form": "index3",
        "integrator": pt.integrators.ConstrainedGauss(3),
    },
    "momenta": {
        "coordinates": "quaternions",
        "form": "hamiltonian",
        "integrator": pt.integrators.ConstrainedGauss(3),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_COORDINATES)
def test_reactions_are_the_same_in_other_coordinates(name):
    """Two rods on a hinge and a ball joint, moving in space."""
    rods = [pt.RigidBody(1.0, (0.02, 0.1, 0.11), name=name) for name in ("upper", "lower")]
    joints = [
        J.Revolute("ground", "upper", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), axis=(1, 1, 0), name="hip"),
        J.Spherical("upper", "lower", at_first=(0.5, 0, 0), at_second=(-0.5, 0, 0), name="knee"),
    ]
    system = pt.System(rods, joints=joints, potentials=[DOWN])
    start = system.assemble({"lower": {"angular_velocity": (1.0, 2.0, 3.0)}}, velocity={"hip": 2.0})
    tight: Any = {"integrator": "dormand-prince8", "rtol": 1e-12, "atol": 1e-12}
    group = ran(system, start, 0.2, None, save_at=[0.1, 0.2], **tight)
    fixed = "integrator" in OTHER_COORDINATES[name]
    other = ran(
        system,
        start,
        0.2,
        0.005 if fixed else None,
        save_at=[0.1, 0.2],
        **(({} if fixed else tight) | OTHER_COORDINATES[name]),
    )
    for joint in ("hip", "knee"):
        one, two = group.reaction(joint), other.reaction(joint)
        assert np.max(np.abs(one.force)) > 1.0
        np.testing.assert_allclose(two.force, one.force, atol=1e-7)
        np.testing.assert_allclose(two.torque, one.torque, atol=1e-7)
        np.testing.assert_allclose(other.joint(joint).values, group.joint(joint).values, atol=1e-9)
        np.testing.assert_allclose(other.joint(joint).rates, group.joint(joint).rates, atol=1e-8)
