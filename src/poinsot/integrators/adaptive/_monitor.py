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

    $$ \rho^4 = \frac{\|\ddot y\|^4 + \|\dddot y\|^2 \|\dot y\|^2}{\|\dot y\|^4}, \qquad
       \|v\|^2 = \sum_i (v_i / s_i)^2 $$

    It is a frequency of the motion at a state: of a harmonic oscillator its own, in a $1/r$ field about
    $r^{-3/2}$, which makes the number of steps of an orbit nearly independent of its eccentricity. When
    velocities change their sign forces do not, and where both change little for a moment the third derivative
    tells that they soon will: a density without deep dips is what steps can follow.

    The scales make components of unlike kind comparable, one number for all of a kind. They are fixed at the
    start: the size of the rates there, and by how much these change in the scale of time of the motion,

    $$ s = |\dot y| + T |\ddot y|, \qquad T^{-2} = \min_{kinds} |\dddot y| / |\dot y|, \qquad
       T^2 \le \max_{kinds} |y| / |\ddot y|, $$

    a thousand first steps at most. The bound is for a release from rest where the force has no slope: there
    rates alone do not tell the time.
    """

    weights: Packed
    """Squares of the inverse scales; zero for components that are at rest."""

    @classmethod
    def at(cls, problem: AbstractProblem, t, y: Packed, dt) -> "ChangeOfField":
        """With the scales of a start."""
        first, second, third = (problem.magnitude(part) for part in _derivatives(problem, t, y))
        bounds = (_largest_ratio(first, third), _largest_ratio(problem.magnitude(y), second))
        longest = (LONGEST * dt) ** 2
        time = jnp.sqrt(jnp.minimum(longest, jnp.minimum(*bounds)))
        scale = first + time * second
        return cls(jnp.where(scale > 0.0, 1.0 / jnp.where(scale > 0.0, scale, 1.0) ** 2, 0.0))

    def log(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        """The logarithm of the frequency."""
        a, b, c = (jnp.sum(self.weights * part * part) for part in _derivatives(problem, t, y))
        return 0.25 * jnp.log(b * b + a * c + TINY) - 0.5 * jnp.log(a + TINY)


def _largest_ratio(above: Packed, below: Packed) -> Scalar:
    """Largest ratio of the non-negative numbers of which the first is not zero; infinite if there is none."""
    ratios = jnp.where(below > 0.0, above / jnp.where(below > 0.0, below, 1.0), jnp.inf)
    found = jnp.max(jnp.where(above > 0.0, ratios, 0.0))
    return jnp.where(found > 0.0, found, jnp.inf)


def _derivatives(problem: AbstractProblem, t, y: Packed) -> tuple[Packed, Packed, Packed]:
    """First, second and third derivative of the motion."""

    def along(function: Callable) -> Callable:
        """A function of time and state, and its rate of change along the motion."""
        return lambda t, y: jax.jvp(function, (t, y), (jnp.ones_like(t), problem.vector_field(t, y)))

    (first, second), (_, third) = along(along(problem.vector_field))(t, y)
    return first, second, third


def growth(monitor: Monitor, problem: AbstractProblem, t, y: Packed) -> Scalar:
    r"""Relative rate $\dot\rho/\rho$ of the density along the motion."""
    direction = (jnp.ones_like(t), problem.vector_field(t, y))
    return jax.jvp(lambda t, y: monitor.log(problem, t, y), (t, y), direction)[1]
