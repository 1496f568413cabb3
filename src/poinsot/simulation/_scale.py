"""How large the round-off of a conserved quantity may be, and how far the motion could change it."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from poinsot.core import AbstractProblem, State, on_device
from poinsot.kernels import by_blocks, each_state, once

SAMPLES = 64
"""States along the run at which the sensitivity is looked at."""
PROBES = 16
"""Directions in which it is probed."""
AT_ONCE = 2**18
"""Numbers of states, along directions, that are looked at in one go."""
DELTA = 2.0**-26
"""Share of the state by which it is moved to see the change of the right-hand side."""

EPSILON = float(np.finfo(np.float64).eps)
CANCELLED = 0.05
"""A start value below this share of its response to a change of the whole state is a small difference."""


@dataclass(frozen=True)
class Scale:
    """What deviations of a conserved quantity are measured against, the same for all its components."""

    roundoff: float | tuple[float, ...]
    """Response to rounding errors of one step, of relative size one: at states evenly along the run."""
    extent: float
    """Response to moving every component of the state across the range that it covers in the run."""
    terms: float
    """Size of the terms that it is the sum of at the start; zero if that is not known."""

    @classmethod
    def largest(cls, scales: Iterable["Scale"]) -> "Scale":
        """The scale of a vector from those of its components, which turn into each other."""
        roundoff, extents, terms = zip(*(astuple(scale) for scale in scales), strict=True)
        largest = np.max([np.atleast_1d(one) for one in roundoff], axis=0)
        return cls(tuple(largest.tolist()), max(extents), max(terms))

    def size(self, start: float, deviation: float) -> float:
        """Size of the quantity itself: its start value, unless that is a small difference of large terms.

        Then that of the terms; if not even these are known, what the motion could change it by, and NaN where
        that is no more than the deviation.
        """
        if start > CANCELLED * (self.terms or self.extent):
            return start
        return self.terms or (self.extent if self.extent > deviation else np.nan)

    def walk(self, steps: np.ndarray) -> np.ndarray:
        r"""Standard deviation of the sum of rounding errors of relative size one, after so many steps each.

        $$ \Big(\sum_{j \le k} S_j^2 + S_k^2\Big)^{1/2}, $$

        where the last term is the error of the value itself.
        """
        largest = np.max(self.roundoff)
        if largest == 0.0:
            return np.zeros(len(steps))
        known = np.atleast_1d(self.roundoff) / largest
        places = np.linspace(0.0, 1.0, len(steps)), np.linspace(0.0, 1.0, len(known))
        squares = np.interp(*places, known) ** 2
        pieces = 0.5 * np.diff(steps) * (squares[1:] + squares[:-1])
        return largest * np.sqrt(np.append(0.0, np.cumsum(pieces)) + squares)


def scales_of(
    problem: AbstractProblem | None,
    t: np.ndarray,
    components: Mapping[str, np.ndarray],
    conserved: Mapping[str, np.ndarray],
    steps: np.ndarray,
) -> dict[str, Scale]:
    r"""Scales of conserved quantities, from their derivatives at states along a run.

    The response to lengths $\ell_j$ of the components is

    $$ R(\ell) = \Big(\sum_j (\partial_j I\, \ell_j)^2\Big)^{1/2} . $$

    *Round-off.* Rounding errors of the state, each number relative to itself, make $R(|y|)$: an angle that
    goes round and round is rounded ever more coarsely, but the others are not. Those of the right-hand side
    $f$ matter where strong forces cancel: the exact $\nabla I \cdot f$ is zero, and its computed value is
    what they make in a unit of time. It may be no more than rounding errors of the state make through $f$,
    lest a quantity that is not conserved excuse itself. With $\sigma$ random signs, $h_i$ the step taken
    from a state and, of the change of $f$, the largest component of each kind,

    $$ S_i = R(|y_i|) + h_i \min\big(\max_j |\nabla I \cdot f|_j / \varepsilon,\;
       R(|Df\,\sigma |y_i||)\big) . $$

    A quantity may say the sizes of its terms itself: then the largest stands for all $S_i$, since forces
    that act at rest are rounded too, and their median for $R(r)$. Rates of joints are sums of velocities,
    which methods hold to the round-off of velocities. In momenta that is another scale: a rounding error of
    the largest one is a great velocity of a slender body.

    *Extent.* What the quantity could change by, were it not conserved: with $r$ the ranges of the
    components in the run, the largest of each kind, $V = \operatorname{median}_i R(r)$; or $|I(y_0)|$ if
    that is smaller and no small difference of large terms, since of a run that flies apart the ranges are
    as large as its end.

    A constant that is added to $I$ changes neither. The sums are estimated from derivatives along random
    signs, which is cheap for states of any size; $Df$ along such a direction is a difference, since a scale
    needs few digits and a derivative of $f$ takes many times longer to compile than $f$. Without the problem
    the size of the quantity stands for all.
    """
    sizes = {name: float(np.max(_finite(np.abs(values)), initial=0.0)) for name, values in conserved.items()}
    unknown = {name: Scale(size, size, 0.0) for name, size in sizes.items()}
    if problem is None:
        return unknown
    chosen = np.unique(np.linspace(0, len(t) - 1, SAMPLES).round().astype(int))
    parts = [components[label] for label in problem.labels]
    ranges = State(**{label: np.ptp(components[label], axis=0) for label in problem.labels})
    if len(chosen) < len(t):
        parts = [part[chosen] for part in parts]
    numbers = max(1, sum(part[0].size for part in parts))
    block = int(np.clip(AT_ONCE // (PROBES * numbers), 1, SAMPLES))
    found = by_blocks(partial(_responses, problem, ranges), (t[chosen], *parts), block, block)
    known = {name: _scale(np.abs(conserved[name][0]), steps[chosen], *found[name]) for name in found}
    for name, user in problem.invariants.items():
        if getattr(user.function, "terms", None) is not None:
            known[name] = replace(known[name], roundoff=float(np.max(known[name].roundoff)))
    return unknown | known


def _responses(problem: AbstractProblem, ranges: State, times: np.ndarray, *parts: np.ndarray) -> dict:
    """Of each quantity at each state: responses to state, right-hand side and ranges, and its rate."""
    states = (State(**dict(zip(problem.labels, one, strict=True))) for one in zip(*parts, strict=True))
    y = on_device(np.stack([np.asarray(problem.pack(state)) for state in states]))
    draw, total, rest = np.random.default_rng(0), None, None
    together = int(np.clip(AT_ONCE // y.size, 1, PROBES))
    together = next(count for count in range(together, 0, -1) if PROBES % count == 0)
    for _ in range(PROBES // together):
        signs = draw.choice([-1.0, 1.0], size=(together, *y.shape[1:]))
        squares, rest = _squares(problem, ranges, times, y, signs)
        total = squares if total is None else jax.tree.map(jnp.add, total, squares)
    assert total is not None and rest is not None, "there is at least one probe"
    rates, terms = rest
    found = {}
    for name, sums in total.items():
        state, field, moved = np.moveaxis(np.sqrt(np.asarray(sums) / PROBES), 1, 0)
        if name in terms:
            state = moved = np.asarray(terms[name])
            field = np.zeros_like(state)
        found[name] = (state, field, moved, np.abs(rates[name]))
    return found


def _squares(problem: AbstractProblem, ranges: State, times: np.ndarray, states, signs: np.ndarray):
    """Sums over some probes of the squares of the responses, at each state; rates and terms there."""
    shared = np.asarray(problem.pack(ranges)), signs
    found = each_state(_in_turn, problem, times, np.asarray(states), shared)
    return _side_by_side(problem, shared, times, states) if found is None else found


def _in_turn(problem: AbstractProblem, shared, at):
    """Squares at one state, one probe after the other: native code has the derivative once."""
    return _squares_at(problem, shared, at, lax.map)


@once
def _side_by_side(problem: AbstractProblem, shared, times, states):
    """Squares at many states, all probes at once."""

    def each(function, directions):
        return jax.vmap(function)(directions)

    return lax.map(lambda at: _squares_at(problem, shared, at, each), (times, states))


def _squares_at(problem: AbstractProblem, shared, at, each):
    """Sums over some probes of the squares of the responses at a state; rates and terms there."""
    (ranges, signs), (t, y) = shared, at
    # Steps add to each number by itself, which is rounded as its own size has it.
    near = each(lambda y: problem.vector_field(t, y), jnp.stack([y, y + DELTA * signs[0] * jnp.abs(y)]))
    f, noise = near[0], (near[1] - near[0]) / DELTA
    lengths = jnp.stack([jnp.abs(y), problem.magnitude(noise), problem.magnitude(ranges)])

    def quantities(y):
        return jax.tree.map(lambda value: jnp.asarray(value, dtype=float), problem.conserved(t, y))

    def along(direction):
        return jax.jvp(quantities, (y,), (direction,))[1]

    # Along all directions in one place, which is then compiled once.
    probed = (signs[:, None] * lengths[None]).reshape(-1, *y.shape)
    changes = each(along, jnp.concatenate([probed, f[None]]))

    def squared(change):
        return jnp.sum(change[:-1].reshape(len(signs), len(lengths), *change.shape[1:]) ** 2, axis=0)

    rates = jax.tree.map(lambda change: change[-1], changes)
    return jax.tree.map(squared, changes), (rates, problem.terms(t, y))


def _scale(start: np.ndarray, steps: np.ndarray, *responses: np.ndarray) -> Scale:
    """From the size of the start value, step sizes and the responses at each of the states."""
    state, field, ranges, rate = (
        _finite(np.asarray(response)).reshape(len(steps), -1) for response in responses
    )
    roundoff = state + steps[:, None] * np.minimum(np.max(rate, axis=0) / EPSILON, field)
    value, terms = (float(np.max(size, initial=0.0)) for size in (start, state[0]))
    extent = float(np.max(np.median(ranges, axis=0), initial=0.0))
    extent = min(extent, value) if value > CANCELLED * terms else extent
    return Scale(tuple(np.max(roundoff, axis=1, initial=0.0).tolist()), extent, terms)


def _finite(values: np.ndarray) -> np.ndarray:
    """A place where a value is not finite says nothing of the others."""
    return np.where(np.isfinite(values), values, 0.0)
