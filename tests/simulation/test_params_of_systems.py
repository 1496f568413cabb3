"""Numbers of potentials, loads, motions and user functions are data; user invariants are in the report."""

import dataclasses
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot import loads, potentials
from poinsot.kernels import programs_made


def push(t, params):
    return params["amplitude"] * jnp.stack([jnp.sin(params["omega"] * t), 0.0 * t, 0.0 * t])


def bowl(x, R, params):
    return 0.5 * params["k"] * jnp.sum(x * x)


def drag(t, x, R, v, Omega, params):
    return -params["c"] * v, 0.0 * Omega


def height(motion, params):
    return params["k"] * motion.position[0, 2]


PARAMS = {"k": 2.0, "c": 0.1, "amplitude": 0.5, "omega": 3.0}
BODY = pt.RigidBody(2.0, (1.0, 2.0, 2.5))


def forced(**numbers) -> pt.System:
    return pt.System(
        BODY,
        potentials=[bowl, potentials.UniformGravity((0.0, 0.0, -1.0))],
        loads=[loads.Force(push), drag, loads.LinearDamping(rotational=0.1)],
        params=PARAMS | numbers,
        invariants={"k z": height},
    )


def ran(system: pt.System, **options) -> pt.Trajectory:
    start = system.state(position=(1.0, 0.0, 0.0), angular_velocity=(0.1, 1.0, 0.2))
    options = {"t1": 1.0, "dt": 0.01, "integrator": pt.integrators.RK4(), "progress": False} | options
    return pt.simulate(system, start, **options)


def exact(t: float, k: float, c: float, amplitude: float, omega: float) -> float:
    """x(t) of m x'' = -k x - c x' + a sin(omega t) from x = 1 at rest, by a fine reference of its own."""
    y, n = np.array([1.0, 0.0]), 4000
    h = t / n

    def rate(t, y):
        return np.array([y[1], (-k * y[0] - c * y[1] + amplitude * np.sin(omega * t)) / 2.0])

    for i in range(n):
        k1 = rate(i * h, y)
        k2 = rate((i + 0.5) * h, y + 0.5 * h * k1)
        k3 = rate((i + 0.5) * h, y + 0.5 * h * k2)
        k4 = rate((i + 1) * h, y + h * k3)
        y = y + h / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    return float(y[0])


def test_other_numbers_compile_nothing_and_are_used():
    first = ran(forced())
    made = programs_made()
    others = {"k": 3.0, "c": 0.2, "amplitude": 0.7, "omega": 5.0}
    second = ran(forced(**others))
    third = ran(forced().with_params(PARAMS | {"omega": 1.0}))
    assert programs_made() == made
    np.testing.assert_allclose(first.position[-1, 0, 0], exact(1.0, **PARAMS), rtol=1e-8)
    np.testing.assert_allclose(second.position[-1, 0, 0], exact(1.0, **others), rtol=1e-8)
    np.testing.assert_allclose(third.position[-1, 0, 0], exact(1.0, **PARAMS | {"omega": 1.0}), rtol=1e-8)


def test_a_number_written_into_a_function_is_data_and_another_operation_is_not():
    """The count can rise: what a function does is part of the code."""

    def system(omega, wave=jnp.sin):
        return pt.System(BODY, loads=[loads.Force(lambda t: jnp.stack([wave(omega * t), 0.0 * t, 0.0 * t]))])

    ran(system(3.0))
    made = programs_made()
    ran(system(5.0))
    assert programs_made() == made
    ran(system(3.0, jnp.cos))
    assert programs_made() > made


def test_a_mechanism_of_other_sizes_compiles_nothing():
    """One program for all lengths, masses and axes of one topology. Zeros of an axis are part of the code."""

    def tip(length: float, mass: float, tilt: float) -> np.ndarray:
        arm = (0.5 * length, 0.0, 0.0)
        hinge = pt.joints.Revolute(
            "ground", "rod", at_first=(0, 0, 0), at_second=(-0.5 * length, 0.0, 0.0), axis=(0.0, tilt, 1.0)
        )
        rod = pt.shapes.rod(length=length, mass=mass, name="rod")
        system = pt.System(rod, joints=[hinge], potentials=[potentials.UniformGravity((0.0, -9.81, 0.0))])
        run = pt.simulate(
            system, system.state(position=arm), t1=0.1, dt=0.01, coordinates="group", integrator="rk4",
            progress=False,
        )  # fmt: skip
        return run.position[-1, 0]

    first = tip(1.0, 1.0, 0.3)
    made = programs_made()
    second = tip(2.0, 3.0, 0.5)
    assert programs_made() == made
    assert np.max(np.abs(second - first)) > 0.1


def test_nothing_is_traced_again_by_xla():
    """As under jit, where the model is an argument: one trace for all numbers, also of a moved end."""
    traces = []

    @eqx.filter_jit
    def rates(system, x, R, v, Omega):
        traces.append(1)
        return system.load(0.3, x, R, v, Omega), jax.grad(system.potential, argnums=1)(0.3, x, R)

    def chain(omega: float, g: float) -> pt.Chain:
        return pt.Chain(
            pt.shapes.tetrahedron(),
            4,
            2.0,
            potentials.LennardJones(5.0, 1.0),
            ("free", pt.ends.displaced(lambda_path)),
            potentials=[potentials.UniformGravity((0.0, 0.0, -g))],
            loads=[drag],
            params=PARAMS | {"omega": omega},
        )

    found = []
    for omega, g in ((3.0, 1.0), (4.0, 2.0)):
        one = chain(omega, g)
        state = one.straight_state(0.1, 0)
        x, quat, v, Omega = one.live(0.0, state)
        found.append(rates(one, x, jnp.moveaxis(pt.rotation.to_matrix(quat.T), 0, -1), v, Omega))
    assert len(traces) == 1
    assert not np.allclose(found[0][1], found[1][1])


def lambda_path(t, params):
    return jnp.stack([6.0 + 0.1 * jnp.sin(params["omega"] * t), 0.0 * t, 0.0 * t])


def test_own_parameters_go_before_those_of_the_system():
    system = pt.System(
        BODY,
        potentials=[potentials.Function(bowl, params={"k": 5.0}), bowl],
        loads=[loads.Force(push, params={"amplitude": 2.0, "omega": 0.5}), loads.Torque(push, frame="body")],
        params=PARAMS,
    )
    x, R = jnp.asarray([[1.0, 2.0, 0.0]]), jnp.eye(3)[None]
    np.testing.assert_allclose(system.pose_potential(0.0, x, R), 0.5 * (5.0 + 2.0) * 5.0)
    wrench = system.load(jnp.asarray(2.0), x.T, R.T, jnp.zeros((3, 1)), jnp.zeros((3, 1)))
    assert wrench is not None
    force, torque = wrench
    np.testing.assert_allclose(force[0, 0], 2.0 * np.sin(1.0), rtol=1e-15)
    np.testing.assert_allclose(torque[0, 0], 0.5 * np.sin(6.0), rtol=1e-15)


@pytest.mark.slow
def test_gradients_in_parameters_are_those_of_differences():
    start = forced().state(position=(1.0, 0.0, 0.0), angular_velocity=(0.1, 1.0, 0.2))

    def end(omega):
        system = forced(omega=omega)
        options = {"dt": 0.05, "steps": 10, "save_every": 10}
        return pt.solve(system, pt.integrators.RK4(), start, **options).position[-1, 0, 0]

    both = jax.jit(lambda omega: jax.jvp(end, (omega,), (1.0,)))
    h = 1e-4
    (_, slope), (above, _), (below, _) = (both(3.0 + shift) for shift in (0.0, h, -h))
    np.testing.assert_allclose(slope, (above - below) / (2 * h), rtol=1e-6)
    assert abs(slope) > 1e-3


def test_prescribed_motions_take_parameters():
    def path(t, params):
        angle = params["rate"] * t
        return jnp.stack([angle, 0.0 * t, 0.0 * t]), pt.rotation.about_z(angle)

    system = pt.System(
        [BODY, BODY], freedom=[pt.freedom.Free(), pt.freedom.Prescribed(path)], params={"rate": 2.0}
    )
    state = system.state(t=0.5)
    np.testing.assert_allclose(state.position[1], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(state.velocity[1], [2.0, 0.0, 0.0])
    np.testing.assert_allclose(state.angular_velocity[1], [0.0, 0.0, 2.0], atol=1e-15)


def test_invariants_are_in_the_report():
    free = pt.System(
        [BODY, BODY],
        potentials=[potentials.Between(potentials.HarmonicPair(1.0, 1.0), [0, 1])],
        params={"k": 3.0},
        invariants={
            "k p_x": lambda motion, params: params["k"] * motion.linear_momentum[0],
            "spin of the first": lambda motion: jnp.sum(motion.angular_velocity[0] ** 2),
            "x - v t": lambda t, motion: motion.position[0] + motion.position[1] - 2.0 * 0.5 * t,
        },
    )
    start = free.state(position=[(0, 0, 0), (1.5, 0, 0)], velocity=[(1, 0, 0), (0, 0.1, 0)])
    run = pt.simulate(free, start, t1=2.0, dt=0.01, integrator=pt.integrators.LieSplitting(), progress=False)
    assert run.report()["k p_x"].start == pytest.approx(6.0)
    assert run.conserved["spin of the first"].shape == run.t.shape
    np.testing.assert_allclose(run.conserved["k p_x"], 3.0 * run.linear_momentum[:, 0], rtol=1e-14)
    moved = run.conserved["x - v t"]
    assert moved.shape == (len(run.t), 3)
    np.testing.assert_allclose(moved[:, 0], 1.5, atol=1e-12)


BAD = {
    "parameters of a load": (
        lambda: pt.System(BODY, loads=[loads.Force(push)]),
        r"loads\[0\] takes parameters; give them to the system, params=",
    ),
    "parameters of a motion": (
        lambda: pt.System(
            [BODY, BODY], freedom=[pt.freedom.Free(), pt.freedom.Prescribed(lambda t, params: (t, params))]
        ),
        "motion of 'body1' takes parameters",
    ),
    "params of a constant": (
        lambda: loads.Force((1.0, 0.0, 0.0), params={"a": 1.0}),
        r"force of Force is constant, but params are given; write it as f\(t, params\)",
    ),
    "params that nobody takes": (
        lambda: loads.Torque(lambda t: jnp.zeros(3), params={"a": 1.0}),
        "torque of Torque takes no parameters, but params are given",
    ),
    "an invariant of another name": (
        lambda: pt.System(BODY, invariants={"energy": lambda motion: motion.energy}),
        "invariants has the name 'energy', which reports use already",
    ),
    "no dictionary": (
        lambda: pt.System(BODY, invariants=cast(Any, [height])),
        "it must be a dictionary or None",
    ),
    "too many arguments": (
        lambda: pt.System(BODY, invariants={"z": lambda a, b, c, d: a}),
        "invariant 'z' takes 4 arguments",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)


BROKEN = {
    "no such part": (lambda motion: motion.spin, "invariant 'f' cannot be evaluated: Attribute"),
    "not finite": (lambda motion: 1.0 / motion.position[0, 0], "invariant 'f' is inf at the start"),
    "nothing": (lambda motion: None, "invariant 'f' returns None"),
    "a truth value": (lambda motion: motion.energy > 0.0, "invariant 'f' returns truth values"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_invariants_are_refused_before_the_run(case):
    function, text = BROKEN[case]
    system = pt.System(BODY, invariants={"f": function})
    with pytest.raises(pt.InputError, match=text):
        pt.simulate(system, system.state(), t1=1.0, dt=0.1, integrator=pt.integrators.RK4(), progress=False)


TERMS = [
    potentials.UniformGravity(bodies=["a"]),
    potentials.GravityGradient(3.0),
    potentials.HeavyTop(2.0),
    potentials.ConstantForce((1.0, 2.0, 3.0)),
    potentials.Spring(potentials.Marker("a"), (0.0, 0.0, 1.0), stiffness=2, rest_length=1),
    potentials.LinearBushing(potentials.Marker("a"), (0.0, 0.0, 1.0), stiffness=(1, 2, 3)),
    potentials.TorsionalBushing(potentials.Marker("a"), potentials.Marker("b"), stiffness=(1, 2, 3)),
    potentials.Field(bowl, params={"k": 2.0}),
    potentials.OfInvariants(lambda x, R: x[0], lambda c, params: params * jnp.sum(c * c), params=0.5),
    potentials.LennardJones(5.0, 1.0),
    potentials.Morse(2.0, 0.4, 1.5),
    potentials.Coulomb(1.0),
    potentials.ScreenedCoulomb(1.0, 0.5),
    potentials.HarmonicPair(1.0, 0.5),
    potentials.Cutoff(potentials.LennardJones(5.0, 1.0), 2.5),
    potentials.PairFunction(lambda s, p: p * s, 2.0),
    potentials.GayBerne(1.0, 1.0),
    potentials.PosePair(lambda d, R1, R2, p: p["a"] * jnp.sum(d * d), {"a": 0.5}),
    loads.LinearDamping(0.1, 0.2),
    loads.Force(push, params=PARAMS),
    loads.Torque((1.0, 2.0, 3.0)),
    loads.Function(drag, params=PARAMS),
]


def statics(node) -> list:
    """What is part of the code: values of static fields, and leaves that are no arrays."""
    found = [leaf for leaf in jax.tree.leaves(node) if not eqx.is_array(leaf)]
    modules = [node] if isinstance(node, eqx.Module) else []
    while modules:
        module = modules.pop()
        for entry in dataclasses.fields(module):
            value = getattr(module, entry.name)
            if entry.metadata.get("static", False):
                found.append(value)
            elif isinstance(value, eqx.Module):
                modules.append(value)
    return found


@pytest.mark.parametrize("term", TERMS, ids=lambda term: type(term).__name__)
def test_numbers_of_terms_are_arrays(term):
    """Places, names and switches are not; a number among them would compile anew for another."""
    for value in statics(term):
        parts = value if isinstance(value, tuple) else (value,)
        assert not any(isinstance(part, float) for part in parts)
    assert jax.tree.leaves(eqx.filter(term, eqx.is_inexact_array))
