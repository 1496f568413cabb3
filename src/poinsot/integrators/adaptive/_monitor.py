r"""Monitor functions: how densely the steps of a run should lie, at each state."""

from collections.abc import Callable
from typing import ClassVar, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from poinsot.core import AbstractProblem, InputError, Packed, UserFunction, user_function
from poinsot.core.types import Scalar
from poinsot.kernels import jitted

TINY = 1e-300
"""Keeps the logarithm of nothing finite; its derivative is then zero."""
LONGEST = 1000.0
"""Longest scale of time of a motion, in first steps."""
REACH = 0.02
"""Distance in time of the states whose second derivatives are compared, in scales of time of the motion.

On an orbit of eccentricity 0.9 the density is then right to 1e-3, far closer than steps follow it. Round-off
over the square of this number is the noise by which a run that is retraced misses its own steps.
"""


class Monitor(Protocol):
    r"""A density of steps $\rho(t, y)$, given by its logarithm; its scale does not matter."""

    evaluations: ClassVar[int]
    """States at which `growth` looks at the right-hand side."""

    def log(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        r"""The logarithm $\log\rho$."""
        ...

    def growth(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        r"""Relative rate $\dot\rho/\rho$ along the motion, odd when time runs backward."""
        ...


class GivenMonitor(eqx.Module):
    """A density of steps that the user chose."""

    evaluations: ClassVar[int] = 1
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

    def growth(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        """The derivative of the logarithm along the motion."""
        direction = (jnp.ones_like(t), problem.vector_field(t, y))
        return jax.jvp(lambda t, y: self.log(problem, t, y), (t, y), direction)[1]


@jitted
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

    Second derivatives are exact, third and fourth ones differences of these along the motion, from states
    $y_\pm = y \pm \epsilon \dot y + \tfrac12 \epsilon^2 \ddot y$,

    $$ \dddot y \approx \frac{\ddot y(y_+) - \ddot y(y_-)}{2 \epsilon}, \qquad
       y^{(4)} \approx \frac{\ddot y(y_+) - 2 \ddot y(y) + \ddot y(y_-)}{\epsilon^2}, $$

    where $\epsilon$ is a fiftieth of $\|\dot y\| / \|\ddot y\|$, within the same bound. Each exact
    derivative makes three times the code, which of bodies with joints took minutes to compile. Steps need a
    density only roughly but the same forward and backward in time, and so it is: $y_+$ and $y_-$ change
    places.
    """

    evaluations: ClassVar[int] = 3
    weights: Packed
    """Squares of the inverse scales; zero for components that are at rest."""
    longest: Scalar
    """Bound of the scale of time."""

    @classmethod
    def at(cls, problem: AbstractProblem, t, y: Packed, dt) -> "ChangeOfField":
        """With the scales of a start."""
        longest = LONGEST * jnp.abs(dt)
        # Scales are not known yet, but a first step that is short against the motion is.
        parts = _derivatives(problem, t, y, lambda *_: 0.1 * jnp.abs(dt))
        first, second, third = (problem.magnitude(part) for part in parts[:3])
        bounds = (_largest_ratio(first, third), _largest_ratio(problem.magnitude(y), second))
        time = jnp.sqrt(jnp.minimum(longest**2, jnp.minimum(*bounds)))
        scale = first + time * second
        return cls(jnp.where(scale > 0.0, 1.0 / jnp.where(scale > 0.0, scale, 1.0) ** 2, 0.0), longest)

    def log(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        """The logarithm of the frequency."""
        first, second, third, _ = _derivatives(problem, t, y, self._reach)
        a, b, c = self._product(first, first), self._product(second, second), self._product(third, third)
        return 0.25 * jnp.log(b * b + a * c + TINY) - 0.5 * jnp.log(a + TINY)

    def growth(self, problem: AbstractProblem, t, y: Packed) -> Scalar:
        """The derivative of that logarithm, from the derivatives of the motion."""
        parts = _derivatives(problem, t, y, self._reach)
        a, b, c = (self._product(part, part) for part in parts[:3])
        half_da, half_db, half_dc = map(self._product, parts[:3], parts[1:])
        changes = b * half_db + 0.5 * (half_da * c + a * half_dc)
        return changes / (b * b + a * c + TINY) - half_da / (a + TINY)

    def _product(self, first: Packed, second: Packed) -> Scalar:
        return jnp.sum(self.weights * first * second)

    def _reach(self, first: Packed, second: Packed) -> Scalar:
        """How far in time states are apart that tell the third and fourth derivative."""
        a, b = self._product(first, first), self._product(second, second)
        # The bound is for where all is uniform for a moment or for ever.
        return REACH * jnp.minimum(jnp.sqrt((a + TINY) / (b + TINY)), self.longest)


def _largest_ratio(above: Packed, below: Packed) -> Scalar:
    """Largest ratio of the non-negative numbers of which the first is not zero; infinite if there is none."""
    ratios = jnp.where(below > 0.0, above / jnp.where(below > 0.0, below, 1.0), jnp.inf)
    found = jnp.max(jnp.where(above > 0.0, ratios, 0.0))
    return jnp.where(found > 0.0, found, jnp.inf)


def _derivatives(
    problem: AbstractProblem, t, y: Packed, reach: Callable[[Packed, Packed], Scalar]
) -> tuple[Packed, Packed, Packed, Packed]:
    """First to fourth derivative of the motion, the last two by differences; see `ChangeOfField`.

    Args:
        problem: whose motion it is.
        t: time.
        y: state.
        reach: distance in time of the states that are compared, of the first and the second derivative.
    """

    def look(line, side):
        """The second derivative at the state or on one side of it; at the state, where the sides are."""
        rate, bend, away = line
        s = side * away
        there = t + s, y + s * rate + 0.5 * s * s * bend
        field = problem.vector_field(*there)
        first, second = jax.jvp(problem.vector_field, there, (jnp.ones_like(t), field))
        own, here = (first, second, reach(first, second)), side == 0.0
        return jax.tree.map(lambda new, old: jnp.where(here, new, old), own, line), second

    # In a loop, so that the code is there once.
    nothing = jnp.zeros_like(y), jnp.zeros_like(y), jnp.zeros_like(t)
    (first, _, away), (second, after, before) = lax.scan(look, nothing, jnp.array([0.0, 1.0, -1.0]))
    return first, second, (after - before) / (2.0 * away), (after - 2.0 * second + before) / away**2
