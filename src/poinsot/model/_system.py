"""A system of rigid bodies: what they are, what they may do, and what acts on them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from poinsot.core import State, UserFunction, as_params, checked, shown, title
from poinsot.core.types import Scalar
from poinsot.kernels import once

from ._abstract_system import AbstractSystem, LiveR, LiveX, Positions, Rotations
from ._checks import stacked
from ._geometry import Geometry, as_geometry
from ._joint_row import acting_together, row_of
from ._light import check_light
from ._limits import JointLimits, check_data
from ._linkage import Linkage
from ._named_frames import as_frames
from ._params import filled
from ._placement import Placement, placement_of, take
from ._rigid_body import RigidBody
from ._roster import Roster
from ._term_sum import all_declare, total_energy, total_energy_of, total_invariants
from ._terms import as_invariants, as_joints, as_loads, as_poses, as_potentials, named, with_freedom
from .freedom import AbstractFreedom
from .joints import AbstractCondition, AbstractJoint
from .loads import AbstractLoad
from .open_chain import OpenChain
from .potentials import AbstractPotential
from .potentials._marker import Marker


class System(AbstractSystem):
    r"""Rigid bodies with their freedom, joints, potential energies and loads.

    The numbers in it may be traced: build the system inside the function that is differentiated or mapped.

    Args:
        bodies: one body or several. Bodies without a name of their own are numbered.
        freedom: one of `pt.freedom` for each body, or one for a single body; all are free when left out.
        potentials: terms of `pt.potentials`; a pair potential by itself acts between all bodies. Or functions
            `V(x, R)` of the poses of all bodies, which may take `t` before and `params` behind these.
        loads: terms of `pt.loads`, or functions `f(t, x, R, v, Omega) -> (force, torque)`, which may take
            `params` too.
        params: any pytree of numbers and arrays, given to every function that takes `params` and was given
            none of its own. Other numbers compile nothing anew; `with_params` exchanges them.
        invariants: functions of the motion by name, `f(motion)` with `t` before and `params` behind where
            they take these; reports show how well they are conserved. A `motion` has `position`, `rotation`,
            `velocity`, `angular_velocity`, `energy`, `linear_momentum` and `angular_momentum`.
        joints: terms of `pt.joints`, drives and couplings among them.
        reference: poses of bodies, by name, in which places and axes of joints are given in space: a position
            and a rotation each. The others are at the origin, unturned.
        frames: named places on bodies, (body, point, rotation) each, for `OpenChain` and pictures.
        geometry: shapes of the bodies, `pt.model.Geometry` each; data that nothing acts on.
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
    params: Any
    invariants: dict[str, UserFunction]
    mechanism: Linkage | None
    frames: dict[str, Marker]
    placement: Placement
    masses: Float[Array, "Nx"]
    names: Sequence[str] = eqx.field(static=True)
    geometry: tuple[Geometry, ...] = eqx.field(static=True, repr=False)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        bodies: RigidBody | Sequence[RigidBody],
        *,
        freedom: AbstractFreedom | Sequence[AbstractFreedom] | None = None,
        potentials: Sequence[Any] = (),
        loads: Sequence[Any] = (),
        params: Any = None,
        invariants: Mapping[str, Callable] | None = None,
        joints: Sequence[AbstractCondition] = (),
        reference: Mapping[str, Any] | None = None,
        frames: Mapping[str, Any] | None = None,
        geometry: Sequence[Geometry] = (),
        name: str = "system",
    ):
        self.name = name
        self.bodies, self.names = named(bodies)
        self.params = as_params(params)
        self.invariants = as_invariants(invariants)
        self.freedom = with_freedom(freedom, self.names, self.params)
        self.placement = placement_of(self.bodies, self.freedom)
        self.masses = take(self.body_masses, self.translating)
        conditions = as_joints(joints, self.params)
        self.mechanism = None
        if conditions:
            poses = as_poses(reference or {}, self.names)
            self.mechanism = Linkage(conditions, self.names, poses, self.placement, self.masses)
            check_data(self.mechanism.held)  # Refused here, not when a run asks for them.
        self.frames = as_frames(frames, self.roster)
        self.geometry = as_geometry(geometry, self.names)
        self.potentials = as_potentials(potentials, self.roster, self.params)
        self.loads = as_loads(loads, self.roster, self.params)
        check_light(self)

    def __repr__(self) -> str:
        """One body with its numbers; of several bodies the names, and the kinds of what acts on them."""
        if self.count == 1 and self.mechanism is None:
            return super().__repr__()
        parts = {
            "bodies": self.names,
            "joints": [joint.name for joint in self.joints],
            "potentials": [title(term) for term in self.potentials],
            "loads": [title(term) for term in self.loads],
        }
        return shown(self, {"name": self.name} | {what: names for what, names in parts.items() if names})

    @property
    def light(self) -> tuple[str, ...]:
        """Names of bodies that may lack mass or inertia: they have equations in joint coordinates only."""
        return tuple(name for name, body in zip(self.names, self.bodies, strict=True) if body.light)

    @property
    def linkage(self) -> Linkage | None:
        """The joints between the bodies, where these are at the parameters of the system."""
        if self.mechanism is None:
            return None
        return filled(self.mechanism, self.params)

    @property
    def joint_row(self) -> Int[np.ndarray, "body"] | None:
        """Bodies by their distance from an end of the graph of joints, springs and the like.

        None where a potential may act between any two bodies, or a load acts: loads are taken at velocities
        with closed joints, which depend on all bodies.
        """
        groups = acting_together(self.potentials)
        if self.mechanism is None or self.loads or groups is None:
            return None
        return row_of(self.count, [*groups, *self.mechanism.held_together])

    @property
    def joints(self) -> tuple[AbstractJoint, ...]:
        """The joints, without drives and couplings."""
        return () if self.mechanism is None else self.mechanism.joints

    @property
    def limits(self) -> JointLimits:
        """How far joints are from their limits: `pt.simulate(..., stop=system.limits)` ends there."""
        return JointLimits.of(self.roster.joints)

    @checked
    def joint_state(
        self, coordinates: Mapping[str, Any] | None = None, rates: Mapping[str, Any] | None = None
    ) -> State:
        """A physical state from coordinates and rates of the joints, by name.

        Drives and couplings are not looked at: give coordinates and rates that they allow, or `assemble` the
        state.

        Args:
            coordinates: of joints, and of bodies that no joint carries; the others are zero, or unturned. A
                number each, of joints with several as many as they have: of a ball joint a quaternion or a
                rotation vector.
            rates: of the same; the others are at rest. Those of a ball joint are an angular velocity in its
                second body.

        Raises:
            InputError: the joints close a loop; then start from `state` and `assemble`.
        """
        chain = OpenChain(self, cut=self.linkage is None or not self.linkage.tree.cut)
        return _of_joints(chain, chain.coordinates(coordinates), chain.rates(rates))

    @property
    def body_masses(self) -> Float[Array, "body"]:
        """Mass of each body."""
        return stacked([body.mass for body in self.bodies], ())

    @property
    def body_inertias(self) -> Float[Array, "body 3 3"]:
        """Inertia tensor of each body about its mass centre, in its body frame."""
        return stacked([body.inertia_matrix for body in self.bodies], (3, 3))

    @property
    def roster(self) -> Roster:
        """The bodies and joints as terms see them."""
        return Roster(self.names, self.bodies, {} if self.mechanism is None else self.mechanism.held)

    def potential(self, t, x: LiveX, R: LiveR) -> Scalar:
        """Potential energy of all terms at live coordinates."""
        return self.pose_potential(t, *self.poses(t, x, R))

    def pose_potential(self, t, x: Positions, R: Rotations) -> Scalar:
        """Potential energy of all terms at the poses of all bodies."""
        return total_energy(self.terms, t, x, R)

    def trial_lengths(self, x: LiveX) -> Float[Array, "Nx"]:
        """A hundredth of the distance from the origin, or of one."""
        return 0.01 * (1.0 + jnp.max(jnp.abs(x), axis=0, initial=0.0))

    @property
    def declares_invariants(self) -> bool:
        """Whether every potential declares quadratic invariants and no motion is prescribed."""
        return all_declare(self.potentials) and not self.placement.driven

    def potential_invariants(self, x: LiveX, R: LiveR) -> Float[Array, "k"] | None:
        """Invariants of all potentials, of degree two at most in `x` and `R`; None if one declares none."""
        if not self.declares_invariants:
            return None
        return total_invariants(self.terms, *self.poses(0.0, x, R))

    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """Potential energy as a function of `potential_invariants`."""
        return total_energy_of(self.terms, c, self.count)


@once
def _of_joints(chain: OpenChain, q, v) -> State:
    return chain.state(q, v)
