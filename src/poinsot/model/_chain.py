"""A chain of equal rigid bodies, each acting on its neighbours."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from poinsot.core import InputError, LocalWrench, State, UserFunction, as_params, on_device
from poinsot.core.types import Scalar
from poinsot.kernels import jitted
from poinsot.rotation import from_matrix

from ._abstract_system import AbstractSystem, LiveR, LiveX, Positions, Rotations
from ._bonds import AbstractParticleBond
from ._chain_checks import check_start
from ._chain_fields import not_local, row_fields
from ._chain_parts import as_bonds, as_ends, chain_placement, check_count, end_freedom, with_ends
from ._chain_wrench import ChainWrench
from ._chart import MATRICES, Chart
from ._checks import Numbers, as_positive
from ._names import Numbered
from ._neighbours import Closure, Neighbours
from ._placement import Placement
from ._rigid_body import RigidBody
from ._roster import Roster
from ._start import completed
from ._term_sum import all_declare, total_energy, total_energy_of, total_invariants
from ._terms import as_invariants, as_loads, as_potentials
from .ends import End
from .loads import AbstractLoad, Function
from .potentials import AbstractPotential

if TYPE_CHECKING:
    from poinsot.analysis import Dispersion


class Chain(AbstractSystem):
    r"""Equal rigid bodies in a row, each bound to the next by potentials between particles or poses.

    $$ V = \sum_i \sum_{k,l} v\bigl(|x_{i+1} + R_{i+1}\rho_l - x_i - R_i\rho_k|^2\bigr)
       - \sum_{\text{ends}} F\cdot x + \dots $$

    Further potentials and loads act on it as on any `pt.System`. Nothing in it grows faster than the number
    of bodies: they may be millions. Steps go along the row in windows that stay in the cache where forces are
    local: in an open chain of nearest neighbours without loads, whose ends are not moved, under potentials of
    each body by itself that do not depend on time. `not_local` says why they are not, and so does
    `attributes["rows"]` of a run.

    The straight chain has body $i = 0, 1, \dots$ at $(i\,a, 0, 0)$ with spacing $a$, unturned; that of a
    ring lies on a circle about the z axis with chords $a$, each body turned with its place.

    Args:
        body: what all bodies are, with particles where the potential acts between such.
        count: number of bodies, the ends included.
        spacing: distance a of neighbours in the straight chain.
        potential: between neighbours: a pair potential between particles, a potential of relative pose, or a
            list of these.
        ends: conditions of the first and the last body, each "clamped", "free" or one of `pt.ends`; one of
            these for both; or "ring", or "periodic" for a chain that repeats itself along x.
        neighbours: bodies each body acts on to either side.
        potentials: further terms of the potential energy, as of `pt.System`: gravity, fields, springs, users'
            functions, pair potentials. The bodies are called body0, body1, ...
        loads: forces without a potential, as of `pt.System`.
        params: parameters of users' functions, likewise.
        invariants: users' functions of the motion that reports show, likewise.
        name: what reports call it.

    Raises:
        InputError: one line that names the field, its value and the remedy.
    """

    derived: ClassVar[tuple[str, ...]] = ("placement", "masses", "recommendation")

    body: RigidBody
    spacing: Scalar
    neighbours: Neighbours
    ends: tuple[End, End]
    placement: Placement
    potentials: tuple[AbstractPotential, ...]
    loads: tuple[AbstractLoad, ...]
    params: Any
    invariants: dict[str, UserFunction]
    masses: Float[Array, "Nx"]
    names: Sequence[str] = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        body: RigidBody,
        count: int,
        spacing: Numbers,
        potential: Any,
        ends: Any = "free",
        *,
        neighbours: int = 1,
        potentials: Sequence[Any] = (),
        loads: Sequence[Any] = (),
        params: Any = None,
        invariants: Mapping[str, Callable] | None = None,
        name: str = "chain",
    ):
        if not isinstance(body, RigidBody):
            raise InputError(f"body = {body!r}; it must be a pt.RigidBody, such as pt.shapes.tetrahedron()")
        self.body, self.name = body, name
        self.spacing = as_positive(spacing, "spacing")
        closure, self.ends = as_ends(ends)
        check_count(count, neighbours, closure)
        self.names = Numbered("body", int(count))
        bonds = as_bonds(potential, body)
        period = self.spacing * count if closure == "periodic" else jnp.zeros(())
        self.neighbours = Neighbours(bonds, period * on_device(np.eye(3)[0]), int(neighbours), closure)
        freedom = end_freedom(self.ends, self._straight()[0])
        self.placement = chain_placement(body, count, freedom)
        self.masses = jnp.broadcast_to(body.mass, (len(self.placement.translating),))
        self.params = as_params(params)
        self.invariants = as_invariants(invariants)
        self.potentials = as_potentials(potentials, self.roster, self.params)
        self.loads = as_loads(loads, self.roster, self.params)

    @property
    def closure(self) -> Closure:
        """How the chain goes on behind its last body: "open", "ring" or "periodic"."""
        return self.neighbours.closure

    @property
    def bodies(self) -> Sequence[RigidBody]:
        """All bodies, which are one and the same."""
        return [self.body] * self.count

    @property
    def body_masses(self) -> Float[Array, "body"]:
        """Mass of each body."""
        return jnp.broadcast_to(self.body.mass, (self.count,))

    @property
    def body_inertias(self) -> Float[Array, "body 3 3"]:
        """Inertia tensor of each body about its mass centre, in its body frame."""
        return jnp.broadcast_to(self.body.inertia_matrix, (self.count, 3, 3))

    @property
    def roster(self) -> Roster:
        """The bodies as terms see them."""
        return Roster(self.names, (self.body,))

    def whole(self, t, x: LiveX, R: LiveR) -> tuple[Float[Array, "3 body"], Float[Array, "3 3 body"]]:
        """Positions and principal directors of all bodies, body axis last."""
        return self._whole(t, x, R, MATRICES)

    def _whole(self, t, x: LiveX, c: Array, chart: Chart) -> tuple[Float[Array, "3 body"], Array]:
        """Positions of all bodies, and coordinates of their directors."""
        positions, rotations = self.placed.given(t)
        own = {place: chart.coordinates(self._principal(R)) for place, R in rotations.items()}
        return with_ends(x, positions), with_ends(c, own)

    def _principal(self, R: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
        """Principal directors of a body with rotation R."""
        return R if self.body.axes is None else R @ self.body.axes

    def potential(self, t, x: LiveX, R: LiveR) -> Scalar:
        """Potential energy at live coordinates."""
        return self.potential_in(t, x, R, MATRICES)

    def potential_in(self, t, x: LiveX, c: Float[Array, "*height Nr"], chart: Chart) -> Scalar:
        """Potential energy, with directors made of their coordinates a stretch of the chain at a time."""
        return self._energy(t, *self._whole(t, x, c, chart), chart.rotation)

    def pose_potential(self, t, x: Positions, R: Rotations) -> Scalar:
        """Potential energy at the poses of all bodies."""
        own = jnp.moveaxis(R, 0, -1)
        if self.body.axes is not None:
            own = jnp.einsum("ijn,jk->ikn", own, self.body.axes)
        return self._energy(t, x.T, own, MATRICES.rotation)

    def _energy(self, t, x: Float[Array, "3 body"], c: Array, directors: Callable) -> Scalar:
        energy = self.neighbours.energy(x, c, directors)
        if self.potentials:
            energy = energy + total_energy(self.terms, t, x.T, self._body_frames(directors(c)))
        for place, end in zip((0, -1), self.ends, strict=True):
            if end.force is not None:
                energy = energy - jnp.sum(end.force * x[:, place])
        return energy

    def _body_frames(self, R: Float[Array, "3 3 body"]) -> Rotations:
        """Rotation matrices of the body frames, from the principal directors of all bodies."""
        own = jnp.moveaxis(R, -1, 0)
        return own if self.body.axes is None else jnp.einsum("nik,jk->nij", own, self.body.axes)

    @property
    def row(self) -> Int[np.ndarray, "body"] | None:
        """The chain itself, as many bodies in a place as a bond reaches; a closed one is folded in two.

        A load that people wrote themselves may act from any body on any other, and so may a potential that is
        no sum over bodies: then there is no row.
        """
        if any(isinstance(load, Function) for load in self.loads):
            return None
        if not all(term.separable for term in self.potentials):
            return None
        along = np.arange(self.count)
        if self.closure != "open":
            along = np.minimum(along, self.count - 1 - along)
        return along // self.neighbours.order

    @property
    def not_local(self) -> str | None:
        """What keeps the potential forces from being those of a body and its two neighbours, or None."""
        if self.closure != "open":
            return f"the chain is closed ({self.closure})"
        if self.neighbours.order > 1:
            return f"bodies act on {self.neighbours.order} neighbours to either side"
        if self.placement.driven:
            return "an end is moved as a function of time"
        return not_local(self.potentials)

    @property
    def local_wrench(self) -> LocalWrench | None:
        """Forces and torques in pieces, where they are local."""
        if self.not_local is not None:
            return None
        moving, turning = self.translating, self.rotating
        assert isinstance(moving, range)
        assert isinstance(turning, range)
        return ChainWrench(
            self.neighbours,
            row_fields(self.terms, self.body.axes),
            (self.ends[0].force, self.ends[1].force),
            *_held_ends(self),
            self.count,
            moving,
            turning,
        )

    @property
    def declares_invariants(self) -> bool:
        """Whether all bonds are between particles, no force acts on an end, and no end is moved.

        The invariants are the squared distances of the particles, then those of the further potentials.
        """
        between_particles = all(isinstance(bond, AbstractParticleBond) for bond in self.neighbours.bonds)
        forced = any(end.force is not None for end in self.ends)
        declared = between_particles and all_declare(self.potentials)
        return declared and not forced and not self.placement.driven

    def potential_invariants(self, x: LiveX, R: LiveR) -> Float[Array, "k"] | None:
        """Squared distances of all particles that act on each other, and invariants of the potentials."""
        if not self.declares_invariants:
            return None
        positions, directors = self.whole(0.0, x, R)
        squares = [part.reshape(-1) for part in self.neighbours.squares(positions, directors)]
        more = total_invariants(self.terms, positions.T, self._body_frames(directors))
        return jnp.concatenate([*squares, more])

    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """Potential energy as a function of the invariants."""
        energy, begin = jnp.zeros(()), 0
        closed = self.closure != "open"
        for bond in self.neighbours.bonds:
            assert isinstance(bond, AbstractParticleBond)
            particles = bond.points.shape[0]
            for order in range(1, self.neighbours.order + 1):
                pairs = self.count - (0 if closed else order)
                shape = (particles, particles, pairs)
                energy = energy + jnp.sum(
                    bond.pair_potential.value(c[begin : begin + math.prod(shape)].reshape(shape))
                )
                begin += math.prod(shape)
        return energy + total_energy_of(self.terms, c[begin:], self.count)

    def trial_lengths(self, x: LiveX) -> Float[Array, "Nx"]:
        """A hundredth of the spacing."""
        return jnp.broadcast_to(0.01 * self.spacing, x.shape[1:])

    def state(
        self,
        position: Any = None,
        rotation: Any = None,
        velocity: Any = None,
        angular_velocity: Any = None,
        **options: Any,
    ) -> State:
        """A physical state of all bodies, see `pt.System.state`; straight where no positions are given.

        Raises:
            InputError: as there; or particles of neighbours overlap, or the potential is not finite.
        """
        if position is None:
            straight = self.straight_state(t=options.get("t", 0.0))
            position = straight.position
            if rotation is None:
                rotation = straight.quaternion
        state = super().state(position, rotation, velocity, angular_velocity, **options)
        self.check_start(options.get("t", 0.0), state)
        return state

    def check_start(self, t, state: State) -> None:
        """Refuse a state in which particles of neighbours overlap, or the potential is not finite."""
        check_start(self, t, state)

    @property
    def start(self) -> State:
        """The recommended state at time 0: straight and at rest where no other is recommended."""
        own = None if self.recommendation is None else self.recommendation.start
        return self.straight_state() if own is None else own

    def straight_state(self, velocity_scale: float = 0.0, seed: int = 0, *, t: float = 0.0) -> State:
        """The straight chain, or the ring on its circle, with random velocities.

        Args:
            velocity_scale: standard deviation of each component of the velocities of what moves.
            seed: of the random numbers.
            t: time, for ends that are moved.
        """
        positions, quaternions = self._straight()
        draw = np.random.default_rng(seed).standard_normal((2, self.count, 3)) * velocity_scale
        unmoved = State(
            position=positions, quaternion=quaternions, velocity=draw[0], angular_velocity=draw[1]
        )
        return completed(self.placed, t, unmoved)

    def dispersion(self, k: Any = None, *, points: int = 101) -> "Dispersion":
        """Waves along the endless straight chain, see `pt.analysis.dispersion`."""
        from poinsot.analysis import dispersion

        return dispersion(self, k, points=points)

    def _straight(self) -> tuple[Positions, Float[Array, "body 4"]]:
        """Positions and quaternions of the straight chain."""
        places, upright = np.arange(self.count, dtype=float), np.eye(4)[0]
        if self.closure != "ring":
            line = places[:, None] * np.eye(3)[0]
            return self.spacing * jnp.asarray(line), on_device(np.tile(upright, (self.count, 1)))
        angle = 2.0 * np.pi * places / self.count
        radius = 0.5 / np.sin(np.pi / self.count)
        # Bodies look along the circle: their x axis is its tangent, as in the straight chain.
        circle = radius * np.stack([np.sin(angle), -np.cos(angle), np.zeros(self.count)], axis=-1)
        turns = np.cos(0.5 * angle)[:, None] * upright + np.sin(0.5 * angle)[:, None] * np.eye(4)[3]
        return self.spacing * jnp.asarray(circle), jnp.asarray(turns)


@jitted
def _held_ends(chain: Chain) -> tuple[dict[int, Float[Array, "3"]], dict[int, Float[Array, "4"]]]:
    """Positions and principal quaternions of ends that do not move or turn, by place."""
    positions, rotations = chain.placed.given(0.0)
    return positions, {place: from_matrix(chain._principal(R)) for place, R in rotations.items()}
