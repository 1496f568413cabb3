"""Equations solved for accelerations: with the constraints differentiated twice, or along them only."""

import equinox as eqx
from jaxtyping import Array

from poinsot.core import MultiplierForm, Projection
from poinsot.equations._bodies import Bodies, Flat
from poinsot.equations._constrained_bodies import ConstrainedBodies


class IndexReduced(eqx.Module):
    r"""The equations of motion with the constraints at the level of accelerations.

    $$ \dot q = v, \qquad M \dot v + G^T \lambda = f(t, q, v), \qquad G \dot v = -\dot G v - \dot g_t $$

    With `eliminated` false the linear system for acceleration and multipliers is solved as it stands (index
    1); with `eliminated` the multipliers are gone and the acceleration has a closed form (index 0). Both have
    the same solutions, and neither holds position and velocity to the constraints: there they drift.

    Gaps of joints are constraints like the others: their second rate vanishes wherever the coordinates are,
    also off the internal constraints, so that they drift no faster.
    """

    bodies: Bodies
    eliminated: bool = eqx.field(static=True)

    @property
    def height(self) -> int:
        """Rates of the coordinates."""
        return self.bodies.coordinates.size

    @property
    def pivots(self) -> bool:
        """Whether multipliers are unknowns of a linear system, as in the form of index 1."""
        return not self.eliminated

    def __call__(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Rates of positions and velocities."""
        return v, self.bodies.acceleration(t, q, v, eliminated=self.eliminated)[0]

    def project(self, t, q: Flat, v: Flat, what: Projection) -> tuple[Flat, Flat]:
        """Coordinates and their rates on the constraints, with joints closed."""
        bodies = self.bodies
        if bodies.system.linkage is None:
            return bodies.project(q, v, what)
        if what in ("position", "both"):
            q = bodies.on_surface(t, q)
        if what in ("velocity", "both"):
            v = bodies.project(q, v, "velocity")[1]
            twist = bodies.twist(q, v)
            v = v + bodies.rate(q, bodies.along_joints(t, q, twist) - twist)
        return q, v

    def energy(self, t, q: Flat, v: Flat) -> Array:
        """Kinetic plus potential energy."""
        return self.bodies.kinetic(q, v) + self.bodies.potential(t, q)

    def implicit_form(self) -> MultiplierForm | None:
        """The equations of index 1 before they are solved for accelerations and multipliers."""
        return (
            None
            if self.eliminated
            else MultiplierForm(system=ConstrainedBodies(self.bodies), positions=self.bodies.size)
        )


class NullSpace(eqx.Module):
    r"""Velocities along the constraints only: the null-space form, in body angular velocities.

    $$ \dot q = T(q)\,\Omega, \qquad J\dot\Omega = T(q)^T f(t, q, \Omega) - \Omega \times J\Omega $$

    No multiplier, no constraint at the level of velocities, and as few velocities as degrees of freedom. The
    constraints of position are invariants of the equations.
    """

    bodies: Bodies

    @property
    def height(self) -> int:
        """Angular velocities."""
        return 3

    @property
    def pivots(self) -> bool:
        """No linear system is solved with pivots."""
        return False

    def __call__(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Rates of positions and of (linear, angular) velocities."""
        bodies, system = self.bodies, self.bodies.system
        x_rate, Omega = bodies.split(v)
        force, torque = bodies.momentum_rate(t, q, x_rate, Omega)
        q_rate = bodies.join(x_rate, bodies.velocity(bodies.split(q)[1], Omega))
        # By reciprocals, which a compiled loop finds once: divisions are what a step would wait for.
        return q_rate, bodies.join(force * (1.0 / system.masses[None]), torque * (1.0 / system.inertia))

    def project(self, t, q: Flat, v: Flat, what: Projection) -> tuple[Flat, Flat]:
        """Coordinates on the constraints; these velocities are along them by themselves."""
        return self.bodies.project(q, v, "position" if what in ("position", "both") else "none")[0], v

    def energy(self, t, q: Flat, v: Flat) -> Array:
        """Kinetic plus potential energy."""
        return self.bodies.kinetic_of_twist(v) + self.bodies.potential(t, q)

    def implicit_form(self) -> None:
        """There are no multipliers."""
        return None
