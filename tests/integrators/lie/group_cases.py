"""Problems of kind `Group` for the tests of Lie-group integrators, and the form on body momenta."""

from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.coordinates import Group as GroupCoordinates
from poinsot.core import Group, GroupParts, Wrench
from poinsot.rotation import hat, normalise, quat_exp
from quickly import quickly

Stored = Literal["quaternion", "matrix"]
MASS = jnp.array([1.3])
INERTIA = jnp.array([[0.9144], [1.098], [1.66]])


def nonlinear_potential(t, x, R):
    """Couples position and rotation, and is not linear in either."""
    tip = x[:, 0] + jnp.sum(R[:, :, 0] * jnp.array([0.3, -0.2, 0.5])[None], axis=1)
    return 0.7 * R[2, 2, 0] + 0.4 * R[0, 1, 0] ** 2 + 0.3 * jnp.sum(tip**2) + 0.2 * tip[0] ** 4


def axial_potential(t, x, R):
    """Unchanged by turns about the vertical: the vertical momentum is kept."""
    height, along = x[2, 0], jnp.sum(x[:, 0] * R[:, 2, 0])
    return 0.8 * R[2, 2, 0] + 0.3 * R[2, 0, 0] ** 2 + 0.4 * jnp.sum(x**2) + 0.3 * height * along


def damping(t, x, R, v, Omega):
    """Depends on time, velocities and rotation."""
    return Wrench(
        -0.3 * v * (1.0 + jnp.sum(v * v)) + 0.2 * R[:, 0, :] * jnp.sin(t), -0.4 * Omega - 0.1 * Omega**3
    )


def problem(nonlinear=0.0, axial=0.0, load=None, element: Stored = "quaternion"):
    """One body in a mixture of the two potentials."""

    def potential(t, x, R):
        return nonlinear * nonlinear_potential(t, x, R) + axial * axial_potential(t, x, R)

    return Group(MASS, INERTIA, potential, element=GroupCoordinates(element), load=load)


FREE = problem()
NONLINEAR = problem(nonlinear=1.0)
AXIAL = problem(axial=1.0)


def start(of, momentum=(0.6, 0.9, 0.25)):
    """A state in general position."""
    quat = normalise(jnp.array([0.8, 0.3, -0.4, 0.2]))
    parts = GroupParts(
        jnp.array([[0.2], [-0.4], [0.3]]),
        jnp.array([[0.5], [0.1], [-0.3]]),
        of.element.from_quaternion(quat)[:, None],
        jnp.array(momentum)[:, None],
    )
    return of.join(parts)


def stepper(integrator, load=None, element: Stored = "quaternion"):
    """State after n steps of size h from time t in the given potentials, and the failures; compiled once."""

    @quickly
    def run(y, h, n, t=0.0, nonlinear=0.0, axial=0.0):
        of = problem(nonlinear, axial, load, element)

        def body(i, state):
            y, carry, failures = state
            y, carry, info = integrator.step(of, t + i * h, h, y, carry)
            return y, carry, failures + info.result

        carry = integrator.init(of, t, h, y)
        y, _, failures = jax.lax.fori_loop(0, n, body, (y, carry, jnp.int32(0)))
        return y, failures

    return run


def spatial_momentum(of, y):
    """Angular momentum in space about the origin."""
    x, p, g, m = of.split(y)
    turned = jnp.sum(of.rotation(g)[:, :, 0] * m[None, :, 0], axis=1)
    return jnp.cross(x[:, 0], p[:, 0]) + turned


def in_chart(of, y, z):
    """The state moved by `z` = (dx, dp, rotation vector in the body, dm), twelve numbers."""
    x, p, g, m = of.split(y)
    turned = of.turn(g, quat_exp(z[6:9])[:, None])
    return of.join(GroupParts(x + z[0:3, None], p + z[3:6, None], turned, m + z[9:12, None]))


def body_frame_derivative(of, y, dy):
    """Tangent vectors, given in packed coordinates, as (dx, dp, body turn, dm)."""
    chart = quickly(jax.jacfwd(partial(in_chart, of, y)))(jnp.zeros(12))
    return np.linalg.lstsq(np.asarray(chart), np.asarray(dy), rcond=None)[0]


def canonical_form(m):
    r"""The canonical two-form of $T^* SO(3)$ and of translations, on (dx, dp, theta, dm).

    In body components, up to one common sign for both parts,
    $\omega = \theta_1 \cdot dm_2 - \theta_2 \cdot dm_1 + m \cdot (\theta_1 \times \theta_2)$.
    """
    form = np.zeros((12, 12))
    form[0:3, 3:6], form[3:6, 0:3] = np.eye(3), -np.eye(3)
    form[6:9, 9:12], form[9:12, 6:9] = np.eye(3), -np.eye(3)
    form[6:9, 6:9] = -np.asarray(hat(jnp.asarray(m)))
    return form


def symplecticity_defect(integrator, of, y, h):
    """Largest entry of D^T w(y1) D - w(y0), with the derivative D of the step in body components."""

    def step(z):
        begin = in_chart(of, y, z)
        end = integrator.step(of, 0.0, h, begin, integrator.init(of, 0.0, h, begin))[0]
        return end, end

    derivative, y1 = quickly(jax.jacfwd(step, has_aux=True))(jnp.zeros(12))
    D = body_frame_derivative(of, y1, derivative)
    before, after = (canonical_form(of.split(state).m[:, 0]) for state in (y, y1))
    return float(np.abs(D.T @ after @ D - before).max())


def orthogonality(of, y):
    R = np.asarray(of.rotation(of.split(y).g)[:, :, 0])
    return float(np.abs(R.T @ R - np.eye(3)).max())
