"""Multipliers of joints for forms that leave them to the integrator."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.equations._bodies import Bodies, Flat

Multipliers = Float[Array, " k"]


def joint_slack(bodies: Bodies, t, q: Flat) -> Multipliers | None:
    r"""The diagonal of $G M^{-1} G^T$ where joints may be redundant, else None: those of a loop."""
    linkage = bodies.system.linkage
    if linkage is None or linkage.independent:
        return None
    pose, weights = bodies.pose(q), linkage.weights
    G = jax.jacrev(lambda u: jnp.concatenate(linkage.rates(t, *pose, u)))(jnp.zeros_like(weights))
    return jnp.sum(G * G * weights[None], axis=1)
