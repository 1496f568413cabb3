"""A system of rigid bodies: what they are, what they may do, and what acts on them."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from ._abstract_system import AbstractSystem, LiveR, LiveX, Positions, Rotations
from ._checks import stacked
from ._placement import Placement, placement_of, take
from ._rigid_body import RigidBody
from ._terms import as_loads, as_potentials, named, with_freedom
from .freedom import AbstractFreedom
from .loads import AbstractLoad
from .potentials import AbstractInvariantPotential, AbstractPotential


class System(AbstractSystem):
    r"""Rigid bodies with their freedom, potential energies and loads.

    The numbers in it may be traced: build the system inside the function that is differentiated or mapped.

    Args:
        bodies: one body or several. Bodies without a name of their own are numbered.
        freedom: one of `pt.freedom` for each body, or one for a single body; all are free when left out.
        potentials: terms of `pt.potentials`, or functions `V(x, R)`, `V(t, x, R)` of the poses of all bodies.
        loads: terms of `pt.loads`, or functions `f(t, x, R, v, Omega) -> (force, torque)`.
        name: what reports call the system.

    Raises:
        InputError: one line that names the field, its value and the remedy.

    Example:
        >>> import poinsot as pt
        >>> top = pt.System(
        ...     pt.RigidBody(mass=1.0, inertia=(50.0, 42.0, 10.0)),
        ...     freedom=pt.freedom.FixedPoint(),
        ...     potentials=[pt.potentials.HeavyTop(mgl=108.8)],
        ... )
        >>> start = top.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(0, 0, 20))
    """

    bodies: tuple[RigidBody, ...]
    freedom: tuple[AbstractFreedom, ...]
    potentials: tuple[AbstractPotential, ...]
    loads: tuple[AbstractLoad, ...]
    placement: Placement
    masses: Float[Array, "Nx"]
    names: Sequence[str] = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        bodies: RigidBody | Sequence[RigidBody],
        *,
        freedom: AbstractFreedom | Sequence[AbstractFreedom] | None = None,
        potentials: Sequence[Any] = (),
        loads: Sequence[Any] = (),
        name: str = "system",
    ):
        self.name = name
        self.bodies, self.names = named(bodies)
        self.freedom = with_freedom(freedom, self.names)
        self.potentials = as_potentials(potentials, self.bodies)
        self.loads = as_loads(loads, self.bodies)
        self.placement = placement_of(self.bodies, self.freedom)
        self.masses = take(self.body_masses, self.translating)

    @property
    def body_masses(self) -> Float[Array, "body"]:
        """Mass of each body."""
        return stacked([body.mass for body in self.bodies], ())

    @property
    def body_inertias(self) -> Float[Array, "body 3 3"]:
        """Inertia tensor of each body about its mass centre, in its body frame."""
        return stacked([body.inertia_matrix for body in self.bodies], (3, 3))

    @property
    def autonomous(self) -> bool:
        """Whether time enters neither the potentials, nor the loads, nor a prescribed motion."""
        terms = (*self.potentials, *self.loads)
        return not self.placement.driven and not any(term.takes_time for term in terms)

    def potential(self, t, x: LiveX, R: LiveR) -> Scalar:
        """Potential energy of all terms at live coordinates."""
        return self.pose_potential(t, *self.poses(t, x, R))

    def pose_potential(self, t, x: Positions, R: Rotations) -> Scalar:
        """Potential energy of all terms at the poses of all bodies."""
        return sum((term.energy(t, x, R) for term in self.potentials), start=jnp.zeros(()))

    def trial_lengths(self, x: LiveX) -> Float[Array, "Nx"]:
        """A hundredth of the distance from the origin, or of one."""
        return 0.01 * (1.0 + jnp.max(jnp.abs(x), axis=0, initial=0.0))

    @property
    def declares_invariants(self) -> bool:
        """Whether every potential declares quadratic invariants and no motion is prescribed."""
        declared = all(isinstance(term, AbstractInvariantPotential) for term in self.potentials)
        return declared and not self.placement.driven

    def potential_invariants(self, x: LiveX, R: LiveR) -> Float[Array, "k"] | None:
        """Invariants of all potentials, of degree two at most in `x` and `R`; None if one declares none."""
        if not self.declares_invariants:
            return None
        positions, rotations = self.poses(0.0, x, R)
        return jnp.concatenate(
            [jnp.zeros(0), *(term.invariants(positions, rotations) for term in self._declaring())]
        )

    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """Potential energy as a function of `potential_invariants`."""
        shapes = jax.eval_shape(
            lambda x, R: [term.invariants(x, R) for term in self._declaring()],
            jnp.zeros((len(self.bodies), 3)),
            jnp.zeros((len(self.bodies), 3, 3)),
        )
        ends = [sum(shape.shape[0] for shape in shapes[: i + 1]) for i in range(len(shapes))]
        parts = zip(self._declaring(), [0, *ends[:-1]], ends, strict=True) if ends else ()
        return sum((term.energy_of(c[first:last]) for term, first, last in parts), start=jnp.zeros(()))

    def _declaring(self) -> list[AbstractInvariantPotential]:
        """The terms that declare invariants."""
        return [term for term in self.potentials if isinstance(term, AbstractInvariantPotential)]
