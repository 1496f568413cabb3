"""From the coordinates that move to the poses of all bodies."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import concrete, on_device, within_trace
from poinsot.kernels import at_once
from poinsot.rotation import vee

from ._checks import stacked
from ._principal import principal_axes
from ._rigid_body import RigidBody
from ._vectors import turned
from .freedom import AbstractFreedom, Clamped, FixedPoint, Guided, Prescribed, Translation

Places = tuple[int, ...] | range
"""Places of some bodies in the list of all."""

Kind = TypeVar("Kind", bound=AbstractFreedom)


class Placement(eqx.Module):
    r"""Where all bodies are, given the coordinates of those that move.

    Live coordinates are `x` (3, Nx) of the translating bodies and `R` (3, 3, Nr) of the rotating ones, with
    respect to principal axes through the mass centre, or through the fixed point where there is one. With the
    principal axes A (columns, body frame) of a rotating body its rotation is $R\,A^T$. Poses depend on the
    live coordinates linearly, up to a constant: what has degree two in poses has degree two in coordinates.

    Args:
        translating: places of the translating bodies; a `range` where there are very many.
        rotating: places of the rotating bodies.
        inertia: principal moments of the rotating bodies.
        axes: their principal axes; None where all are those of the body frames.
        freedom: of each body that is not free, by its place.
    """

    translating: Places = eqx.field(static=True)
    rotating: Places = eqx.field(static=True)
    pinned: tuple[int, ...] = eqx.field(static=True)
    guided: tuple[int, ...] = eqx.field(static=True)
    clamped: tuple[int, ...] = eqx.field(static=True)
    prescribed: tuple[int, ...] = eqx.field(static=True)
    unturned: tuple[int, ...] = eqx.field(static=True)
    """Bodies of constant rotation."""

    inertia: Float[Array, "3 Nr"]
    """Principal moments of the rotating bodies, about the mass centre or the fixed point."""
    axes: Float[Array, "3 3 Nr"] | None
    """Principal axes of the rotating bodies as columns, in their body frames; None where all are identity."""
    points: Float[Array, "pinned 3"]
    places: Float[Array, "pinned 3"]
    positions: Float[Array, "clamped 3"]
    rotations: Float[Array, "unturned 3 3"]
    paths: tuple[Callable, ...]
    motions: tuple[Callable, ...]

    def __init__(
        self,
        translating: Places,
        rotating: Places,
        inertia: Float[Array, "3 Nr"],
        axes: Float[Array, "3 3 Nr"] | None,
        freedom: Mapping[int, AbstractFreedom],
    ):
        self.translating, self.rotating, self.inertia, self.axes = translating, rotating, inertia, axes
        pinned, clamped = _of_kind(FixedPoint, freedom), _of_kind(Clamped, freedom)
        unturned = dict(sorted((_of_kind(Translation, freedom) | clamped).items()))
        guided, prescribed = _of_kind(Guided, freedom), _of_kind(Prescribed, freedom)
        self.pinned, self.clamped, self.guided = tuple(pinned), tuple(clamped), tuple(guided)
        self.unturned, self.prescribed = tuple(unturned), tuple(prescribed)
        self.points = stacked([free.point for free in pinned.values()], (3,))
        self.places = stacked([free.at for free in pinned.values()], (3,))
        self.positions = stacked([free.position for free in clamped.values()], (3,))
        self.rotations = stacked([free.rotation for free in unturned.values()], (3, 3))
        self.paths = tuple(free.path for free in guided.values())
        self.motions = tuple(free.motion for free in prescribed.values())

    @property
    def driven(self) -> bool:
        """Whether the motion of a body, or a part of it, is a function of time."""
        return bool(self.guided or self.prescribed)

    def given(self, t) -> tuple[dict[int, Array], dict[int, Array]]:
        """Positions and rotation matrices that no live coordinate moves, by place.

        The position of a body with a fixed point is that of the point.
        """
        positions = dict(zip(self.pinned + self.clamped, [*self.places, *self.positions], strict=True))
        rotations = dict(zip(self.unturned, self.rotations, strict=True))
        for body, path in zip(self.guided, self.paths, strict=True):
            positions[body] = jnp.asarray(path(t))
        for body, motion in zip(self.prescribed, self.motions, strict=True):
            positions[body], rotations[body] = map(jnp.asarray, motion(t))
        return positions, rotations

    def poses(self, t, x: Float[Array, "3 Nx"], R: Float[Array, "3 3 Nr"]) -> tuple[Array, Array]:
        """Positions (body, 3) and rotation matrices (body, 3, 3) of all bodies, in their body frames."""
        own = R if self.axes is None else jnp.sum(R[:, None] * self.axes[None], axis=2)
        own = jnp.moveaxis(own, -1, 0)
        positions, rotations = self.given(t)
        slots = [self.rotating.index(body) for body in self.pinned]
        arms = turned(take(own, tuple(slots)), self.points)
        positions |= {body: positions[body] - arm for body, arm in zip(self.pinned, arms, strict=True)}
        return (
            in_order((self.translating, x.T), (tuple(positions), stacked([*positions.values()], (3,)))),
            in_order((self.rotating, own), (tuple(rotations), stacked([*rotations.values()], (3, 3)))),
        )

    def rates(self, t, x: Array, R: Array, v: Array, Omega: Array) -> tuple[Array, Array]:
        r"""Velocities of the mass centres (space) and angular velocities (body frame) of all bodies.

        The velocities are the derivative of `poses` along $\dot x = v$, $\dot R = R\,\hat\Omega$, so
        that fixed points and prescribed motions have theirs.
        """
        t = jnp.asarray(t, dtype=float)
        slope = jnp.cross(R, Omega[None], axis=1)
        poses, (velocities, turning) = jax.jvp(self.poses, (t, x, R), (jnp.ones_like(t), v, slope))
        own = Omega if self.axes is None else jnp.sum(self.axes * Omega[None], axis=1)
        driven, driven_rate = take(poses[1], self.prescribed), take(turning, self.prescribed)
        spin = jnp.sum(driven[:, :, :, None] * driven_rate[:, :, None, :], axis=1)
        return velocities, in_order(
            (self.rotating, own.T),
            (self.unturned, jnp.zeros((len(self.unturned), 3))),
            (self.prescribed, vee(spin)),
        )


def placement_of(bodies: Sequence[RigidBody], freedom: Sequence[AbstractFreedom]) -> Placement:
    """The placement of a list of bodies."""
    translating = tuple(i for i, free in enumerate(freedom) if free.translates)
    rotating = tuple(i for i, free in enumerate(freedom) if free.rotates)
    frames = [_live_frame(bodies[i], freedom[i]) for i in rotating]
    axes = None
    if any(own is not None for _, own in frames):
        same = on_device(np.eye(3))
        axes = stacked([same if own is None else own for _, own in frames], (3, 3), axis=-1)
    inertia = stacked([moments for moments, _ in frames], (3,), axis=-1)
    return Placement(translating, rotating, inertia, axes, dict(enumerate(freedom)))


def in_order(*parts: tuple[Places, Array]) -> Array:
    """Rows of several arrays in the order of the bodies they belong to, each part with its list of bodies.

    Neighbours from one array stay together as a slice, because a copy of a slice is fast and a gather is not.
    """
    runs = [(first, part, row, row + length) for part, (bodies, _) in enumerate(parts)
            for first, row, length in _runs(bodies)]  # fmt: skip
    pieces = [parts[part][1][begin:end] for _, part, begin, end in sorted(runs)]
    return pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)


def _runs(bodies: Places) -> list[tuple[int, int, int]]:
    """First body, its row and the length of each run of neighbours in a list of bodies."""
    if isinstance(bodies, range):
        return [(bodies.start, 0, len(bodies))] if bodies else []
    runs: list[tuple[int, int, int]] = []
    for row, body in enumerate(bodies):
        if runs and runs[-1][0] + runs[-1][2] == body:
            first, begin, length = runs.pop()
            runs.append((first, begin, length + 1))
        else:
            runs.append((body, row, 1))
    return runs


def take(array: Array, places: Places) -> Array:
    """Rows of an array, the array itself where all are wanted."""
    if isinstance(places, range):
        return array[places.start : places.stop]
    if tuple(places) == tuple(range(array.shape[0])):
        return array
    chosen = np.asarray(places, dtype=int)
    return array[chosen] if within_trace() or not concrete(array) else on_device(np.asarray(array)[chosen])


def _of_kind(kind: type[Kind], freedom: Mapping[int, AbstractFreedom]) -> dict[int, Kind]:
    """The bodies of one kind of freedom, by their places."""
    return {place: free for place, free in freedom.items() if isinstance(free, kind)}


@at_once
def _shifted(moments: Array, mass: Array, point: Array, across: Array) -> Array:
    """Moments of inertia about a point on a principal axis."""
    return moments + mass * jnp.sum(point * point) * across


def _live_frame(body: RigidBody, free: AbstractFreedom) -> tuple[Array, Array | None]:
    """Principal moments and axes about the point a body turns about."""
    if not isinstance(free, FixedPoint) or not free.components:
        return body.moments, body.axes
    if body.axes is None and len(free.components) == 1:
        # Shifted along a principal axis, the principal frame stays, also that of a symmetric body.
        across = 1.0 - np.eye(3)[free.components[0]]
        return _shifted(body.moments, body.mass, free.point, across), None
    return principal_axes(body.inertia_about(free.point))
