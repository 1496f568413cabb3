"""A star in a rotating triaxial galaxy."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import Hamiltonian, State, checked
from poinsot.library._parameters import numbers, positive, require

ENERGY = 2.0


def hamiltonian(q, p, params) -> Array:
    """The energy in the rotating frame; `q` and `p` of shape `(3,)`, or `(3, batch)`."""
    kinetic = 0.5 * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
    turning = params["omega"] * (p[0] * q[1] - p[1] * q[0])
    x, y, z = q[0] / params["a"], q[1] / params["b"], q[2] / params["c"]
    return kinetic + turning + params["A"] * jnp.log(params["C"] + x * x + y * y + z * z)


def momentum_at_energy(energy: float, q1: float, p3: float, params) -> Array:
    """The larger root $p_2$ of $H = $ `energy` at $q = (q_1, 0, 0)$, $p = (0, p_2, p_3)$."""
    x, drag = q1 / params["a"], params["omega"] * q1
    rest = 0.5 * p3 * p3 + params["A"] * jnp.log(params["C"] + x * x) - energy
    return drag + jnp.sqrt(drag * drag - 2.0 * rest)


@checked
def galactic_orbit(
    a: ArrayLike = 1.25,
    b: ArrayLike = 1.0,
    c: ArrayLike = 0.75,
    A: ArrayLike = 1.0,
    C: ArrayLike = 1.0,
    omega: ArrayLike = 0.25,
    p2: ArrayLike | None = None,
) -> Hamiltonian:
    r"""A star in the logarithmic potential of a galaxy that turns about its third axis.

    $$ H = \tfrac12 |p|^2 + \Omega (p_1 q_2 - p_2 q_1)
         + A \ln\Big(C + \frac{q_1^2}{a^2} + \frac{q_2^2}{b^2} + \frac{q_3^2}{c^2}\Big) $$

    from $q = (2.5, 0, 0)$, $p = (0, p_2, 0.2)$, where $p_2 = 1.68883700\ldots$ is the larger root of $H = 2$.
    An example of Hairer, Nørsett and Wanner (Solving Ordinary Differential Equations I, section II.16), whose
    counts of Poincaré points these data reproduce.

    Chaurasia (2012), section 2.4, prints $c = 0.5$ and $p_2 = 1.688$; `galactic_orbit(c=0.5, p2=1.688)` is
    that orbit. It is another one: up to $t = 10^6$ Gauss 6 with steps of 0.2 finds 46658 points, not 47093.

    Args:
        a: first semi-axis of the potential.
        b: second semi-axis.
        c: third semi-axis, along the axis of rotation.
        A: strength of the potential.
        C: core of the potential.
        omega: angular velocity $\Omega$ of the galaxy.
        p2: momentum $p_2(0)$; by default the larger root of $H = 2$.
    """
    params = numbers(a=a, b=b, c=c, A=A, C=C, omega=omega)
    positive(**{name: params[name] for name in ("a", "b", "c", "C")})
    q1, p3 = 2.5, 0.2
    if p2 is None:
        momentum = momentum_at_energy(ENERGY, q1, p3, params)
        require(jnp.isfinite(momentum), "no p2 makes H = 2 with these parameters; give p2 yourself")
    else:
        momentum = numbers(p2=p2)["p2"]
    zero = jnp.zeros_like(momentum)
    problem = Hamiltonian(hamiltonian, params=params, vectorised=True)
    return problem.recommending(
        start=State(q=jnp.stack([zero + q1, zero, zero]), p=jnp.stack([zero, momentum, zero + p3])),
        dt=0.2,
        name="galactic orbit",
    )
