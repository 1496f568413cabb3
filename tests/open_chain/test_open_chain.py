"""An open chain by itself: symbols, slopes, states, frames, inverse kinematics, what it refuses."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.kernels import once
from poinsot.model.open_chain import _dynamics, _kinematics, _sweeps
from quickly import QUICK

J = pt.joints


def bodies(names: str) -> list[pt.RigidBody]:
    tensor = np.array([[0.3, 0.02, -0.03], [0.02, 0.4, 0.05], [-0.03, 0.05, 0.5]])
    return [pt.RigidBody(1.0 + 0.3 * i, tensor * (1.0 + 0.2 * i), name=name) for i, name in enumerate(names)]


def places(names: str) -> dict[str, Any]:
    return {name: ((0.4 * i, 0.3 - 0.2 * i, 0.1 * i), (0.8, 0.0, 0.6, 0.0)) for i, name in enumerate(names)}


@cache
def arm() -> pt.OpenChain:
    """Five coordinates of all elementary kinds in a tree with two branches; one joint passed backwards."""
    joints = [
        J.Revolute("ground", "a", at=(0, 0, 0), axis=(0, 1, 0.5), name="shoulder"),
        J.Prismatic("a", "b", at=(0.5, 0, 0), axis=(1, 1, 0), name="slide"),
        J.Universal("c", "b", at=(0.9, 0, 0), axis=(1, 2, 3), name="wrist"),
        J.Screw("a", "d", 0.3, at=(0, 0.7, 0), axis=(0.2, 0, 1), name="screw"),
    ]
    system = pt.System(
        bodies("abcd"),
        joints=joints,
        reference=places("abcd"),
        potentials=[
            pt.potentials.UniformGravity(),
            pt.potentials.Spring(pt.potentials.Marker("c", (0.1, 0, 0)), (1.0, 1.0, 1.0), stiffness=3.0),
        ],
        loads=[pt.loads.LinearDamping(0.2, 0.1)],
        frames={"hand": ("c", (0.1, 0.2, 0.0), (0.6, 0.0, 0.8, 0.0))},
    )
    return pt.OpenChain(system)


@cache
def balls() -> pt.OpenChain:
    """A floating body with a ball joint on either side, one passed backwards."""
    joints = [
        J.Spherical("a", "b", at=(0.5, 0, 0), axis=(1, 1, 0), name="front"),
        J.Spherical("c", "a", at=(-0.5, 0.1, 0), name="back"),
    ]
    return pt.OpenChain(
        pt.System(
            bodies("abc"),
            joints=joints,
            reference=places("abc"),
            potentials=[pt.potentials.UniformGravity()],
        )
    )


@once
def _symbols(chain: pt.OpenChain, q, v):
    slope = jax.jacfwd(chain.metric)(q)
    # Gamma_ab,c = (d_a M_bc + d_b M_ac - d_c M_ab) / 2, with the derivative as the last index of `slope`.
    by_slope = 0.5 * (jnp.einsum("bca->abc", slope) + jnp.einsum("acb->abc", slope) - slope)
    own = chain.christoffel(q)
    C = jnp.einsum("abc,a->cb", own, v)
    rate = jnp.einsum("abc,c->ab", slope, v)
    energy = jax.hessian(lambda v: chain.energy(q, v))(v)
    return own, by_slope, rate - 2.0 * C, chain.metric(q), energy


@pytest.mark.slow
def test_christoffel_symbols_are_those_of_the_metric():
    q, v = arm().random(jax.random.key(1))
    own, by_slope, skew, metric, energy = _symbols(arm(), q, v)
    scale = np.max(np.abs(own))
    assert scale > 0.1
    assert np.max(np.abs(own - by_slope)) < 1e-14 * max(scale, 1.0)
    assert np.max(np.abs(skew)) > 0.1
    assert np.max(np.abs(skew + skew.T)) < 1e-14 * 5 * np.max(np.abs(own)) * np.max(np.abs(v))
    assert np.max(np.abs(metric - energy)) < 1e-14


@once
def _accelerations(chain: pt.OpenChain, q, v):
    """Of the recursive equations, of the covariant ones, and of Lagrange's by automatic differentiation."""
    system, nodes = chain.system, chain.nodes
    forces = -chain.inverse_dynamics(q, v, jnp.zeros_like(v))
    quadratic = jnp.einsum("abc,a,b->c", chain.christoffel(q), v, v)
    posture = _kinematics.posture(nodes, q)
    moved = _kinematics.movement(nodes.structure, posture, v)
    loads = jnp.zeros_like(v)
    if system.loads:
        state = chain.state(q, v)
        wrenches = chain._load_wrenches(0.0, posture, state.velocity, state.angular_velocity)
        loads = _dynamics.pulled(nodes.structure, posture, wrenches)
    covariant = jnp.linalg.solve(chain.metric(q), loads - quadratic - chain.gravity(q))
    by_pull = jax.jacfwd(lambda s: chain.energy(chain.moved(q, s), jnp.zeros_like(v)))(jnp.zeros_like(v))
    kinetic = jax.jacfwd(lambda s: _kinetic(chain, chain.moved(q, s), v))(jnp.zeros_like(v))
    own_slope = _dynamics.kinetic_slope(nodes, posture, moved)
    return (
        chain.forward_dynamics(q, v),
        covariant,
        forces,
        loads - quadratic - chain.gravity(q),
        (chain.gravity(q), by_pull),
        (own_slope, kinetic),
    )


def _kinetic(chain: pt.OpenChain, q, v):
    return chain.energy(q, v) - chain.energy(q, jnp.zeros_like(v))


@pytest.mark.parametrize("chain", [arm, pytest.param(balls, marks=pytest.mark.slow)], ids=["arm", "balls"])
def test_recursive_and_covariant_equations_agree_and_slopes_are_derivatives(chain):
    q, v = chain().random(jax.random.key(2))
    recursive, covariant, forces, by_symbols, gravity, kinetic = _accelerations(chain(), q, v)
    assert np.max(np.abs(recursive)) > 0.5
    np.testing.assert_allclose(recursive, covariant, rtol=0, atol=1e-11 * np.max(np.abs(recursive)))
    np.testing.assert_allclose(forces, by_symbols, rtol=0, atol=1e-13 * np.max(np.abs(forces)))
    for own, derivative in (gravity, kinetic):
        np.testing.assert_allclose(own, derivative, rtol=0, atol=1e-13 * np.max(np.abs(own)))
    assert np.max(np.abs(kinetic[0])) > 0.1


@eqx.filter_jit(**QUICK)
def _there_and_back(chain: pt.OpenChain, q, v):
    state = chain.state(q, v)
    return state, chain.of_state(state)


@pytest.mark.parametrize("chain", [pytest.param(arm, marks=pytest.mark.slow), balls], ids=["arm", "balls"])
def test_a_state_goes_there_and_back_and_keeps_its_joints_closed(chain):
    q, v = (np.asarray(part) for part in chain().random(jax.random.key(3)))
    state, back = _there_and_back(chain(), q, v)
    chain().system.check_state(0.0, state)
    signs = np.ones(len(q))
    for slot in chain().slots:
        if slot.ball:
            quat = slice(slot.q[0] + slot.q[1] - 4, slot.q[0] + slot.q[1])
            signs[quat] = np.sign(q[quat] @ back[0][quat])
    np.testing.assert_allclose(back[0], signs * q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(back[1], v, rtol=0, atol=1e-13)


@eqx.filter_jit(**QUICK)
def _hand(chain: pt.OpenChain, q, v, a):
    drift = jax.jvp(lambda q: chain.jacobian(q, "hand") @ v, (q,), (v,))[1]
    J = chain.jacobian(q, "hand")
    moved = chain.velocity(q, v, "hand"), chain.acceleration(q, v, a, "hand")
    return chain.pose(q, "hand"), chain.pose(q, "c"), moved, (J @ v, J @ a + drift)


def test_frames_move_as_their_jacobian_says():
    q, v = arm().random(jax.random.key(4))
    (place, rotation), (body, directions), moved, by_jacobian = _hand(arm(), q, v, jnp.linspace(-1.0, 1.0, 5))
    np.testing.assert_allclose(place, body + directions @ jnp.array([0.1, 0.2, 0.0]), atol=1e-15)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=1e-14)
    for own, other in zip(moved, by_jacobian, strict=True):
        assert np.max(np.abs(own)) > 0.1
        np.testing.assert_allclose(own, other, atol=1e-13)


@eqx.filter_jit(**QUICK)
def _reached(chain: pt.OpenChain, q, start):
    target = chain.pose(q, "hand")
    found = chain.inverse_kinematics(target, "hand", start)
    far = chain.inverse_kinematics(jnp.array([5.0, 60.0, 9.0]), "a", q, steps=20)
    return found, (target, chain.pose(found.q, "hand")), far, chain.pose(q, "a")[0]


@pytest.mark.slow
def test_inverse_kinematics_finds_a_pose_and_approaches_one_out_of_reach():
    q, _ = arm().random(jax.random.key(5))
    found, poses, far, before = _reached(arm(), q, q + 0.2)
    assert found.converged and found.iterations < 30
    for one, other in zip(*poses, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    assert not far.converged
    assert np.linalg.norm(far.error) < np.linalg.norm(np.array([5.0, 60.0, 9.0]) - before)


@eqx.filter_jit(**QUICK)
def _next_to(chain: pt.OpenChain, q, v, tau, by):
    near = jnp.stack([q.at[2].add(-by), q.at[2].add(by)])
    answers = jax.vmap(lambda q: chain.forward_dynamics(q, v, tau))(near)
    return chain.linearise(q, v, tau), chain.metric(q), answers


@pytest.mark.slow
def test_linearisation_is_the_slope_of_the_forward_dynamics():
    q, v = arm().random(jax.random.key(6))
    (A, B), metric, (low, high) = _next_to(arm(), q, v, jnp.linspace(0.5, -0.5, 5), 1e-5)
    assert A.shape == (10, 10) and B.shape == (10, 5)
    np.testing.assert_allclose(A[:5], np.hstack([np.zeros((5, 5)), np.eye(5)]), atol=1e-14)
    np.testing.assert_allclose(B[5:] @ metric, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(A[5:, 2], (high - low) / 2e-5, rtol=1e-6, atol=1e-7)


@eqx.filter_jit(**QUICK)
def _all_slopes(chain: pt.OpenChain, q, v, tau, by):
    """Matrices of the motion, and central differences of the rates in all coordinates, rates and forces."""
    z = jnp.concatenate([q, v, tau])

    def rates(z):
        q, v, tau = jnp.split(z, 3)
        return jnp.concatenate([chain.coordinate_rates(q, v), chain.forward_dynamics(q, v, tau)])

    steps = by * jnp.eye(len(z))
    sides = jax.vmap(rates)(jnp.concatenate([z[None] + steps, z[None] - steps]))
    return chain.linearise(q, v, tau), (sides[: len(z)] - sides[len(z) :]).T / (2.0 * by)


def test_matrices_of_the_motion_are_its_differences():
    chain = pt.OpenChain(pt.library.two_link_arm(second=0.4))
    q, v, tau = np.array([0.4, -1.3]), np.array([1.5, -0.7]), np.array([2.0, -1.0])
    (A, B), differences = _all_slopes(chain, q, v, tau, 1e-5)
    assert np.min(np.max(np.abs(A), axis=0)) > 0.1
    np.testing.assert_allclose(np.hstack([A, B]), differences, atol=1e-8)


@eqx.filter_jit(**QUICK)
def _touched(chain: pt.OpenChain, place, start):
    found = chain.inverse_kinematics(place, "hand", start)
    return found, chain.pose(found.q, "hand")[0]


def test_inverse_kinematics_of_two_links_finds_a_place_or_says_that_it_cannot():
    chain = pt.OpenChain(pt.library.two_link_arm())
    target = np.array([0.9, 1.1, 0.0])
    found, hand = _touched(chain, target, np.array([0.1, 0.3]))
    assert found.converged and found.iterations < 30
    np.testing.assert_allclose(hand, target, atol=1e-10)
    # The elbow by the law of cosines; it stays on the side it starts from.
    assert abs(found.q[1] - np.arccos(0.5 * (0.9**2 + 1.1**2) - 1.0)) < 1e-9
    far, hand = _touched(chain, np.array([3.0, 0.0, 0.0]), np.array([0.5, 0.3]))
    assert not far.converged
    np.testing.assert_allclose(hand, [2.0, 0.0, 0.0], atol=0.02)


def _falling(chain: pt.OpenChain, q, v):
    return chain.forward_dynamics(q, v)


@pytest.mark.slow
def test_recursions_as_loops_are_those_written_out(monkeypatch):
    q, v = balls().random(jax.random.key(7))
    out = eqx.filter_jit(_falling, **QUICK)(balls(), q, v)
    jax.clear_caches()
    monkeypatch.setattr(_sweeps, "is_long", lambda above: True)
    program = jax.make_jaxpr(lambda q, v: _falling(balls(), q, v))(q, v)
    assert "scan" in str(program)
    loops = jax.jit(jax.extend.core.jaxpr_as_fun(program), **QUICK)(q, v)[0]
    jax.clear_caches()
    np.testing.assert_allclose(loops, out, rtol=1e-13, atol=1e-13)


@eqx.filter_jit(**QUICK)
def _brought(chain: pt.OpenChain, q, to):
    return chain.moved(q, chain.difference(q, to))


def test_a_difference_brings_coordinates_to_others():
    (q, _), (to, _) = (balls().random(jax.random.key(k)) for k in (8, 9))
    brought = np.asarray(_brought(balls(), q, to))
    np.testing.assert_allclose(brought[:3], to[:3], atol=1e-14)
    for begin in (3, 7, 11):
        quat = slice(begin, begin + 4)
        # Either sign is the same rotation.
        assert abs(abs(brought[quat] @ to[quat]) - 1.0) < 1e-14
        assert abs(q[quat] @ to[quat]) < 0.99


def test_coordinates_by_name():
    chain = balls()
    q = chain.coordinates({"front": (0.0, 0.0, 0.5), "a": (1.0, 2.0, 3.0, 2.0, 0.0, 0.0, 0.0)})
    np.testing.assert_allclose(q[:7], [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(q[7:11], [np.cos(0.25), 0.0, 0.0, np.sin(0.25)])
    assert chain.q_labels[6:8] == ("a k", "front w") and chain.v_labels[:4] == (
        "a x",
        "a y",
        "a z",
        "a turn_x",
    )


def _loop() -> pt.System:
    joints = [
        J.Revolute("ground", "a", at=(0, 0, 0), name="in"),
        J.Revolute("a", "b", at=(1, 0, 0), name="mid"),
        J.Revolute("b", "ground", at=(1, 1, 0), name="out"),
    ]
    return pt.System(bodies("ab"), joints=joints)


def _moved() -> pt.System:
    """A body that hangs on one whose place is a function of time."""
    moved = pt.freedom.Guided(lambda t: jnp.stack([0.1 * t, 0.0 * t, 0.0 * t]))
    joint = J.Revolute("a", "b", at=(1, 0, 0), name="hinge")
    return pt.System(bodies("ab"), freedom=[moved, pt.freedom.Free()], joints=[joint])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pt.OpenChain(_moved()), "freedom of 'a' is Guided, a function of time.*pt.joints.Drive"),
        (lambda: pt.formulate(_moved(), "joint", "recursive"), "freedom of .a. is Guided, a function"),
        (lambda: pt.OpenChain(_loop()), "joint 'mid'.* closes a loop"),
        (lambda: arm().coordinates({"shulder": 1.0}), "'shulder', which is no joint of the chain; did"),
        (lambda: arm().coordinates({"shoulder": (1.0, 2.0)}), "it must be one number: angle"),
        (lambda: balls().coordinates({"front": np.zeros(4)}), "has a quaternion that is zero"),
        (lambda: pt.System(bodies("a"), frames={"tool": ("z", (0, 0, 0))}), "frame 'tool': no body is"),
    ],
)  # fmt: skip
def test_what_is_refused(call, said):
    with pytest.raises(pt.InputError, match=said):
        call()
