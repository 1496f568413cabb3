r"""What joints between bodies can say of themselves, and what holds them closed."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core._bodies import body_after_body, each_body

Twist = Float[Array, " n"]
"""Velocities of translating bodies, then body angular velocities of rotating ones, each (3, bodies)."""
Rows = Sequence[Float[Array, " rows"]]
"""Numbers for the conditions of each joint."""

PLACING = 1e-4
r"""$\varepsilon$ of the solve for positions and velocities: large enough to pass singular configurations."""
PLACING_REPETITIONS = 20
r"""Each gains a factor of $\varepsilon$ over the smallest eigenvalue: slender bodies in a loop need many.

In a Bricard loop ten leave rates of joints at 6e-11, fourteen at 5e-14, twenty at round-off. They cost
little beside the factorisation.
"""
PUSHING = 1e-10
r"""$\varepsilon$ of the solve for accelerations: small enough to leave no error that adds up."""
PUSHING_REPETITIONS = 2
HOLDING = 1e-12
r"""$\varepsilon$ of solves for impulses of a step that ends with closed joints: as small as round-off allows,
so that they are exact where singular values are above $\sqrt\varepsilon$ of their size."""
HOLDING_REPETITIONS = 3
SMALLEST_PIVOT = 1e-14
"""Relative to the diagonal: what stands for a pivot of `Joints.closing` that is nothing but round-off."""
CLOSING = 3
"""Corrections that close joints which a step has left slightly open."""


class Mobility(NamedTuple):
    """How far momenta at the start of a step move the bodies until its end."""

    time: Float[Array, ""]
    """Length of the step: positions move by this times their velocity."""
    turn: Float[Array, "3 3 turning"]
    """Turns in the frames of the bodies at the end; symmetric to first order in the step only."""


class Reach(Protocol):
    r"""Jacobians $G$ of the joints at a pose, with the system $G M^{-1} G^T$ factored."""

    def ready(self) -> "Reach":
        """This with its system factored now, where that goes along with the Jacobians."""
        ...

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

    @property
    def looped(self) -> bool:
        """Whether there are many bodies, and they are gone through one after the other."""
        ...

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

    def closing(self, reach: Any, t, x: Array, R: Array, mobility: Mobility, share) -> Closing:
        r"""The derivative $G_1 B G_0^T$ of the gaps near the end of a step in impulses at its start.

        Where conditions may be redundant, pivots are raised to `least_pivots`, each with its sign: where a
        step passes a singular pose its two ends see a small singular value with opposite signs, and a shift
        of the whole diagonal by some amount may make the matrix singular.

        Args:
            reach: at the start of the step.
            t: at its end, as the next two.
            x: positions.
            R: rotations.
            mobility: $B$.
            share: $\kappa$ of `least_pivots`; without effect where conditions are independent.
        """
        ...


def holding(joints: Joints) -> tuple[float, int]:
    r"""$\varepsilon$ and number of repetitions of a solve for impulses, and for momenta along the joints."""
    return (0.0, 1) if joints.independent else (HOLDING, HOLDING_REPETITIONS)


def least_pivots(h, share, diagonal: Array, pivots: Array) -> Array:
    r"""Least magnitudes of pivots of $h\,G_1 M^{-1} G_0^T$, from those of $A = G_0 M^{-1} G_0^T$.

    $$ |p| \ge |h|\,\max(\kappa \sqrt{a\,d}, \delta a) $$

    Near a singular configuration a pivot $p$ is about $h$ times a product $s_1 s_0$ of small singular values
    at both ends of a step, and the pivot $d$ of $A$ is $s_0^2$. So, in units of the diagonal $a$ of $A$, this
    takes $s_1$ for no less than $\kappa$, however small $s_0$ is, and leaves other pivots as they are.

    Args:
        h: the step.
        share: $\kappa$.
        diagonal: $a$.
        pivots: $d$.
    """
    return jnp.abs(h) * jnp.maximum(share * jnp.sqrt(diagonal * pivots), SMALLEST_PIVOT * diagonal)


def placing(joints: Joints) -> tuple[float, int]:
    r"""$\varepsilon$ and number of repetitions of a solve for positions or velocities."""
    return (0.0, 1) if joints.independent else (PLACING, PLACING_REPETITIONS)


def pushing(joints: Joints) -> tuple[float, int]:
    r"""$\varepsilon$ and number of repetitions of a solve for accelerations."""
    return (0.0, 1) if joints.independent else (PUSHING, PUSHING_REPETITIONS)


def joint_solution(
    joints: Joints,
    t,
    x: Array,
    R: Array,
    twist: Twist,
    force: Twist,
    at: tuple[Reach, int] | None = None,
) -> tuple[Rows, Twist]:
    r"""Forces of the joints and their wrench, such that the joints stay closed at a twist $u$.

    $$ M \dot u = f + G^T\lambda, \qquad G \dot u = -\gamma $$

    with the second rates $\gamma$ of the gaps at a constant twist.

    Args:
        joints: the conditions.
        t: time.
        x: positions.
        R: rotations.
        twist: $u$.
        force: $f$, all but what the joints add, gyroscopic torques included.
        at: the joints at this pose and a number of repetitions; those of `pushing` when left out.

    Returns:
        $\lambda$ and $G^T\lambda$.
    """
    reach, repetitions = reached(joints, t, x, R, pushing(joints)) if at is None else at
    bends, pushes = joints.bends(t, x, R, twist), reach.push(joints.weights * force)
    return straightened(reach, [bend + push for bend, push in zip(bends, pushes, strict=True)], repetitions)


def straightened(reach: Reach, bends: Rows, repetitions: int) -> tuple[Rows, Twist]:
    """Find the forces of the joints, and their wrench, after which second rates of the gaps vanish.

    Args:
        reach: the joints at a pose.
        bends: the second rates without these forces.
        repetitions: of the solve.
    """
    forces = reach.solve([-bend for bend in bends], repetitions)
    return forces, reach.pull(forces)


def reached(joints: Joints, t, x: Array, R: Array, solve: tuple[float, int]) -> tuple[Reach, int]:
    """Factor the Jacobians at a pose for a kind of solve, and say its number of repetitions."""
    epsilon, repetitions = solve
    return joints.at(t, x, R, epsilon).ready(), repetitions


def along_joints(
    joints: Joints, t, x: Array, R: Array, twist: Twist, at: tuple[Reach, int] | None = None
) -> Twist:
    """The impulse after which a twist keeps the joints closed, the least in the metric of the mass."""
    reach, repetitions = reached(joints, t, x, R, placing(joints)) if at is None else at
    rates = joints.rates(t, x, R, twist)
    return reach.pull(reach.solve([-rate for rate in rates], repetitions))


def closed(
    joints: Joints, t, x: Array, c: Array, rotation: Callable[[Array], Array], turn: Callable
) -> tuple[Array, Array]:
    """Positions and rotations with closed joints, by the Newton iteration in the metric of the mass.

    Args:
        joints: the conditions, slightly open.
        t: time.
        x: positions.
        c: numbers that stand for the rotations, bodies along the last axis.
        rotation: makes matrices of them.
        turn: turns them further in the body frames, by unit quaternions.
    """
    epsilon, repetitions = placing(joints)
    reach = joints.at(t, x, rotation(c), epsilon)
    turns = body_after_body(_small_turn) if joints.looped else each_body(_small_turn)

    def corrected(_, pose):
        x, c = pose
        gaps = joints.gaps(t, x, rotation(c))
        move = joints.weights * reach.pull(reach.solve([-gap for gap in gaps], repetitions))
        return x + move[: x.size].reshape(x.shape), turn(c, turns(move[x.size :].reshape(3, -1)))

    # As a loop: written out, three of them are most of the code of a projection.
    return lax.fori_loop(0, CLOSING, corrected, (x, c))


def _small_turn(angle: Float[Array, "3"]) -> Float[Array, "4"]:
    """Unit quaternion of a small rotation vector, right to first order."""
    turn = jnp.concatenate([jnp.ones(1), 0.5 * angle])
    return turn / jnp.sqrt(jnp.sum(turn * turn))
