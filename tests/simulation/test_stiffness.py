"""Springs too stiff for the steps of an explicit method are named before the run."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation._stiffness import frequency

J, P = pt.joints, pt.potentials
INERTIA, LEVER = 1.0 / 12.0, 0.5


@cache
def rod(stiffness: float) -> Any:
    """A rod of unit length and mass on a hinge with a torsional spring: a third is its inertia there."""
    return pt.System(
        pt.RigidBody(1.0, (0.001, INERTIA, INERTIA), name="rod"),
        joints=[J.Revolute("ground", "rod", at_first=(0, 0, 0), at_second=(-LEVER, 0, 0), name="h")],
        potentials=[P.JointSpring("h", stiffness)],
    )


def start(stiffness: float) -> pt.State:
    return rod(stiffness).assemble(coordinates={"h": 0.5})


def test_the_frequency_is_that_of_the_hinge():
    """Not that of the free body, which is twice as high; also where the spring is at rest."""
    for state in (start(1e4), rod(1e4).assemble()):
        found = frequency(rod(1e4), rod(1e4).potentials[0], 0.0, state)
        assert found == pytest.approx(np.sqrt(3e4), rel=1e-9)


def test_a_step_that_cannot_carry_a_spring_is_refused():
    with pytest.raises(pt.InputError) as caught:
        pt.simulate(
            rod(1e9), start(1e9), t1=1.0, dt=0.01, coordinates="joint", integrator="rk4", progress=False
        )
    text = str(caught.value)
    assert text.startswith(
        "JointSpring in Revolute joint 'h' of ground and rod makes oscillations of angular"
    )
    assert "5.48e+04" in text and "take dt below 5.4e-05" in text and "implicit" in text and "\n" not in text


@pytest.mark.parametrize("share", [0.93, 0.999])
def test_what_a_step_can_carry_runs(share):
    """Within the reach of RK4, which on the imaginary axis ends at 2.83 already."""
    integrator: Any = pt.integrators.RK4()
    dt = share * integrator.reach / np.sqrt(3e4)
    run = pt.simulate(
        rod(1e4),
        start(1e4),
        t1=200 * dt,
        dt=dt,
        coordinates="joint",
        integrator=integrator,
        progress=False,
    )
    assert (run.energy[-1] < run.energy[0]) == (share * integrator.reach < np.sqrt(8.0))


@pytest.mark.parametrize("method", ["explicit-euler", "heun", "rk4", "dopri5"])
def test_reach_is_the_end_of_the_region_of_stability(method):
    """Of y' = lambda y, seen by steps: stable in some direction just within, in none beyond."""
    integrator: Any = pt.integrators.by_name(method)
    angles = np.linspace(0.5 * np.pi, np.pi, 181)
    problem = pt.ODE(
        lambda y, z: jnp.stack([z[0] * y[0] - z[1] * y[1], z[1] * y[0] + z[0] * y[1]]), params=[0, 0]
    )

    @jax.vmap
    def after(z):
        y, own = jnp.array([1.0, 0.0]), problem.with_params(z)
        return integrator.step(own, 0.0, 1.0, y, integrator.init(own, 0.0, 1.0, y))[0]

    def least(size: float) -> float:
        """The smallest growth of all directions."""
        z = size * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return float(np.min(np.linalg.norm(after(jnp.asarray(z)), axis=1)))

    assert (
        least(0.99 * integrator.reach) < 1.0 < least(1.01 * integrator.reach) < least(2.0 * integrator.reach)
    )


@pytest.mark.parametrize("rest", [0.0, 1.5])
def test_a_spring_between_two_bodies(rest):
    """They swing against each other with their reduced mass."""
    bodies = [pt.RigidBody(m, (1.0, 1.0, 1.0), name=name) for m, name in ((1.0, "a"), (3.0, "b"))]
    spring = P.Spring(P.Marker("a"), P.Marker("b"), stiffness=1e8, rest_length=rest)
    system: Any = pt.System(bodies, potentials=[spring])
    state = system.state(position=[(0, 0, 0), (1.5, 0, 0)])
    assert frequency(system, system.potentials[0], 0.0, state) == pytest.approx(np.sqrt(1e8 / 0.75), rel=1e-9)
    with pytest.raises(pt.InputError, match="^Spring between a and b makes oscillations .* RK4 is unstable"):
        pt.simulate(system, state, t1=1.0, dt=1e-3, integrator="rk4", progress=False)
