"""Controllers in runs: the order of tracking, the decay of errors, all coordinates, the energy balance."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from quickly import QUICK

GOAL = np.array([0.8, -1.1])
WRONG: Any = [0]


@cache
def chain() -> pt.OpenChain:
    return pt.OpenChain(pt.library.two_link_arm(first=1.3, second=0.7, second_length=0.8))


@cache
def reference() -> pt.control.JointPath:
    return pt.control.quintic(np.zeros(2), GOAL, 1.0)


def followed(
    dt: float, integrator: str, form: str | None, coordinates: str = "joint", knows: Any = None, **start: Any
) -> Any:
    """A run along the reference by computed torque, from its begin or elsewhere.

    Args:
        dt: step.
        integrator: by name.
        form: of the equations.
        coordinates: by name.
        knows: what the controller knows of the arm; all when left out.
        start: coordinates of joints.
    """
    loop = pt.control.ComputedTorque(knows or chain(), kp=25.0, kd=10.0, reference=reference())
    return pt.simulate(
        chain().system,
        chain().system.joint_state(start or {"elbow": 0.0}),
        t1=1.0,
        dt=dt,
        control=loop,
        coordinates=coordinates,
        form=form,
        integrator=integrator,
        progress=False,
    )


def angles(run: Any) -> np.ndarray:
    return np.stack([run.joint("shoulder").angle, run.joint("elbow").angle], axis=1)


def off(run: Any) -> float:
    wanted = np.asarray(jax.vmap(reference())(run.t)[0])
    return float(np.max(np.abs(angles(run) - wanted)))


@pytest.mark.parametrize(
    ("integrator", "form", "order"),
    [
        ("rk4", "recursive", 4),
        pytest.param("midpoint", "recursive", 2, marks=pytest.mark.slow),
        pytest.param("gauss4", "hamiltonian", 4, marks=pytest.mark.slow),
        pytest.param("gauss6", "hamiltonian", 6, marks=pytest.mark.slow),
        pytest.param("rk4", "covariant", 4, marks=pytest.mark.slow),
    ],
)
def test_computed_torque_tracks_to_the_error_of_the_integrator(integrator, form, order):
    errors = [off(followed(dt, integrator, form)) for dt in (0.05, 0.025, 0.0125)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[0] > 1e-9
    np.testing.assert_allclose(slopes, order, atol=0.3)


def test_a_controller_with_wrong_masses_does_not_track():
    """What would pass if the errors above were small for another reason: these do not fall with the step."""
    heavier = pt.OpenChain(pt.library.two_link_arm(first=1.5, second=0.9, second_length=0.8))
    errors = [off(followed(dt, "rk4", "recursive", knows=heavier)) for dt in (0.05, 0.025, 0.0125)]
    assert min(errors) > 1e-2
    np.testing.assert_allclose(errors, errors[-1], rtol=1e-2)


@cache
def shoulder() -> pt.OpenChain:
    """An arm on a ball joint, with an elbow."""
    bodies = [pt.RigidBody(1.5, (0.02, 0.1, 0.11), name="a"), pt.RigidBody(0.8, (0.01, 0.05, 0.05), name="b")]
    joints = [
        pt.joints.Spherical("ground", "a", at=(0, 0, 0), name="ball"),
        pt.joints.Revolute("a", "b", at=(0.8, 0, 0), axis=(0, 1, 1), name="elbow"),
    ]
    places = {"a": ((0.4, 0, 0), (1, 0, 0, 0)), "b": ((1.1, 0, 0), (1, 0, 0, 0))}
    gravity = [pt.potentials.UniformGravity()]
    return pt.OpenChain(pt.System(bodies, joints=joints, reference=places, potentials=gravity))


@pytest.mark.slow
def test_computed_torque_tracks_a_ball_joint():
    q0 = shoulder().coordinates({"ball": (0.2, 0.0, 0.1)})
    q1 = shoulder().coordinates({"ball": (-0.5, 0.8, 0.4), "elbow": 1.0})
    path = pt.control.quintic(q0, q1, 1.0, chain=shoulder())
    loop = pt.control.ComputedTorque(shoulder(), kp=25.0, kd=10.0, reference=path)
    errors = []
    for dt in (0.05, 0.025):
        run: Any = pt.simulate(
            shoulder().system,
            shoulder().state(q0, np.zeros(4)),
            t1=1.0,
            dt=dt,
            control=loop,
            coordinates="joint",
            form="recursive",
            integrator="rk4",
            progress=False,
        )
        wanted = np.asarray(jax.vmap(path)(run.t)[0])
        errors.append(np.max(np.abs(run.q - wanted)))
    assert errors[0] > 1e-8
    assert abs(np.log2(errors[0] / errors[1]) - 4.0) < 0.4


def test_an_error_of_the_start_decays_as_a_damped_oscillator():
    run = followed(2e-3, "rk4", "recursive", shoulder=0.1, elbow=-0.3)
    wanted = np.asarray(jax.vmap(reference())(run.t)[0])
    # Critical damping: e'' + 10 e' + 25 e = 0 from e(0) at rest.
    decay = (1.0 + 5.0 * run.t) * np.exp(-5.0 * run.t)
    np.testing.assert_allclose(angles(run) - wanted, decay[:, None] * np.array([[0.1, -0.3]]), atol=1e-9)


@pytest.mark.parametrize(
    ("coordinates", "form", "integrator"),
    [
        ("group", None, "rk4"),
        pytest.param("quaternions", "index0", "rk4", marks=pytest.mark.slow),
    ],
)
def test_the_same_loop_in_coordinates_of_the_bodies(coordinates, form, integrator):
    ours = followed(5e-3, "rk4", "recursive", shoulder=0.1)
    theirs = followed(5e-3, integrator, form, coordinates, shoulder=0.1)
    np.testing.assert_allclose(angles(theirs), angles(ours), rtol=0, atol=1e-7)
    assert abs(theirs.work[-1] - ours.work[-1]) < 1e-6


@pytest.mark.slow
def test_a_controller_acts_in_the_tree_of_a_mechanism_with_a_loop():
    bars = pt.library.four_bar()
    tree = pt.OpenChain(bars, cut=True)
    q, _ = tree.of_state(bars.start)
    goal = np.asarray(q) + np.array([0.3, 0.0, 0.0])
    loop = pt.control.PDGravity(tree, 5.0, 1.0, goal, joints=[tree.v_labels[0]])
    grid: Any = {"t1": 0.3, "dt": 2e-3, "integrator": "rk4", "progress": False}
    ours = pt.simulate(bars, bars.start, control=loop, coordinates="joint", form="index0", **grid)
    theirs = pt.simulate(bars, bars.start, control=loop, coordinates="group", **grid)
    alone = pt.simulate(bars, bars.start, coordinates="group", **grid)
    np.testing.assert_allclose(ours.position, theirs.position, rtol=0, atol=1e-9)
    assert np.max(np.abs(alone.position - theirs.position)) > 0.01
    assert np.max(np.abs(ours.energy - ours.work - ours.energy[0])) < 1e-8 and abs(ours.work[-1]) > 0.1


def test_the_energy_balance_counts_the_work_of_a_controller():
    run = followed(5e-3, "rk4", "recursive", shoulder=0.3)
    assert "energy less work done" in run.conserved
    assert abs(run.work[-1]) > 1.0
    # The last state is where the reference ends: the rate of its acceleration jumps there.
    assert np.max(np.abs(run.energy - run.work - run.energy[0])[:-1]) < 2e-7
    assert run.attributes["kernel"] == "native"


@eqx.filter_jit(**QUICK)
def _wrenches(tree: pt.OpenChain, q, v, tau):
    state = tree.state(q, v)
    R = pt.rotation.to_matrix(state.quaternion)
    rates = tree.of_poses(0.0, state.position, R, state.velocity, state.angular_velocity)[1]
    return state, R, tree.wrenches(state.position, R, tau), rates


def test_wrenches_on_the_bodies_do_the_work_of_the_joints():
    bodies = [pt.RigidBody(1.0 + k, (0.3, 0.4, 0.5), name=name) for k, name in enumerate("abcd")]
    J = pt.joints
    system = pt.System(
        bodies,
        joints=[
            J.Universal("b", "a", at=(0.4, 0.1, 0), axis=(1, 2, 3), name="cross"),
            J.Screw("b", "c", 0.3, at=(0, 0.7, 0), axis=(0.2, 0, 1), name="screw"),
            J.Spherical("c", "d", at=(0.1, 0.2, 0.9), name="ball"),
        ],
    )
    tree = pt.OpenChain(system)
    q, v = tree.random(jax.random.key(0))
    tau = np.linspace(-1.0, 2.0, tree.v_size)
    state, _, (forces, torques), rates = _wrenches(tree, q, v, tau)
    power = np.sum(forces * state.velocity) + np.sum(torques * state.angular_velocity)
    assert abs(power - tau @ v) < 1e-12
    np.testing.assert_allclose(rates, v, atol=1e-12)
    # Without the forces on the free body those in the joints are pairs: no resultant, no moment.
    state, R, (forces, torques), _ = _wrenches(tree, q, v, np.where(np.arange(tree.v_size) < 6, 0.0, tau))
    assert np.max(np.abs(torques)) > 0.5
    np.testing.assert_allclose(np.sum(forces, axis=0), 0.0, atol=1e-13)
    about = np.cross(state.position, forces) + np.einsum("bij,bj->bi", R, torques)
    np.testing.assert_allclose(np.sum(about, axis=0), 0.0, atol=1e-12)


@pytest.mark.slow
def test_springs_with_gravity_come_to_rest_at_their_target():
    goal = np.array([2.5, -2.0])
    loop = pt.control.PDGravity(chain(), kp=(40.0, 20.0), kd=(20.0, 8.0), reference=goal)
    run = pt.simulate(
        chain().system,
        chain().system.joint_state({"shoulder": 1.0, "elbow": 0.5}),
        t1=40.0,
        dt=0.01,
        save_every=100,
        control=loop,
        coordinates="joint",
        integrator="gauss4",
        progress=False,
    )
    np.testing.assert_allclose(run.q[-1], goal, atol=1e-12)
    held: Any = pt.simulate(
        chain().system, run.final, t1=1.0, dt=0.01, control=loop, coordinates="joint", integrator="gauss4"
    )
    np.testing.assert_allclose(held.q, goal[None] + np.zeros((101, 1)), atol=1e-12)


@pytest.mark.slow
def test_a_law_of_ones_own_and_angles_that_go_round():
    def law(q, v, params):
        return -params["d"] * v

    damped = pt.control.Feedback(chain(), law, params={"d": jnp.array([0.5, 0.2])})
    start = chain().system.joint_state({"shoulder": 1.0}, rates={"shoulder": 40.0})
    grid: Any = {"t1": 0.5, "dt": 2e-3, "coordinates": "joint", "integrator": "rk4", "progress": False}
    with_law = pt.simulate(chain().system, start, control=damped, **grid)
    dampers = [pt.loads.JointDamper("shoulder", 0.5), pt.loads.JointDamper("elbow", 0.2)]
    with_load = pt.simulate(chain().system.with_terms(loads=dampers), start, **grid)
    np.testing.assert_allclose(with_law.q, with_load.q, atol=1e-11)
    plain = pt.simulate(chain().system, start, control=lambda q, v: -jnp.array([0.5, 0.2]) * v, **grid)
    np.testing.assert_allclose(with_law.q, plain.q, atol=1e-11)
    assert with_law.q[-1, 0] > 2.0 * np.pi
    near = pt.control.PDGravity(chain(), 1.0, 0.0, np.zeros(2))
    q, rest = jnp.array([0.3, -0.2]), jnp.zeros(2)
    np.testing.assert_allclose(
        near.efforts(0.0, q + 2.0 * np.pi, rest), near.efforts(0.0, q, rest), atol=1e-12
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pt.control.ComputedTorque(3.0, 1.0, 1.0, GOAL), "it must be pt.OpenChain"),
        (lambda: pt.control.ComputedTorque(chain(), (1.0, 2.0, 3.0), 1.0, GOAL), "kp of ComputedTorque has"),
        (
            lambda: pt.control.ComputedTorque(chain(), 1.0, 1.0, [0.0]),
            "reference of ComputedTorque has",
        ),
        (lambda: pt.control.ComputedTorque(chain(), 1.0, 1.0, lambda t: t), "must return coordinates, rates"),
        (
            lambda: pt.control.PDGravity(
                shoulder(), 1.0, 1.0, pt.control.quintic(np.eye(5)[0], np.eye(5)[1], 1.0)
            ),
            r"5, 4, 4 numbers; make the path with chain=\.\.\., by which quaternions turn",
        ),
        (
            lambda: pt.control.ComputedTorque(chain(), -1.0, 1.0, GOAL),
            "kp of ComputedTorque = -1.0; none may",
        ),
        (
            lambda: pt.control.PDGravity(chain(), 1.0, (1, -2), GOAL),
            r"kd of PDGravity = \(1, -2\); none may be",
        ),
        (
            lambda: pt.control.PDGravity(chain(), np.nan, 1.0, GOAL),
            "kp of PDGravity = nan; it must be finite",
        ),
        (lambda: pt.control.PDGravity(chain(), 1.0, 1.0, GOAL, joints=["elbov"]), "did you mean elbow"),
        (
            lambda: pt.control.PDGravity(chain(), 1.0, 1.0, GOAL, joints=WRONG),
            "joints of PDGravity = .0.; it must be a list of texts",
        ),
        (
            lambda: pt.control.Feedback(chain(), lambda q, v: q, WRONG[0]),
            "joints of Feedback = 0; it must be a list",
        ),
        (
            lambda: pt.control.Feedback(chain(), lambda q, v: q @ v.spin),
            "law of Feedback cannot be evaluated: A",
        ),
        (lambda: pt.control.Feedback(chain(), lambda q, v: q[:1]), "a force for each of shoulder, elbow"),
        (
            lambda: pt.control.ComputedTorque(
                pt.OpenChain(pt.library.free_body(inertia=(1, 1, 1))), 1.0, 1.0, [0, 0, 0, 1, 0, 0, 0]
            ),
            "no joint carries 'body'",
        ),
        (lambda: simulated(pt.library.cart_pole(), followed_loop()), "control is about the bodies upper"),
        (lambda: simulated(pt.library.kepler(), followed_loop()), "Hamiltonian has no joints to control"),
        (lambda: simulated(chain().system, 3.0), "control = 3.0; it must be one of pt.control"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(pt.InputError, match=said):
        call()


def followed_loop() -> pt.control.ComputedTorque:
    return pt.control.ComputedTorque(chain(), kp=1.0, kd=1.0, reference=GOAL)


def simulated(system: Any, control: Any) -> Any:
    return pt.simulate(system, system.start, t1=0.1, dt=0.1, control=control, integrator="rk4")
