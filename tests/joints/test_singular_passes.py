"""Rows of parallelograms through their level positions, where each loop could fold the other way."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import poinsot as pt
from poinsot.library._kinematics import moving
from poinsot.library._parallelogram import Row

RATE = -5.0
"""Of the upright bars, in radians per second."""


def turning(loops: int, angle: float) -> tuple[pt.System, Any]:
    """A row whose upright bars turn down through an angle."""
    bars = pt.library.parallelogram(loops=loops)
    return bars, moving(bars, Row(loops), jnp.asarray(angle), jnp.asarray(RATE))


def ran(loops: int, angle: float, steps: int, dt: float, integrator: str = "lie-rattle") -> Any:
    bars, start = turning(loops, angle)
    return pt.simulate(
        bars, start, t1=steps * dt, dt=dt, coordinates="group", integrator=integrator, progress=False
    )


def sines(run: Any) -> np.ndarray:
    """Heights of the tips of the first upright bar."""
    return run.rotation[:, 0, 1, 0]


def landing(loops: int, height: float, before: int, dt: float) -> float:
    """The angle from which the bars have some height after so many steps."""
    angle = -RATE * before * dt
    for _ in range(5):
        angle -= float(sines(ran(loops, angle, before, dt))[-1]) - height
    return angle


@pytest.mark.parametrize("loops", [1, 2])
def test_steps_that_end_next_to_a_singular_position_are_as_good_as_others(loops):
    """The gaps leave the bars free to fold there: round-off of them, 1e-16, over the height."""
    dt, before = 1e-3, 3

    def change(height: float) -> tuple[float, float]:
        run = ran(loops, landing(loops, height, before, dt), 2 * before, dt)
        assert run.result.ok and abs(sines(run)[before] / height - 1.0) < 0.01
        folded = np.ptp(run.rotation[before, : loops + 1, 1, 0])
        return run.energy[-1] - run.energy[0], folded

    far, _ = change(2e-3)
    for height in (1e-6, 1e-8, -1e-8):
        near, folded = change(height)
        assert folded < 2e-10
        assert abs(near - far) < 1e-6 + 1e-12 / abs(height)


def test_a_row_of_twenty_passes_by_a_composition():
    """Forces of one part of a step reach the next one though they are a thousand times as large there."""
    for angle in np.linspace(0.008, 0.012, 9):
        run = ran(20, angle, 8, 5e-4, "lie-rattle-suzuki4")
        assert run.result.ok and sines(run)[0] > 0.0 > sines(run)[-1]
        assert np.ptp(run.energy[[0, -1]]) < 1e-8


FORMS = [("quaternions", "null_space"), ("joint", "index0")]
SLOW_FORMS = [
    ("directors", "index0"),
    ("group", "group"),
    ("quaternions", "index1"),
    ("joint", "index1"),
    ("euler-angles", "null_space"),
]


@pytest.mark.parametrize(
    ("coordinates", "form"), [*FORMS, *(pytest.param(*one, marks=pytest.mark.slow) for one in SLOW_FORMS)]
)
def test_a_solver_that_lets_joints_drift_open_stops_where_they_could_fold(coordinates, form):
    """It would go on along either branch, as its drift has it; with projection it goes on right."""
    bars, start = turning(1, 1.0)
    angle = solve_ivp(
        lambda t, y: [y[1], -1.2 * 9.81 * np.cos(y[0])], (0.0, 0.6), [1.0, RATE], "DOP853",
        rtol=1e-12, atol=1e-12, dense_output=True,
    ).sol  # fmt: skip
    level = brentq(lambda t: angle(t)[0], 0.0, 0.6)

    def swing(bars: pt.System, start: Any, **options: Any) -> Any:
        solver = pt.integrators.DormandPrince8(**options)
        return pt.simulate(
            bars, start, t1=0.6, coordinates=coordinates, form=form, integrator=solver, progress=False
        )

    with pytest.raises(pt.SimulationError, match="could go on in two ways.*take projection=True") as stopped:
        swing(bars, start)
    assert all(name in str(stopped.value) for name in ("A0", "A1", "B0", "C1", f"t = {level:.4f}"))
    assert abs(stopped.value.trajectory.t[-1] - level) < 1e-5
    run = swing(bars, start, projection=True)
    assert run.result.ok and run.t[-1] == 0.6
    tip = run.position[-1, bars.index("level0")] - [0.5, 0.0, 0.0]
    end = angle(0.6)[0]
    np.testing.assert_allclose(tip, [np.cos(end), np.sin(end), 0.0], atol=1e-6)


LIBRARY = [pt.library.bricard, pt.library.four_bar]


def locomotive() -> tuple[pt.System, Any]:
    """Two wheels with two rods between them, a quarter of a turn apart: each holds what the other lets go."""
    wheels = [pt.RigidBody(1.0, (1.0, 1.0, 2.0), name=f"wheel{i}") for i in range(2)]
    rods = [pt.RigidBody(1.0, (0.1, 1.0, 1.0), name=f"rod{i}") for i in range(2)]
    pins = [np.array([np.cos(a), np.sin(a), 0.0]) for a in (0.3, 0.3 + 0.5 * np.pi)]
    joints: list[Any] = []
    for i, wheel in enumerate(("wheel0", "wheel1")):
        axle: Any = {"at_first": (3.0 * i, 0.0, 0.0), "at_second": (0.0, 0.0, 0.0)}
        joints.append(pt.joints.Revolute("ground", wheel, name=f"A{i}", **axle))
        for k, pin in enumerate(pins):
            ends: Any = {"at_first": tuple(pin), "at_second": (3.0 * i - 1.5, 0.0, 0.0)}
            joints.append(pt.joints.Revolute(wheel, f"rod{k}", name=f"P{i}{k}", **ends))
    engine = pt.System([*wheels, *rods], joints=joints, name="locomotive")
    position = [(0, 0, 0), (3, 0, 0), *(pin + [1.5, 0, 0] for pin in pins)]
    velocity = [(0, 0, 0), (0, 0, 0), *(2.0 * np.array([-pin[1], pin[0], 0.0]) for pin in pins)]
    spin = [(0, 0, 2.0), (0, 0, 2.0), (0, 0, 0), (0, 0, 0)]
    return engine, engine.state(position=position, velocity=velocity, angular_velocity=spin)


@pytest.mark.parametrize(
    "make", [locomotive, *(pytest.param(one, marks=pytest.mark.slow) for one in LIBRARY)]
)
def test_a_solver_goes_on_where_conditions_are_redundant_and_keep_their_rank(make):
    made = make()
    system, start = made if isinstance(made, tuple) else (made, made.start)
    for rtol in (1e-5, 1e-9):
        run: Any = pt.simulate(
            system, start, t1=5.0, rtol=rtol, coordinates="quaternions", form="null_space",
            integrator=pt.integrators.DormandPrince8(), progress=False,
        )  # fmt: skip
        assert run.result.ok and not run.singularities()
