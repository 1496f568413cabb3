"""Conditions of one kind: what each of them says, in a loop over all."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Twist, concrete

from ._grip import Grip
from ._linkage import Linkage, Visitor
from .joints import AbstractCondition, AbstractJoint, Frames

FIXED = -1
"""Stands in `ConditionKind.columns` for the ground, or a body that does not move."""


class Body(NamedTuple):
    """Places of a free body among those that move and those that turn."""

    moving: int
    turning: int


class Stand(NamedTuple):
    """Where all live bodies are."""

    x: Float[Array, "3 moving"]
    R: Float[Array, "3 3 turning"]

    def of(self, body) -> tuple[Array, Array]:
        """Position and rotation of one of them."""
        return at_row(self.x, body[0], 1), at_row(self.R, body[1], 2)


class Stir(NamedTuple):
    """Velocities and body angular velocities of all live bodies."""

    v: Float[Array, "3 moving"]
    w: Float[Array, "3 turning"]

    @classmethod
    def parted(cls, twist: Twist, moving: int) -> "Stir":
        """The parts of a twist."""
        return cls(twist[: 3 * moving].reshape(3, -1), twist[3 * moving :].reshape(3, -1))

    def of(self, body) -> tuple[Array, Array]:
        """Those of one body."""
        return at_row(self.v, body[0], 1), at_row(self.w, body[1], 1)


class Mark(NamedTuple):
    """A point and three directions in a body, in its principal axes; in space where it does not move."""

    arm: Float[Array, "3"]
    frame: Float[Array, "3 3"]

    def at(self, x: Array, R: Array) -> "Mark":
        """Where they are in space."""
        return Mark(x + R @ self.arm, R @ self.frame)

    def path(self, x: Array, R: Array, v: Array, w: Array) -> list["Mark"]:
        """Where they are, their rates, and their second rates at a constant twist."""
        mark, levels = self, []
        for place in (x, v, jnp.zeros(3)):
            levels.append(mark.at(place, R))
            mark = Mark(jnp.cross(w, mark.arm), jnp.cross(w[:, None], mark.frame, axis=0))
        return levels

    def pulled(self, R: Array, on_place: Array, on_directions: Array) -> Float[Array, "rows 6"]:
        """Rows of a Jacobian in motion and turn of the body, from those in point and directions."""
        torque = jnp.cross(self.arm[None], on_place @ R)
        twists = jnp.sum(R[None, :, :, None] * on_directions[:, :, None, :], axis=1)
        for k in range(3):
            torque = torque + jnp.cross(self.frame[:, k][None], twists[:, :, k])
        return jnp.concatenate([on_place, torque], axis=1)


class Single(NamedTuple):
    """The numbers of one condition."""

    condition: Any
    """Those of the condition itself, and of the joints that it looks at unless it is one."""
    marks: tuple[Mark, ...]
    """Two for each joint."""


class ConditionKind(eqx.Module):
    """Conditions that differ in their numbers and bodies only.

    Args:
        template: a condition without its numbers.
        numbers: those of each condition.
        bodies: live bodies of each condition, none of them twice.
        columns: which of these each mark is on.
        size: number of rows that a condition has here, filled up with zeros.
    """

    numbers: list[Array]
    """Of all conditions: a row each, or one for all where `varied` says that they are the same."""
    template: tuple[AbstractCondition, ...]
    structure: Any = eqx.field(static=True)
    varied: tuple[bool, ...] = eqx.field(static=True)
    size: int = eqx.field(static=True)
    bodies: tuple[tuple[Body, ...], ...] = eqx.field(static=True)
    columns: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, template, numbers: Sequence[Single], bodies, columns: tuple[int, ...], size: int):
        self.template, self.bodies, self.columns = template, tuple(bodies), columns
        self.size, self.structure = size, jax.tree.structure(numbers[0])
        columns_of = [merged(leaves) for leaves in zip(*map(jax.tree.leaves, numbers), strict=True)]
        self.numbers, self.varied = (
            [leaf for leaf, _ in columns_of],
            tuple(varied for _, varied in columns_of),
        )

    @property
    def count(self) -> int:
        """Number of conditions."""
        return len(self.bodies)

    @property
    def width(self) -> int:
        """Number of live bodies of each of them."""
        return len(self.bodies[0])

    @property
    def missing(self) -> Float[np.ndarray, " size"]:
        """One for each row that a condition does not have."""
        return (np.arange(self.size) >= self.template[0].rows).astype(float)

    def gaps(self, t, stand: Stand) -> Float[Array, "count size"]:
        """What must vanish."""
        return self._each(lambda one, bodies: self._gap(one)(t, self._frames(one, bodies, stand)))

    def rates(self, t, stand: Stand, stir: Stir) -> Float[Array, "count size"]:
        """Rates of the gaps."""

        def rate(one: Single, bodies):
            now, first, _ = self._path(one, bodies, t, stand, stir)
            return jax.jvp(self._gap(one), now, first)[1]

        return self._each(rate)

    def bends(self, t, stand: Stand, stir: Stir) -> Float[Array, "count size"]:
        """Second rates of the gaps at a constant twist."""

        def bend(one: Single, bodies):
            now, first, second = self._path(one, bodies, t, stand, stir)

            def slope(now, first):
                return jax.jvp(self._gap(one), now, first)[1]

            return jax.jvp(slope, (now, first), (first, second))[1]

        return self._each(bend)

    def jacobians(
        self, t, stand: Stand, frame: Float[Array, "3 3 turning"]
    ) -> Float[Array, "count width size 6"]:
        r"""Derivatives of the gaps in motions and turns of the live bodies, with $\dot R = F\,\hat u$."""

        def jacobian(one: Single, bodies):
            slopes = jax.jacrev(lambda frames: self._gap(one)(t, frames))(self._frames(one, bodies, stand))
            on_marks = [
                side
                for slope in slopes
                for side in ((-slope.apart, slope.first), (slope.apart, slope.second))
            ]
            parts: dict[int, Array] = {}
            for mark, column, (place, directions) in zip(one.marks, self.columns, on_marks, strict=True):
                if column != FIXED:
                    pulled = mark.pulled(at_row(frame, bodies[column][1], 2), place, directions)
                    parts[column] = parts[column] + pulled if column in parts else pulled
            return jnp.stack([parts[column] for column in range(self.width)])

        return self._each(jacobian)

    def visit(self, function: Visitor, t, stand: Stand, stir: Stir, *columns: Array) -> Array:
        """Results of a function of each condition, as `Linkage.visit`, with a row for each."""

        def seen(one: Single, bodies, *rows: Array):
            condition, *joints = eqx.combine(one.condition, self.template)
            (_, now), (_, rate), _ = self._path(one, bodies, t, stand, stir)
            return function(condition, joints or [condition], now, rate, *rows)

        return self._each(seen, *columns)

    def _each(self, function: Callable[..., Array], *columns: Array) -> Array:
        """The results of a function of the numbers and bodies of one condition, a row for each."""
        given = [leaf for leaf, varied in zip(self.numbers, self.varied, strict=True) if varied]

        def each(_, row):
            own, bodies = iter(row[0]), row[1]
            pairs = zip(self.numbers, self.varied, strict=True)
            leaves = [next(own) if varied else leaf for leaf, varied in pairs]
            return None, function(jax.tree.unflatten(self.structure, leaves), bodies, *row[2])

        return lax.scan(each, None, (given, np.array(self.bodies), columns))[1]

    def _gap(self, one: Single) -> Callable[[Any, list[Frames]], Array]:
        """One condition as a function of time and of what it sees of its joints."""
        condition, *joints = eqx.combine(one.condition, self.template)
        missing = jnp.zeros(self.size - condition.rows)

        def gap(t, frames: list[Frames]) -> Array:
            own = condition.gap(t, joints or [condition], frames)
            return jnp.concatenate([own, missing]) if missing.size else own

        return gap

    def _frames(self, one: Single, bodies, stand: Stand) -> list[Frames]:
        """What a condition sees of its joints."""
        return _framed(
            [
                mark if column == FIXED else mark.at(*stand.of(bodies[column]))
                for mark, column in zip(one.marks, self.columns, strict=True)
            ]
        )

    def _path(self, one: Single, bodies, t, stand: Stand, stir: Stir):
        """Time and what a condition sees, their rates, and their second rates at a constant twist."""
        still = Mark(jnp.zeros(3), jnp.zeros((3, 3)))
        paths = [
            [mark, still, still]
            if column == FIXED
            else mark.path(*stand.of(bodies[column]), *stir.of(bodies[column]))
            for mark, column in zip(one.marks, self.columns, strict=True)
        ]
        now, rate, bend = (_framed(level) for level in zip(*paths, strict=True))
        t = jnp.asarray(t, dtype=float)
        return (t, now), (jnp.ones_like(t), rate), (jnp.zeros_like(t), bend)


Held = tuple[Mark, Body | None]
"""A mark and the body that it is on, None where that does not move."""


def held_by(grip: Grip, linkage: Linkage) -> Held:
    """A grip as conditions of a kind know it."""
    if grip.moving is None or grip.turning is None:
        return Mark(*grip.at(linkage.placement, 0.0, jnp.zeros((3, 0)), jnp.zeros((3, 3, 0)))), None
    return Mark(grip.arm, grip.frame), Body(grip.moving, grip.turning)


def kinds_of(
    conditions: Sequence[tuple[tuple[AbstractCondition, ...], Sequence[Held]]],
) -> tuple[list[ConditionKind], list[int]]:
    """Conditions by kind, and the place of each of them in the list that was given.

    Args:
        conditions: each with the joints that it looks at, unless it is one itself, and their marks.
    """
    sorts: list[tuple[Any, Any, tuple[int, ...], list[tuple[int, Single, tuple[Body, ...]]]]] = []
    sites: dict[type, Any] = {}
    for place, (pieces, held) in enumerate(conditions):
        # Where a joint is, and what it is called, is known from its marks.
        alike = tuple(
            eqx.tree_at(lambda one: one.site, piece, sites.setdefault(type(piece), piece.site))
            if isinstance(piece, AbstractJoint)
            else piece.unnamed()
            for piece in pieces
        )
        numbers, template = eqx.partition(alike, eqx.is_array)
        bodies = tuple(dict.fromkeys(body for _, body in held if body is not None))
        columns = tuple(FIXED if body is None else bodies.index(body) for _, body in held)
        one = Single(numbers, tuple(mark for mark, _ in held))
        structure = jax.tree.structure(one)
        for known, other, seen, members in sorts:
            if known == structure and seen == columns and bool(eqx.tree_equal(other, template)):
                members.append((place, one, bodies))
                break
        else:
            sorts.append((structure, template, columns, [(place, one, bodies)]))
    size = max(pieces[0].rows for pieces, _ in conditions)
    kinds = [
        ConditionKind(template, [one for _, one, _ in members], [last for *_, last in members], columns, size)
        for _, template, columns, members in sorts
    ]
    return kinds, [place for *_, members in sorts for place, _, _ in members]


def at_row(array: Array, place, axis: int) -> Array:
    """One row of an array along an axis."""
    return lax.dynamic_index_in_dim(array, place, axis, keepdims=False, allow_negative_indices=False)


def _framed(marks: Sequence[Mark]) -> list[Frames]:
    """What joints see of their marks, two by two, or of rates of these."""
    pairs = zip(marks[::2], marks[1::2], strict=True)
    return [Frames(second.arm - first.arm, first.frame, second.frame) for first, second in pairs]


def merged(rows: Sequence[Array]) -> tuple[Array, bool]:
    """Rows one below the other, or one of them where all are the same."""
    if concrete(rows) and all(np.array_equal(one, rows[0]) for one in rows):
        return rows[0], False
    return jnp.stack(rows), True
