"""Reactions and coordinates of many joints: found in loops over them, equal to those of joints one by one."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import core as jex

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.model import compact
from poinsot.model._long_linkage import LongLinkage
from poinsot.model._serial_linkage import SerialLinkage
from poinsot.simulation import _joint_motion

G = 9.81


def geared() -> pt.System:
    """Twelve bodies that branch by two on balls and hinges, two wheels in gear, one of the hinges driven."""
    draw = np.random.default_rng(1)
    bodies = [pt.RigidBody(1.0 + k, 1.0 + draw.uniform(size=3), name=f"body{k}") for k in range(12)]
    joints: list[Any] = [pt.joints.Revolute("ground", "body0", at=(0.0, 0.0, 0.0), name="joint0")]
    for k in range(1, 12):
        kind = pt.joints.Spherical if k % 3 else pt.joints.Revolute
        ends = {"at_first": draw.normal(size=3), "at_second": draw.normal(size=3)}
        joints.append(kind(f"body{(k - 1) // 2}", f"body{k}", name=f"joint{k}", **ends))
    more = [
        pt.joints.Drive("joint0", lambda t: jnp.sin(t), name="motor"),
        pt.joints.Coupling("joint3", "joint6", (20, 40), name="gear"),
    ]
    return pt.System(bodies, joints=[*joints, *more], potentials=[pt.potentials.UniformGravity()])


def branching() -> pt.System:
    """The same without wheels in gear and motor."""
    whole = geared()
    return pt.System(whole.bodies, joints=whole.joints[:12], potentials=whole.potentials)


SYSTEMS = {
    "row": (lambda: pt.library.rod_pendulum(12), SerialLinkage),
    "branching": (branching, LongLinkage),
    "geared": (geared, LongLinkage),
}


@pytest.mark.parametrize("name", of_the_long_suite(["row", "branching", "geared"], {"row"}))
def test_they_are_those_of_the_joints_one_by_one(name):
    make, kind = SYSTEMS[name]
    system = make()
    assert isinstance(compact(system.linkage), kind)
    formulation = pt.formulate(system, "group", "group")
    start = system.assemble()
    draw, state = np.random.default_rng(0), formulation.start(start)
    y = np.array(formulation.problem.pack(state))
    y[-6 * len(system.names) :] += draw.normal(size=6 * len(system.names))
    written = eqx.tree_at(lambda one: one.bodies.joints, formulation, system.linkage)
    assert formulation.looped and not written.looped
    looped, one_by_one = (
        [*seen._reactions, *seen._coordinates]
        for seen in (_joint_motion.SeenJoints(each, np.zeros(1), y[None]) for each in (formulation, written))
    )
    size = max(np.max(np.abs(part)) for part in one_by_one if part.size)
    assert size > 10.0
    for one, other in zip(looped, one_by_one, strict=True):
        assert one.shape == other.shape
        if one.size:
            # Joints that may be redundant share their forces to one over the epsilon of the solve.
            bound = 1e-12 if system.linkage.independent else 1e-8
            assert np.max(np.abs(one - other)) < bound * size


def hanging(links: int) -> tuple[Any, pt.State]:
    """Rods of one metre and one kilogram, straight down and at rest."""
    rods = pt.library.rod_pendulum(links)
    turn = pt.rotation.about_y(0.5 * np.pi)
    places = [(0.0, 0.0, -0.5 - k) for k in range(links)]
    return rods, rods.state(position=places, rotation=[turn] * links)


@pytest.mark.slow
def test_a_hanging_chain_of_a_hundred_pulls_by_its_weight():
    """At each joint by that of the rods below it."""
    links = 100
    rods, start = hanging(links)
    run: Any = pt.simulate(
        rods, start, t1=2e-3, dt=1e-3, coordinates="group", integrator="lie-rattle", progress=False
    )
    for k in (0, 1, 57, 99):
        reaction = run.reaction(rods.joints[k].name)
        # On the ground, or on the rod above, by the rod below.
        pull = np.array([0.0, 0.0, -G * (links - k)])
        np.testing.assert_allclose(reaction.force, np.tile(pull, (len(run), 1)), atol=1e-11 * G * links)
        np.testing.assert_allclose(reaction.torque, 0.0, atol=1e-11 * G * links)


def equations(jaxpr: Any) -> int:
    """Operations in a trace and in what it calls."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    called = [one for equation in inner.eqns for one in jex.jaxprs_in_params(equation.params)]
    return len(inner.eqns) + sum(map(equations, called))


@pytest.mark.slow
@pytest.mark.parametrize("seen", [_joint_motion._reactions, _joint_motion._coordinates])
def test_code_does_not_grow_with_the_number_of_links(seen):
    sizes = []
    for links in (10, 40):
        formulation = pt.formulate(pt.library.rod_pendulum(links), "group", "group")
        y = jax.eval_shape(lambda f=formulation: f.problem.pack(f.start(f.bodies.system.start)))
        state = jnp.zeros(y.shape)
        sizes.append(equations(jax.make_jaxpr(lambda y, f=formulation: seen(f, (), (0.0, y)))(state)))
    assert sizes[1] - sizes[0] < 0.02 * sizes[0], sizes
