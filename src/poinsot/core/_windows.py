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

VECTOR = 8
"""Bodies of which a window has an odd multiple: rows begin where vectors do, and not all in one set of a
cache."""

Windows = Float[Array, "windows height length"]
"""Rows of bodies cut into windows, each in one piece of memory."""


class InWindows(AbstractProblem):
    """Another problem, whose packed state is a row of bodies cut into windows.

    The last window is filled up with bodies at rest in the place of the last one, which take no part. What a
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
        behind = ((0, 0), (0, count * length - self.local.count))
        positions, momenta = jnp.split(rows, 2)
        filled = jnp.concatenate([jnp.pad(positions, behind, mode="edge"), jnp.pad(momenta, behind)])
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

    @property
    def places(self) -> Int[Array, "windows length"]:
        """Places in the row of all bodies of the windows."""
        count, length = self._shape
        return jnp.arange(count * length).reshape(count, length)

    def with_margins(self, windows: Windows) -> Float[Array, "windows height length+2"]:
        """Windows with the last body of the one before and the first of the one behind.

        At the ends of the row, where there is none, a window's own.
        """
        before = jnp.concatenate([windows[:1, :, :1], windows[:-1, :, -1:]])
        behind = jnp.concatenate([windows[1:, :, :1], windows[-1:, :, -1:]])
        return jnp.concatenate([before, windows, behind], axis=-1)

    def pack(self, state: State) -> Windows:
        """The windows of the other problem's packed state."""
        return self.cut(self.whole.pack(state))

    def unpack(self, y: Windows) -> State:
        """The labelled state of windows."""
        return self.whole.unpack(self.joined(y))

    def vector_field(self, t, y: Windows) -> Windows:
        """Rates, window by window."""
        return lax.map(lambda window: self.local.rate(*window), (self.places, self.with_margins(y)))

    def evaluate(self, function: UserFunction, t, y: Windows) -> Array:
        """As of the other problem."""
        return self.whole.evaluate(function, t, self.joined(y))

    def magnitude(self, y: Windows) -> Float[Array, "1 height 1"]:
        """The largest position for all positions, the largest momentum for all momenta."""
        far = jnp.zeros(y.shape[1:])
        far, _ = lax.scan(lambda far, window: (jnp.maximum(far, jnp.abs(window)), None), far, y)
        halves = jnp.split(far, 2)
        return jnp.concatenate([jnp.full((1, len(half), 1), largest(half)) for half in halves], axis=1)

    def clearance(self, y: Windows) -> Array | None:
        """As of the other problem."""
        return self.whole.clearance(self.joined(y))

    def first_integrals(self, t, y: Windows) -> dict[str, Array]:
        """As of the other problem."""
        return self.whole.first_integrals(t, self.joined(y))
