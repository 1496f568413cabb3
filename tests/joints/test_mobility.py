"""Mobility: degrees of freedom, loops, redundant conditions by name, and singular configurations of runs."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.model import DEPENDENT, scaled_jacobians
from poinsot.model._mobility import loop_count
from poinsot.rotation import to_matrix
from poinsot.simulation import _joint_motion
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


@pytest.mark.parametrize(
    ("name", "loops"),
    [("four-bar", 1), ("parallelogram", 1), ("squeezer", 3), ("bricard", 1), ("stewart-platform", 5)],
)
def test_loops_of_a_connected_mechanism_are_joints_less_bodies(name, loops):
    system: Any = pt.library.by_name(name)
    assert loop_count(system.linkage) == len(system.joints) - len(system.bodies) == loops


def test_systems_without_joints_say_so():
    body = pt.System(pt.RigidBody(1.0, (1.0, 1.0, 1.0)), name="stone")
    with pytest.raises(pt.InputError, match="stone has no joints; give the system joints"):
        body.mobility(body.state())


def dense(system: Any) -> tuple[int, dict[str, int]]:
    """Rank and shares of all conditions, from the singular values of one matrix."""
    linkage, (x, quat, *_) = system.linkage, system.live(0.0, system.start)
    blocks = linkage.at(0.0, x, jnp.moveaxis(to_matrix(quat.T), 0, -1), 0.0).jacobians
    everything = range(len(linkage.conditions))
    matrix = scaled_jacobians(linkage, everything, [np.asarray(block)[None] for block in blocks])[0]
    left, values, _ = np.linalg.svd(matrix)
    rank = int(np.sum(values > DEPENDENT))
    parts = np.split(left[:, rank:], np.cumsum([one.rows for one in linkage.conditions])[:-1])
    shares = [np.linalg.matrix_rank(part, tol=1e-6) if part.size else 0 for part in parts]
    return rank, {one.name: int(k) for one, k in zip(linkage.conditions, shares, strict=True) if k}


LONGER = [pytest.param(name, marks=pytest.mark.slow) for name in ("bricard", "stewart-platform", "squeezer")]


@pytest.mark.parametrize("name", ["four-bar", *LONGER])
def test_ranks_are_those_of_one_matrix(name):
    """Mechanisms whose start is not singular."""
    system: Any = pt.library.by_name(name)
    found = system.mobility(system.start)
    assert (found.rank, found.redundant) == dense(system)
    assert found.generic_rank == found.rank


@pytest.mark.slow
@pytest.mark.parametrize("loops", [5, 100])
def test_many_loops(loops):
    """As hinges in space each loop has three redundant conditions, and all together move in one way."""
    bars = pt.library.parallelogram(loops=loops)
    assert bars.start is not None
    found = bars.mobility(bars.start)
    assert (found.degrees_of_freedom, found.loops, found.singular) == (1, loops, False)
    assert found.conditions - found.rank == 3 * loops
    assert found.redundant == {joint.name: 3 for joint in bars.joints}


def test_a_ball_and_a_sleeve_in_place_of_two_hinges_leave_nothing_redundant():
    bars = [pt.shapes.rod(length=1.0, mass=1.0, name=name) for name in ("left", "top", "right")]
    end, begin = (0.5, 0.0, 0.0), (-0.5, 0.0, 0.0)
    ends = [
        ("ground", "left", {"at_first": (0, 0, 0), "at_second": begin}),
        ("left", "top", {"at_first": end, "at_second": begin}),
        ("top", "right", {"at_first": end, "at_second": end}),
        ("ground", "right", {"at_first": (1, 0, 0), "at_second": begin}),
    ]
    surplus = {}
    for kinds in ("RRRR", "RSCR"):
        which = {"R": J.Revolute, "S": J.Spherical, "C": J.Cylindrical}
        joints = [
            which[kind](first, second, name=f"{kind}{k}", **where)
            for k, (kind, (first, second, where)) in enumerate(zip(kinds, ends, strict=True))
        ]
        system = pt.System(bars, joints=joints)
        upright = np.array([np.cos(0.25 * np.pi), 0.0, 0.0, np.sin(0.25 * np.pi)])
        start = system.state(
            position=[(0, 0.5, 0), (0.5, 1, 0), (1, 0.5, 0)], rotation=[upright, (1, 0, 0, 0), upright]
        )
        found = system.mobility(start)
        assert found.degrees_of_freedom == 1
        surplus[kinds] = found.conditions - found.rank, set(found.redundant.values())
    assert surplus == {"RRRR": (3, {3}), "RSCR": (0, set())}


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
def test_a_run_says_when_it_was_singular(monkeypatch):
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
    said = run.report().header["singular"]
    assert said.startswith("3 times, at t = 0.70") and all(joint.name in said for joint in bars.joints)
    # States far apart: between them the motion is interpolated.
    for every in (50, 100):
        sparse: Any = pt.simulate(
            bars, bars.start, t1=3.0, dt=1e-3, coordinates="group", integrator="lie-rattle", save_every=every,
            progress=False,
        )  # fmt: skip
        found = sparse.singularities()
        np.testing.assert_allclose([one.t for one in found], right, atol=1e-3)
        assert set(found[0].joints) == {joint.name for joint in bars.joints}
    # From upright it comes nearer to level, but not there.
    quick: Any = pt.simulate(
        bars, bars.start, t1=0.1, dt=1e-3, coordinates="group", integrator="lie-rattle", progress=False
    )
    assert quick.singularities() == [] and "singular" not in quick.report().header
    monkeypatch.setattr(_joint_motion, "QUICK", 0)
    assert "run.singularities() does" in quick.report().header["singular"], "it is said where nobody looked"


@pytest.mark.slow
def test_a_run_that_fails_at_a_dead_point_names_it():
    """The rocker is driven beyond the angle at which crank and coupler are in line, |AC| = 2 - 1."""
    bars = pt.library.four_bar()
    dead = np.pi - np.arccos((2.0**2 + 2.0**2 - 1.0**2) / (2.0 * 2.0 * 2.0))
    driven = pt.System(bars.bodies, joints=[*bars.joints, pt.joints.Drive("D", lambda t: dead - 0.1 + t)])
    assert bars.start is not None
    with pytest.raises(
        pt.SimulationError, match=r"singular configuration of joints \(t = 0\.1\d*: "
    ) as failure:
        pt.simulate(
            driven, driven.assemble(bars.start), t1=1.0, dt=1e-3, coordinates="group",
            integrator="lie-rattle", save_every=10, progress=False,
        )  # fmt: skip
    run: Any = failure.value.trajectory
    found = run.seen.joints.dead_point(1e-2)
    assert found.t == pytest.approx(0.1, abs=1e-3)
    assert set(found.joints) == {"A", "B", "C", "D", "drive of D"}
    # Without the drive the same mechanism turns on, and a failure there is none of its joints.
    free: Any = pt.simulate(
        bars,
        bars.start,
        t1=0.05,
        dt=1e-3,
        coordinates="group",
        integrator="lie-rattle",
        save_every=10,
        progress=False,
    )
    assert free.seen.joints.dead_point(1e-2) is None


def test_only_values_that_pass_through_zero_count():
    """Times 0.1 apart: a zero between two, one that only comes near, a smooth smallest value."""
    t = 0.1 * np.arange(40.0)
    passes, near, smooth = np.abs(t - 1.234), np.hypot(t - 1.234, 0.2), 1.1 + np.cos(3 * t)
    for values, right in ((passes, 1.234), (near, None), (smooth, None)):
        found = crossing(t, values, int(np.argmin(values)))
        assert found is None if right is None else found == pytest.approx(right, abs=1e-12)
