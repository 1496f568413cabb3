"""The right-hand side of a row of bodies, a stretch at a time."""

from typing import Protocol

from jaxtyping import Array, Float, Int

Rows = Float[Array, "height n"]
"""Numbers of bodies along a row: positions, then as many momenta."""


class LocalField(Protocol):
    """The right-hand side of a row of equal bodies, each acting on the next: that of any stretch of it.

    All bodies have a place in the row, also those at its ends that do not move. Time does not enter, and
    there is no state where the problem loses its meaning (`AbstractProblem.clearance`).
    """

    @property
    def count(self) -> int:
        """Number of bodies."""
        ...

    @property
    def window(self) -> int:
        """Bodies of a stretch whose evaluation stays in the cache."""
        ...

    def rows(self, y: Float[Array, " n"]) -> Rows:
        """All bodies, from the packed state of what moves."""
        ...

    def packed(self, rows: Rows) -> Float[Array, " n"]:
        """The inverse of `rows`."""
        ...

    def rate(self, place: Int[Array, " n"], rows: Float[Array, "height n+2"]) -> Rows:
        """Rates of the bodies at these places, given with one more on either side; zero if nothing moves."""
        ...
