"""A chain that blows up: the run ends at that step, names the bodies and keeps what came before."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.integrators import GaussLegendre, LieSplitting
from poinsot.model import Chain, RigidBody, potentials, shapes

LIMIT = 1.5
SQUARE = ((1, 1, 0), (1, -1, 0), (-1, 1, 0), (-1, -1, 0))


def elastic(s):
    """A spring that cannot be drawn out to the limit: energy and force are NaN beyond it."""
    return -jnp.sqrt(LIMIT**2 - s)


def pulled(integrator, count=7, **options):
    """A chain drawn at its last body, whose last spring goes first."""
    square = RigidBody.from_particles(np.ones(4), 0.1 * np.array(SQUARE))
    spring = potentials.PairFunction(elastic)
    chain = Chain(square, count, 1.0, spring, ("clamped", pt.ends.force((500.0, 0.0, 0.0))))
    run = {"t1": 2.0, "dt": 0.01, "integrator": integrator, "progress": False, "save_every": 7} | options
    return pt.simulate(chain, chain.straight_state(), **run)


@pytest.mark.parametrize(
    "integrator", [LieSplitting(), pytest.param(GaussLegendre(1), marks=pytest.mark.slow)]
)
def test_the_bodies_are_named_and_the_prefix_kept(integrator):
    with pytest.raises(pt.SimulationError) as told:
        pulled(integrator)
    run = told.value.trajectory
    steps = run.attributes["steps"]
    assert f"step {steps + 1}, from t = {0.01 * steps:.12g}, at 'body5', 'body6': " in str(told.value)
    np.testing.assert_allclose(run.t[-1], 0.01 * steps, rtol=1e-12)
    assert len(run) == 1 + steps // 7 + (steps % 7 > 0)
    for part in ("position", "rotation", "velocity", "angular_velocity"):
        assert np.all(np.isfinite(getattr(run, part)))
    stretched = np.linalg.norm(np.diff(run.position[-1], axis=0), axis=1)
    assert np.argmax(stretched) == 5 and stretched[5] > 1.2


@pytest.mark.slow
def test_many_bodies_are_counted():
    """A step so long that every bond is torn at once."""
    chain = Chain(shapes.tetrahedron(), 8, 1.9, potentials.LennardJones(5.0, 1.0), "free")
    start = chain.straight_state(velocity_scale=1e200)
    run = pt.simulate(
        chain, start, t1=2e200, dt=1e200, integrator=LieSplitting(), progress=False, throw=False
    )
    assert run.result is pt.Result.non_finite
    assert "at 'body0', 'body1', 'body2', 'body3' and 4 others: " in run.message
