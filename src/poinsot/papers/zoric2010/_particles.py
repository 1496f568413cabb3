"""The same chain as particles: every quantity as a derivative of their places, by rotation matrices."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.papers.zoric2010._six_joints import AXES, GRAVITY, KINDS, STRETCHES, particles


def turned(axis: np.ndarray, angle: Array) -> Array:
    """The rotation matrix about an axis, by Rodrigues' formula."""
    K = jnp.asarray(np.cross(np.eye(3), axis))
    return jnp.eye(3) + jnp.sin(angle) * K + (1.0 - jnp.cos(angle)) * (K @ K)


def frames(q: Array) -> tuple[Array, Array, Array]:
    """Rotations of all bodies, places of their joints, and directions of the joints in space."""
    R, origin, rotations, origins, axes = jnp.eye(3), jnp.zeros(3), [], [], []
    for i, kind in enumerate(KINDS):
        axes.append(R @ AXES[i])
        if kind == "R":
            R = R @ turned(AXES[i], q[i])
        else:
            origin = origin + q[i] * axes[-1]
        rotations.append(R)
        origins.append(origin)
        origin = origin + R @ STRETCHES[i]
    return jnp.stack(rotations), jnp.stack(origins), jnp.stack(axes)


def places(q: Array) -> Array:
    """Places of all particles (body, particle, 3)."""
    R, origins, _ = frames(q)
    return origins[:, None] + jnp.einsum("ijk,ipk->ipj", R, particles()[1])


def centres(q: Array) -> Array:
    """Mass centres of all bodies."""
    masses = particles()[0]
    return jnp.einsum("ip,ipk->ik", masses, places(q)) / np.sum(masses, axis=1)[:, None]


def spins(q: Array) -> Array:
    r"""Angular velocities $\Omega_\alpha(i)$ at unit rates (joint, body, 3), by $\partial_\alpha R\,R^T$."""
    R, slopes = frames(q)[0], jax.jacfwd(lambda q: frames(q)[0])(q)
    W = jnp.einsum("ijka,ilk->aijl", slopes, R)
    return jnp.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)


def every(q: Array, v: Array, a: Array, tau: Array) -> dict[str, Array]:
    r"""All quantities by name.

    Of particles at $X_p(q)$ the metric tensor is $\sum_p m_p\,\partial_\alpha X_p\cdot\partial_\beta X_p$ and
    the Christoffel symbols are $\sum_p m_p\,\partial_\alpha\partial_\beta X_p\cdot\partial_\gamma X_p$: no
    moment of inertia occurs.
    """
    masses, points = particles()
    first = jax.jacfwd(places)(q)
    second = jax.jacfwd(jax.jacfwd(places))(q)
    metric = jnp.einsum("ip,ipka,ipkb->ab", masses, first, first)
    symbols = jnp.einsum("ip,ipkab,ipkc->abc", masses, second, first)
    pull = jnp.einsum("ip,k,ipka->a", masses, jnp.asarray(GRAVITY), first)
    velocities, bends = jax.jvp(lambda q: jax.jvp(centres, (q,), (v,))[1], (q,), (v,))
    arms = points - np.einsum("ip,ipk->ik", masses, points)[:, None] / np.sum(masses, axis=1)[:, None, None]
    quadratic = jnp.einsum("abc,a,b->c", symbols, v, v)
    return {
        "R(p_0,i)": frames(q)[0],
        "e_a": frames(q)[2],
        "r_i": centres(q),
        "T_a(i)": jnp.moveaxis(jax.jacfwd(centres)(q), 2, 0),
        "Omega_a(i)": spins(q),
        "V_i": velocities,
        "a_i": bends + jnp.einsum("ika,a->ik", jax.jacfwd(centres)(q), a),
        "omega_i": jnp.einsum("aik,a->ik", spins(q), v),
        "Pi_i": jnp.asarray(np.einsum("ip,ipk,ipl->ikl", masses, arms, arms)),
        "E_k": 0.5 * v @ metric @ v,
        "a_ab": metric,
        "Gamma_ab,c": symbols,
        "Q_c": pull,
        "forces of the covariant equations": metric @ a + quadratic - pull,
        "accelerations of the covariant equations": jnp.linalg.solve(metric, tau + pull - quadratic),
    }
