r"""Velocities along the joints only: the null-space form of jointed systems."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import Projection, Reach, Twist, along_joints, joint_solution, pushing, reached
from poinsot.equations._bodies import Bodies, Flat
from poinsot.model import AnyLinkage, expanded_along, reduced_along


class JointNullSpace(eqx.Module):
    r"""Positions of all bodies, and independent rates $\nu$ along a spanning tree of the joints.

    $$ \dot q = T(q)\,u, \qquad u = P(t, q)\,\nu + u_t, \qquad
       P\dot\nu = \dot u - \dot P\nu - \dot u_t, \qquad M\dot u = f + G^T\lambda $$

    with twists $u$ of the bodies, the null space $P$ of the joints in the tree, $G P = 0$, and $u_t$ of what
    moves as a function of time. The rates are those of the roots of the tree and of the joint coordinates,
    for a ball joint the angular velocity of its outer body, so no velocity opens a joint of the tree, and
    there are as many rates as degrees of freedom where there is no loop. Joints that close loops, drives and
    couplings make the rates depend on each other: there $u$ is the nearest twist, in the metric of the mass,
    that keeps them closed,

    $$ u = w - M^{-1} G^T (G M^{-1} G^T)^{-1} (G w + g_t), \qquad w = P\nu + u_t, $$

    which varies smoothly along the motion, where a basis of the velocities in the loop need not.
    Closed joints and the constraints of the coordinates are invariants of the equations.
    """

    bodies: Bodies

    @property
    def height(self) -> int:
        """None: no rate belongs to the rotation of one body alone."""
        return 0

    @property
    def linkage(self) -> AnyLinkage:
        """The joints."""
        linkage = self.bodies.joints
        assert linkage is not None
        return linkage

    def twist(self, t, q: Flat, rates: Array, at: tuple[Reach, int] | None = None) -> Twist:
        """Velocities and body angular velocities of rates along the tree.

        Args:
            t: time.
            q: positions and coordinates.
            rates: along the tree.
            at: the joints there, if they are known.
        """
        linkage, (x, R) = self.linkage, self.bodies.pose(q)
        twist = expanded_along(linkage, t, x, R, rates)
        if linkage.independent:
            return twist
        return twist + linkage.weights * along_joints(linkage, t, x, R, twist, at)

    def reduced(self, t, q: Flat, twist: Twist) -> Array:
        """Rates along the tree of a twist that keeps the joints closed."""
        return reduced_along(self.linkage, t, *self.bodies.pose(q), twist)

    @property
    def pivots(self) -> bool:
        """No linear system is solved with pivots."""
        return False

    def __call__(self, t, q: Flat, v: Array) -> tuple[Flat, Array]:
        """Rates of positions, and of the rates along the tree."""
        bodies, linkage = self.bodies, self.linkage
        t, (x, R) = jnp.asarray(t, dtype=float), bodies.pose(q)
        at = reached(linkage, t, x, R, pushing(linkage))
        twist = self.twist(t, q, v, at)
        x_rate, Omega = bodies.split(twist)
        force = bodies.join(*bodies.momentum_rate(t, q, x_rate, Omega))
        _, wrench = joint_solution(linkage, t, x, R, twist, force, at)
        acceleration = linkage.weights * (force + wrench)
        turning = jnp.cross(R, Omega[None], axis=1)
        rates = jax.jvp(
            lambda *at: reduced_along(linkage, *at),
            (t, x, R, twist),
            (jnp.ones_like(t), x_rate, turning, acceleration),
        )[1]
        return bodies.rate(q, twist), rates

    def project(self, t, q: Flat, v: Array, what: Projection) -> tuple[Flat, Array]:
        """Closed joints, and rates that keep them closed where they are bound by more than the tree."""
        if what in ("position", "both"):
            q = self.bodies.on_surface(t, q)
        if what in ("velocity", "both") and not self.linkage.independent:
            v = self.reduced(t, q, self.twist(t, q, v))
        return q, v

    def energy(self, t, q: Flat, v: Array) -> Array:
        """Kinetic plus potential energy."""
        return self.bodies.kinetic_of_twist(self.twist(t, q, v)) + self.bodies.potential(t, q)

    def implicit_form(self) -> None:
        """There are no multipliers."""
        return None
