"""A state of other bodies, or one that is no state of bodies, is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

METHOD = pt.integrators.LieSplitting()


def body():
    return pt.RigidBody(mass=1.0, inertia=(1.0, 2.0, 2.5))


ONE, TWO = pt.System(body()), pt.System([body(), body()])
PINNED = pt.System(body(), freedom=pt.freedom.FixedPoint((0, 0, -1)))


def handmade(**changes):
    zero = {"position": [[0, 0, 0]], "velocity": [[0, 0, 0]], "angular_velocity": [[0, 0, 1]]}
    return pt.State(**(zero | {"quaternion": [[1, 0, 0, 0]]} | changes))


@pytest.mark.parametrize(
    ("system", "state", "message"),
    [
        (TWO, ONE.state(), r"position of the start has shape \(1, 3\), but this system has 2 bodies"),
        (ONE, TWO.state(), "this system has 1 body and needs"),
        (PINNED, ONE.state(position=(5, 0, 0)), r"position of 'body' = \(5, 0, 0\), but its freedom"),
        (ONE, handmade(quaternion=[[2, 0, 0, 0]]), "quaternion of length 2, off by 1"),
        (ONE, handmade(quaternion=[[0.99, 0, 0, 0]]), "quaternion of length 0.99"),
        (ONE, handmade(velocity=[[np.inf, 0, 0]]), r"velocity\[0, 0\] = inf; it must be finite"),
        (ONE, handmade(velocity=[[0, 0]]), r"velocity of the start has shape \(1, 2\)"),
        (ONE, pt.State(q=[1.0], p=[0.0]), r"the start has q, p, not position, quaternion"),
        (ONE, (1.0, 2.0), r"state = \(1.0, 2.0\); it must be a pt.State"),
    ],
)
def test_refused_in_runs_and_solutions(system, state, message):
    for call in (
        lambda: pt.simulate(system, state, t1=0.1, dt=0.05, integrator=METHOD),
        lambda: pt.solve(system, METHOD, state, dt=0.05, steps=2),
    ):
        with pytest.raises(pt.InputError, match=message):
            call()


def test_refused_in_ensembles():
    states = jax.vmap(lambda w: ONE.state(angular_velocity=w))(jnp.ones((3, 3)))
    with pytest.raises(pt.InputError, match=r"needs \(runs, 2, 3\)"):
        pt.ensemble(TWO, METHOD, states, dt=0.1, steps=2)
    longer = pt.State(**{name: 2.0 * states[name] for name in states})
    with pytest.raises(pt.InputError, match="length 2"):
        pt.ensemble(ONE, METHOD, longer, dt=0.1, steps=2)
    with pytest.raises(pt.InputError, match=r"shape \(3, 1, 3\)"):
        pt.simulate(ONE, states, t1=0.1, dt=0.05, integrator=METHOD)


def test_shapes_are_checked_while_tracing():
    def end(state):
        return pt.solve(TWO, METHOD, state, dt=0.05, steps=2).position

    with pytest.raises(pt.InputError, match="this system has 2 bodies"):
        jax.jit(end)(ONE.state())
    assert jax.jit(end)(TWO.state()).shape == (3, 2, 3)


def test_states_are_made_of_numbers():
    for wrong in ("abc", [1.0, "x"], None, [[1.0], [2.0, 3.0]], 1j):
        with pytest.raises(pt.InputError, match=r"^q = .*; it must be numbers"):
            pt.State(q=wrong, p=[0.0])
    with pytest.raises(pt.InputError, match="beyond the range"):
        pt.State(q=[10**400])


def test_the_end_of_a_run_that_drifted_is_a_state():
    """Directors leave the constraints by more than a rotation matrix may be off: no check stops them."""
    start = PINNED.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(0.3, 0.2, 2.0))
    plan = {"integrator": pt.integrators.RK4(), "coordinates": pt.coordinates.Directors(), "form": "index0"}
    run = pt.simulate(PINNED, start, t1=20.0, dt=0.2, **plan)
    assert np.max(np.abs(run.constraint[-1])) > 1e-6
    assert pt.simulate(PINNED, run.final, t1=1.0, dt=0.1, **plan).result.ok
    assert np.isfinite(pt.solve(PINNED, METHOD, run.final, dt=0.1, steps=2).rotation).all()
