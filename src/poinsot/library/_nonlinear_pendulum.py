"""A pendulum whose Hamiltonian is neither separable nor symmetric in the momentum."""

import math

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import Hamiltonian, State, checked
from poinsot.library._parameters import numbers

ANGLE = -math.acos(-0.8)


def hamiltonian(q, p, params) -> Array:
    """The energy; `q` and `p` of shape `(1,)`, or `(1, batch)`."""
    return 0.5 * p[0] * p[0] - jnp.cos(q[0]) * (1.0 - params["coupling"] * p[0])


@checked
def nonlinear_pendulum(coupling: ArrayLike = 1.0 / 6.0, angle: ArrayLike = ANGLE) -> Hamiltonian:
    r"""The pendulum perturbed so that momentum and angle no longer separate.

    $$ H = \frac{p^2}{2} - \cos q \, (1 - c\,p), \qquad
       \dot q = p + c \cos q, \quad \dot p = -\sin q\,(1 - c\,p) $$

    The perturbation breaks the symmetry $p \to -p$, under which methods that are not symplectic may look
    better than they are. An example of Hairer, Nørsett and Wanner (Solving Ordinary Differential Equations I,
    section II.16), used by Chaurasia (2012), section 2.2, with $c = 1/6$, $q(0) = -\arccos(-0.8)$, $p(0) = 0$
    and steps of 0.3. With $c = 0$ it is the plain pendulum.

    Args:
        coupling: $c$.
        angle: $q(0)$; the pendulum is released at rest in momentum.
    """
    params = numbers(coupling=coupling)
    q0 = numbers(angle=angle)["angle"]
    problem = Hamiltonian(hamiltonian, params=params, vectorised=True)
    return problem.recommending(
        start=State(q=jnp.stack([q0]), p=jnp.stack([jnp.zeros_like(q0)])),
        dt=0.3,
        name="nonlinear pendulum",
    )
