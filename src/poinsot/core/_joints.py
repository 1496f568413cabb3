r"""What joints between bodies on the group can say of themselves."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

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


class Mobility(NamedTuple):
    """How far momenta at the start of a step move the bodies until its end."""

    time: Float[Array, ""]
    """Length of the step: positions move by this times their velocity."""
    turn: Float[Array, "3 3 turning"]
    """Turns in the frames of the bodies at the end; symmetric to first order in the step only."""


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


class Closing(Protocol):
    """The derivative of the gaps at the end of a step in the forces at its start, factored."""

    def push(self, twist: Twist) -> Rows:
        r"""What a further motion at the end adds to the gaps."""
        ...

    def solve(self, right: Rows) -> Rows:
        """Impulses at the start that open the joints by so much at the end."""
        ...


class Joints(Protocol):
    r"""Conditions $g(t, x, R) = 0$ on positions (3, moving) and rotations (3, 3, turning) of bodies."""

    @property
    def independent(self) -> bool:
        r"""Whether $G$ has full rank wherever the joints are closed."""
        ...

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

    def closing(self, reach: Reach, t, x: Array, R: Array, mobility: Mobility) -> Closing:
        r"""The derivative $G_1 B G_0^T$ of the gaps near the end of a step in impulses at its start.

        Args:
            reach: at the start of the step.
            t: at its end, as the next two.
            x: positions.
            R: rotations.
            mobility: $B$.
        """
        ...


def placing(joints: Joints) -> tuple[float, int]:
    r"""$\varepsilon$ and number of repetitions of a solve for positions or velocities."""
    return (0.0, 1) if joints.independent else (PLACING, PLACING_REPETITIONS)


def pushing(joints: Joints) -> tuple[float, int]:
    r"""$\varepsilon$ and number of repetitions of a solve for accelerations."""
    return (0.0, 1) if joints.independent else (PUSHING, PUSHING_REPETITIONS)
