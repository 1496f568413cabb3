r"""Discrete gradients of the energies of bodies: those that keep momentum where the potential allows it."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from poinsot.core import composed_gradient, discrete_gradient
from poinsot.equations._bodies import Bodies, Flat


def potential_gradient(bodies: Bodies, t, q0: Flat, q1: Flat) -> Flat:
    r"""Discrete gradient of the potential.

    A potential whose terms declare invariants is a function $v(c)$ of them, and its discrete gradient keeps
    what they are invariant to. Of any other only the energy can be kept.
    """
    if not bodies.system.declares_invariants:
        return discrete_gradient(lambda q: bodies.potential(t, q), q0, q1)

    def invariants(q: Flat):
        x, c = bodies.split(q)
        return bodies.system.potential_invariants(x, bodies.rotation(c))

    return composed_gradient(bodies.system.energy_of, invariants, q0, q1)


def kinetic_gradient(
    quasi_momentum: Callable, inertia: Flat, q0: Flat, p0: Flat, q1: Flat, p1: Flat
) -> tuple[Flat, Flat]:
    r"""Discrete gradient of $\tfrac12\sum_k \pi_k(q, p)^2 / I_k$ with bilinear quasi-momenta $\pi$.

    $$ w = \tfrac12 I^{-1}(\pi_0 + \pi_1), \qquad
       \bar\nabla_q T = \partial_q (\pi \cdot w)(q_m, p_m), \qquad
       \bar\nabla_p T = \partial_p (\pi \cdot w)(q_m, p_m) $$

    A bilinear function changes by its midpoint derivatives times the step, exactly. The mean of the
    quasi-momenta stands here, not the quasi-momentum of the means.
    """
    w = 0.5 * (quasi_momentum(q0, p0) + quasi_momentum(q1, p1)) / inertia
    return jax.grad(lambda q, p: jnp.sum(quasi_momentum(q, p) * w), argnums=(0, 1))(
        0.5 * (q0 + q1), 0.5 * (p0 + p1)
    )
