"""`solve` of bodies inside `jax.jit`: the moments are known numbers there, while all else is traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.coordinates import Directors
from poinsot.integrators import ConstrainedRungeKutta, EnergyMomentum, RadauIIA, Rattle, Variational

METHODS = {
    "RATTLE": Rattle(),
    "energy-momentum": EnergyMomentum(),
    "Radau": ConstrainedRungeKutta(RadauIIA(2).tableau),
    "variational": Variational(),
}
TOP = pt.library.heavy_top((1.0, 1.3, 1.7), mgl=1.4)
SPIN = jnp.array([0.7, -0.5, 1.1])


def final(method, spin):
    start = TOP.state(rotation=pt.rotation.about_x(1.0), angular_velocity=spin)
    run = pt.solve(TOP, method, start, dt=0.05, steps=2, save_every=2, coordinates=Directors(), form="index3")
    return run.rotation[-1, 0]


@pytest.mark.parametrize("name", METHODS)
def test_directors_with_multipliers_can_be_traced(name):
    assert jax.eval_shape(lambda spin: final(METHODS[name], spin), SPIN).shape == (3, 3)


@pytest.mark.slow
def test_the_compiled_run_is_the_same():
    compiled = jax.jit(lambda spin: final(METHODS["RATTLE"], spin))(SPIN)
    np.testing.assert_allclose(compiled, final(METHODS["RATTLE"], SPIN), rtol=0.0, atol=1e-14)


def test_a_flat_body_is_refused_within_a_trace_too():
    disc = pt.System(pt.RigidBody(1.0, (1.0, 1.0, 2.0)))

    def run(spin):
        start = disc.state(rotation=pt.rotation.about_x(1.0), angular_velocity=spin)
        return pt.solve(disc, Rattle(), start, dt=0.05, steps=1, coordinates=Directors(), form="index3")

    with pytest.raises(pt.InputError, match="the body is flat"):
        jax.eval_shape(run, SPIN)
