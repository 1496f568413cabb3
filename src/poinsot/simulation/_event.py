"""Events: zeros of a function of the state along a motion."""

from collections.abc import Callable
from typing import Annotated, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax

from poinsot.core import (
    FUNCTION,
    AbstractProblem,
    Checked,
    InputError,
    Packed,
    Printable,
    Use,
    UserFunction,
    check_uses,
    on_device,
    user_function,
)
from poinsot.kernels import once

Direction = Literal[-1, 0, 1]


class Event(Printable, Checked):
    """A zero of `function` along the motion.

    Args:
        function: of the state, with the signatures of the problem's other functions, e.g. `g(q, p)`.
        direction: 1 counts only zeros where it grows, -1 only those where it falls, 0 both.
    """

    function: Annotated[Callable, FUNCTION]
    direction: Direction = eqx.field(default=0, static=True)

    def bound(self, problem: AbstractProblem) -> "Event":
        """The same event with its signature read against the problem's labels."""
        return Event(user_function(self.function, problem.labels, "the event"), self.direction)

    def checked(self, problem: AbstractProblem, t0: float, y: Packed) -> "Event":
        """The event itself, once it is one number at the start.

        Raises:
            InputError: it cannot be evaluated there, or is no number.
        """
        assert isinstance(self.function, UserFunction), "bind the event to its problem first"
        state, t = problem.unpack(y), on_device(t0, float)
        arguments = (t, *(state[label] for label in problem.labels), problem.params)
        check_uses([Use(self.function, arguments, problem.lanes(y))])
        value = _at_start(self, problem, t, y)
        if np.any(np.isnan(value)):
            raise InputError(f"{self.function.field} is NaN at the start; it must be a number there")
        return self

    def value(self, problem: AbstractProblem, t, y: Packed):
        """The function at one state."""
        assert isinstance(self.function, UserFunction), "bind the event to its problem first"
        return problem.evaluate(self.function, t, y)

    def crossed(self, before, after):
        """Whether a zero lies in a step, the start of the step excluded and its end included."""
        up = (before < 0.0) & (after >= 0.0)
        down = (before > 0.0) & (after <= 0.0)
        return {1: up, -1: down, 0: up | down}[self.direction]


@once
def _at_start(event: Event, problem: AbstractProblem, t, y: Packed):
    return event.value(problem, t, y)


def locate(probe: Callable, at_zero, aux):
    """Zero in (0, 1] of a function with a change of sign, to the last bit of its argument.

    The Illinois variant of regula falsi, which keeps a bracket and converges faster than a secant's half,
    with a bisection whenever the bracket failed to shrink by half twice in a row. Its first probe is at 1,
    inside the loop like all others, so that a probe that steps a system is compiled only once.

    Args:
        probe: of a scalar in (0, 1]; gives the function's value and whatever came with it.
        at_zero: the value at 0.
        aux: what comes with a value, at 0.

    Returns:
        The zero, and what came with the value there.
    """

    def proceed(carry):
        a, b, _, fb, _, _, count = carry
        apart = jnp.abs(b - a) > 2.0**-52 * jnp.maximum(jnp.abs(b), 2.0**-20)
        return (count == 0) | (apart & (fb != 0.0) & (count < 200))

    def shrink(carry):
        # b is the newest point, a the other end of the bracket; `slow` counts poor contractions.
        a, b, fa, fb, _, slow, count = carry
        secant = b - fb * (b - a) / (fb - fa)
        middle = 0.5 * (a + b)
        x = jnp.where((slow >= 2) | ~jnp.isfinite(secant), middle, secant)
        low, high = jnp.minimum(a, b), jnp.maximum(a, b)
        x = jnp.clip(x, jnp.nextafter(low, high), jnp.nextafter(high, low))
        x = jnp.where(count == 0, 1.0, x)
        fx, aux = probe(x)
        same_side = (jnp.sign(fx) == jnp.sign(fb)) & (count > 0)
        a1, fa1 = jnp.where(same_side, a, b), jnp.where(same_side, 0.5 * fa, fb)
        poor = (jnp.abs(x - a1) > 0.5 * jnp.abs(b - a)) & (count > 0)
        return a1, x, fa1, fx, aux, jnp.where(poor & (slow < 2), slow + 1, 0), count + 1

    zero, first = jnp.asarray(0.0), jnp.asarray(at_zero)
    start = (zero, zero, first, first, aux, jnp.int32(0), jnp.int32(0))
    _, x, _, _, aux, _, _ = lax.while_loop(proceed, shrink, start)
    return x, aux
