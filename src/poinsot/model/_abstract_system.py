"""What every system of rigid bodies can say of itself, whatever it is made of."""

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from poinsot.core import (
    NUMBER,
    InputError,
    LocalWrench,
    Recommending,
    State,
    UserFunction,
    as_params,
    checked,
    concrete,
    known_names,
    quoted,
)
from poinsot.core.types import Scalar
from poinsot.rotation import from_matrix, to_matrix

from . import _momenta
from ._assembly import CLOSED, Assembled, assembled, check_closed
from ._chart import Chart
from ._driven import check_drives
from ._linkage import Linkage
from ._mobility import Mobility, mobility
from ._params import filled
from ._placement import Placement, Places
from ._roster import Roster
from ._start import check_freedom, check_physical, live, physical_state
from ._symmetries import symmetries
from ._terms import as_loads, as_potentials
from ._worst_run import may_contradict, worst_run
from .loads import AbstractLoad, total_wrench
from .potentials import AbstractPotential

if TYPE_CHECKING:
    from poinsot.analysis import DampedModes, Equilibrium, Modes

LiveX = Float[Array, "3 Nx"]
LiveR = Float[Array, "3 3 Nr"]
LiveOmega = Float[Array, "3 Nr"]
Positions = Float[Array, "body 3"]
Rotations = Float[Array, "body 3 3"]


class AbstractSystem(Recommending):
    r"""Rigid bodies with their freedom, a potential energy and loads.

    People see *poses* of all bodies in their body frames: positions (body, 3) of the mass centres, rotation
    matrices (body, 3, 3), velocities (body, 3) in space, angular velocities (body, 3) in the body frame.
    Equations of motion see *live coordinates*, only what moves, with the body axis last: `x` and `v` (3, Nx)
    of the translating bodies, `R` (3, 3, Nr) and `Omega` (3, Nr) of the rotating ones in principal axes
    through the mass centre, or through the fixed point where there is one.
    """

    derived: ClassVar[tuple[str, ...]] = ("placement", "masses", "names", "recommendation")

    name: eqx.AbstractVar[str]
    names: eqx.AbstractVar[Sequence[str]]
    """Of the bodies."""
    placement: eqx.AbstractVar[Placement]
    potentials: eqx.AbstractVar[tuple[AbstractPotential, ...]]
    """Terms of the potential energy, without the bonds of a chain."""
    loads: eqx.AbstractVar[tuple[AbstractLoad, ...]]
    params: eqx.AbstractVar[Any]
    """Parameters of users' functions that were given none of their own."""
    invariants: eqx.AbstractVar[dict[str, UserFunction]]
    """Users' functions `f(t, motion, params)` that reports show, by name."""
    masses: eqx.AbstractVar[Float[Array, "Nx"]]
    """Masses of the translating bodies."""

    @property
    @abc.abstractmethod
    def body_masses(self) -> Float[Array, "body"]:
        """Mass of each body."""

    @property
    @abc.abstractmethod
    def body_inertias(self) -> Float[Array, "body 3 3"]:
        """Inertia tensor of each body about its mass centre, in its body frame."""

    @property
    @abc.abstractmethod
    def roster(self) -> Roster:
        """The bodies as terms see them."""

    @property
    def autonomous(self) -> bool:
        """Whether time enters neither the potentials, nor the loads, nor a prescribed motion or drive."""
        terms = (*self.potentials, *self.loads)
        return not self.driven and not any(term.takes_time for term in terms)

    @property
    def driven(self) -> bool:
        """Whether the motion of a body, or of a joint, is a function of time."""
        return self.placement.driven or (self.linkage is not None and self.linkage.driven)

    @property
    def terms(self) -> tuple[AbstractPotential, ...]:
        """The terms of the potential energy, with the system's parameters in them."""
        return filled(self.potentials, self.params)

    @property
    def placed(self) -> Placement:
        """The placement, with the system's parameters in its motions."""
        return filled(self.placement, self.params)

    def with_params(self, params: Any) -> Self:
        """The same system with other parameters of the same structure: compiles nothing anew."""
        return eqx.tree_at(lambda one: one.params, self, as_params(params), is_leaf=lambda x: x is None)

    def with_terms(self, potentials: Sequence[Any] = (), loads: Sequence[Any] = ()) -> Self:
        """The same system with further potentials and loads, in all forms that it takes itself.

        A recommended start and step stay; an exact motion is one no more.
        """
        more = (
            (*self.potentials, *as_potentials(potentials, self.roster, self.params)),
            (*self.loads, *as_loads(loads, self.roster, self.params)),
        )
        changed = eqx.tree_at(lambda one: (one.potentials, one.loads), self, more)
        known = self.recommendation
        return changed if known is None else changed.recommending(known.start, known.dt)

    @abc.abstractmethod
    def potential(self, t, x: LiveX, R: LiveR) -> Scalar:
        """Potential energy at live coordinates."""

    def potential_in(self, t, x: LiveX, c: Float[Array, "*height Nr"], chart: Chart) -> Scalar:
        """Potential energy at live positions and any coordinates of the live rotations."""
        return self.potential(t, x, chart.rotation(c))

    @abc.abstractmethod
    def pose_potential(self, t, x: Positions, R: Rotations) -> Scalar:
        """Potential energy at the poses of all bodies."""

    @property
    @abc.abstractmethod
    def declares_invariants(self) -> bool:
        """Whether the potential is a known function of invariants, and no motion is prescribed."""

    @abc.abstractmethod
    def potential_invariants(self, x: LiveX, R: LiveR) -> Float[Array, "k"] | None:
        """Invariants of the potential, of degree two at most in `x` and `R`; None if it declares none."""

    @abc.abstractmethod
    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """Potential energy as a function of `potential_invariants`."""

    @abc.abstractmethod
    def trial_lengths(self, x: LiveX) -> Float[Array, "Nx"]:
        """How far each translating body may be moved where the potential is tried near a state."""

    @property
    def count(self) -> int:
        """Number of bodies."""
        return len(self.names)

    @property
    def light(self) -> tuple[str, ...]:
        """Names of bodies that may lack mass or inertia: they have equations in joint coordinates only."""
        return ()

    @property
    def translating(self) -> Places:
        """Places of the bodies whose position is a coordinate."""
        return self.placement.translating

    @property
    def rotating(self) -> Places:
        """Places of the bodies whose rotation is a coordinate."""
        return self.placement.rotating

    @property
    def inertia(self) -> Float[Array, "3 Nr"]:
        """Principal moments of the rotating bodies, about the mass centre or the fixed point."""
        return self.placement.inertia

    @property
    def conservative(self) -> bool:
        """Whether there are no loads: with `autonomous`, the energy is conserved."""
        return not self.loads

    @property
    def row(self) -> Int[np.ndarray, "body"] | None:
        """A place for each body in a row where forces act within a place and between neighbouring ones.

        None where any two bodies may act on each other.
        """
        return None

    @property
    def joint_row(self) -> Int[np.ndarray, "body"] | None:
        """The same with joints, which act like forces: of bodies with joints and without loads."""
        return None

    @property
    def linkage(self) -> Linkage | None:
        """The joints between the bodies; None where there are none."""
        return None

    @property
    def local_wrench(self) -> LocalWrench | None:
        """Forces and torques in pieces, where the bodies are equal and in a row; else None."""
        return None

    def check_start(self, t, state: State) -> None:  # noqa: B027
        """Refuse a state that bodies cannot start from, where the system can tell which they are."""

    def index(self, name: str) -> int:
        """Place of the body of this name."""
        if name not in self.names:
            raise InputError(f"no body is called {quoted(name)}; {known_names(name, self.names)}")
        return self.names.index(name)

    def poses(self, t, x: LiveX, R: LiveR) -> tuple[Positions, Rotations]:
        """Positions and rotation matrices of all bodies at live coordinates."""
        return self.placed.poses(t, x, R)

    def rates(self, t, x: LiveX, R: LiveR, v: LiveX, Omega: LiveOmega) -> tuple[Positions, Positions]:
        """Velocities (space) and angular velocities (body frame) of all bodies."""
        return self.placed.rates(t, x, R, v, Omega)

    def load(self, t, x: LiveX, R: LiveR, v: LiveX, Omega: LiveOmega) -> tuple[LiveX, LiveOmega] | None:
        r"""Generalised forces (3, Nx) and torques (3, Nr) of all loads, None if there are none.

        Their power is that of the loads for all velocities the bodies may have,
        $F\cdot\delta v + M\cdot\delta\Omega = \sum_i (f_i\cdot\delta v_i + \tau_i\cdot\delta\Omega_i)$.
        """
        if not self.loads:
            return None
        rates, pull_back = jax.vjp(lambda v, Omega: self.rates(t, x, R, v, Omega), v, Omega)
        return pull_back(self.pose_load(t, *self.poses(t, x, R), *rates))

    def pose_load(
        self, t, x: Positions, R: Rotations, v: Positions, Omega: Positions
    ) -> tuple[Positions, Positions]:
        """Forces in space and torques in the body frames on all bodies, of all loads; there must be one."""
        return total_wrench(filled(self.loads, self.params), t, x, R, v, Omega)

    def kinetic(self, x: Positions, R: Rotations, v: Positions, Omega: Positions) -> Scalar:
        """Kinetic energy of all bodies, from their poses and velocities."""
        return _momenta.kinetic_energy(self.body_masses, self.body_inertias, v, Omega)

    def driven_energy(self, v: Positions, Omega: Positions) -> Scalar:
        """Kinetic energy of what is a function of time alone, from the velocities of all bodies."""
        placement, bodies = self.placement, np.arange(self.count)
        if not placement.driven:
            return jnp.zeros(())
        moved = np.isin(bodies, placement.guided + placement.prescribed)[:, None]
        turned = np.isin(bodies, placement.prescribed)[:, None]
        return _momenta.kinetic_energy(
            self.body_masses, self.body_inertias, jnp.where(moved, v, 0.0), jnp.where(turned, Omega, 0.0)
        )

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

    @checked
    def state(
        self,
        position: Any = None,
        rotation: Any = None,
        velocity: Any = None,
        angular_velocity: Any = None,
        *,
        normalise: bool = False,
        t: Annotated[ArrayLike, NUMBER] = 0.0,
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
            self.placed, self.names, t, position, rotation, velocity, angular_velocity, normalise
        )

    def check_state(
        self, t, state: State, *, runs: bool = False, what: str = "the start", closed: float | None = CLOSED
    ) -> None:
        """Refuse what is not a physical state of these bodies; of traced numbers the shapes are looked at.

        Args:
            t: time, for prescribed motions.
            state: what is to be one.
            runs: whether it is a batch of states, run first.
            what: what messages call it.
            closed: how far joints may be open, relative to one plus the size of positions or velocities;
                None for any joints.
        """
        check_physical(self.placed, self.names, t, state, runs=runs, what=what)
        if runs and concrete(self, state, t) and may_contradict(self):
            # What holds for the run that is furthest off holds for all.
            worst = int(worst_run(self, t, state))
            state, what = jax.tree.map(lambda part: part[worst], state), f"{what} of run {worst}"
            check_freedom(self.placed, self.names, t, state, f" in run {worst}")
            runs = False
        if not runs and closed is not None:
            check_closed(self, t, state, what, closed)
            check_drives(self, t, state)

    @checked
    def assemble(
        self,
        near: State | Mapping[str, Mapping[str, Any]] | None = None,
        t: Annotated[ArrayLike, NUMBER] = 0.0,
        *,
        coordinates: Mapping[str, Any] | None = None,
        velocity: Mapping[str, Any] | None = None,
    ) -> Assembled:
        """A state whose joints are closed and stay closed.

        Positions and rotations are corrected by a Newton iteration, each step the smallest in the metric of
        the mass; then velocities to the nearest in that metric.

        Args:
            near: what the bodies are near to: a state from `state(...)`, or a dictionary of some bodies with
                `position`, `rotation`, `velocity`, `angular_velocity` as far as they are known. The other
                bodies are placed along their joints, at coordinates of zero, and at rest.
            t: time, for prescribed motions and drives.
            coordinates: values of joint coordinates by name of the joint, such as `{"motor": 0.5}`; of a
                joint with several `{"slide": {"position": 0.1, "angle": 0.5}}`.
            velocity: rates of joint coordinates likewise. What is left open is the smallest motion, or the
                nearest to given velocities.

        Returns:
            The state. Its `assembly` says in words what was moved.

        Raises:
            InputError: no such state was found; the message names the joint that stays open.
        """
        return assembled(self, t, near, coordinates or {}, velocity or {})

    @checked
    def mobility(self, state: State, t: Annotated[ArrayLike, NUMBER] = 0.0) -> Mobility:
        """What the joints leave at a state: degrees of freedom, loops, redundant conditions, singular or not.

        The rank of all conditions is found from their Jacobian in velocities, and compared with that at
        configurations nearby. Print the result.

        Args:
            state: with closed joints, from `assemble` or a run.
            t: time, for prescribed motions and drives.

        Raises:
            InputError: the joints are open, or there are none.
        """
        check_physical(self.placed, self.names, t, state)
        check_closed(self, t, state)
        return mobility(self, t, state)

    def from_live(self, t, x: LiveX, quat: Float[Array, "4 Nr"], v: LiveX, Omega: LiveOmega) -> State:
        """The physical state of live coordinates."""
        R = jnp.moveaxis(to_matrix(quat.T), 0, -1)
        positions, rotations = self.poses(t, x, R)
        velocities, spins = self.rates(t, x, R, v, Omega)
        return State(
            position=positions,
            quaternion=from_matrix(rotations),
            velocity=velocities,
            angular_velocity=spins,
        )

    def live(self, t, state: State) -> tuple[LiveX, Float[Array, "4 Nr"], LiveX, LiveOmega]:
        """Live coordinates `x`, `quaternion`, `v`, `Omega` of a physical state."""
        return live(self.placement, state)

    def equilibrium(self, near: State | None = None, **options: Any) -> "Equilibrium":
        """The lowest minimum of the energy found from several starts, see `pt.analysis.equilibrium`."""
        from poinsot.analysis import equilibrium

        return equilibrium(self, near, **options)

    @checked
    def modes(self, equilibrium: "Equilibrium | State", count: int | None = 12) -> "Modes":
        """Small vibrations about an equilibrium, see `pt.analysis.modes`."""
        from poinsot.analysis import modes

        return modes(self, equilibrium, count)

    @checked
    def damped_modes(self, equilibrium: "Equilibrium | State") -> "DampedModes":
        """Small motions about an equilibrium with loads, see `pt.analysis.damped_modes`."""
        from poinsot.analysis import damped_modes

        return damped_modes(self, equilibrium)

    @checked
    def symmetries(self, t, state: State) -> Bool[Array, "6"]:
        """Which momenta are conserved: linear along x, y, z; angular about x, y, z through the origin."""
        return symmetries(self, t, state)
