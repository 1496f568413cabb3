"""Generalised-alpha: its damping is that of theory, and what it keeps of bodies on a joint."""

import numpy as np
import pytest

import poinsot as pt
from deviations import deviation
from poinsot.integrators import GeneralizedAlpha


def spectral_radius(rho: float, x: float) -> float:
    r"""Largest eigenvalue of a step of $\ddot q = -\omega^2 q$ in $(q, h v, h^2 a)$, with $x = h\omega$."""
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 - alpha_m + alpha_f
    beta = 0.25 * (gamma + 0.5) ** 2
    after = np.array([[1.0, 0.0, -beta], [0.0, 1.0, -gamma], [(1.0 - alpha_f) * x**2, 0.0, 1.0 - alpha_m]])
    before = np.array([[1.0, 1.0, 0.5 - beta], [0.0, 1.0, 1.0 - gamma], [-alpha_f * x**2, 0.0, -alpha_m]])
    return float(np.max(np.abs(np.linalg.eigvals(np.linalg.solve(after, before)))))


def oscillation(rho: float, h: float, steps: int) -> np.ndarray:
    """Energies of a body on a spring with frequency 1."""
    body = pt.RigidBody(1.0, (1.0, 1.0, 1.0))
    system = pt.System(
        body,
        potentials=[pt.potentials.Spring((0.0, 0.0, 0.0), pt.potentials.Marker(0), stiffness=1.0)],
    )
    start = system.state(position=(1.0, 0.0, 0.0))
    run = pt.simulate(
        system,
        start,
        t1=steps * h,
        dt=h,
        coordinates="group",
        integrator=GeneralizedAlpha(rho),
        progress=False,
    )
    return np.asarray(run.energy)


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
def test_damping_is_that_of_the_amplification_matrix(rho):
    h, steps = 1.0, 120
    energy = oscillation(rho, h, steps)
    radius = spectral_radius(rho, h)
    assert spectral_radius(rho, 1e4) == pytest.approx(max(rho, 1e-2), abs=2e-2)
    if rho == 1.0:
        assert radius == pytest.approx(1.0, abs=1e-12)
        assert np.ptp(energy[60:]) < 2.0 * np.ptp(energy[:60]) and energy.min() > 0.1
    else:
        # Beyond a first transient the energy falls by the square of the radius, up to its phase.
        rate = np.polyfit(np.arange(20, 60), np.log(energy[20:60]), 1)[0]
        assert rate == pytest.approx(2.0 * np.log(radius), rel=0.05)


def test_slow_motions_are_hardly_damped():
    losses = [1.0 - oscillation(0.5, h, round(6.0 / h))[-1] / 0.5 for h in (0.2, 0.1)]
    assert 0.0 < losses[1] < 1e-3 and losses[0] / losses[1] == pytest.approx(8.0, rel=0.25)


def by_hand(rho: float, x: float, steps: int) -> np.ndarray:
    """The same energies by the recursion of one coordinate, whose equation is linear."""
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 - alpha_m + alpha_f
    beta = 0.25 * (gamma + 0.5) ** 2
    q, v, mean, rate, energies = 1.0, 0.0, -1.0, -1.0, [0.5]
    for _ in range(steps):
        share, rest = (1.0 - alpha_f) / (1.0 - alpha_m), (alpha_f * rate - alpha_m * mean) / (1.0 - alpha_m)
        known = q + x * v + x * x * ((0.5 - beta) * mean + beta * rest)
        rate = -known / (1.0 + x * x * beta * share)
        after = share * rate + rest
        q, v = -rate, v + x * ((1.0 - gamma) * mean + gamma * after)
        mean = after
        energies.append(0.5 * (q * q + v * v))
    return np.array(energies)


@pytest.mark.parametrize("rho", [0.2, 0.8])
def test_what_the_step_does_not_resolve_is_damped(rho):
    """Repeated substitution has no chance where the frequency times the step is 10."""
    energy = oscillation(rho, 10.0, 60)
    np.testing.assert_allclose(energy[:20], by_hand(rho, 10.0, 19), rtol=1e-9)
    assert energy[-1] < 1e-3 * energy.max()


def governor() -> tuple[pt.System, pt.State]:
    """Two arms on a spindle, and a sleeve that hangs on them by stiff springs and dampers."""
    lean, sides = np.pi / 6, {"left": -1.0, "right": 1.0}
    along = {side: np.array([d * np.sin(lean), 0.0, -np.cos(lean)]) for side, d in sides.items()}
    axis, top, low = np.array([0.0, 1.0, 0.0]), np.zeros(3), np.array([0.0, 0.0, -0.5])
    bodies = [
        pt.RigidBody(200.0, (25.0, 25.0, 25.0), name="spindle"),
        pt.RigidBody(15.0, (0.15, 0.125, 0.15), name="sleeve"),
        *(pt.RigidBody(6.0, (4e-4, 0.6, 0.6), name=f"{side} arm") for side in sides),
    ]
    pins = [
        pt.joints.Revolute(
            "spindle", f"{side} arm", at_first=top, at_second=(-0.5, 0, 0), axis=axis, name=f"{side} pin"
        )
        for side in sides
    ]
    ends = [(pt.potentials.Marker(f"{side} arm"), pt.potentials.Marker("sleeve")) for side in sides]
    length = float(np.linalg.norm(0.5 * along["left"] - low))
    system = pt.System(
        bodies,
        joints=[
            pt.joints.Revolute("ground", "spindle", at_first=top, at_second=top, name="bearing"),
            pt.joints.Prismatic("spindle", "sleeve", at_first=top, at_second=top, name="slide"),
            *pins,
        ],
        potentials=[
            pt.potentials.UniformGravity(),
            *(pt.potentials.Spring(*pair, stiffness=8e5, rest_length=length) for pair in ends),
        ],
        loads=[pt.loads.Damper(*pair, damping=4e4) for pair in ends],
    )
    arms = [np.stack([u, axis, np.cross(u, axis)], axis=1) for u in along.values()]
    start = system.state(
        position=[top, low, *(0.5 * u for u in along.values())], rotation=[np.eye(3), np.eye(3), *arms]
    )
    return system, system.assemble(start, velocity={"bearing": 10.0})


@pytest.mark.slow
def test_a_stiff_governor_at_order_two():
    """The damper would take steps of 1e-4 or so by repeated substitution."""
    system, start = governor()
    lowest = []
    for dt in (2e-3, 1e-3, 5e-4, 1e-5):
        run = pt.simulate(
            system,
            start,
            t1=0.2,
            dt=dt,
            coordinates="group",
            integrator=GeneralizedAlpha(),
            progress=False,
            save_at=[0.2],
        )
        lowest.append(run.position[-1, 1, 2])
        assert deviation(run, "joints") < 1e-13
    errors = np.abs(np.array(lowest[:3]) - lowest[3])
    assert 4e-7 < errors[2] < 6e-7
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.15)


@pytest.mark.slow
def test_linear_momentum_of_bodies_that_fly_is_kept():
    """Two bodies on a ball joint; their angular momentum is not."""
    bodies = [pt.RigidBody(m, (0.5, 0.6, 0.4), name=name) for m, name in ((1.0, "a"), (2.0, "b"))]
    ball = pt.joints.Spherical("a", "b", at_first=(0.5, 0.2, 0.0), at_second=(-0.4, 0.0, 0.3))
    system = pt.System(bodies, joints=[ball])
    start = system.assemble(
        system.state(
            position=[(0, 0, 0), (0.9, 0.2, -0.3)], angular_velocity=[(1.0, 0.5, 0.3), (-0.4, 1.0, 0.2)]
        )
    )
    run = pt.simulate(
        system, start, t1=10.0, dt=0.02, coordinates="group", integrator="generalized-alpha", progress=False
    )
    assert all(deviation(run, name) < 1e-14 for name in ("p_x", "p_y", "p_z"))
    assert deviation(run, "L_x") > 1e-8
    assert deviation(run, "joints") < 1e-14
    assert 1e-8 < deviation(run, "joint rates") < 1e-2


def test_spectral_radius_is_checked():
    with pytest.raises(
        pt.InputError, match=r"rho = 1.5; the spectral radius at infinity must be between 0 and 1"
    ):
        GeneralizedAlpha(1.5)
