"""Drives that jump are refused; smooth drives are accepted, however fast they move."""

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation._jumps import first_jump

J = pt.joints


def course(function, *slopes):
    """A function of time with its derivatives, as they are looked at."""
    return lambda t: np.stack([np.broadcast_to(one(t), t.shape) for one in (function, *slopes)], axis=-1)


STEP = course(lambda t: np.where(t > 1.0, 1.0, 0.0), lambda t: 0.0, lambda t: 0.0)
RAMP = course(lambda t: np.maximum(t - 1.0, 0.0), lambda t: np.where(t > 1.0, 1.0, 0.0), lambda t: 0.0)
TRAPEZOID = course(  # Its acceleration jumps, which a force can do.
    lambda t: 0.5 * np.maximum(t - 1.0, 0.0) ** 2,
    lambda t: np.maximum(t - 1.0, 0.0),
    lambda t: np.where(t > 1.0, 1.0, 0.0),
)


def rise(width: float):
    """A smooth step of this width."""

    def slope(t):
        return 0.5 / np.cosh(np.clip((t - 1.0) / width, -300.0, 300.0)) ** 2 / width

    def bend(t):
        return -2.0 * np.tanh((t - 1.0) / width) * slope(t) / width

    return course(lambda t: 0.5 * np.tanh((t - 1.0) / width), slope, bend)


def sine(omega: float):
    def bend(t):
        return -(omega**2) * np.sin(omega * t)

    return course(lambda t: np.sin(omega * t), lambda t: omega * np.cos(omega * t), bend)


@pytest.mark.parametrize("step", [1e-4, 1e-2, np.pi / 100, 1e-7, 2e-9])
def test_jumps_are_found_at_any_step(step):
    for function, order in ((STEP, 0), (RAMP, 1)):
        jump = first_jump(function, (0.0, 3.0), step)
        assert jump is not None and jump.order == order
        assert abs(jump.t - 1.0) < 1e-6 and jump.size == pytest.approx(1.0, rel=0.01)
    assert first_jump(TRAPEZOID, (0.0, 3.0), step) is None


def test_a_rise_is_told_where_steps_do_not_resolve_it():
    for width in (1e-1, 1e-3):
        assert first_jump(rise(width), (0.0, 3.0), 2.0 * width) is None
        assert first_jump(rise(width), (0.0, 3.0), 60.0 * width) is not None


@pytest.mark.parametrize("per_step", [1e-3, 0.1, 1.0, 3.0])
def test_fast_and_smooth_motions_pass(per_step):
    """Up to three radians of an oscillation in a step; also what is constant, or moves by little."""
    step = 3.0 / 1000
    assert first_jump(sine(per_step / step), (0.0, 3.0), step) is None
    assert first_jump(sine(per_step / 1e-6), (0.0, 3.0), 1e-6) is None
    assert first_jump(course(lambda t: 1.0 + 0.0 * t, lambda t: 0.0, lambda t: 0.0), (0.0, 3.0), step) is None
    shaken = course(lambda t: 1e9 + 1e-6 * np.sin(t), lambda t: 1e-6 * np.cos(t), lambda t: -1e-6 * np.sin(t))
    assert first_jump(shaken, (0.0, 3.0), step) is None


def test_whole_turns_are_no_jumps():
    saw = course(lambda t: (20.0 * t) % (2.0 * np.pi), lambda t: 20.0, lambda t: 0.0)
    assert first_jump(saw, (0.0, 3.0), 1e-2, turns=True) is None
    assert first_jump(saw, (0.0, 3.0), 1e-2) is not None


@cache
def driven(kind: str, *, jumps: bool = False) -> pt.System:
    """A rod on a motor."""
    functions = {
        "step": lambda t: jnp.where(t > 1.0, 1.0, 0.0),
        "ramp": lambda t: jnp.where(t > 1.0, t - 1.0, 0.0),
        "smooth": lambda t: 0.5 * jnp.tanh((t - 1.0) / 0.02),
    }
    return pt.System(
        pt.RigidBody(1.0, (0.1, 0.2, 0.3), name="rod"),
        joints=[
            J.Revolute("ground", "rod", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="h"),
            J.Drive("h", functions[kind], jumps=jumps),
        ],
    )


def run(system: pt.System, **how: Any):
    return pt.simulate(system, system.assemble(), t1=2.0, progress=False, **how)


FIXED: dict[str, Any] = {"integrator": "lie-rattle", "coordinates": "group", "dt": 0.01}
ADAPTIVE: dict[str, Any] = {
    "integrator": "dormand-prince8",
    "form": "null_space",
    "coordinates": "quaternions",
}


@pytest.mark.parametrize("how", [FIXED, ADAPTIVE], ids=["fixed", "adaptive"])
def test_a_run_with_a_drive_that_jumps_is_refused(how):
    line = r"drive 'drive of h' in Revolute joint 'h' of ground and rod jumps by 1 at t = 1, .* jumps=True"
    with pytest.raises(pt.InputError, match="^" + line):
        run(driven("step"), **how)
    with pytest.raises(pt.InputError, match="^the rate of " + line):
        run(driven("ramp"), **how)


def test_what_is_smooth_or_allowed_runs():
    for system in (driven("smooth"), driven("step", jumps=True)):
        assert run(system, **FIXED).result.ok
