r"""What joints between bodies on the group can say of themselves."""

from collections.abc import Sequence
from typing import Protocol

from jaxtyping import Array, Float

Twist = Float[Array, " n"]
"""Velocities of translating bodies, then body angular velocities of rotating ones, each (3, bodies)."""
Rows = Sequence[Float[Array, " rows"]]
"""Numbers for the conditions of each joint."""

PLACING = 1e-4
r"""$\varepsilon$ of the solve for positions and velocities: large enough to pass singular configurations."""
PLACING_REPETITIONS = 4
PUSHING = 1e-10
r"""$\varepsilon$ of the solve for accelerations: small enough to leave no error that adds up."""
PUSHING_REPETITIONS = 2


class Reach(Protocol):
    r"""Jacobians $G$ of the joints at a pose, with the system $G M^{-1} G^T$ factored."""

    def push(self, twist: Twist) -> Rows:
        r"""The products $G u$."""
        ...

    def pull(self, forces: Rows) -> Twist:
        r"""The wrench $G^T \lambda$."""
        ...

    def solve(self, right: Rows, repetitions: int) -> Rows:
        r"""Forces $\lambda$ with $G M^{-1} G^T \lambda = b$."""
        ...


class Joints(Protocol):
    r"""Conditions $g(t, x, R) = 0$ on positions (3, moving) and rotations (3, 3, turning) of bodies."""

    weights: Twist
    r"""Diagonal of $M^{-1}$, masses and principal moments."""

    def gaps(self, t, x: Array, R: Array) -> Rows:
        """What must vanish, of each joint."""
        ...

    def rates(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Rates $G u + g_t$ of the gaps."""
        ...

    def bends(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Second rates of the gaps at a constant twist."""
        ...

    def at(self, t, x: Array, R: Array, epsilon: float) -> Reach:
        """The Jacobians at a pose, factored."""
        ...
