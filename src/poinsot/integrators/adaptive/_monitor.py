r"""Monitor functions: how densely the steps of a run should lie, at each state."""

from collections.abc import Callable
from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import AbstractProblem, InputError, Packed, UserFunction, user_function
from poinsot.core.types import Scalar

TINY = 1e-300
"""Keeps the logarithm of nothing finite; its derivative is then zero."""
LONGEST = 1000.0
"""Longest scale of time of a motion, in first steps."""


class Monitor(Protocol):
    r"""A density of steps $\rho(t, y)$, given by its logarithm; its scale does not matter."""

    def log(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        r"""The logarithm $\log\rho$."""
        ...


class GivenMonitor(eqx.Module):
    """A density of steps that the user chose."""

    function: UserFunction

    @classmethod
    def checked(cls, problem: AbstractProblem, function: Callable, t: float, y: Packed) -> "GivenMonitor":
        """The monitor, once its signature and its value at the start are right."""
        known = user_function(function, problem.labels, "monitor")
        value = _value(problem, known, jnp.asarray(t, dtype=float), y)
        if value.shape != () or not 0.0 < float(value) < float("inf"):
            raise InputError(f"monitor: at the start it gives {value}; it must be one positive number")
        return cls(known)

    def log(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        """The logarithm of the user's function."""
        return jnp.log(problem.evaluate(self.function, t, y))


@eqx.filter_jit
def _value(problem: AbstractProblem, function: UserFunction, t, y: Packed) -> Array:
    return jnp.asarray(problem.evaluate(function, t, y))


class ChangeOfField(eqx.Module):
    r"""How fast the vector field changes along the motion, relative to its size.

    $$ \rho = \frac{\|\ddot y\|}{\|\dot y\|}, \qquad \|v\|^2 = \sum_i (v_i / s_i)^2 $$

    It is a frequency of the motion at a state: of a harmonic oscillator its own, constant; in a $1/r$ field
    about $r^{-3/2}$, which makes the number of steps of an orbit nearly independent of its eccentricity.
    Unlike the change of one component, it vanishes nowhere but where the whole field is at rest: when
    velocities change their sign, forces do not.

    The scales make components of unlike kind comparable, one number for all of a kind. They come from rates
    only, so that the origin of positions does not enter, and are fixed at the start: the size of the rates
    there, and by how much they change in the scale of time of the motion, a thousand first steps at most.

    $$ s = |\dot y| + T |\ddot y|, \qquad T^{-2} = \min_{kinds} |\dddot y| / |\dot y| $$
    """

    weights: Packed
    """Squares of the inverse scales; zero for components that are at rest."""

    @classmethod
    def at(cls, problem: AbstractProblem, t, y: Packed, dt) -> "ChangeOfField":
        """With the scales of a start."""

        def field(t, y):
            return problem.vector_field(t, y)

        def change(t, y):
            return jax.jvp(field, (t, y), (jnp.ones_like(t), field(t, y)))

        (rate, second), (_, third) = jax.jvp(change, (t, y), (jnp.ones_like(t), field(t, y)))
        first, second, third = (problem.magnitude(part) for part in (rate, second, third))
        moving = first > 0.0
        square = jnp.min(jnp.where(moving, third, jnp.inf) / jnp.where(moving, first, 1.0))
        longest = LONGEST * jnp.abs(dt)
        time = jnp.minimum(1.0 / jnp.sqrt(jnp.maximum(square, longest**-2)), longest)
        scale = first + time * second
        return cls(jnp.where(scale > 0.0, 1.0 / jnp.where(scale > 0.0, scale, 1.0) ** 2, 0.0))

    def log(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        """The logarithm of the ratio."""

        def field(t, y):
            return problem.vector_field(t, y)

        rate, change = jax.jvp(field, (t, y), (jnp.ones_like(t), field(t, y)))
        sizes = [jnp.sum(self.weights * part * part) + TINY for part in (change, rate)]
        return 0.5 * (jnp.log(sizes[0]) - jnp.log(sizes[1]))


def growth(monitor: Monitor, problem: AbstractProblem, t, y: Packed) -> Scalar:
    r"""Relative rate $\dot\rho/\rho$ of the density along the motion."""
    direction = (jnp.ones_like(t), problem.vector_field(t, y))
    return jax.jvp(lambda t, y: monitor.log(problem, t, y), (t, y), direction)[1]
