r"""Canonical coordinates: momenta that belong to the coordinates themselves, also to quaternions.

With $\dot q = T(q)\,v$ the momenta are $p$ with $T^T p = \pi$, where $\pi = a\,v$ belongs to the rates. In
quaternions $T^T p = \tfrac12\operatorname{Im}(\bar q\,p)$, linear in $q$, and rotations are those of $q/|q|$:
$|q|^2$ and $q\cdot p$ are quadratic invariants of the Hamiltonian equations at any length.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.rotation import conjugate, multiply, normalise

from ._kinematics import Q, V, axis_places, ball_rates, quaternion_places
from ._structure import Structure


def along_rates(structure: Structure, q: Q, p: Q) -> V:
    r"""The product $T^T p$: momenta, or forces, along the rates."""
    in_q, in_v = axis_places(structure)
    rates = jnp.zeros(structure.v_size).at[in_v].set(p[in_q])
    if not structure.balls:
        return rates
    quats = quaternion_places(structure)
    return rates.at[ball_rates(structure)].set(0.5 * multiply(conjugate(q[quats]), p[quats])[:, 1:])


def rates_of(structure: Structure, q: Q, rate: Q) -> V:
    r"""The rates $v$ of a derivative $\dot q$, less its part along quaternions: the inverse of $T$."""
    in_q, in_v = axis_places(structure)
    rates = jnp.zeros(structure.v_size).at[in_v].set(rate[in_q])
    if not structure.balls:
        return rates
    quats = quaternion_places(structure)
    own = q[quats]
    turns = 2.0 * multiply(conjugate(own), rate[quats])[:, 1:] / jnp.sum(own * own, axis=1)[:, None]
    return rates.at[ball_rates(structure)].set(turns)


def lifted(structure: Structure, q: Q, along: V) -> Q:
    r"""The shortest $p$ with $T^T p$ given: momenta, or slopes, along the coordinates."""
    in_q, in_v = axis_places(structure)
    slopes = jnp.zeros(structure.q_size).at[in_q].set(along[in_v])
    if not structure.balls:
        return slopes
    quats = quaternion_places(structure)
    own = q[quats]
    scaled = _pure(along[ball_rates(structure)]) * (2.0 / jnp.sum(own * own, axis=1))[:, None]
    return slopes.at[quats].set(multiply(own, scaled))


def quaternion_slope(structure: Structure, p: Q, v: V) -> Q:
    r"""Derivative of $v\cdot T(q)^T p$ in $q$: zero but for quaternions, $-\tfrac12\,p\,v$."""
    slopes = jnp.zeros(structure.q_size)
    if not structure.balls:
        return slopes
    quats = quaternion_places(structure)
    return slopes.at[quats].set(-0.5 * multiply(p[quats], _pure(v[ball_rates(structure)])))


def normalised(structure: Structure, q: Q) -> Q:
    """Coordinates with quaternions of unit length."""
    if not structure.balls:
        return q
    quats = quaternion_places(structure)
    return q.at[quats].set(normalise(q[quats]))


def _pure(vectors: Array) -> Array:
    """Vectors as quaternions."""
    return jnp.concatenate([jnp.asarray(np.zeros((len(vectors), 1))), vectors], axis=1)
