"""What a compiled adaptive method is: attempts at a step, each with its own verdict and next step."""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int

from poinsot.core import AbstractProblem, Packed, field
from poinsot.core.types import BoolScalar, IntScalar, Scalar


class Demands(eqx.Module):
    """What is asked of the steps of a run."""

    rtol: Scalar
    atol: Scalar
    max_step: Scalar
    """Largest size of a step, infinite where there is no limit."""

    def norm(self, error: Packed, *states: Packed) -> Scalar:
        r"""Size of an error, at most one where it is within the tolerance (Hairer, Nørsett & Wanner II.4).

        $$ \|e\| = \sqrt{\frac1n \sum_i \Bigl(\frac{e_i}{\mathrm{atol} + \mathrm{rtol}\,|y_i|}\Bigr)^2} $$

        where $|y_i|$ is the largest of the given states.
        """
        return jnp.sqrt(self.squared_norm(error, *states))

    def squared_norm(self, error: Packed, *states: Packed) -> Scalar:
        """The square of the norm, whose logarithm is as good as that of its root."""
        size = jnp.abs(states[0])
        for state in states[1:]:
            size = jnp.maximum(size, jnp.abs(state))
        scaled = error / (self.atol + self.rtol * size)
        return jnp.sum(scaled * scaled) * (1.0 / scaled.size)


class Cost(NamedTuple):
    """What something has cost."""

    rhs: IntScalar
    jacobians: IntScalar
    factorisations: IntScalar

    @classmethod
    def of(cls, rhs: Any = 0, jacobians: Any = 0, factorisations: Any = 0) -> "Cost":
        """The cost in these numbers, of Python or of JAX."""
        return cls(*(jnp.asarray(n, dtype=jnp.int64) for n in (rhs, jacobians, factorisations)))

    def plus(self, other: "Cost") -> "Cost":
        """Both together."""
        return Cost(*(one + another for one, another in zip(self, other, strict=True)))


class Attempt(eqx.Module):
    """What became of one attempt at a step."""

    y: Packed
    """The state at the end, should the step be accepted."""
    accepted: BoolScalar
    h: Scalar
    """The step to try next, with its sign: after this one, or in its place where it is rejected."""
    carry: Any
    """What the method remembers, in either case; after a rejection good for another try from there."""
    order: Int[Array, ""]
    """What the method must know again for a part of this step: for a method of many orders, which one."""
    cost: Cost


class AbstractMethod(eqx.Module):
    """A one-step method that estimates its error and chooses the size of its steps."""

    @abc.abstractmethod
    def init(self, problem: AbstractProblem, t, y: Packed, demands: Demands) -> tuple[Any, Scalar]:
        """What the method remembers before the first step, and the order that this step will have."""

    @abc.abstractmethod
    def attempt(self, problem: AbstractProblem, t, h, y: Packed, carry: Any, demands: Demands) -> Attempt:
        """Try a step of size `h` from time `t`."""

    @abc.abstractmethod
    def part(self, problem: AbstractProblem, t, h, y: Packed, order: IntScalar) -> Packed:
        """The state `h` after `t`, where an accepted step began that had this `order` and was longer."""


def starting_step(problem: AbstractProblem, t, t1, y: Packed, demands: Demands, order: Scalar) -> Scalar:
    r"""A guess of the first step, with its sign (Hairer, Nørsett & Wanner II.4).

    From the sizes of $y$, $f$ and, by one explicit Euler step, $\ddot y$, it is such that $h^{p+1}$ times the
    larger derivative is a hundredth of the tolerance. It costs two right-hand sides.
    """
    f = field(problem, t, y)
    size, slope = demands.norm(y, y), demands.norm(f, y)
    small = (size < 1e-5) | (slope < 1e-5)
    direction = jnp.sign(t1 - t)
    h0 = jnp.minimum(jnp.where(small, 1e-6, 0.01 * size / slope), jnp.abs(t1 - t))
    there = field(problem, t + direction * h0, y + direction * h0 * f)
    bend = demands.norm(there - f, y) / h0
    largest = jnp.maximum(slope, bend)
    h1 = jnp.where(largest <= 1e-15, jnp.maximum(1e-6, 1e-3 * h0), (0.01 / largest) ** (1.0 / (order + 1.0)))
    h = jnp.minimum(jnp.minimum(100.0 * h0, h1), jnp.minimum(demands.max_step, jnp.abs(t1 - t)))
    # Where the right-hand side is not finite the attempts will find out.
    return direction * jnp.where(jnp.isfinite(h), h, 1e-6)
