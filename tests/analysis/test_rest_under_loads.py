"""Rest and small motions under loads: motors, follower forces, and what nothing balances."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize

import poinsot as pt
from poinsot.analysis import stationary_point

G = 9.81
GRAVITY = pt.potentials.UniformGravity((0.0, -G, 0.0))
ROD = (1e-3, 1.0 / 12.0, 1.0 / 12.0)


def hinged_rods(count: int, potentials=(), loads=()) -> pt.System:
    """Uniform rods of length 1 and mass 1 on hinges along z."""
    names = [f"rod{k}" for k in range(count)]
    joints = [
        pt.joints.Revolute(
            upper, lower, at_first=(0.5 if k else 0.0, 0, 0), at_second=(-0.5, 0, 0), name=f"hinge{k}"
        )
        for k, (upper, lower) in enumerate(zip(["ground", *names[:-1]], names, strict=True))
    ]
    rods = [pt.RigidBody(1.0, ROD, name=name) for name in names]
    return pt.System(rods, joints=joints, potentials=potentials, loads=loads, name="rods")


def motor(torque: float, damping: float = 0.1) -> pt.System:
    """A rod under its weight and a motor in its hinge."""
    drive = pt.loads.JointTorque(
        "hinge0", lambda t, angle, rate, p: p[0] - p[1] * rate, params=jnp.array([torque, damping])
    )
    return hinged_rods(1, [GRAVITY], [drive])


@pytest.mark.slow
@pytest.mark.parametrize("angle", [-1.0, 1.0, 2.5])
def test_pendulum_under_a_motor(angle):
    r"""$\sin\vartheta = \tau/mgl$, $\omega^2 = mgl\cos\vartheta/I$, $I s^2 + c s + mgl\cos\vartheta = 0$."""
    torque, damping = 2.0, 0.1
    rod = motor(torque, damping)
    rest = rod.equilibrium(rod.assemble(coordinates={"hinge0": angle}))
    theta = np.arcsin(torque / (0.5 * G))
    x, y, _ = np.asarray(rest.state.position[0])
    assert np.arctan2(x, -y) == pytest.approx(theta, abs=1e-12)
    assert rest.stable and rest.zero == 0 and rest.force < 1e-12
    stiffness = 0.5 * G * np.cos(theta)
    np.testing.assert_allclose(rod.modes(rest).squares, [3.0 * stiffness], rtol=1e-12)
    roots = np.roots([1.0 / 3.0, damping, stiffness])
    found = rod.damped_modes(rest)
    np.testing.assert_allclose(found.eigenvalues, roots[np.imag(roots) > 0.0], rtol=1e-12)
    # Upside down the same torque balances too, and the rod falls from there.
    above = stationary_point(rod, rod.assemble(coordinates={"hinge0": 0.5 * np.pi - theta + 0.05}))
    assert above.kind == "saddle" and above.unstable == 1
    assert float(above.state.position[0, 1]) == pytest.approx(-y, abs=1e-12)


@pytest.mark.slow
def test_what_nothing_balances_is_refused_soon():
    """Beyond mgl; the force left is the difference. Once compiled, within three seconds."""
    torque = 6.0
    message = r"no position balances the load JointTorque in joint 'hinge0'.* 1\.095 along joint 'hinge0'"
    for angle in (-1.0, -0.5):
        rod = motor(torque)
        began = time.process_time()
        with pytest.raises(pt.InputError, match=message):
            rod.equilibrium(rod.assemble(coordinates={"hinge0": angle}))
        spent = time.process_time() - began
    assert spent < 3.0
    assert torque - 0.5 * G == pytest.approx(1.095, abs=1e-12)
    # A little less than mgl is borne.
    rest = motor(4.9).equilibrium(rod.assemble(coordinates={"hinge0": -1.0}))
    assert rest.stable and float(rest.state.position[0, 0]) == pytest.approx(0.5 * 4.9 / (0.5 * G), abs=1e-9)


def _links(crank: float) -> tuple:
    """Mass centres and angles of the bars of a four-bar of lengths 1, 2, 1.5 on a ground of 2."""
    tip = jnp.stack([jnp.cos(crank), jnp.sin(crank)])
    pivot = jnp.array([2.0, 0.0])
    span = pivot - tip
    far = jnp.sqrt(span @ span)
    along = (2.0**2 - 1.5**2 + far**2) / (2.0 * far)
    across = jnp.sqrt(2.0**2 - along**2)
    knee = tip + (along * span + across * jnp.stack([-span[1], span[0]])) / far
    coupler = jnp.arctan2(*(knee - tip)[::-1])
    rocker = jnp.arctan2(*(knee - pivot)[::-1])
    return jnp.stack([tip / 2.0, (tip + knee) / 2.0, (pivot + knee) / 2.0]), jnp.stack(
        [crank, coupler, rocker]
    )


@pytest.mark.slow
def test_four_bar_with_a_spring_and_a_motor():
    """A root of the slope of V less the work of the torque, its second derivative over the mass."""
    lengths, masses = np.array([1.0, 2.0, 1.5]), np.array([1.0, 2.0, 1.5])
    torque, spring, level = 3.0, 25.0, 1.9
    inertia = masses * lengths**2 / 12.0

    def energy(angle):
        places, angles = _links(angle)
        return G * jnp.sum(masses * places[:, 1]) + 0.5 * spring * (angles[2] - level) ** 2 - torque * angle

    def mass(angle):
        (places, angles) = jax.jacfwd(_links)(angle)
        return jnp.sum(masses * jnp.sum(places**2, axis=1)) + jnp.sum(inertia * angles**2)

    bars = pt.System(
        [
            pt.RigidBody(float(m), (1e-3, float(J), float(J)), name=name)
            for m, J, name in zip(masses, inertia, ("crank", "coupler", "rocker"), strict=True)
        ],
        joints=[
            pt.joints.Revolute("ground", "crank", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="motor"),
            pt.joints.Revolute("crank", "coupler", at_first=(0.5, 0, 0), at_second=(-1, 0, 0)),
            pt.joints.Revolute("coupler", "rocker", at_first=(1, 0, 0), at_second=(0.75, 0, 0)),
            pt.joints.Revolute("ground", "rocker", at_first=(2, 0, 0), at_second=(-0.75, 0, 0), name="pivot"),
        ],
        potentials=[GRAVITY, pt.potentials.JointSpring("pivot", stiffness=spring, rest=level)],
        loads=[pt.loads.JointTorque("motor", torque)],
        name="bars",
    )
    places, angles = _links(1.0)
    start = bars.assemble(
        bars.state(
            position=[(*place, 0.0) for place in np.asarray(places)],
            rotation=[pt.rotation.about_z(float(angle)) for angle in angles],
        )
    )
    rest = bars.equilibrium(start)
    crank = float(np.arctan2(rest.state.position[0, 1], rest.state.position[0, 0]))
    slope = jax.jit(jax.grad(energy))
    root = scipy.optimize.brentq(lambda a: float(slope(a)), crank - 0.1, crank + 0.1, xtol=1e-14)
    assert crank == pytest.approx(root, abs=1e-10) and rest.stable
    square = float(jax.grad(jax.grad(energy))(root) / mass(root))
    np.testing.assert_allclose(bars.modes(rest).squares, [square], rtol=1e-9)
    # Without the torque it rests elsewhere.
    idle = scipy.optimize.newton(lambda a: float(slope(a)) + torque, root)
    assert abs(idle - root) > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("push", [1.0, 8.0])
def test_follower_force_on_two_rods(push):
    r"""Ziegler's column: $M\ddot\vartheta + C\dot\vartheta + K\vartheta = 0$, K not symmetric."""
    spring, damping = 2.0, 0.01
    springs = [pt.potentials.JointSpring(f"hinge{k}", stiffness=spring) for k in range(2)]
    dampers = [pt.loads.JointDamper(f"hinge{k}", damping) for k in range(2)]
    column = hinged_rods(2, springs, [pt.loads.thrust((-push, 0, 0), (0.5, 0, 0), body="rod1"), *dampers])
    rest = stationary_point(column, column.assemble(coordinates={"hinge0": 0.01, "hinge1": -0.01}))
    M = np.array([[4.0 / 3.0, 0.5], [0.5, 1.0 / 3.0]])
    pattern = np.array([[2.0, -1.0], [-1.0, 1.0]])
    K = spring * pattern + push * np.array([[-1.0, 1.0], [0.0, 0.0]])
    right = -np.linalg.solve(M, np.concatenate([K, damping * pattern], axis=1))
    values = np.linalg.eigvals(np.concatenate([np.eye(2, 4, 2), right]))
    found = column.damped_modes(rest)
    expected = values[np.imag(values) > 1e-9]
    kept = found.eigenvalues[np.imag(found.eigenvalues) > 1e-9]
    np.testing.assert_allclose(np.sort_complex(kept), np.sort_complex(expected), rtol=1e-8)
    assert found.unstable == np.count_nonzero(np.real(expected) > 0.0) == (1 if push == 8.0 else 0)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, 0.5 * (K + K.T))))
    np.testing.assert_allclose(column.modes(rest).squares, squares, rtol=1e-8)


@pytest.mark.slow
def test_a_force_is_as_good_as_its_potential():
    """A constant force at a point of a body on a ball joint, as a load and as a potential."""
    force, point = (3.0, 1.0, -4.0), (0.2, 0.3, -0.1)
    ball = pt.joints.Spherical("ground", "body", at_first=(0, 0, 0), at_second=(-0.5, 0.1, 0.2))
    body = pt.RigidBody(1.0, (0.2, 0.3, 0.4), name="body")
    terms = {
        "load": {"potentials": [GRAVITY], "loads": [pt.loads.Force(force, point=point)]},
        "potential": {"potentials": [GRAVITY, pt.potentials.ConstantForce(force, point=point)]},
    }
    found = {}
    for name, kinds in terms.items():
        system = pt.System([body], joints=[ball], name=name, **kinds)
        rest = system.equilibrium(system.assemble(), starts=1)
        found[name] = (rest, system.modes(rest), system.damped_modes(rest))
    (rest, modes, damped), (other, known, _) = found["load"], found["potential"]
    assert rest.stable and other.stable
    # One of the three motions is a turn about the line of the total force, if the forces meet it.
    assert rest.zero == modes.zero == damped.zero == other.zero == known.zero
    np.testing.assert_allclose(modes.squares, known.squares, rtol=1e-7)
    np.testing.assert_allclose(np.sort(damped.angular), known.angular, rtol=1e-7)


@pytest.mark.slow
def test_a_stop_that_does_not_act_at_the_start():
    """The load of a buffer is met on the way; its stiffness and damping count from there on."""
    stiffness, damping, edge = 50.0, 0.3, -1.0

    def buffer(angle, rate):
        return jnp.where(angle < edge, -stiffness * (angle - edge) - damping * rate, 0.0)

    rod = hinged_rods(1, [GRAVITY], [pt.loads.JointTorque("hinge0", buffer)])
    rest = rod.equilibrium(rod.assemble(coordinates={"hinge0": 0.0}))
    x, y, _ = np.asarray(rest.state.position[0])
    found = float(np.arctan2(y, x))
    angle: Any = scipy.optimize.brentq(
        lambda a: 0.5 * G * np.cos(a) + stiffness * (a - edge), -1.5, edge, xtol=1e-14
    )
    assert rest.stable and found == pytest.approx(angle, abs=1e-12) and found < edge - 0.01
    slope = stiffness - 0.5 * G * np.sin(angle)
    np.testing.assert_allclose(rod.modes(rest).squares, [3.0 * slope], rtol=1e-12)
    roots = np.roots([1.0 / 3.0, damping, slope])
    np.testing.assert_allclose(rod.damped_modes(rest).eigenvalues, roots[np.imag(roots) > 0.0], rtol=1e-12)
