r"""First guesses of stage derivatives, by the polynomial through those of the last two steps.

A step of the same size before has the stages $F_j$ at the nodes $c_j$, the one before that has others at
$c_j - 1$; those of the next are wanted at $1 + c_i$. In short steps each further node gains a factor of about
$h\,\|f'\|$, and costs one in the sum $\Lambda$ of the weights' magnitudes, which multiplies rounding errors:
with `NODES` of them $\Lambda$ is at most $2 \cdot 10^5$.
"""

from functools import cache, reduce
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from poinsot.core import AbstractProblem, Packed, abreast, field
from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators._update import no_error
from poinsot.integrators.runge_kutta._stages import EPS, LONG, field_noise, forced
from poinsot.integrators.runge_kutta._weights import weighted
from poinsot.solvers import Again

NODES = 8
"""Most nodes of the polynomial; a method with more stages has the last step alone."""


class StageCarry(eqx.Module):
    """What an implicit method hands to its next step."""

    derivatives: Array
    """Stage derivatives of the last step, from which the next ones are extrapolated."""
    earlier: Array | None
    """Those of the step before it at some of its nodes; of a first step, what its polynomial has there."""
    h: Array
    """Size of the last step, in each lane; zero before the first one."""
    error: Array | None
    """Round-off not yet added to the state."""
    noise: Array | None
    """Of the right-hand side, as it was at the start of the run; see `field_noise`. Where forces act that
    have no energy, of the largest one so far."""


class Extrapolation(NamedTuple):
    """The polynomial through stage derivatives, as matrices that act on them."""

    earlier: tuple[int, ...]
    """Stages of the step before the last that it goes through."""
    forward: np.ndarray
    """Its values at the nodes of the next step, from these stages and all of the last step."""
    alone: np.ndarray
    """The same from the last step alone."""
    backward: np.ndarray
    """Values at the earlier nodes of the polynomial through the last step alone."""

    @classmethod
    @cache
    def of(cls, tableau: ButcherTableau) -> "Extrapolation":
        """That of the nodes of a method; with coinciding ones the last stage is repeated instead."""
        c = tableau.c_hi
        s = len(c)
        if len(set(c)) < s:
            return cls((), _last(s), _last(s), np.zeros((0, s)))
        # A node at the end of a step is one at the start of the next; computed ones may be off by rounding.
        before = [j for j in range(s) if c[j] - 1.0 < np.min(c) - 1e-6]
        earlier = tuple(before[len(before) - min(len(before), max(NODES - s, 0)) :])
        nodes = np.array([*(c[j] - 1.0 for j in earlier), *c])
        alone = _lagrange(c, 1.0 + c)
        return cls(earlier, _lagrange(nodes, 1.0 + c), alone, _lagrange(c, nodes[: len(earlier)]))


def _lagrange(nodes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Weights that make of values at nodes those of the polynomial through them at some points."""
    others = [np.delete(nodes, j) for j in range(len(nodes))]
    rows = [
        [np.prod((x - rest) / (node - rest)) for node, rest in zip(nodes, others, strict=True)]
        for x in points
    ]
    return np.array(rows).reshape(len(points), len(nodes))


def first_carry(
    problem: AbstractProblem, tableau: ButcherTableau, t, h, y: Packed, compensated: bool
) -> StageCarry:
    """What goes into the first step: derivatives at its start, and no last step to extrapolate from.

    Long states keep one step alone: another takes memory, and the time to read it.
    """
    rate, noise = field_noise(problem, t, y)
    rates = _repeated(rate, tableau.stages)
    if forced(problem):
        rates = _expected_rates(problem, t + tableau.c_hi * h, t, y)
        noise = _largest_noise(problem, noise, rates)
    earlier = len(Extrapolation.of(tableau).earlier)
    several = earlier > 0 and (y.size <= LONG or bool(problem.lanes(y)))
    return StageCarry(
        derivatives=rates,
        earlier=_repeated(rate, earlier) if several else None,
        h=jnp.zeros(problem.lanes(y)),
        error=no_error(y, compensated),
        noise=noise,
    )


def _expected_rates(problem: AbstractProblem, times: Array, t, y: Packed) -> Array:
    """Rates of a first step from rest, where forces that begin to act may balance at the start itself.

    They are those at the times of the stages, from where the run starts; of what has neither size nor rate
    there, such as positions at zero, those after a step of Euler's method.
    """
    resting = lax.map(lambda time: field(problem, time, y), times)
    moved = lax.map(lambda at: field(problem, at[0], y + (at[0] - t) * at[1]), (times, resting))
    known = problem.magnitude(y) + problem.magnitude(reduce(jnp.maximum, jnp.abs(resting))) > 0.0
    return jnp.where(known, resting, moved)


def _largest_noise(problem: AbstractProblem, noise: Array | None, F: Array) -> Array:
    """Round-off of the largest rates so far.

    Forces without an energy can hold others in balance: what is left of them at rest is nothing but the
    round-off of what they were.
    """
    own = EPS * problem.magnitude(reduce(jnp.maximum, jnp.abs(F)))
    return own if noise is None else jnp.maximum(noise, own)


def _repeated(rate: Packed, count: int) -> Array:
    return jnp.broadcast_to(rate[None], (count, *rate.shape))


def next_carry(carry: StageCarry, tableau: ButcherTableau, F: Array, h, error: Array | None) -> StageCarry:
    """What goes into the next step."""
    earlier = carry.earlier
    if earlier is not None:
        extrapolation = Extrapolation.of(tableau)
        own = carry.derivatives[np.array(extrapolation.earlier)]
        earlier = jnp.where(h == carry.h, own, weighted((extrapolation.backward,), F))
    return StageCarry(F, earlier, h + jnp.zeros_like(carry.h), error, carry.noise)


def noticed(problem: AbstractProblem, carry: StageCarry) -> StageCarry:
    """What is carried, with the noise of its rates where forces without an energy act."""
    if not forced(problem):
        return carry
    noise = _largest_noise(problem, carry.noise, carry.derivatives)
    return StageCarry(carry.derivatives, carry.earlier, carry.h, carry.error, noise)


def predict(h, carry: StageCarry, tableau: ButcherTableau) -> Array:
    """First guess of the stage derivatives: the last of them where the last step had another size."""
    extrapolation, known = Extrapolation.of(tableau), carry.derivatives
    matrix = extrapolation.alone
    if carry.earlier is not None:
        matrix, known = extrapolation.forward, jnp.concatenate([carry.earlier, known])

    def one(row: Array) -> Array:
        return jnp.where(h == carry.h, weighted((row[None],), known)[0], known[-1])

    return abreast(one, jnp.asarray(matrix))


def plainer(h, carry: StageCarry, tableau: ButcherTableau) -> Again | None:
    """Further guesses, where the first leads nowhere: from the last step alone, and its last stage.

    A motion that changes within a step, as in a collision, is no polynomial: the higher the degree, the
    farther off is the guess. A step of another size than the last has its last stage as first guess already.
    """
    alone, known = Extrapolation.of(tableau).alone, carry.derivatives

    def possible() -> Array:
        return h == carry.h

    if np.array_equal(alone, _last(len(alone))):
        return None if carry.earlier is None else Again(lambda starts: known, 1, possible)
    if carry.earlier is None:
        return Again(lambda starts: jnp.broadcast_to(known[-1], known.shape), 1, possible)

    def start(starts: Array) -> Array:
        return jnp.where(starts == 1, weighted((alone,), known), known[-1:])

    return Again(start, 2, possible)


def _last(stages: int) -> np.ndarray:
    """The matrix that repeats the last stage."""
    return np.tile(np.eye(stages)[-1], (stages, 1))
