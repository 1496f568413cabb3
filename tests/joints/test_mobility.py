"""Mobility: degrees of freedom, loops, redundant conditions by name, and singular configurations of runs."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.simulation._singularities import crossing

J, G = pt.joints, 9.81


def test_a_tree_has_no_loops_and_nothing_redundant():
    rods = pt.library.rod_pendulum(3)
    assert rods.start is not None
    found = rods.mobility(rods.start)
    assert (found.degrees_of_freedom, found.loops, found.redundant, found.singular) == (9, 0, {}, False)
    assert str(found).splitlines()[2] == "conditions          9, of rank 9"


def test_a_body_on_two_hinges_of_one_axis():
    """Door hinges: the second adds a loop and five redundant conditions; a drive stops the door."""
    door = pt.RigidBody(1.0, (0.1, 0.2, 0.3), name="door")
    hinges = [
        J.Revolute("ground", "door", at_first=(0, 0, z), at_second=(-0.5, 0, z), name=name)
        for z, name in ((-0.4, "lower"), (0.4, "upper"))
    ]
    system = pt.System([door], joints=hinges)
    start = system.state(position=(0.5, 0, 0))
    found = system.mobility(start)
    assert (found.degrees_of_freedom, found.loops, found.rank, found.singular) == (1, 1, 5, False)
    assert found.redundant == {"lower": 5, "upper": 5}
    assert "redundant           5, to be chosen from 5 of 'lower', 5 of 'upper'" in str(found)
    driven = pt.System([door], joints=[*hinges, J.Drive("lower", lambda t: 0.0 * t)])
    held = driven.mobility(start)
    assert (held.degrees_of_freedom, held.rank) == (0, 6) and "drive of lower" not in held.redundant


def test_systems_without_joints_say_so():
    body = pt.System(pt.RigidBody(1.0, (1.0, 1.0, 1.0)), name="stone")
    with pytest.raises(pt.InputError, match="stone has no joints; give the system joints"):
        body.mobility(body.state())


@pytest.mark.slow
def test_loops_of_the_library():
    for name, freedoms, surplus in (("bricard", 1, 1), ("parallelogram", 1, 3), ("two-body-linkage", 9, 0)):
        system: Any = pt.library.by_name(name)
        found = system.mobility(system.start)
        assert found.degrees_of_freedom == freedoms and not found.singular
        assert found.conditions - found.rank == surplus
        assert len(found.redundant) == (0 if surplus == 0 else len(system.joints))


@pytest.mark.slow
def test_a_parallelogram_is_singular_when_it_is_level():
    bars = pt.library.parallelogram()
    level = bars.state(position=[(0.5, 0, 0), (1.5, 0, 0), (1.5, 0, 0)])
    found = bars.mobility(level)
    assert found.singular and found.degrees_of_freedom == 1 and found.rank == found.generic_rank - 1
    assert set(found.released) == {joint.name for joint in bars.joints}
    assert "singular            yes, the rank drops to 16 in" in str(found)


@pytest.mark.slow
def test_a_run_says_when_it_was_singular():
    bars = pt.library.parallelogram()
    assert bars.start is not None
    run: Any = pt.simulate(
        bars, bars.start, t1=3.0, dt=1e-3, coordinates="group", integrator="lie-rattle", save_every=10,
        progress=False,
    )  # fmt: skip

    def level(t, y):
        return np.sin(y[0])

    right = solve_ivp(
        lambda t, y: [y[1], -1.2 * G * np.cos(y[0])], (0, 3), [np.pi / 2, -1.0], rtol=1e-10, events=level
    ).t_events[0]
    found = run.singularities()
    assert len(right) >= 2
    # To a part of the time between saved states, by lines through what bends a little.
    np.testing.assert_allclose([one.t for one in found], right, atol=0.1 * 0.01)
    assert set(found[0].joints) == {joint.name for joint in bars.joints}
    assert run.report().header["singular"].startswith("3 times, at t = 0.70")
    # From upright it comes nearer to level, but not there.
    quick: Any = pt.simulate(
        bars, bars.start, t1=0.1, dt=1e-3, coordinates="group", integrator="lie-rattle", progress=False
    )
    assert quick.singularities() == [] and "singular" not in quick.report().header


def test_only_values_that_pass_through_zero_count():
    """Times 0.1 apart: a zero between two, one that only comes near, a smooth smallest value."""
    t = 0.1 * np.arange(40.0)
    passes, near, smooth = np.abs(t - 1.234), np.hypot(t - 1.234, 0.2), 1.1 + np.cos(3 * t)
    for values, right in ((passes, 1.234), (near, None), (smooth, None)):
        found = crossing(t, values, int(np.argmin(values)))
        assert found is None if right is None else found == pytest.approx(right, abs=1e-12)
