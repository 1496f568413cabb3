"""Long chains of joints: loops along the links do what the joints one by one do, at a cost in proportion."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import core as jex

import poinsot as pt
from deviations import deviation
from poinsot.core import Mobility
from poinsot.kernels import Bound, Kernel, once
from poinsot.model import compact
from poinsot.model._serial import serial
from poinsot.model._serial_linkage import SerialLinkage
from poinsot.simulation._loop import march_run


def hinges(count: int) -> pt.System:
    """A floating chain of different bodies on hinges in different places and directions."""
    draw = np.random.default_rng(1)
    bodies = [pt.RigidBody(1.0 + k, 1.0 + draw.uniform(size=3), name=f"body{k}") for k in range(count + 1)]
    joints = [
        pt.joints.Revolute(
            f"body{k}",
            f"body{k + 1}",
            at_first=draw.normal(size=3),
            at_second=draw.normal(size=3),
            axis_first=draw.normal(size=3),
            axis_second=draw.normal(size=3),
        )  # fmt: skip
        for k in range(count)
    ]
    return pt.System(bodies, joints=joints)


def flat(rows) -> np.ndarray:
    return np.concatenate([np.ravel(row) for row in rows])


@pytest.mark.parametrize("make", [pt.library.rod_pendulum, hinges], ids=["rods", "hinges"])
@pytest.mark.parametrize("count", [4, pytest.param(7, marks=pytest.mark.slow)])
def test_links_in_loops_are_the_joints_one_by_one(make: Any, count: int):
    """Values of all methods at poses and twists drawn at random, joints open."""
    system = make(count)
    linkage, row = system.linkage, serial(system.linkage)
    assert isinstance(row, SerialLinkage) and row.independent and linkage.independent
    draw, n = np.random.default_rng(0), len(system.names)
    turns = np.stack([np.linalg.qr(draw.normal(size=(3, 3)))[0] for _ in range(n)], axis=-1)
    x, R, u = jnp.asarray(draw.normal(size=(3, n))), jnp.asarray(turns), jnp.asarray(draw.normal(size=6 * n))
    forces = jnp.asarray(draw.normal(size=(count, linkage.joints[0].rows)))
    small = jnp.asarray(0.1 * np.eye(3)[:, :, None] + 0.003 * draw.normal(size=(3, 3, n)))

    @once
    def both(linkages, x, R, u, forces, small):
        linkage, row = linkages
        here, there = linkage.at(0.0, x, R, 0.0), row.at(0.0, x, R, 0.0)
        turned = jnp.einsum("ijk,jl->ilk", R, pt.rotation.about_x(0.1))
        ends = 0.0, x + 0.01, turned, Mobility(jnp.asarray(0.1), small), 0.0
        closing, looped = linkage.closing(here, *ends), row.closing(there, *ends)
        return {
            "gaps": (linkage.gaps(0.0, x, R), row.gaps(0.0, x, R)),
            "rates": (linkage.rates(0.0, x, R, u), row.rates(0.0, x, R, u)),
            "bends": (linkage.bends(0.0, x, R, u), row.bends(0.0, x, R, u)),
            "push": (here.push(u), there.push(u)),
            "pull": ([here.pull(list(forces))], [there.pull([forces])]),
            "solve": (here.solve(list(forces), 1), there.solve([forces], 1)),
            "push at the end": (closing.push(u), looped.push(u)),
            "closing": (closing.solve(list(forces)), looped.solve([forces])),
        }

    for name, (one, other) in both((linkage, row), x, R, u, forces, small).items():
        scale = np.max(np.abs(flat(one)))
        assert np.max(np.abs(flat(one) - flat(other))) < 1e-12 * scale, name


def test_chains_that_are_no_rows_of_equal_joints_are_left_as_they_are():
    rods = pt.library.rod_pendulum(7)
    assert compact(pt.library.rod_pendulum(3).linkage) is not None
    others = {
        "short": pt.library.rod_pendulum(3),
        "in another order": pt.System(rods.bodies[::-1], joints=rods.joints),
        "closed": pt.System(
            rods.bodies,
            joints=[*rods.joints, pt.joints.Spherical("ground", "rod6", at=(1.0, 0.0, 0.0), name="loop")],
        ),
        "of two kinds": pt.System(
            rods.bodies, joints=[pt.joints.Revolute("ground", "rod0", at=(0.0, 0.0, 0.0)), *rods.joints[1:]]
        ),
    }
    for name, system in others.items():
        assert not isinstance(compact(system.linkage), SerialLinkage), name


def equations(jaxpr: Any) -> int:
    """Operations in a trace and in what it calls."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    called = [one for equation in inner.eqns for one in jex.jaxprs_in_params(equation.params)]
    return len(inner.eqns) + sum(map(equations, called))


@pytest.mark.slow
def test_code_does_not_grow_with_the_number_of_links():
    sizes = []
    for links in (10, 40):
        rods = pt.library.rod_pendulum(links)
        formulation = pt.formulate(rods, "group", "group")
        y = formulation.problem.pack(formulation.start(rods.start))
        sizes.append(equations(jax.make_jaxpr(lambda y, f=formulation: f.problem.vector_field(0.0, y))(y)))
    assert sizes[1] - sizes[0] < 0.02 * sizes[0], sizes


@pytest.mark.slow
def test_forty_rods_keep_their_joints_closed_in_native_code():
    rods = pt.library.rod_pendulum(40)
    run = pt.simulate(
        rods, rods.start, t1=0.05, dt=1e-3, coordinates="group", integrator="lie-rattle", progress=False
    )
    assert run.attributes["kernel"] == "native"
    report = run.report()
    assert deviation(run, "joints") < 1e-13 * 40 and report["L_z"].verdict == "exact to round-off"


@once
def stepped(model, y):
    method, problem = model
    return method.step(problem, 0.0, 1e-2, y, method.init(problem, 0.0, 1e-2, y))[0]


@pytest.mark.parametrize("count", [4, pytest.param(6, marks=pytest.mark.slow)])
def test_a_step_is_that_of_the_joints_one_by_one(count: int):
    rods: Any = pt.library.rod_pendulum(count)
    formulation = pt.formulate(rods, "group", "group")
    problem: Any = formulation.problem
    looped = eqx.tree_at(lambda one: one.joints, problem, serial(rods.linkage))
    written = eqx.tree_at(lambda one: one.joints, problem, rods.linkage)
    assert looped.looped and not written.looped
    y, method, ends = looped.pack(formulation.start(rods.start)), pt.integrators.LieRattle(), []
    for problem in (looped, written):
        ends.append(stepped((method, problem), y))
    assert np.max(np.abs(ends[0] - y)) > 1e-3
    assert np.max(np.abs(ends[0] - ends[1])) < 1e-13


@pytest.mark.slow
def test_a_thousand_links_stay_closed():
    """At round-off of the length of the chain; what a step costs is measured in `benchmarks/joints.py`."""
    links = 1000
    rods = pt.library.rod_pendulum(links)
    formulation = pt.formulate(rods, "group", "group")
    y = np.asarray(formulation.problem.pack(formulation.start(rods.start)))
    march = Bound(Kernel("native"), (formulation.problem, pt.integrators.LieRattle()))
    loop = march(march_run, (np.float64(0.0), np.float64(1e-3), np.int64(20)), y)
    problem: Any = formulation.problem
    gaps = problem.joints.gaps(0.0, *_poses(problem, loop.y))
    assert int(loop.result) == 0 and np.max(np.abs(flat(gaps))) < 1e-15 * links
    assert np.max(np.abs(loop.y - y)) > 1e-3


def _poses(problem, y):
    parts = problem.split(jnp.asarray(y))
    return parts.x, problem.rotation(parts.g)
