"""Functions that refer to something that changes: each run computes with what it is when the run begins."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.kernels import programs_made

RK4 = pt.integrators.RK4()
ONE = pt.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0), name="one")
K = 1.0
NUMBERS = np.array([1.0])
RESULTS = ("auto", "plain")


def ended(f, kernel="auto", **options):
    """The last state of y' = f(t, y)."""
    options = {"dt": 0.05, "integrator": RK4, "kernel": kernel} | options
    return pt.simulate(pt.ODE(f), pt.State(y=[1.0]), t1=0.1, progress=False, **options).y[-1, 0]


def ways_of_change():
    """Functions -k y, with what sets their k."""

    def of_global(t, y):
        return -K * y

    def set_global(k):
        global K
        K = k

    kept = 1.0

    def of_closure(t, y):
        return -kept * y

    def set_closure(k):
        nonlocal kept
        kept = k

    class OfAttribute:
        k = 1.0

        def __call__(self, t, y):
            return -self.k * y

    of_attribute = OfAttribute()
    table = {"k": 1.0}
    inner = SimpleNamespace(k=1.0)

    @jax.jit
    def compiled(y):
        return -inner.k * y

    def body(y, _):
        return -inner.k * y, None

    return {
        "global": (of_global, set_global),
        "closure": (of_closure, set_closure),
        "attribute": (of_attribute, lambda k: setattr(of_attribute, "k", k)),
        "method": (of_attribute.__call__, lambda k: setattr(of_attribute, "k", k)),
        "dictionary": (lambda t, y: -table["k"] * y, lambda k: table.update(k=k)),
        "array": (lambda t, y: -NUMBERS * y, lambda k: NUMBERS.fill(k)),
        "a function of jax.jit": (lambda t, y: compiled(y), lambda k: setattr(inner, "k", k)),
        "the body of a loop": (
            lambda t, y: jax.lax.scan(body, y, None, length=1)[0],
            lambda k: setattr(inner, "k", k),
        ),
    }


@pytest.mark.parametrize("way", ways_of_change())
def test_each_run_sees_what_a_function_refers_to(way):
    f, change = ways_of_change()[way]
    same = pt.ODE(f)
    for k in (1.0, 2.0, 2.5):
        change(k)
        wanted = (1.0 - 0.05 * k + 0.5 * (0.05 * k) ** 2 - (0.05 * k) ** 3 / 6 + (0.05 * k) ** 4 / 24) ** 2
        for kernel in RESULTS:
            np.testing.assert_allclose(ended(f, kernel), wanted, rtol=1e-15, err_msg=f"{kernel}, {k}")
        again = pt.simulate(same, pt.State(y=[1.0]), t1=0.1, dt=0.05, integrator=RK4, progress=False)
        np.testing.assert_allclose(again.y[-1, 0], wanted, rtol=1e-15)
    change(1.0)


def test_another_number_in_a_function_compiles_nothing():
    """Fifty numbers of a closure and of a model: they are data of one program."""

    def decay(k):
        return pt.ODE(lambda t, y, rate: -k * y - rate * y, params=0.5 * k)

    def end(k):
        run = pt.simulate(decay(k), pt.State(y=[1.0]), t1=0.1, dt=0.05, integrator=RK4, progress=False)
        return run.y[-1, 0]

    end(1.0)
    before, ends = programs_made(), [end(k) for k in np.linspace(0.0, 2.0, 50)]
    assert programs_made() == before
    np.testing.assert_allclose(ends, np.exp(-0.15 * np.linspace(0.0, 2.0, 50)), rtol=2e-6)
    # Other operations are another program.
    pt.simulate(pt.ODE(lambda y: -y * y), pt.State(y=[1.0]), t1=0.1, dt=0.05, integrator=RK4, progress=False)
    assert programs_made() > before


def test_a_run_keeps_the_function_that_it_was_made_with():
    """Invariants that are looked at later are those of the run: the next one has others."""
    scale = SimpleNamespace(k=1.0)
    problem = pt.ODE(lambda y: -y, invariants={"scaled": lambda y: scale.k * y[0]})
    runs = []
    for k in (1.0, 3.0):
        scale.k = k
        runs.append(pt.simulate(problem, pt.State(y=[1.0]), t1=0.1, dt=0.05, integrator=RK4, progress=False))
    scale.k = 7.0
    found = [run.conserved["scaled"][0] for run in runs]
    assert found == [1.0, 3.0]


def test_a_function_that_is_differentiated_within_a_trace_sees_its_tracer():
    def end(k):
        problem = pt.ODE(lambda t, y: -k * y)
        return pt.solve(problem, RK4, pt.State(y=[1.0]), dt=0.05, steps=2).y[-1, 0]

    for k in (1.0, 2.0):
        np.testing.assert_allclose(jax.grad(end)(k), -0.1 * np.exp(-0.1 * k), rtol=1e-5)
        np.testing.assert_allclose(jax.jit(end)(k), np.exp(-0.1 * k), rtol=1e-6)


def of_hamiltonian(s):
    problem = pt.Hamiltonian(T=lambda p: 0.5 * p @ p / s.k, V=lambda q: 0.5 * q @ q)
    return lambda **options: _run(problem, pt.State(q=[1.0], p=[0.5]), **options).q[-1]


def of_constrained(s):
    problem = pt.Constrained(lambda q: s.k * q[1], lambda q: jnp.stack([q @ q - 1.0]), 1.0)
    method = pt.integrators.Rattle()
    return lambda **options: _run(
        problem, pt.State(q=[1.0, 0.0], p=[0.0, 0.3]), **options | {"integrator": method}
    ).q[-1]


def of_bodies(**given):
    def made(s):
        parts: Any = {name: [make(s)] for name, make in given.items()}
        system = pt.System([ONE], **parts)
        start = system.state(velocity=(0.3, 0.1, 0.2), angular_velocity=(0.1, 0.2, 0.3))
        return lambda **options: _bodies(system, start, **options)

    return made


def _bodies(system, start, **options):
    run = _run(system, start, **{"coordinates": "group", "integrator": pt.integrators.LieRattle()} | options)
    return np.concatenate([run.position[-1].ravel(), run.rotation[-1].ravel()])


def _run(problem, start, **options):
    return pt.simulate(
        problem, start, **{"t1": 0.1, "dt": 0.05, "integrator": RK4, "progress": False} | options
    )


def of_drive(s):
    rod = pt.shapes.rod(length=1.0, mass=1.0, name="rod")
    hinge = pt.joints.Revolute("ground", "rod", at=(-0.5, 0, 0), axis=(0, 1, 0), name="hinge")
    system = pt.System([rod], joints=[hinge, pt.joints.Drive("hinge", lambda t: s.k * t)])

    def end(**options):
        start = system.assemble()
        return _bodies(system, start, **options)

    return end


def of_control(s):
    rod = pt.shapes.rod(length=1.0, mass=1.0, name="rod")
    hinge = pt.joints.Revolute("ground", "rod", at=(-0.5, 0, 0), axis=(0, 1, 0), name="hinge")
    system = pt.System([rod], joints=[hinge])
    start = system.assemble(velocity={"hinge": 1.0})
    return lambda **options: _bodies(system, start, **options, control=lambda q, v: -s.k * (q + v))


def of_event(s):
    problem = pt.ODE(lambda y: jnp.ones_like(y))
    return lambda **options: _run(problem, pt.State(y=[0.0]), **options, stop=lambda y: y[0] - 0.03 * s.k).t[
        -1:
    ]


def of_guided(s):
    path = pt.freedom.Guided(lambda t: jnp.stack([s.k * t, 0.0 * t, 0.0 * t]))
    system = pt.System([ONE], freedom=path)

    def end(**options):
        return _bodies(system, system.state(angular_velocity=(0.1, 0.2, 0.3)), **options)

    return end


def of_pairs(make):
    def made(s):
        bodies = [pt.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0), name=name) for name in "ab"]
        system = pt.System(bodies, potentials=[pt.potentials.Between(make(s))])
        start = system.state(position=[(0.0, 0.0, 0.0), (1.5, 0.0, 0.0)])
        return lambda **options: _bodies(system, start, **options)

    return made


PLACES = {
    "Hamiltonian": of_hamiltonian,
    "Constrained": of_constrained,
    "Field": of_bodies(potentials=lambda s: pt.potentials.Field(lambda x, R: s.k * x[2])),
    "Function": of_bodies(potentials=lambda s: pt.potentials.Function(lambda x, R: s.k * R[0, 0, 2])),
    "OfInvariants": of_bodies(
        potentials=lambda s: pt.potentials.OfInvariants(lambda x, R: s.k * x[0], lambda c: c @ c)
    ),
    "load": of_bodies(loads=lambda s: pt.loads.Function(lambda t, x, R, v, W: (-s.k * v, -s.k * W))),
    "force of time": of_bodies(loads=lambda s: pt.loads.Force(lambda t: jnp.stack([s.k, t, t]))),
    "PosePair": of_pairs(lambda s: pt.potentials.PosePair(lambda d, A, B: s.k * d @ d)),
    "Drive": of_drive,
    "control": of_control,
    "event": of_event,
    "Guided": of_guided,
}


@pytest.mark.parametrize("place", PLACES)
def test_every_place_that_takes_a_function(place):
    shared = SimpleNamespace(k=1.0)
    end, results = PLACES[place](shared), {}
    for k in (1.0, 2.0):
        shared.k = k
        results[k] = end()
        np.testing.assert_array_equal(results[k], PLACES[place](SimpleNamespace(k=k))())
    assert np.max(np.abs(results[2.0] - results[1.0])) > 1e-4
    shared.k = 1.0
    np.testing.assert_array_equal(end(), results[1.0])


SOLVERS = ("dormand-prince8", "dormand-prince853", "bdf", "taylor")


@pytest.mark.parametrize("solver", SOLVERS)
def test_adaptive_solvers(solver):
    shared = SimpleNamespace(k=1.0)
    problem = pt.ODE(lambda y: -shared.k * y)
    for k in (1.0, 2.0, 1.0):
        shared.k = k
        run = pt.simulate(problem, pt.State(y=[1.0]), t1=1.0, integrator=solver, rtol=1e-8, progress=False)
        np.testing.assert_allclose(run.y[-1, 0], np.exp(-k), rtol=1e-6)


def test_ensembles_and_solutions():
    shared = SimpleNamespace(k=1.0)
    problem = pt.ODE(lambda y: -shared.k * y)
    starts = pt.State(y=np.ones((3, 1)))
    for k in (1.0, 2.0):
        shared.k = k
        for kernel in RESULTS:
            options = {"dt": 0.05, "steps": 2, "kernel": kernel}
            several = pt.ensemble(problem, RK4, starts, **options, progress=False).y[:, -1, 0]
            single = pt.solve(problem, RK4, pt.State(y=[1.0]), **options).y[-1, 0]
            np.testing.assert_allclose([*several, single], np.exp(-0.1 * k), rtol=1e-6)
