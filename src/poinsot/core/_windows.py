r"""A long row of bodies in windows that stay in the cache of a core."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from poinsot.core._largest import largest
from poinsot.core._local_field import LocalField
from poinsot.core._problem import AbstractProblem, Packed
from poinsot.core._signature import UserFunction
from poinsot.core._state import State
from poinsot.core.types import IntScalar

VECTOR = 8
"""Bodies of which a window has an odd multiple: rows begin where vectors do, and not all in one set of a
cache."""

Windows = Float[Array, "windows height length"]
"""Rows of bodies cut into windows, each in one piece of memory."""


class InWindows(AbstractProblem):
    """Another problem, whose packed state is a row of bodies cut into windows.

    The last window is filled up with bodies at rest that continue the row straight and take no part. What a
    method does number by number it does here as on the packed state of the other problem; what it does with
    right-hand sides it can do window by window, since they follow from a window and one body on either side.

    Args:
        whole: the other problem.
        local: its right-hand side in pieces.
    """

    kind: ClassVar[str] = "windows"

    whole: AbstractProblem
    local: LocalField
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)

    def __init__(self, whole: AbstractProblem, local: LocalField):
        self.whole, self.local = whole, local
        self.params, self.invariants, self.vectorised = whole.params, whole.invariants, False

    def cut(self, y: Packed) -> Windows:
        """The windows of a packed state of the other problem."""
        rows, (count, length) = self.local.rows(y), self._shape
        positions, momenta = jnp.split(rows, 2)
        more = jnp.arange(1.0, count * length - self.local.count + 1.0)
        behind = _straight_on(positions[:, -1:], positions[:, -2:-1], more[None])
        rest = jnp.zeros_like(behind)
        filled = jnp.concatenate(
            [jnp.concatenate([positions, behind], axis=1), jnp.concatenate([momenta, rest], axis=1)]
        )
        return jnp.moveaxis(filled.reshape(len(rows), count, length), 1, 0)

    @property
    def _shape(self) -> tuple[int, int]:
        """Number of windows, and bodies of each."""
        bodies = self.local.count
        vectors = -(-bodies // (VECTOR * -(-bodies // self.local.window)))
        length = VECTOR * (vectors + 1 - vectors % 2)
        return -(-bodies // length), length

    def joined(self, windows: Windows) -> Packed:
        """The inverse of `cut`."""
        rows = jnp.moveaxis(windows, 0, 1).reshape(windows.shape[1], -1)
        return self.local.packed(rows[:, : self.local.count])

    def numbers(self) -> Int[Array, " windows"]:
        """A number for each window."""
        return jnp.arange(self._shape[0])

    def places(self, number: IntScalar) -> Int[Array, " length"]:
        """Places in the row of the bodies of a window."""
        length = self._shape[1]
        return number * length + jnp.arange(length)

    def with_margins(self, windows: Windows) -> Float[Array, "windows height length+2"]:
        """Windows with the last body of the one before and the first of the one behind."""
        first, last = windows[:1, :, :2], windows[-1:, :, -2:]
        before = jnp.concatenate([_straight_on(first[..., :1], first[..., 1:]), windows[:-1, :, -1:]])
        behind = jnp.concatenate([windows[1:, :, :1], _straight_on(last[..., 1:], last[..., :1])])
        return jnp.concatenate([before, windows, behind], axis=-1)

    def pack(self, state: State) -> Windows:
        """The windows of the other problem's packed state."""
        return self.cut(self.whole.pack(state))

    def unpack(self, y: Windows) -> State:
        """The labelled state of windows."""
        return self.whole.unpack(self.joined(y))

    def vector_field(self, t, y: Windows) -> Windows:
        """Rates, window by window."""

        def one(window: tuple) -> Array:
            number, near = window
            return self.local.rate(self.places(number), near)

        return lax.map(one, (self.numbers(), self.with_margins(y)))

    def evaluate(self, function: UserFunction, t, y: Windows) -> Array:
        """As of the other problem."""
        return self.whole.evaluate(function, t, self.joined(y))

    def magnitude(self, y: Windows) -> Float[Array, "1 height 1"]:
        """The largest position for all positions, the largest momentum for all momenta."""

        def farther(far: Array, window: tuple) -> tuple[Array, None]:
            number, rows = window
            return jnp.maximum(
                far, jnp.where(self.places(number)[None] < self.local.count, jnp.abs(rows), 0.0)
            ), None

        far, _ = lax.scan(farther, jnp.zeros(y.shape[1:]), (self.numbers(), y))
        halves = jnp.split(far, 2)
        return jnp.concatenate([jnp.full((1, len(half), 1), largest(half)) for half in halves], axis=1)

    def first_integrals(self, t, y: Windows) -> dict[str, Array]:
        """As of the other problem."""
        return self.whole.first_integrals(t, self.joined(y))


def _straight_on(last: Array, last_but_one: Array, times: Array | float = 1.0) -> Array:
    """Bodies beyond the last one, so many times as far from it as it is from the last but one.

    They take no part, but where they met others, derivatives would not be numbers.
    """
    return last + (last - last_but_one) * times
