"""Angles of joints beyond a turn, whatever is saved of a run."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation._turns import turned_on

J = pt.joints


@cache
def pendulum(driven: bool = False) -> pt.System:
    """A rod on a hinge, with a motor that goes round 128 times in four seconds, ever faster."""
    motor = [J.Drive("pivot", lambda t: 2.0 + 4.0 * np.pi * t**3 - 8.0 * t)] if driven else []
    return pt.System(
        pt.RigidBody(1.0, (0.001, 1 / 12, 1 / 12), name="rod"),
        joints=[
            J.Revolute("ground", "rod", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="pivot"),
            *motor,
        ],
        potentials=[pt.potentials.UniformGravity((0.0, -9.81, 0.0))],
    )


def run(coordinates: str, save: dict, *, driven: bool = False) -> Any:
    system, rate = pendulum(driven), -8.0 if driven else 7.9
    start = system.assemble(velocity={} if driven else {"pivot": rate})
    return pt.simulate(
        system, start, t1=4.0, dt=1e-3, coordinates=coordinates, integrator="lie-rattle" if coordinates ==
        "group" else "gauss4", progress=False, **save
    )  # fmt: skip


FEW = {"save_at": [0.3, 0.7, 4.0]}


def test_joint_coordinates_know_their_turns():
    """It goes over the top, slowly there and quickly below: the mean of two rates says little."""
    few = run("joint", FEW)
    angle, rate = few.joint("pivot").angle, few.joint("pivot").rate
    np.testing.assert_allclose(angle, few.q[:, 0], rtol=1e-13)
    guessed, doubtful = turned_on(few.t, (angle + np.pi) % (2.0 * np.pi) - np.pi, rate)
    assert abs(guessed[-1] - angle[-1]) > 6.0 and doubtful is not None
    with pytest.warns(UserWarning, match="turns of 'angle' in Revolute joint 'pivot' .* cannot"):
        run("group", FEW).joint("pivot")


def test_turns_are_counted_where_enough_is_saved():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fine = run("group", {"save_every": 50}).joint("pivot").angle
    np.testing.assert_allclose(fine[-1], run("joint", FEW).q[-1, 0], atol=1e-3)


def test_a_drive_knows_its_turns_in_any_coordinates():
    few = run("group", FEW, driven=True)
    t, angle = few.t, few.joint("pivot").angle
    np.testing.assert_allclose(angle, 2.0 + 4.0 * np.pi * t**3 - 8.0 * t, atol=1e-9)


def test_steady_turns_of_any_number():
    """Many turns between saved states are no doubt where the rate is known, and not where it swings."""
    t = np.linspace(0.0, 10.0, 11)
    wrapped = (50.0 * t + np.pi) % (2.0 * np.pi) - np.pi
    turned, doubtful = turned_on(t, wrapped, np.full(11, 50.0))
    np.testing.assert_allclose(turned, 50.0 * t, rtol=1e-13)
    assert doubtful is None
    assert turned_on(t, np.sin(50.0 * t), 50.0 * np.cos(50.0 * t))[1] is not None
    assert turned_on(t[:1], wrapped[:1], t[:1])[1] is None
