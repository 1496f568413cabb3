"""Many joints in trees and loops: loops over the joints do what the joints one by one do."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend import core as jex
from scipy.integrate import solve_ivp

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.core import Mobility
from poinsot.kernels import once
from poinsot.model import compact
from poinsot.model._assembly import live_at, opening
from poinsot.model._long_linkage import LongLinkage


def tree(count: int = 13) -> pt.System:
    """Bodies that branch by two, on hinges and balls in different places."""
    draw = np.random.default_rng(1)
    bodies = [pt.RigidBody(1.0 + k, 1.0 + draw.uniform(size=3), name=f"body{k}") for k in range(count)]
    joints: list[Any] = [pt.joints.Revolute("ground", "body0", at=(0.0, 0.0, 0.0), name="joint0")]
    for k in range(1, count):
        kind = pt.joints.Spherical if k % 3 else pt.joints.Revolute
        ends = {"at_first": draw.normal(size=3), "at_second": draw.normal(size=3)}
        joints.append(kind(f"body{(k - 1) // 2}", f"body{k}", name=f"joint{k}", **ends))
    return pt.System(bodies, joints=joints, potentials=[pt.potentials.UniformGravity()])


def swaying(t, amplitude):
    return amplitude * jnp.sin(t)


def driven() -> pt.System:
    """The same with motors and a gear: conditions that look at joints, the gear at one body twice."""
    open_tree = tree(7)
    hinges = [
        pt.joints.Revolute(f"body{k}", f"wheel{k}", at=(0.0, 0.0, 0.0), name=f"axle{k}") for k in (5, 6)
    ]
    wheels = [pt.RigidBody(1.0, (1.0, 1.0, 1.5), name=f"wheel{k}") for k in (5, 6)]
    more = pt.joints.Revolute("wheel5", "wheel7", at=(0.0, 0.0, 0.0), name="axle7")
    return pt.System(
        [*open_tree.bodies, *wheels, pt.RigidBody(1.0, (1.0, 1.0, 1.5), name="wheel7")],
        joints=[
            *open_tree.joints,
            *hinges,
            more,
            pt.joints.Drive("joint3", swaying, params=1.0),
            pt.joints.Drive("joint6", swaying, params=0.5),
            pt.joints.Coupling("axle5", "axle7", (20, 40)),
        ],
    )


def flat(rows: Any) -> np.ndarray:
    return np.concatenate([np.ravel(row) for row in rows])


@pytest.mark.parametrize(
    "make",
    of_the_long_suite(
        {
            "tree": (lambda: tree(7),),
            "one loop": (lambda: pt.library.parallelogram(loops=1),),
            "loops": (lambda: pt.library.parallelogram(loops=2),),
            "large tree": (tree,),
            "driven": (driven,),
            "more loops": (lambda: pt.library.parallelogram(loops=4),),
        },
        (),
    ),
)
def test_joints_in_loops_are_the_joints_one_by_one(make: Any):
    """Values of all methods at poses and twists drawn at random, joints open."""
    system = make()
    linkage, long = system.linkage, LongLinkage(system.linkage)
    assert long.independent == linkage.independent
    rows, draw, n = [one.rows for one in linkage.conditions], np.random.default_rng(0), len(system.names)

    def listed(parts: Any) -> Any:
        """Rows of all conditions as one array in the order of the loops."""
        return [jnp.stack([jnp.pad(parts[i], (0, long.size - rows[i])) for i in long.listed])]

    turns = np.stack([np.linalg.qr(draw.normal(size=(3, 3)))[0] for _ in range(n)], axis=-1)
    x, R, u = jnp.asarray(draw.normal(size=(3, n))), jnp.asarray(turns), jnp.asarray(draw.normal(size=6 * n))
    epsilon, repetitions = (0.0, 1) if linkage.independent else (1e-4, 5)
    forces = [jnp.asarray(draw.normal(size=k)) for k in rows]
    small = jnp.asarray(0.1 * np.eye(3)[:, :, None] + 0.003 * draw.normal(size=(3, 3, n)))

    # Operation by operation: joints written out one by one take longer to compile whole.
    here, there = linkage.at(0.1, x, R, epsilon), long.at(0.1, x, R, epsilon)
    right = here.push(linkage.weights * here.pull(forces))
    turned = jnp.einsum("ijk,jl->ilk", R, pt.rotation.about_x(0.1))
    ends = 0.2, x + 0.01, turned, Mobility(jnp.asarray(0.1), small), 0.3
    closing, looped = linkage.closing(here, *ends), long.closing(there, *ends)
    pairs = {
        "gaps": (linkage.gaps(0.1, x, R), long.gaps(0.1, x, R)),
        "rates": (linkage.rates(0.1, x, R, u), long.rates(0.1, x, R, u)),
        "bends": (linkage.bends(0.1, x, R, u), long.bends(0.1, x, R, u)),
        "push": (here.push(u), there.push(u)),
        "solve": (here.solve(right, repetitions), there.solve(listed(right), repetitions)),
        "push at the end": (closing.push(u), looped.push(u)),
        "pivots at the end": (closing.pivots, looped.pivots),
    }
    for name, (one, other) in pairs.items():
        # Redundant conditions leave forces at one over epsilon times round-off.
        bound = 1e-12 if linkage.independent or "solve" not in name else 1e-10
        scale = np.max(np.abs(flat(one)))
        assert np.max(np.abs(flat(listed(one)) - flat(other))) < bound * scale, name
    assert np.max(np.abs(here.pull(forces) - there.pull(listed(forces)))) < 1e-12
    # Impulses after which bodies that move like this are back; where some do nothing, what they do together.
    ahead = closing.push(u)
    pulls = [here.pull(closing.solve(ahead)), there.pull(looped.solve(listed(ahead)))]
    assert np.max(np.abs(pulls[0] - pulls[1])) < 1e-12 * np.max(np.abs(pulls[0]))
    for one, other in zip(here.jacobians, long.jacobians(0.1, x, R), strict=True):
        assert np.max(np.abs(one - other)) < 1e-14


@pytest.mark.parametrize("make", [tree, driven, lambda: pt.library.parallelogram(loops=4)])
def test_many_joints_go_in_loops(make: Any):
    assert isinstance(compact(make().linkage), LongLinkage)
    assert not isinstance(compact(tree(3).linkage), LongLinkage)


def test_drives_that_differ_in_names_and_numbers_are_of_one_kind():
    """Six legs, each of a universal joint, a slide, a ball joint and a drive."""
    linkage = compact(pt.library.stewart_platform().linkage)
    assert isinstance(linkage, LongLinkage) and [kind.count for kind in linkage.kinds] == [6] * 4


def equations(jaxpr: Any) -> int:
    """Operations in a trace and in what it calls."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    called = [one for equation in inner.eqns for one in jex.jaxprs_in_params(equation.params)]
    return len(inner.eqns) + sum(map(equations, called))


@pytest.mark.slow
def test_code_does_not_grow_with_the_number_of_loops():
    sizes = []
    for loops in (5, 10):
        bars = pt.library.parallelogram(loops=loops)
        formulation = pt.formulate(bars, "group", "group")
        y = formulation.problem.pack(formulation.start(bars.start))
        sizes.append(equations(jax.make_jaxpr(lambda y, f=formulation: f.problem.vector_field(0.0, y))(y)))
    assert sizes[1] - sizes[0] < 0.02 * sizes[0], sizes


@once
def stepped(model, y):
    method, problem = model
    return method.step(problem, 0.0, 1e-2, y, method.init(problem, 0.0, 1e-2, y))[0]


@pytest.mark.slow
@pytest.mark.parametrize("method", [pt.integrators.LieRattle(), pt.integrators.RK4()], ids=["rattle", "rk4"])
def test_a_step_is_that_of_the_joints_one_by_one(method: Any):
    bars: Any = pt.library.parallelogram(loops=1)
    formulation = pt.formulate(bars, "group", "group")
    written: Any = formulation.problem
    looped = eqx.tree_at(lambda one: one.joints, written, LongLinkage(bars.linkage))
    assert looped.looped and not written.looped
    y, ends = written.pack(formulation.start(bars.start)), []
    for problem in (looped, written):
        ends.append(stepped((method, problem), y))
    assert np.max(np.abs(ends[0] - y)) > 1e-3
    assert np.max(np.abs(ends[0] - ends[1])) < 1e-12


@pytest.mark.slow
def test_twenty_loops_stay_closed_in_native_code_and_move_like_a_pendulum():
    r"""The equation of `pt.library.parallelogram`, integrated by SciPy."""
    loops, end = 20, 0.05
    bars = pt.library.parallelogram(loops=loops)
    run = pt.simulate(
        bars, bars.start, t1=end, dt=1e-3, coordinates="group", integrator="lie-rattle", progress=False
    )
    assert run.attributes["kernel"] == "native"
    gaps, _, _ = opening(compact(bars.linkage), *live_at(bars, end, run.final))
    assert np.max(np.abs(flat(gaps))) < 1e-15 * loops

    def pendulum(t, y):
        return [y[1], -9.81 * ((loops + 1) / 2 + loops) / ((loops + 1) / 3 + loops) * np.cos(y[0])]

    exact = solve_ivp(pendulum, (0.0, end), [0.5 * np.pi, -1.0], rtol=1e-12, atol=1e-12).y[0, -1]
    tip = 2.0 * np.asarray(run.position)[-1, 0, :2]
    assert np.linalg.norm(tip - [np.cos(exact), np.sin(exact)]) < 1e-6


def level_errors(loops: int, steps: list[int], t1: float) -> list[float]:
    """Distances at the end from the exact place of a level bar, for numbers of steps with Lie RATTLE."""
    bars = pt.library.parallelogram(loops=loops)

    def pendulum(t, y):
        return [y[1], -9.81 * ((loops + 1) / 2 + loops) / ((loops + 1) / 3 + loops) * np.cos(y[0])]

    angles = solve_ivp(pendulum, (0.0, t1), [0.5 * np.pi, -1.0], rtol=1e-12, atol=1e-12).y[0]
    assert np.min(np.sin(angles)) < -0.9, "past the level, to both sides"
    errors = []
    for count in steps:
        run: Any = pt.simulate(
            bars, bars.start, t1=t1, dt=t1 / count, coordinates="group", integrator="lie-rattle",
            save_every=count, progress=False,
        )  # fmt: skip
        assert run.attributes["kernel"] == "native"
        gaps, _, _ = opening(compact(bars.linkage), *live_at(bars, t1, run.final))
        assert np.max(np.abs(flat(gaps))) < 1e-15 * (loops + 1)
        middle = run.position[-1, bars.names.index("level0"), :2] - [0.5, 0.0]
        errors.append(float(np.linalg.norm(middle - [np.cos(angles[-1]), np.sin(angles[-1])])))
    return errors


@pytest.mark.slow
@pytest.mark.parametrize("loops", [2, 4, 20])
def test_rows_of_loops_pass_their_level_positions_at_order_two(loops: int):
    """IFToMM A02 with N loops: each could fold there, and forces along the bars grow beyond bounds."""
    coarse, fine = level_errors(loops, [3000, 6000], 3.0)
    assert 1.9 < np.log2(coarse / fine) < 2.1, (coarse, fine)


@pytest.mark.slow
def test_a_loop_passes_its_level_positions_wherever_large_steps_end():
    """Newton's iteration with a symmetric matrix in place of its own fails in all of these runs."""
    bars = pt.library.parallelogram()
    formulation = pt.formulate(bars, "group", "group")
    speeds = np.linspace(0.3, 2.0, 24)
    starts = [formulation.start(pt.library.parallelogram(speed).start) for speed in speeds]
    together = jax.tree.map(lambda *parts: np.stack(parts), *starts)
    runs = pt.ensemble(
        formulation.problem, "lie-rattle", together, dt=1e-2, steps=1000, save_every=1000, progress=False
    )
    assert np.all(np.asarray(runs.result) == 0)


UNOPTIMISED = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""Of a compile of functions that are called a few times: it takes a fifth of the time for `jvp`."""


@pytest.mark.slow
def test_derivatives_of_a_run_forward_reverse_and_by_differences():
    """Of an open tree that branches, in the size of its first momenta and in the step."""
    branching = tree(14)
    formulation = pt.formulate(branching, "group", "group")
    problem: Any = formulation.problem
    assert isinstance(problem.joints, LongLinkage) and problem.joints.independent
    start, draw = formulation.start(branching.assemble()), np.random.default_rng(4)
    p, m, weights = (jnp.asarray(draw.standard_normal((3, 14))) for _ in range(3))
    moving = problem.unpack(
        problem.project(0.0, problem.pack(pt.State(x=start.x, p=p, g=start.g, m=m)), "velocity")
    )

    def end(size, dt):
        state = pt.State(x=moving.x, p=size * moving.p, g=moving.g, m=size * moving.m)
        run = pt.solve(problem, pt.integrators.LieRattle(), state, dt=dt, steps=3, save_every=3)
        return jnp.sum(weights * run.state.x[-1])

    def forward(size, dt, *directions):
        return jax.jvp(end, (size, dt), directions)[1]

    plain, forward, reverse = (
        jax.jit(function, compiler_options=UNOPTIMISED)
        for function in (end, forward, jax.grad(end, argnums=(0, 1)))
    )
    at, units = (1.0, 0.01), ((1.0, 0.0), (0.0, 1.0))
    gradient = reverse(*at)
    np.testing.assert_allclose([forward(*at, *unit) for unit in units], gradient, rtol=1e-10)
    assert np.min(np.abs(gradient)) > 1e-2
    for step, unit, slope in zip((1e-4, 1e-6), units, gradient, strict=True):
        ahead, back = (
            plain(*(a + sign * step * u for a, u in zip(at, unit, strict=True))) for sign in (1, -1)
        )
        np.testing.assert_allclose((ahead - back) / (2.0 * step), slope, rtol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("method", [pt.integrators.LieRattle(), pt.integrators.RK4()], ids=["rattle", "rk4"])
def test_gradients_of_a_run_of_loops_and_by_differences(method: Any):
    """Of redundant conditions, in the size of the first momenta and in the masses."""
    bars: Any = pt.library.parallelogram(loops=4)
    formulation = pt.formulate(bars, "group", "group")
    problem: Any = formulation.problem
    assert isinstance(problem.joints, LongLinkage) and not problem.joints.independent
    start = formulation.start(bars.start)
    weights = jnp.asarray(np.random.default_rng(4).standard_normal(start.x.shape))

    def end(size, heavier):
        scale = jnp.ones_like(problem.joints.weights).at[: start.x.size].set(1.0 / heavier)
        changed = eqx.tree_at(
            lambda one: (one.mass, one.joints.weights),
            problem,
            (heavier * problem.mass, scale * problem.joints.weights),
        )
        state = pt.State(x=start.x, p=size * heavier * start.p, g=start.g, m=size * start.m)
        run = pt.solve(changed, method, state, dt=0.02, steps=4, save_every=4)
        return jnp.sum(weights * run.state.x[-1])

    plain, reverse = (
        jax.jit(function, compiler_options=UNOPTIMISED) for function in (end, jax.grad(end, argnums=(0, 1)))
    )
    gradient, step = reverse(1.0, 1.0), 1e-3
    assert np.min(np.abs(gradient)) > 1e-5
    for slope, (a, b) in zip(gradient, ((step, 0.0), (0.0, step)), strict=True):
        difference = (plain(1.0 + a, 1.0 + b) - plain(1.0 - a, 1.0 - b)) / (2.0 * step)
        np.testing.assert_allclose(difference, slope, rtol=2e-4)


def test_a_run_watches_as_many_gaps_as_there_are_conditions():
    """Conditions of fewer rows than others are filled up in loops; what fills them is not shown."""
    system = pt.library.stewart_platform()
    formulation = pt.formulate(system, "group", "group").watched(system.start)
    assert isinstance(formulation.bodies.joints, LongLinkage) and system.linkage is not None
    y = formulation.problem.pack(formulation.start(system.start, 0.0))
    watched = jax.eval_shape(formulation.problem.conserved, 0.0, y)
    rows = sum(condition.rows for condition in system.linkage.conditions)
    assert watched["joints"].shape == watched["joint rates"].shape == (rows,) == (78,)
