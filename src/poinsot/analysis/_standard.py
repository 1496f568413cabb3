r"""The problems on which traits are measured: nonlinear, with one invariant of each polynomial kind.

Two bodies in the plane, at $x_1, x_2$, and a pair of oscillators $(q_5, p_5), (q_6, p_6)$; with
$s = |x_1 - x_2|^2$ and $I_j = \tfrac12 (q_j^2 + p_j^2)$,

$$ H = \Big(\frac{|p_1|^2}{2} + \frac{|p_2|^2}{3}\Big)\Big(1 + \frac s4\Big)
     + \sqrt{1+s}\,\Big(1 + \frac{q_5 q_6 + p_5 p_6}{2}\Big) + \frac{I_5^2 + I_6^2}{2}. $$

It is even in the momenta, and conserved are the total momentum (linear), the angular momentum of the bodies
(bilinear in $q$ and $p$) and $I_5 + I_6$ (quadratic, not bilinear). Methods that need a separable Hamiltonian
are measured on

$$ H = \frac{|p_1|^2}{2} + \frac{|p_2|^2}{3} + p_5^2 + p_6^2 + (1+s)^{3/2} + q_5^2 + q_6^2 $$

with the same invariants.
"""

from functools import cache

import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import Hamiltonian, State

START = State(q=[0.7, -0.2, -0.4, 0.3, 0.5, -0.3], p=[0.2, 0.6, -0.2, -0.5, 0.4, 0.7])


def _square(x: Array) -> Array:
    return jnp.sum(x * x, axis=0)


def _squared_distance(q: Array) -> Array:
    return _square(q[:2] - q[2:4])


def _kinetic(p: Array) -> Array:
    return _square(p[:2]) / 2.0 + _square(p[2:4]) / 3.0


def _energy(q: Array, p: Array) -> Array:
    s, x, y = _squared_distance(q), q[4:], p[4:]
    exchange = jnp.prod(x, axis=0) + jnp.prod(y, axis=0)
    actions = 0.5 * (x * x + y * y)
    bodies = _kinetic(p) * (1.0 + s / 4.0)
    return bodies + jnp.sqrt(1.0 + s) * (1.0 + exchange / 2.0) + 0.5 * _square(actions)


INVARIANTS = {
    "linear": lambda q, p: p[0] + p[2],
    "bilinear": lambda q, p: q[0] * p[1] - q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
    "quadratic": lambda q, p: 0.5 * (_square(q[4:]) + _square(p[4:])),
}


@cache
def nonseparable() -> Hamiltonian:
    """The standard problem given as one `H(q, p)`."""
    return Hamiltonian(_energy, invariants=INVARIANTS)


@cache
def separable() -> Hamiltonian:
    """The standard problem given as `T(p) + V(q)`."""
    return Hamiltonian(
        T=lambda p: _kinetic(p) + _square(p[4:]),
        V=lambda q: (1.0 + _squared_distance(q)) ** 1.5 + _square(q[4:]),
        invariants=INVARIANTS,
    )
