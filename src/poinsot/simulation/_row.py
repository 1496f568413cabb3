"""Steps of a long row of bodies: kicks and free motion, body by body and all at once."""

from collections.abc import Callable
from itertools import islice
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from poinsot.core import Group, GroupParts, LocalWrench, Packed, Wrench, barrier
from poinsot.integrators import AbstractIntegrator, Composition, LieSplitting
from poinsot.kernels import Components, in_lanes, objects
from poinsot.simulation._held_sines import held_sines

HEIGHT = 19
"""Numbers of a body: position, momentum, quaternion, body angular momentum, force and torque on it."""

Rows = list[Array]
"""One array for each of them, with all bodies in it."""


class Row(eqx.Module):
    r"""The splitting on the group for a row of equal bodies, each acting on the next.

    It steps what `LieSplitting` steps, in the same way. Every component of the bodies is an array of its own
    along the row, so that XLA makes one vectorised loop of each stage, and nothing is put together or taken
    apart between steps; the state is not looked at until the end. It may be a window of a longer row: then
    what is right after some steps are the bodies further from its ends than forces were evaluated.

    Args:
        problem: the bodies; masses and moments are those of the first, as all are equal.
        integrator: `LieSplitting` with elementary rotations.
        local: the wrench in pieces.
        weights: parts of a step in which it is taken; one whole step but for compositions.
    """

    problem: Group
    integrator: LieSplitting
    local: LocalWrench
    weights: tuple[float, ...] = eqx.field(static=True)

    @classmethod
    def of(cls, problem: Any, integrator: AbstractIntegrator) -> Self | None:
        """The row of a problem, or None where problem or integrator are of another kind."""
        weights, base = (1.0,), integrator
        if isinstance(integrator, Composition) and integrator.adjoint is None:
            weights, base = tuple(integrator.scheme.weights_hi.tolist()), integrator.base
        if not isinstance(base, LieSplitting) or base.free != "elementary":
            return None
        if not isinstance(problem, Group) or problem.local is None or problem.load is not None:
            return None
        if problem.element.size != 4 or not problem.moving or not problem.turning:
            return None
        one = Group(problem.mass[:1], problem.inertia[:, :1], _no_potential, element=problem.element)
        return cls(one, base, problem.local, weights)

    def rows(self, problem: Group, y: Packed, own: Wrench) -> Float[Array, "19 n"]:
        """All bodies of the row, from the packed state of what moves and the wrench on it."""
        x, p, g, m = problem.split(y)
        x, g = self.local.whole(x, g)
        # What does not move or turn has neither momentum nor wrench.
        p, m = self.local.spread(p, m)
        return jnp.concatenate([x, p, g, m, *self.local.spread(own.force, own.torque)])

    def packed(self, problem: Group, rows: Float[Array, "19 n"]) -> tuple[Packed, Wrench]:
        """The inverse of `rows`."""
        x, p, g, m, force, torque = _split(rows)
        live = self.local.live
        parts = GroupParts(live(x, g)[0], live(p, m)[0], live(x, g)[1], live(p, m)[1])
        return problem.join(parts), Wrench(*live(force, torque))

    def with_margin(self, rows: Float[Array, "19 n"], before: int, behind: int) -> Float[Array, "19 m"]:
        """Bodies beyond both ends of the row, which take no part."""
        return jnp.concatenate([self.still(before), rows, self.still(behind)], axis=1)

    def still(self, count: int) -> np.ndarray:
        """Bodies at rest."""
        bodies = np.zeros((HEIGHT, count))
        bodies[6] = 1.0
        return bodies

    def steps(
        self, rows: Float[Array, "19 n"], first: Int[Array, ""], h, count: Int[Array, ""]
    ) -> Float[Array, "19 n"]:
        """So many steps of a window of the row.

        Args:
            rows: the bodies of the window, one on either side that takes no part included.
            first: place of its first body in the row.
            h: step size.
            count: number of steps.
        """
        place = first + jnp.arange(rows.shape[1])
        weights = jnp.asarray(self.weights)

        def step(_, rows: Rows) -> Rows:
            if len(self.weights) == 1:
                return self._step(rows, place, h)
            return lax.fori_loop(
                0, len(self.weights), lambda k, rows: self._step(rows, place, weights[k] * h), rows
            )

        return jnp.stack(lax.fori_loop(0, count, step, list(rows)))

    def _step(self, rows: Rows, place: Int[Array, " n"], h) -> Rows:
        """One step, the forces at its start known."""
        x, p, g, m, force, torque = _split(objects((HEIGHT,), rows))
        moved = _each_body(lambda *parts: self.integrator.free_motion(self.problem, h, GroupParts(*parts)))
        x, p, g, m = _held(moved(x, _kicked(p, force, h), g, _kicked(m, torque, h)))
        R = _held(_each_body(self.problem.rotation)(g))
        force, torque = _held(self._wrench(place, x, R))
        return [*x, *_kicked(p, force, h), *g, *_kicked(m, torque, h), *force, *torque]

    def _wrench(self, place: Int[Array, " n"], x: Components, R: Components) -> Wrench:
        """Forces and torques on all bodies; the outermost two get none."""
        sites = _held(_each_body(self.local.sites)(x, R))
        exists = objects((), [(place[:-1] >= 0) & (place[1:] < self.local.count)])
        pairs = _held(_each_body(self.local.pairs)(_part(sites, 0, -1), _part(sites, 1), exists))
        wrench = _each_body(self.local.wrench)(
            objects((), [place[1:-1]]),
            _part(R, 1, -1),
            (_part(pairs, 0, -1), _part(pairs, 1)),
            (_part(sites, 0, -2), _part(sites, 1, -1), _part(sites, 2)),
        )
        return _each_row(lambda row: jnp.pad(row, 1), wrench)


def _split(rows: Any) -> tuple[Any, ...]:
    """Position, momentum, quaternion, body angular momentum, force, torque."""
    begins = np.cumsum([0, 3, 3, 4, 3, 3, 3])
    return tuple(rows[begin:end] for begin, end in zip(begins[:-1], begins[1:], strict=True))


def _each_body(function: Callable) -> Callable:
    """A function of arrays with bodies along the last axis, as one of their components along the row."""

    def of_one(*trees: Any) -> Any:
        single = function(*jax.tree.map(lambda array: array[..., None], trees))
        return jax.tree.map(lambda array: array[..., 0], single)

    def apply(*trees: Any) -> Any:
        shapes = jax.tree.map(
            lambda part: jax.ShapeDtypeStruct((*part.shape, *part.flat[0].shape), part.flat[0].dtype), trees
        )
        count = jax.tree.leaves(shapes)[0].shape[-1]
        return in_lanes(of_one, *shapes, functions=held_sines(count))(*trees)

    return apply


def _each_row(function: Callable, parts: Any) -> Any:
    """A function of a row, of all rows there are."""
    return jax.tree.map(lambda part: objects(part.shape, [function(row) for row in part.flat]), parts)


def _part(parts: Any, begin: int, end: int | None = None) -> Any:
    """A stretch of bodies."""
    return _each_row(lambda row: row[begin:end], parts)


def _held(parts: Any) -> Any:
    """Rows that XLA does not rewrite with what is made of them: then it computes each in a loop of its own.

    With `hold` they would be in memory for certain; that is no faster here.
    """
    leaves, tree = jax.tree.flatten(parts)
    rows = iter(barrier([row for part in leaves for row in part.flat]))
    return jax.tree.unflatten(tree, [objects(part.shape, list(islice(rows, part.size))) for part in leaves])


def _kicked(momentum: Components, force: Components, h) -> Components:
    """Momenta after half a step under forces."""
    rows = [row + 0.5 * h * push for row, push in zip(momentum, force, strict=True)]
    return objects(momentum.shape, rows)


def _no_potential(t, x, R) -> Array:
    """What acts on a row is known in pieces."""
    return jnp.zeros(())
