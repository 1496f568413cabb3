"""The Hénon-Heiles system: two oscillators with a cubic coupling, regular or chaotic by energy."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import Hamiltonian, State, checked
from poinsot.library._parameters import numbers, require


def kinetic(p) -> Array:
    """Kinetic energy; `p` of shape `(2,)`, or `(2, batch)`."""
    return 0.5 * (p[0] * p[0] + p[1] * p[1])


def potential(q) -> Array:
    """The cubic potential; its well ends at the energy 1/6."""
    x, y = q[0], q[1]
    return 0.5 * (x * x + y * y) + x * x * y - y * y * y / 3.0


@checked
def henon_heiles(energy: ArrayLike = 1.0 / 12.0, height: ArrayLike = 0.1) -> Hamiltonian:
    r"""A star in the meridian plane of a galaxy, simplified to the bone.

    $$ H = \tfrac12 (p_1^2 + p_2^2) + \tfrac12 (q_1^2 + q_2^2) + q_1^2 q_2 - \tfrac13 q_2^3 $$

    from $q = (0, y)$, $p = (p_1, 0)$ with $p_1 \ge 0$ fixed by the energy. At $H = 1/12$ nearly all motion is
    regular, at $1/8$ half of it, near $1/6$ almost none (Hénon and Heiles, Astronomical Journal 69, 1964).

    Args:
        energy: $H$, below $1/6$ for a motion that stays in the well.
        height: $q_2(0) = y$, inside the well.
    """
    given = numbers(energy=energy, height=height)
    y0 = given["height"]
    zero = jnp.zeros_like(y0)
    q0 = jnp.stack([zero, y0])
    left = given["energy"] - potential(q0)
    require(
        left >= 0.0,
        f"energy = {energy!r} is less than the potential {potential(q0)} at height = {height!r}; raise it",
    )
    problem = Hamiltonian(T=kinetic, V=potential, vectorised=True)
    return problem.recommending(
        start=State(q=q0, p=jnp.stack([jnp.sqrt(2.0 * left), zero])),
        dt=0.1,
        name="henon heiles",
    )
