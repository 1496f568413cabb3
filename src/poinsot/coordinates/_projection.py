"""Projection onto the constraints in the metric of the mass, for any coordinates."""

import jax
import jax.numpy as jnp

from poinsot.solvers import EPS, Stopping, factored, simplified_newton

from ._base import AbstractCoordinates, Moments, Position, Velocity


def project(
    coordinates: AbstractCoordinates, q: Position, v: Velocity, J: Moments | None = None
) -> tuple[Position, Velocity]:
    r"""Position and velocity on the constraints nearest to a pair that has drifted from them.

    Solves for $(q, \chi)$ by simplified Newton iteration, then for $(v, \eta)$,

    $$ M(q)\,(q - q^*) + G(q)^T\chi = 0, \quad g(q) = 0, \qquad
       M(q)\,(v - v^*) + G(q)^T\eta = 0, \quad G(q)\,v = 0, $$

    starting from $(q^*, 0)$. It is the general method; `project_position` and `project_velocity` of the
    coordinates are closed forms of it for the metric of the identity.

    Args:
        coordinates: coordinates whose constraints are meant.
        q: position near the surface of the constraints.
        v: velocity.
        J: principal moments for the metric of the mass matrix; without them $M$ is the identity.

    Returns:
        Position and velocity; NaN where the iteration did not converge, too far from the surface.
    """
    n = coordinates.size

    def weighted(x: Position, change: Position) -> Position:
        return change if J is None else coordinates.momentum(x, change, J)

    def residual(z):
        x, chi = z[:n], z[n:]
        force = weighted(x, x - q) + coordinates.constraint_force(x, chi)
        return jnp.concatenate([force, coordinates.constraint(x)])

    def size(change):
        return jnp.max(jnp.abs(change[:n])) / EPS

    guess = jnp.concatenate([q, jnp.zeros(coordinates.constraints)])
    solution, info = simplified_newton(
        residual, guess, factored(jax.jacfwd(residual)(guess)), size, Stopping()
    )
    q = jnp.where(info.converged, solution[:n], jnp.nan)

    metric = jnp.eye(n) if J is None else coordinates.mass_matrix(q, J)
    G = coordinates.constraint_jacobian(q)
    matrix = jnp.block([[metric, G.T], [G, jnp.zeros((coordinates.constraints,) * 2)]])
    right = jnp.concatenate([weighted(q, v), jnp.zeros(coordinates.constraints)])
    return q, jnp.linalg.solve(matrix, right)[:n]
