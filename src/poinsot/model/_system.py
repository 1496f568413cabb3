"""A system of rigid bodies: what they are, what they may do, and what acts on them."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float

from poinsot.core import InputError, State
from poinsot.core.types import Scalar

from . import _momenta
from ._checks import stacked
from ._placement import Placement, take
from ._rigid_body import RigidBody
from ._start import live, physical_state
from ._symmetries import symmetries
from ._terms import as_loads, as_potentials, named, with_freedom
from .freedom import AbstractFreedom
from .loads import AbstractLoad
from .potentials import AbstractInvariantPotential, AbstractPotential

LiveX = Float[Array, "3 Nx"]
LiveR = Float[Array, "3 3 Nr"]
LiveOmega = Float[Array, "3 Nr"]
Positions = Float[Array, "body 3"]
Rotations = Float[Array, "body 3 3"]


class System(eqx.Module):
    r"""Rigid bodies with their freedom, potential energies and loads.

    People see *poses* of all bodies in their body frames: positions (body, 3) of the mass centres, rotation
    matrices (body, 3, 3), velocities (body, 3) in space, angular velocities (body, 3) in the body frame.
    Equations of motion see *live coordinates*, only what moves, with the body axis last: `x` and `v` (3, Nx)
    of the translating bodies, `R` (3, 3, Nr) and `Omega` (3, Nr) of the rotating ones in principal axes
    through the mass centre, or through the fixed point where there is one.

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
    """Masses of the translating bodies."""
    body_masses: Float[Array, "body"]
    body_inertias: Float[Array, "body 3 3"]
    """Inertia tensors of all bodies about their mass centres, in their body frames."""
    names: tuple[str, ...] = eqx.field(static=True)
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
        self.placement = Placement(self.bodies, self.freedom)
        self.body_masses = stacked([body.mass for body in self.bodies], ())
        self.body_inertias = stacked([body.inertia_matrix for body in self.bodies], (3, 3))
        self.masses = take(self.body_masses, self.translating)

    @property
    def translating(self) -> tuple[int, ...]:
        """Places of the bodies whose position is a coordinate."""
        return self.placement.translating

    @property
    def rotating(self) -> tuple[int, ...]:
        """Places of the bodies whose rotation is a coordinate."""
        return self.placement.rotating

    @property
    def inertia(self) -> Float[Array, "3 Nr"]:
        """Principal moments of the rotating bodies, about the mass centre or the fixed point."""
        return self.placement.inertia

    @property
    def autonomous(self) -> bool:
        """Whether time enters neither the potentials, nor the loads, nor a prescribed motion."""
        terms = (*self.potentials, *self.loads)
        return not self.placement.prescribed and not any(term.takes_time for term in terms)

    @property
    def conservative(self) -> bool:
        """Whether there are no loads: with `autonomous`, the energy is conserved."""
        return not self.loads

    def index(self, name: str) -> int:
        """Place of the body of this name."""
        if name not in self.names:
            raise InputError(f"no body is called {name!r}; there are {', '.join(self.names)}")
        return self.names.index(name)

    def poses(self, t, x: LiveX, R: LiveR) -> tuple[Positions, Rotations]:
        """Positions and rotation matrices of all bodies at live coordinates."""
        return self.placement.poses(t, x, R)

    def rates(self, t, x: LiveX, R: LiveR, v: LiveX, Omega: LiveOmega) -> tuple[Positions, Positions]:
        """Velocities (space) and angular velocities (body frame) of all bodies."""
        return self.placement.rates(t, x, R, v, Omega)

    def potential(self, t, x: LiveX, R: LiveR) -> Scalar:
        """Potential energy of all terms at live coordinates."""
        positions, rotations = self.poses(t, x, R)
        energies = [term.energy(t, positions, rotations) for term in self.potentials]
        return sum(energies, start=jnp.zeros(()))

    @property
    def declares_invariants(self) -> bool:
        """Whether every potential declares quadratic invariants and no motion is prescribed."""
        declared = all(isinstance(term, AbstractInvariantPotential) for term in self.potentials)
        return declared and not self.placement.prescribed

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

    def load(self, t, x: LiveX, R: LiveR, v: LiveX, Omega: LiveOmega) -> tuple[LiveX, LiveOmega] | None:
        r"""Generalised forces (3, Nx) and torques (3, Nr) of all loads, None if there are none.

        Their power is that of the loads for all velocities the bodies may have,
        $F\cdot\delta v + M\cdot\delta\Omega = \sum_i (f_i\cdot\delta v_i + \tau_i\cdot\delta\Omega_i)$.
        """
        if not self.loads:
            return None
        positions, rotations = self.poses(t, x, R)
        rates, pull_back = jax.vjp(lambda v, Omega: self.rates(t, x, R, v, Omega), v, Omega)
        wrenches = [load.wrench(t, positions, rotations, *rates) for load in self.loads]
        total = tuple(sum(parts[1:], start=parts[0]) for parts in zip(*wrenches, strict=True))
        return pull_back(total)

    def kinetic(self, x: Positions, R: Rotations, v: Positions, Omega: Positions) -> Scalar:
        """Kinetic energy of all bodies, from their poses and velocities."""
        return _momenta.kinetic_energy(self.body_masses, self.body_inertias, v, Omega)

    def linear_momentum(
        self, x: Positions, R: Rotations, v: Positions, Omega: Positions
    ) -> Float[Array, "3"]:
        """Total linear momentum, from the poses and velocities of all bodies."""
        return _momenta.linear_momentum(self.body_masses, v)

    def angular_momentum(
        self, x: Positions, R: Rotations, v: Positions, Omega: Positions
    ) -> Float[Array, "3"]:
        """Total angular momentum about the origin in space, from the poses and velocities of all bodies."""
        return _momenta.angular_momentum(self.body_masses, self.body_inertias, x, R, v, Omega)

    def state(
        self,
        position: Any = None,
        rotation: Any = None,
        velocity: Any = None,
        angular_velocity: Any = None,
        *,
        normalise: bool = False,
        t: ArrayLike = 0.0,
    ) -> State:
        """A physical state of all bodies.

        Each argument holds one entry for each body (that of a single body also by itself), or None for
        bodies that start at the origin, unturned, at rest, or as their freedom demands. What the freedom of
        a body determines may be left out; where given, it is checked.

        Args:
            position: of the mass centres, (body, 3).
            rotation: quaternions (body, 4), scalar first, or matrices (body, 3, 3), body to space.
            velocity: of the mass centres in space, (body, 3).
            angular_velocity: in the body frames, (body, 3).
            normalise: take the nearest rotation to each one given.
            t: time, for prescribed motions.

        Returns:
            `State(position, quaternion, velocity, angular_velocity)`.
        """
        return physical_state(
            self.placement, self.names, t, position, rotation, velocity, angular_velocity, normalise
        )

    def live(self, t, state: State) -> tuple[LiveX, Float[Array, "4 Nr"], LiveX, LiveOmega]:
        """Live coordinates `x`, `quaternion`, `v`, `Omega` of a physical state."""
        return live(self.placement, state)

    def symmetries(self, t, state: State) -> Bool[Array, "6"]:
        """Which momenta are conserved: linear along x, y, z; angular about x, y, z through the origin."""
        return symmetries(self, t, state)

    def _declaring(self) -> list[AbstractInvariantPotential]:
        """The terms that declare invariants."""
        return [term for term in self.potentials if isinstance(term, AbstractInvariantPotential)]
