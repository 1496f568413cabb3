"""Steps with joints keep the symplectic form on the surface of closed joints."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import poinsot as pt

LINKAGE = pt.library.two_body_linkage()


def body_variation(g, change):
    """Turn in the body frame of a change of a unit quaternion."""
    return 2.0 * (g[:1] * change[1:] - change[:1] * g[1:] - jnp.cross(g[1:].T, change[1:].T).T)


def defect(integrator: Any, h: float) -> float:
    r"""Change of $dx\wedge dp + d\theta\wedge dm + m\cdot(d\theta\times d\theta)$ over a step.

    It is taken for pairs of tangent vectors of the surface, relative to the size of their images.
    """
    formulation = pt.formulate(LINKAGE, "group", "group")
    problem: Any = formulation.problem
    y = problem.pack(formulation.start(LINKAGE.start))

    def step(y):
        return integrator.step(problem, 0.0, h, y, integrator.init(problem, 0.0, h, y))[0]

    def form(y, u, v):
        at, one, two = map(problem.split, (y, u, v))
        turn, other = body_variation(at.g, one.g), body_variation(at.g, two.g)
        canonical = jnp.sum(one.x * two.p - two.x * one.p) + jnp.sum(turn * two.m - other * one.m)
        return canonical + jnp.sum(at.m * jnp.cross(turn.T, other.T).T)

    @jax.jit
    def measured(changes):
        tangents = [jax.jvp(lambda y: problem.project(0.0, y, "both"), (y,), (d,))[1] for d in changes]
        images = [jax.jvp(step, (y,), (tangent,))[1] for tangent in tangents]
        size = jnp.linalg.norm(images[0]) * jnp.linalg.norm(images[1])
        return (form(step(y), *images) - form(y, *tangents)) / size

    draws = jnp.asarray(np.random.default_rng(0).standard_normal((4, 2, len(y))))
    return max(abs(float(measured(pair))) for pair in draws)


def test_a_step_with_joints_is_symplectic_and_one_of_runge_kutta_is_not():
    for h in (1e-3, 2e-3):
        assert defect(pt.integrators.LieRattle(), h) < 1e-13
    assert defect(pt.integrators.RK4(), 2e-3) > 1e-10
