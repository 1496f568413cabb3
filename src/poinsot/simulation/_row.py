"""Steps of a long row of bodies: kicks and free motion, body by body and all at once."""

from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from poinsot.core import Group, GroupParts, LocalWrench, Packed, Wrench, hold
from poinsot.integrators import AbstractIntegrator, Composition, LieSplitting

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
        still = np.zeros((HEIGHT, 1))
        still[6] = 1.0
        return jnp.concatenate([jnp.repeat(still, before, 1), rows, jnp.repeat(still, behind, 1)], axis=1)

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
        x, p, g, m, force, torque = _split(jnp.stack(rows))
        moved = self.integrator.free_motion(
            self.problem, h, GroupParts(x, p + 0.5 * h * force, g, m + 0.5 * h * torque)
        )
        x, p, g, m = _held(moved)
        (R,) = _held([self.problem.rotation(g)])
        wrench = self._wrench(place, x, R)
        force, torque = _held([jnp.pad(part, ((0, 0), (1, 1))) for part in wrench])
        return [*x, *(p + 0.5 * h * force), *g, *(m + 0.5 * h * torque), *force, *torque]

    def _wrench(self, place: Int[Array, " n"], x: Array, R: Array) -> Wrench:
        """Forces and torques on all bodies but the outermost two."""
        sites = self.local.sites(x, R)
        exists = (place[:-1] >= 0) & (place[1:] < self.local.count)
        pairs = self.local.pairs(_part(sites, 0, -1), _part(sites, 1), exists)
        return self.local.wrench(
            place[1:-1],
            R[..., 1:-1],
            (_part(pairs, 0, -1), _part(pairs, 1)),
            (_part(sites, 0, -2), _part(sites, 1, -1), _part(sites, 2)),
        )


def _split(rows: Float[Array, "19 n"]) -> tuple[Array, ...]:
    """Position, momentum, quaternion, body angular momentum, force, torque."""
    begins = np.cumsum([0, 3, 3, 4, 3, 3, 3])
    return tuple(rows[begin:end] for begin, end in zip(begins[:-1], begins[1:], strict=True))


def _held(arrays) -> list[Array]:
    """Arrays held row by row, each row an array of its own."""
    split = [list(array.reshape(-1, array.shape[-1])) for array in arrays]
    return [jnp.stack(rows).reshape(array.shape) for rows, array in zip(hold(split), arrays, strict=True)]


def _part(sites: Any, begin: int, end: int | None = None) -> Any:
    """A stretch of bodies."""
    return jax.tree.map(lambda rows: rows[..., begin:end], sites)


def _no_potential(t, x, R) -> Array:
    """What acts on a row is known in pieces."""
    return jnp.zeros(())
