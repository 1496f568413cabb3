"""Equilibria and modes of bodies on joints: closed formulas, loops, dampers, and the motion itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import stationary_point
from poinsot.library import _stewart_platform

G = 9.81
GRAVITY = pt.potentials.UniformGravity((0.0, -G, 0.0))


def hinged_rods(count: int, **more) -> pt.System:
    """Uniform rods of length 1 and mass 1 on hinges along z, one below the other."""
    names = [f"rod{k}" for k in range(count)]
    joints = [
        pt.joints.Revolute(
            upper, lower, at_first=(0.5 if k else 0.0, 0, 0), at_second=(-0.5, 0, 0), name=f"hinge{k}"
        )
        for k, (upper, lower) in enumerate(zip(["ground", *names[:-1]], names, strict=True))
    ]
    rods = [pt.RigidBody(1.0, (1e-3, 1.0 / 12.0, 1.0 / 12.0), name=name) for name in names]
    return pt.System(rods, joints=joints, potentials=[GRAVITY], name="rods", **more)


@pytest.fixture(scope="module")
def double():
    return hinged_rods(2)


@pytest.fixture(scope="module")
def hanging(double):
    return double.equilibrium(double.assemble(coordinates={"hinge0": -1.0, "hinge1": 0.3}), starts=1)


def test_double_pendulum(double, hanging):
    r"""$M\ddot\vartheta + K\vartheta = 0$ in the angles of two rods from the vertical."""
    assert hanging.kind == "minimum" and hanging.energy == pytest.approx(-2.0 * G, rel=1e-12)
    np.testing.assert_allclose(hanging.state.position, [(0, -0.5, 0), (0, -1.5, 0)], atol=1e-9)
    found = double.modes(hanging)
    M, K = np.array([[4.0 / 3.0, 0.5], [0.5, 1.0 / 3.0]]), G * np.diag([1.5, 0.5])
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)))
    np.testing.assert_allclose(found.squares, squares, rtol=1e-9)
    assert found.zero == 0 and found.unstable == 0 and found.shapes.shape == (2, 2, 6)
    assert "rod1" in found.labels[0] and "hinge1" in found.labels[1] and "hinge1" in repr(found)


def test_a_start_along_a_mode_has_closed_joints_and_its_energy(double, hanging):
    found = double.modes(hanging)
    for mode in range(2):
        start = found.state(mode, 1e-4, velocity=2e-4)
        double.check_state(0.0, start)
        rotations = pt.rotation.to_matrix(start.quaternion)
        kinetic = double.kinetic(start.position, rotations, start.velocity, start.angular_velocity)
        assert float(kinetic) == pytest.approx(0.5 * 2e-4**2, rel=1e-5)
        potential = float(double.pose_potential(0.0, start.position, rotations))
        assert potential - hanging.energy == pytest.approx(0.5 * found.squares[mode] * 1e-8, rel=1e-4)


@pytest.mark.slow
def test_rods_that_stand_are_a_saddle(double):
    standing = stationary_point(double, double.assemble(coordinates={"hinge0": 1.5, "hinge1": 0.05}))
    assert standing.kind == "saddle" and standing.unstable == 2
    assert standing.energy == pytest.approx(2.0 * G, rel=1e-12)


@pytest.mark.slow
def test_the_motion_has_the_frequency_of_its_mode(double, hanging):
    found = double.modes(hanging)
    omega = float(found.angular[0])
    start, period = found.state(0, 1e-4), 2.0 * np.pi / omega
    run = pt.simulate(
        double, start, t1=period, coordinates="group", integrator="dormand-prince8", rtol=1e-12, atol=1e-14,
        progress=False,
    )  # fmt: skip
    np.testing.assert_allclose(run.position[-1], start.position, atol=1e-9)
    assert np.ptp(run.position[:, 1, 0]) > 1e-4


@pytest.mark.slow
def test_rod_on_a_ball_joint():
    r"""$\omega^2 = mgl/I$ about two axes, and a free spin about its own."""
    rod = pt.library.rod_pendulum(1)
    rest = rod.equilibrium(starts=1)
    found = rod.modes(rest)
    about_end = (1.0 + 3.0 * 0.05**2) / 12.0 + 0.25
    np.testing.assert_allclose(found.squares, 2 * [G * 0.5 / about_end], rtol=1e-9)
    assert found.zero == rest.zero == 1


@pytest.mark.slow
def test_parallelogram_that_hangs():
    r"""One degree of freedom and three redundant conditions: $\tfrac53\ddot\vartheta = -2g\cos\vartheta$."""
    bars = pt.library.parallelogram()
    turned = jnp.stack([pt.rotation.about_z(-1.2), jnp.eye(3), pt.rotation.about_z(-1.2)])
    c, s = np.cos(-1.2), np.sin(-1.2)
    near = bars.assemble(
        bars.state(
            position=[(0.5 * c, 0.5 * s, 0), (0.5 + c, s, 0), (1 + 0.5 * c, 0.5 * s, 0)], rotation=turned
        )
    )
    rest = bars.equilibrium(near, starts=1)
    assert rest.kind == "minimum" and rest.energy == pytest.approx(-2.0 * G, rel=1e-12)
    found = bars.modes(rest)
    np.testing.assert_allclose(found.squares, [6.0 * G / 5.0], rtol=1e-9)


@pytest.mark.slow
def test_damped_rod():
    r"""$\tfrac13\ddot\vartheta + c\,\dot\vartheta + \tfrac12 g\,\vartheta = 0$, a torque against the spin."""
    c = 0.4
    rod = hinged_rods(1, loads=[lambda t, x, R, v, Omega: (jnp.zeros_like(v), -c * Omega)])
    rest = rod.equilibrium(rod.assemble(coordinates={"hinge0": -1.0}), starts=1)
    found = rod.damped_modes(rest)
    expected = np.roots([1.0 / 3.0, c, 0.5 * G])
    assert len(found) == 1 and found.unstable == 0
    np.testing.assert_allclose(found.eigenvalues[0], expected[np.argmax(expected.imag)], rtol=1e-9)
    assert found.damping_ratio[0] == pytest.approx(0.5 * c * 3.0 / np.sqrt(1.5 * G), rel=1e-9)
    undamped = rod.modes(rest)
    np.testing.assert_allclose(undamped.squares, [1.5 * G], rtol=1e-9)
    assert "hinge0" in found.labels[0] and found.zero == 0


@pytest.mark.slow
@pytest.mark.parametrize("gravity, zero", [((0.0, -G, 0.0), 1), ((0.0, 0.0, -G), 2)])
@pytest.mark.parametrize("start", [-1.0, 1.2])
def test_one_count_of_what_meets_no_resistance(gravity, zero, start):
    """A coupler between ball joints spins about itself; a weight across its plane frees the loop too."""
    loop = pt.System(
        [
            pt.shapes.rod(length=1.0, mass=1.0, name="crank"),
            pt.shapes.rod(length=2.0, mass=2.0, name="coupler"),
            pt.shapes.rod(length=1.5, mass=1.5, name="rocker"),
        ],
        joints=[
            pt.joints.Revolute("ground", "crank", at=(0, 0, 0), axis=(0, 0, 1)),
            pt.joints.Spherical("crank", "coupler", at_first=(0.5, 0, 0), at_second=(-1, 0, 0)),
            pt.joints.Spherical("coupler", "rocker", at_first=(1, 0, 0), at_second=(-0.75, 0, 0)),
            pt.joints.Revolute("ground", "rocker", at=(2, 0, 0), axis=(0, 0, 1)),
        ],
        potentials=[pt.potentials.UniformGravity(gravity)],
    )
    rest = loop.equilibrium(loop.assemble({"crank": {"rotation": pt.rotation.about_z(start)}}), starts=1)
    modes, damped = loop.modes(rest), loop.damped_modes(rest)
    assert rest.kind == "minimum"
    assert rest.zero == modes.zero == damped.zero == zero and modes.rigid == 0
    assert len(modes) == len(damped) == 2 - zero and rest.unstable == modes.unstable == damped.unstable == 0
    np.testing.assert_allclose(damped.angular, modes.angular, rtol=1e-9)
    # A damper of the spin leaves the displacement without resistance, and lists the decay.
    about_itself = lambda t, x, R, v, Omega: (0.0 * v, -1e-4 * Omega * jnp.array([[1.0, 0.0, 0.0]]))  # noqa: E731
    slowed = loop.with_terms(loads=[about_itself]).damped_modes(rest)
    assert slowed.zero == zero and len(slowed) == 3 - zero
    spin = 0.5 * 2.0 * (2.0 / 50.0) ** 2
    assert np.min(np.abs(slowed.eigenvalues + 1e-4 / spin)) < 1e-9 / spin


@pytest.mark.slow
def test_joint_forces_are_not_forgotten(double, hanging, monkeypatch):
    """All stiffness of hanging rods is that of joint forces: with half of it squared frequencies are half."""
    from dataclasses import replace

    from poinsot.analysis import _linearisation

    whole = _linearisation.joint_tangent
    expected = 0.5 * double.modes(hanging).squares
    monkeypatch.setattr(
        _linearisation,
        "joint_tangent",
        lambda *given: replace(whole(*given), stiffness=0.5 * whole(*given).stiffness),
    )
    np.testing.assert_allclose(double.modes(hanging).squares, expected, rtol=1e-9)
    assert len(expected) == 2 and np.min(expected) > 1.0


@pytest.mark.slow
def test_labels_of_a_four_bar():
    """The bodies' shares of the energy and the joint that turns most, from the bars' angles along a mode."""
    bars = pt.library.four_bar()
    found = bars.modes(bars.equilibrium(starts=1))
    ends = [found.state(0, amplitude) for amplitude in (1e-5, -1e-5)]
    angles = np.diff(
        [[np.arctan2(R[1, 0], R[0, 0]) for R in pt.rotation.to_matrix(end.quaternion)] for end in ends],
        axis=0,
    )[0]
    ways = np.asarray(ends[1].position - ends[0].position)
    energy = bars.body_masses * np.sum(ways**2, axis=1) + bars.body_inertias[:, 2, 2] * angles**2
    shares = 100.0 * energy / np.sum(energy)
    crank, coupler, rocker = angles
    turns = {"A": crank, "B": coupler - crank, "C": rocker - coupler, "D": rocker}
    first, second = np.argsort(-shares)[:2]
    bodies = f"{bars.names[first]} {shares[first]:.0f} %, {bars.names[second]} {shares[second]:.0f} %"
    assert found.labels == (f"{bodies}; joint {max(turns, key=lambda name: abs(turns[name]))}",)
    # It is no other joint by a hair.
    assert np.sort(np.abs(list(turns.values())))[-2] < 0.99 * np.max(np.abs(list(turns.values())))


@pytest.mark.slow
def test_a_platform_on_springs():
    r"""Six legs that stretch alike are one mode, $V''(z)/T(z)$; ways of legs and turns of balls compare."""
    stiffness, m, half, height = 1e4, 1.0, 0.3, 1.0
    base, top = _stewart_platform.anchors()
    spans = np.array([0.0, 0.0, height]) + top - base
    length, across = np.linalg.norm(spans[0]), np.linalg.norm(spans[0, :2])
    springs = [pt.potentials.JointSpring(f"leg{k}", stiffness, length) for k in range(6)]
    free = pt.library.stewart_platform(driven=False)
    sprung = free.with_terms(potentials=springs)
    rest = sprung.equilibrium(free.start, starts=1)
    found = sprung.modes(rest)

    def leg(z):
        return jnp.sqrt(across**2 + z**2)

    def energy(z):
        return 16.0 * m * G * z + 3.0 * stiffness * (leg(z) - length) ** 2

    z = float(rest.state.position[-1, 2])
    assert abs(float(jax.grad(energy)(z))) < 1e-8 and height - z > 1e-3
    stretch, turn = float(jax.grad(leg)(z)), float(jax.grad(lambda z: jnp.arctan2(z, across))(z))
    ways = 6.0 * m * ((half**2 + (leg(z) - half) ** 2) * turn**2 + stretch**2)
    # The universal joints turn the legs about themselves a little.
    square = float(
        jax.grad(jax.grad(energy))(z) / (10.0 + ways + 2.0 * sum(_turning(z, k) for k in range(6)))
    )
    place = int(np.argmin(np.abs(found.squares - square)))
    np.testing.assert_allclose(found.squares[place], square, rtol=1e-8)
    assert len(found) == 6 and found.zero == rest.zero == 0
    lift = np.abs(found.shapes[place, -1])
    assert lift[2] > 0.2 and np.max(np.delete(lift, 2)) < 1e-4
    assert found.labels[place].startswith("platform") and found.labels[place].endswith("joint leg0")
    # Turning about the vertical stretches the legs less than it turns the balls.
    turning = int(np.argmax(np.abs(found.shapes[:, -1, 5])))
    assert turning != place and "joint head0" in found.labels[turning]
    damped = sprung.damped_modes(rest)
    np.testing.assert_allclose(damped.angular, found.angular, rtol=1e-9)
    assert damped.labels == found.labels


def _turning(z: float, k: int) -> float:
    """Twice the energy of the turns of half a leg where the platform rises by one: about y, then its z."""
    base, top = _stewart_platform.anchors()

    def turned(z):
        along = jnp.asarray(top[k] - base[k]).at[2].set(z)
        along = along / jnp.sqrt(along @ along)
        return pt.rotation.about_y(jnp.arctan2(-along[2], along[0])) @ pt.rotation.about_z(
            jnp.arcsin(along[1])
        )

    R, rate = turned(z), jax.jacfwd(turned)(z)
    Omega = pt.rotation.vee(R.T @ rate)
    inertia = 0.6**2 * np.array([1e-3, 1.0 / 12.0, 1.0 / 12.0])
    return float(np.sum(inertia * Omega**2))
