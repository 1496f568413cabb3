"""Motions from one configuration to another: quintic and trapezoidal profiles."""

import abc
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.control._actuation import as_chain, as_gains
from poinsot.core import Checked, InputError, Printable, as_array, as_floats, checked, concrete, quoted
from poinsot.core.types import Scalar
from poinsot.model import OpenChain
from poinsot.model.open_chain import as_coordinates


class AbstractProfile(Printable, Checked):
    """How far along its way a motion is: $s(t)$ from 0 to 1."""

    @property
    @abc.abstractmethod
    def duration(self) -> Scalar:
        """When it arrives."""

    @abc.abstractmethod
    def __call__(self, t) -> tuple[Scalar, Scalar, Scalar]:
        """The fraction of the way, its rate and its acceleration, so long after the begin."""


class QuinticProfile(AbstractProfile):
    r"""The polynomial of degree five at rest, without acceleration, at both ends.

    $$ s = 10\,x^3 - 15\,x^4 + 6\,x^5, \qquad x = t/T $$
    """

    time: Scalar

    @property
    def duration(self) -> Scalar:
        """When it arrives."""
        return self.time

    def __call__(self, t) -> tuple[Scalar, Scalar, Scalar]:
        """The polynomial and its derivatives; constant before the begin and after the end."""
        x = jnp.clip(t / self.time, 0.0, 1.0)
        rest = 1.0 - x
        s = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        rate = 30.0 * (x * rest) ** 2 / self.time
        return s, rate, 60.0 * x * rest * (rest - x) / self.time**2


class TrapezoidalProfile(AbstractProfile):
    r"""Constant acceleration $a$, constant speed $w$, constant deceleration.

    $$ T = \frac{1}{w} + \frac{w}{a}, \qquad w \le \sqrt{a} $$

    With $w = \sqrt a$ the speed is never constant: the profile is a triangle.
    """

    speed: Scalar
    acceleration: Scalar

    @property
    def duration(self) -> Scalar:
        """When it arrives."""
        return 1.0 / self.speed + self.speed / self.acceleration

    def __call__(self, t) -> tuple[Scalar, Scalar, Scalar]:
        """Three pieces; constant before the begin and after the end."""
        w, a, T = self.speed, self.acceleration, self.duration
        ramp, left = w / a, T - t
        speeding, slowing = (0.0 <= t) & (t < ramp), (0.0 < left) & (left <= ramp)
        up, down = jnp.clip(t, 0.0, ramp), jnp.clip(left, 0.0, ramp)
        even = jnp.clip(t, ramp, T - ramp) - ramp
        # Parts of the way: speeding up, even, and slowing down as what is missing of the last ramp.
        s = 0.5 * a * up**2 + w * even + 0.5 * (w * ramp - a * down**2)
        rate = a * jnp.minimum(up, down)
        return s, rate, jnp.where(speeding, a, jnp.where(slowing, -a, 0.0))


class JointPath(Printable):
    r"""A motion straight from one configuration to another, with a profile $s(t)$; at rest before and after.

    $$ q(t) = q_0 + s(t - t_0)\,\delta $$

    with the way $\delta$; quaternions turn about a fixed axis. Called with a time it returns coordinates,
    rates and accelerations.
    """

    q0: Float[Array, " nq"]
    way: Float[Array, " nv"]
    profile: AbstractProfile
    begin: Scalar
    chain: OpenChain | None

    @property
    def end(self) -> Scalar:
        """Time at which it arrives."""
        return self.begin + self.profile.duration

    def __call__(self, t) -> tuple[Float[Array, " nq"], Float[Array, " nv"], Float[Array, " nv"]]:
        """Coordinates, rates and accelerations."""
        s, rate, acceleration = self.profile(t - self.begin)
        along = s * self.way
        q = self.q0 + along if self.chain is None else self.chain.moved(self.q0, along)
        return q, rate * self.way, acceleration * self.way


@checked
def quintic(
    q0: Any, q1: Any, duration: Any, *, begin: Any = 0.0, chain: OpenChain | None = None
) -> JointPath:
    """A motion with a polynomial of degree five, without speed and acceleration at both ends.

    Args:
        q0: coordinates at the begin.
        q1: coordinates at the end.
        duration: time between them.
        begin: time of the begin.
        chain: needed where coordinates are quaternions, which then turn the shorter way.
    """
    time = as_array(_positive(duration, "duration of quintic"), "duration of quintic", ())
    return _path("quintic", q0, q1, QuinticProfile(time), begin, chain)


@checked
def trapezoidal(
    q0: Any, q1: Any, speed: Any, acceleration: Any, *, begin: Any = 0.0, chain: OpenChain | None = None
) -> JointPath:
    """The quickest straight motion within limits: constant acceleration, speed and deceleration.

    All joints begin and arrive together; one of them meets a limit. The acceleration jumps, so integrators
    keep their order only where the jumps are at the ends of steps.

    Args:
        q0: coordinates at the begin.
        q1: coordinates at the end.
        speed: largest rates, one number or one for each.
        acceleration: largest accelerations, likewise.
        begin: time of the begin.
        chain: needed where coordinates are quaternions, which then turn the shorter way.
    """
    straight = _path("trapezoidal", q0, q1, QuinticProfile(jnp.ones(())), begin, chain)
    way = jnp.abs(straight.way)
    if concrete(way) and not np.any(np.asarray(way)):
        raise InputError("q1 of trapezoidal is q0; there is no way between them")
    most = [
        as_gains(_positive(value, f"{name} of trapezoidal"), len(way), f"{name} of trapezoidal")
        for name, value in (("speed", speed), ("acceleration", acceleration))
    ]
    # The largest rates of s that no joint forbids; those that stay where they are forbid none.
    w, a = (jnp.min(jnp.where(way > 0.0, one / jnp.where(way > 0.0, way, 1.0), jnp.inf)) for one in most)
    profile = TrapezoidalProfile(jnp.minimum(w, jnp.sqrt(a)), a)
    return JointPath(straight.q0, straight.way, profile, straight.begin, straight.chain)


def _path(
    name: str, q0: Any, q1: Any, profile: AbstractProfile, begin: Any, chain: OpenChain | None
) -> JointPath:
    chain = None if chain is None else as_chain(chain, name)
    start, end = (_ends(value, f"{end} of {name}", chain) for value, end in ((q0, "q0"), (q1, "q1")))
    if start.ndim != 1 or start.shape != end.shape:
        raise InputError(
            f"q0 and q1 of {name} have shapes {start.shape} and {end.shape}; they must be lists of equally "
            "many numbers"
        )
    way = end - start if chain is None else chain.difference(start, end)
    return JointPath(start, way, profile, as_array(begin, f"begin of {name}", ()), chain)


def _ends(value: Any, field: str, chain: OpenChain | None) -> Array:
    return as_array(value, field) if chain is None else as_coordinates(chain.structure, value, field)


def _positive(value: Any, field: str) -> Array:
    numbers = as_floats(value, field)
    if concrete(numbers) and not np.all(np.asarray(numbers) > 0.0):
        raise InputError(f"{field} = {quoted(value)}; it must be positive")
    return numbers
