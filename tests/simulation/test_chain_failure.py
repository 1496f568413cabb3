"""A chain that blows up: the run ends at that step, names the bodies and keeps what came before."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.integrators import GaussLegendre, LieSplitting
from poinsot.model import Chain, RigidBody, potentials

pytestmark = pytest.mark.slow

COUNT, LIMIT = 7, 1.5
SQUARE = ((1, 1, 0), (1, -1, 0), (-1, 1, 0), (-1, -1, 0))


def elastic(s):
    """A spring that cannot be drawn out to the limit: energy and force are NaN beyond it."""
    return -jnp.sqrt(LIMIT**2 - s)


def stretched(end, velocity: float, integrator, steps: int = 20):
    """A chain of such springs, drawn at its last body or with all bodies leaving each other."""
    square = RigidBody.from_particles(np.ones(4), 0.1 * np.array(SQUARE))
    chain = Chain(square, COUNT, 1.0, potentials.PairFunction(elastic), ("free", end))
    start = chain.state(velocity=velocity * np.arange(COUNT)[:, None] * np.eye(3)[0])
    with pytest.raises(pt.SimulationError) as told:
        pt.simulate(
            chain, start, t1=0.01 * steps, dt=0.01, integrator=integrator, save_every=7, progress=False
        )
    return told.value


def test_the_bodies_are_named_and_the_prefix_kept():
    error = stretched(pt.ends.force((500.0, 0.0, 0.0)), 0.0, LieSplitting())
    run = error.trajectory
    steps = run.attributes["steps"]
    assert f"step {steps + 1}, from t = {0.01 * steps:.12g}, at 'body5', 'body6': " in str(error)
    np.testing.assert_allclose(run.t[-1], 0.01 * steps, rtol=1e-12)
    assert len(run) == 1 + steps // 7 + (steps % 7 > 0)
    for part in ("position", "rotation", "velocity", "angular_velocity"):
        assert np.all(np.isfinite(getattr(run, part)))
    apart = np.linalg.norm(np.diff(run.position[-1], axis=0), axis=1)
    assert np.argmax(apart) == 5 and apart[5] > 1.2


def test_an_implicit_step_carries_it_to_the_next_neighbours_at_most():
    error = stretched(pt.ends.force((500.0, 0.0, 0.0)), 0.0, GaussLegendre(1))
    assert "'body5', 'body6': " in str(error)
    assert "'body3'" not in str(error)


def test_many_bodies_are_counted():
    error = stretched("free", 60.0, LieSplitting())
    assert "step 1, from t = 0, at 'body0', 'body1', 'body2', 'body3' and 3 others: " in str(error)
    assert len(error.trajectory) == 1
