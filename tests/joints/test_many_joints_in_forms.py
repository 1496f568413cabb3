"""Many joints in directors, quaternions and Euler angles: loops over them do what joints one by one do."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import core as jex

import poinsot as pt
from poinsot.kernels import once
from poinsot.kernels.native import NativeProgram
from poinsot.model import compact
from poinsot.model._compact import expanded_along, reduced_along
from poinsot.model._tree_motion import expanded, rate_count, reduced

FORMS: list[tuple[Any, str]] = [
    ("quaternions", "null_space"),
    ("quaternions", "index0"),
    ("directors", "index0"),
    ("directors", "index3"),
    (pt.coordinates.EulerAngles("xyz"), "null_space"),
]


def branching(floating: bool = False) -> pt.System:
    """Bodies that branch by two, on joints of three kinds, some of them named from the outer body inwards."""
    draw = np.random.default_rng(1)
    bodies = [pt.RigidBody(1.0 + k, 1.0 + draw.uniform(size=3), name=f"body{k}") for k in range(14)]
    joints: list[Any] = []
    for k in range(int(floating), 14):
        kind = (pt.joints.Spherical, pt.joints.Revolute, pt.joints.Cylindrical)[k % 3]
        ends = ["ground" if k == 0 else f"body{(k - 1) // 2}", f"body{k}"]
        places = {"at_first": draw.normal(size=3), "at_second": draw.normal(size=3)}
        joints.append(kind(*(ends[::-1] if k % 4 == 3 else ends), name=f"joint{k}", **places))
    return pt.System(bodies, joints=joints, potentials=[pt.potentials.UniformGravity()])


SYSTEMS: dict[str, Any] = {
    "tree": branching,
    "floating": lambda: branching(floating=True),
    "rods": lambda: pt.library.rod_pendulum(12),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_velocities_along_a_tree_are_those_branch_by_branch(name):
    """At poses and rates drawn at random, joints open; and the one map is the inverse of the other."""
    system = SYSTEMS[name]()
    linkage, draw, n = system.linkage, np.random.default_rng(0), len(system.names)
    looped = compact(linkage)
    assert looped.looped
    turns = np.stack([np.linalg.qr(draw.normal(size=(3, 3)))[0] for _ in range(n)], axis=-1)
    turns = turns * np.sign(np.linalg.det(turns.T))
    x, R = jnp.asarray(draw.normal(size=(3, n))), jnp.asarray(turns)
    rates, twist = jnp.asarray(draw.normal(size=rate_count(linkage))), jnp.asarray(draw.normal(size=6 * n))
    found = expanded_along(looped, 0.0, x, R, rates)
    assert np.max(np.abs(found - expanded(linkage, 0.0, x, R, rates))) < 1e-13 * np.max(np.abs(found))
    other = reduced_along(looped, 0.0, x, R, twist)
    assert np.max(np.abs(other - reduced(linkage, 0.0, x, R, twist))) < 1e-13 * np.max(np.abs(other))
    assert np.max(np.abs(reduced_along(looped, 0.0, x, R, found) - rates)) < 1e-12 * np.max(np.abs(found))


def both(system: Any, coordinates: Any, form: str) -> tuple[Any, Any, Any]:
    """A problem with its joints in loops, the same with them one by one, and a state off the constraints."""
    formulation = pt.formulate(system, coordinates, form)
    problem: Any = formulation.problem
    start = system.assemble()
    y = problem.pack(formulation.start(start))
    y = y + 1e-3 * np.random.default_rng(0).normal(size=y.shape)

    def joints(one: Any) -> Any:
        return one.rates.bodies.joints if hasattr(one, "rates") else one.bodies.joints

    written = eqx.tree_at(joints, problem, system.linkage)
    assert joints(problem).looped and not joints(written).looped
    return problem, written, y


FEW = [("quaternions", "null_space")]
"""Those of the default suite: code written out for all joints takes long to compile."""
CASES = [
    pytest.param(name, *pair, marks=[] if name == "rods" and pair in FEW else [pytest.mark.slow])
    for name in ("rods", "tree")
    for pair in FORMS
]


@pytest.mark.parametrize(("name", "coordinates", "form"), CASES)
def test_equations_and_projections_are_those_of_the_joints_one_by_one(name, coordinates, form):
    system = SYSTEMS[name]()
    problem, written, y = both(system, coordinates, form)
    for look in (lambda one, y: one.vector_field(0.0, y), lambda one, y: one.project(0.0, y, "both")):
        looped, one_by_one = (np.asarray(once(look)(one, y)) for one in (problem, written))
        assert np.max(np.abs(looped - one_by_one)) < 1e-12 * np.max(np.abs(one_by_one))


def equations(jaxpr: Any) -> int:
    """Operations in a trace and in what it calls."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    called = [one for equation in inner.eqns for one in jex.jaxprs_in_params(equation.params)]
    return len(inner.eqns) + sum(map(equations, called))


@pytest.mark.parametrize(("coordinates", "form"), [*FORMS, ("quaternions", "hamiltonian")])
def test_code_does_not_grow_with_the_number_of_links(coordinates, form):
    sizes = []
    for links in (12, 40):
        problem: Any = pt.formulate(pt.library.rod_pendulum(links), coordinates, form).problem
        bodies = problem.rates.bodies if hasattr(problem, "rates") else problem.bodies
        height = 3 * links if form == "null_space" else bodies.size
        y = jnp.ones(bodies.size + height)
        sizes.append(equations(jax.make_jaxpr(lambda y, one=problem: one.vector_field(0.0, y))(y)))
    assert sizes[1] - sizes[0] < 0.02 * sizes[0], sizes


@pytest.mark.slow
def test_native_code_does_not_grow_with_the_number_of_links():
    """Of states that are in memory: nothing that has a part for each link is written out."""
    lines = []
    for links in (60, 90):
        formulation = pt.formulate(pt.library.rod_pendulum(links), "quaternions", "null_space")
        arrays, rest = eqx.partition(formulation.problem, eqx.is_array)

        def rates(model, grid, y, rest=rest):
            return eqx.combine(model, rest).vector_field(0.0, y)

        program = NativeProgram.of(rates, arrays, (), np.ones(10 * links), width=1, fast=False, effort=0)
        lines.append(program.text.count("\n"))
    assert lines[1] - lines[0] < 0.02 * lines[0], lines


@pytest.mark.slow
@pytest.mark.parametrize("form", ["null_space", "index0"])
def test_a_hundred_links_move_as_on_the_group(form):
    """The same steps of order 4 in other coordinates: their difference is that of the errors."""
    rods = pt.library.rod_pendulum(100)
    steps: Any = {"t1": 0.02, "dt": 1e-3, "integrator": "rk4", "progress": False}
    group: Any = pt.simulate(rods, rods.start, coordinates="group", **steps)
    run: Any = pt.simulate(rods, rods.start, coordinates="quaternions", form=form, **steps)
    assert run.attributes["kernel"] == "native"
    assert np.max(np.abs(group.position[-1] - group.position[0])) > 1e-3
    assert np.max(np.abs(run.position - group.position)) < 1e-11 * 100
    for name in (rods.joints[0].name, rods.joints[60].name):
        np.testing.assert_allclose(run.reaction(name).force, group.reaction(name).force, atol=1e-8)
