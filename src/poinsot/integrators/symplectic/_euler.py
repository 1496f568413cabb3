"""The two symplectic Euler methods, each the other's adjoint."""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import Hamiltonian, Packed, StepInfo
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.solvers import EPS, Stopping, fixed_point

TRAITS = Traits(
    name="symplectic Euler A",
    order=1,
    symmetric=False,
    symplectic=True,
    conserves=frozenset({"linear", "bilinear"}),
    needs="hamiltonian",
    reference="Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), VI (3.1)",
)


def _implicit_shift(problem: Hamiltonian, x: Array, h, rate: Callable) -> tuple[Array, StepInfo]:
    r"""Solve $x_1 = x + h\,r(x_1)$ to round-off, for one half of a phase space."""
    axes = tuple(range(x.ndim - len(problem.lanes(x))))
    guess = x + h * rate(x)
    unit = EPS * (jnp.max(jnp.abs(x), axis=axes) + jnp.max(jnp.abs(guess), axis=axes)) + 1e-300

    def size(dx):
        return jnp.max(jnp.abs(dx), axis=axes) / unit

    x1, info = fixed_point(lambda z: x + h * rate(z), guess, size, Stopping())
    return x1, StepInfo.implicit(info.converged, info.iterations)


def euler_a(problem: Hamiltonian, t, h, q: Array, p: Array) -> tuple[Array, Array, StepInfo]:
    r"""Both gradients at $(q_1, p_0)$, time $t + h$: positions first, implicit unless $H$ is separable."""
    t1 = t + h
    if problem.separable:
        q1, info = q + h * problem.dHdp(t1, q, p), StepInfo.explicit(problem.lanes(q))
    else:
        q1, info = _implicit_shift(problem, q, h, lambda x: problem.dHdp(t1, x, p))
    return q1, p - h * problem.dHdq(t1, q1, p), info


def euler_b(problem: Hamiltonian, t, h, q: Array, p: Array) -> tuple[Array, Array, StepInfo]:
    r"""Both gradients at $(q_0, p_1)$, time $t$: momenta first, implicit unless $H$ is separable."""
    if problem.separable:
        p1, info = p - h * problem.dHdq(t, q, p), StepInfo.explicit(problem.lanes(q))
    else:
        p1, info = _implicit_shift(problem, p, -h, lambda x: problem.dHdq(t, q, x))
    return q + h * problem.dHdp(t, q, p1), p1, info


class SymplecticEulerA(AbstractIntegrator):
    r"""Symplectic Euler with the gradients at the new positions and old momenta; order 1.

    $$ q_1 = q_0 + h H_p(q_1, p_0), \qquad p_1 = p_0 - h H_q(q_1, p_0) $$

    Explicit when $H$ is separable; else one implicit equation for $q_1$. Adjoint of `SymplecticEulerB`.
    """

    @property
    def traits(self) -> Traits:
        """Order 1, symplectic."""
        return TRAITS

    def init(self, problem: Hamiltonian, t, h, y: Packed) -> None:
        """Nothing is carried."""

    def step(self, problem: Hamiltonian, t, h, y: Packed, carry: None):
        """One step, see the class."""
        q, p, info = euler_a(problem, t, h, *problem.split(y))
        return jnp.concatenate([q, p]), None, info


class SymplecticEulerB(AbstractIntegrator):
    r"""Symplectic Euler with the gradients at the old positions and new momenta; order 1.

    $$ p_1 = p_0 - h H_q(q_0, p_1), \qquad q_1 = q_0 + h H_p(q_0, p_1) $$

    Explicit when $H$ is separable; else one implicit equation for $p_1$. Adjoint of `SymplecticEulerA`.
    """

    @property
    def traits(self) -> Traits:
        """Order 1, symplectic."""
        return dataclasses.replace(TRAITS, name="symplectic Euler B")

    def init(self, problem: Hamiltonian, t, h, y: Packed) -> None:
        """Nothing is carried."""

    def step(self, problem: Hamiltonian, t, h, y: Packed, carry: None):
        """One step, see the class."""
        q, p, info = euler_b(problem, t, h, *problem.split(y))
        return jnp.concatenate([q, p]), None, info
