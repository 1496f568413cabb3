"""What one entry refuses at the start all refuse; within a user's trace the result says it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

NAN, INF = float("nan"), float("inf")
KEPLER = pt.library.kepler()
PENDULUM = pt.Constrained(V=lambda q: 9.81 * q[1], g=lambda q: (q @ q - 1.0)[None])
ON = pt.State(q=[1.0, 0.0], p=[0.0, 0.3])
ROD = pt.System(
    [pt.RigidBody(1.0, [0.01, 0.1, 0.1], name="rod")],
    joints=[pt.joints.Spherical("ground", "rod", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="hip")],
)
TOP = pt.library.heavy_top((0.3, 0.3, 0.2), mgl=1.0)
TURNING = TOP.state(angular_velocity=(0.1, 0.2, 3.0))
CLOSED = ROD.assemble({"rod": {"position": (0.5, 0, 0)}})


def batch(*states):
    return jax.tree.map(lambda *rows: jnp.stack(rows), *states)


def by_simulate(problem, method, state, dt=0.01, t0=0.0):
    return pt.simulate(problem, state, t0=t0, t1=t0 + 0.04, dt=dt, integrator=method, progress=False)


def by_solve(problem, method, state, dt=0.01, t0=0.0):
    return pt.solve(problem, method, state, dt=dt, steps=4, t0=t0)


def by_ensemble(problem, method, state, dt=0.01, t0=0.0):
    good = getattr(problem, "good", state)
    return pt.ensemble(problem, method, batch(good, state), dt=dt, steps=4, t0=t0)


ENTRIES = (by_simulate, by_solve, by_ensemble)


def moved(state, **changes):
    return pt.State(**{name: changes.get(name, value) for name, value in state.items()})


OPEN = moved(ROD.assemble({"rod": {"position": (0.5, 0, 0)}}), position=jnp.array([[0.3, 0.2, 0.1]]))
WRONG = {
    "an open joint": (ROD, "lie-rattle", OPEN, r"'hip'.* is open by"),
    "a position against a freedom": (
        TOP,
        "lie-splitting",
        moved(TURNING, position=1.5 * TURNING.position + 0.1),
        "position of .* but its freedom",
    ),
    "a velocity against a freedom": (
        TOP,
        "lie-splitting",
        moved(TURNING, velocity=1.5 * TURNING.velocity + 0.1),
        "velocity of .* but its freedom",
    ),
    "off the constraints": (PENDULUM, "rattle", pt.State(q=[2.0, 0.0], p=[0.0, 0.3]), "off the constraints"),
    "across the constraints": (
        PENDULUM,
        "constrained-gauss4",
        pt.State(q=[1.0, 0.0], p=[3.0, 0.0]),
        "not along the constraints",
    ),
    "NaN": (KEPLER, "gauss4", moved(KEPLER.start, q=jnp.array([NAN, 0.0])), r"q.* = nan"),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_start_is_refused(entry, case):
    problem, method, state, message = WRONG[case]
    with pytest.raises(pt.InputError, match=message):
        entry(problem, method, state)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dt", 0.0),
        ("dt", NAN),
        ("dt", INF),
        ("dt", None),
        ("dt", [0.1, 0.2]),
        ("t0", NAN),
        ("t0", np.ones((3, 3))),
    ],
)
def test_a_time_that_is_none_is_refused(entry, field, value):
    with pytest.raises(pt.InputError, match=f"(^|give ){field}"):
        entry(KEPLER, "gauss4", KEPLER.start, **{field: value})


def test_an_ensemble_names_the_run():
    closed = moved(CLOSED)
    with pytest.raises(pt.InputError, match="of run 2"):
        pt.ensemble(ROD, "lie-rattle", batch(closed, closed, OPEN), dt=0.01, steps=2)
    assert pt.ensemble(ROD, "lie-rattle", batch(closed, closed), dt=0.01, steps=2).result.tolist() == [0, 0]


@pytest.mark.parametrize(
    "case", ["an open joint", "a position against a freedom", "off the constraints", "NaN"]
)
def test_within_a_trace_the_result_says_it(case):
    problem, method, state, _ = WRONG[case]
    good = ((ROD, CLOSED), (TOP, TURNING), (PENDULUM, ON), (KEPLER, KEPLER.start))
    run = jax.jit(lambda state, dt: pt.solve(problem, method, state, dt=dt, steps=4).result)
    fine = moved(next(start for one, start in good if one is problem))
    assert int(run(fine, 0.01)) == 0
    assert int(run(moved(state), 0.01)) == pt.Result.bad_start
    assert int(run(fine, 0.0)) == pt.Result.bad_start


def test_more_steps_than_memory_or_patience_holds():
    many = {"dt": 1e-3, "steps": 10**12}
    for call in (pt.solve, pt.ensemble):
        state = KEPLER.start if call is pt.solve else batch(KEPLER.start)
        with pytest.raises(pt.InputError, match="save_every = 1 keeps 1e.12 states"):
            call(KEPLER, "gauss4", state, **many)
    with pytest.raises(pt.InputError, match=r"1e\+12 steps of dt = 1e-09 away: 28 hours at best"):
        pt.simulate(KEPLER, KEPLER.start, t1=1000.0, dt=1e-9, integrator="gauss4")
