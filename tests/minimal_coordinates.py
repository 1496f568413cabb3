"""Mechanisms in minimal coordinates: Lagrange's equations of the poses as a function of a few coordinates."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp


def about(axis: int, angle) -> jax.Array:
    """Rotation about a coordinate axis."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = jnp.zeros((3, 3)).at[axis, axis].set(1.0)
    return turn.at[i, i].set(c).at[j, j].set(c).at[j, i].set(s).at[i, j].set(-s)


class Minimal:
    """Equations of motion of a mechanism, from nothing but poses, masses, moments and a potential.

    Args:
        poses: positions (body, 3) and rotations (body, 3, 3) as a function of the coordinates (n,).
        masses: of the bodies.
        moments: principal moments of the bodies, in their axes.
        potential: as a function of positions and rotations.
    """

    def __init__(self, poses: Callable, masses: Sequence[float], moments, potential: Callable):
        self.poses = poses
        m, J = jnp.array(masses, dtype=float), jnp.array(np.array(moments))

        def seen(q, w):
            """Poses, velocities and body angular velocities."""
            (x, R), (v, turning) = jax.jvp(poses, (q,), (w,))
            S = jnp.einsum("bji,bjk->bik", R, turning)
            return (x, R), (v, jnp.stack([S[:, 2, 1], S[:, 0, 2], S[:, 1, 0]], axis=1))

        def lagrangian(q, w):
            (x, R), (v, Omega) = seen(q, w)
            return 0.5 * jnp.sum(m[:, None] * v**2) + 0.5 * jnp.sum(J * Omega**2) - potential(x, R)

        def accelerated(q, w):
            slope = jax.grad(lagrangian, 1)
            along = jax.jvp(lambda q: slope(q, w), (q,), (w,))[1]
            return jnp.linalg.solve(jax.jacfwd(slope, 1)(q, w), jax.grad(lagrangian)(q, w) - along)

        def moved(q, w):
            a = accelerated(q, w)
            rates = jax.jvp(lambda q, w: seen(q, w)[1], (q, w), (w, a))[1]
            return seen(q, w), rates

        self._accelerated, self._moved = jax.jit(accelerated), jax.jit(moved)

    def state(self, system, q, w):
        """The state of the system there, and its accelerations, linear and angular."""
        ((x, R), (v, Omega)), rates = self._moved(jnp.asarray(q, dtype=float), jnp.asarray(w, dtype=float))
        state = system.state(position=x, rotation=R, velocity=v, angular_velocity=Omega)
        return state, rates

    def at(self, t1: float, q, w) -> tuple[np.ndarray, np.ndarray]:
        """Poses of all bodies at a time, from coordinates and rates at time zero."""
        n = len(q)

        def rates(t, y):
            return np.concatenate([y[n:], self._accelerated(y[:n], y[n:])])

        y = np.concatenate([np.asarray(q, dtype=float), np.asarray(w, dtype=float)])
        end = solve_ivp(rates, (0.0, t1), y, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        x, R = self.poses(jnp.asarray(end[:n]))
        return np.asarray(x), np.asarray(R)
