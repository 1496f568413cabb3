"""Extrapolation of a simple method to any order, with control of order and step."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Packed, hold
from poinsot.core.types import BoolScalar, IntScalar, Scalar
from poinsot.integrators.adaptive._method import Demands

CONTINUE, ACCEPT, REJECT, UNSTABLE = 0, 1, 2, 3


@dataclass(frozen=True)
class Scheme:
    r"""Numbers of substeps, the weights that follow from them, and the constants of the control.

    Row $j$ of the tableau takes the step in $n_j$ substeps, with a result $T_{j1}$ whose error has an
    expansion in $(H/n_j)^p$. Neville's polynomial through the first $k$ rows, at zero, is a sum of them:

    $$ T_{kk} = \sum_{i=1}^k w_i T_{i1}, \qquad w_i = \prod_{l \ne i} \frac{n_i^p}{n_i^p - n_l^p} $$

    and $T_{k,k-1}$ is the same sum without the first row. So the tableau is never formed.
    """

    sequence: tuple[int, ...]
    """Substeps of each row, increasing."""
    power: int
    """Of the step in the expansion of the error: 2 for symmetric methods, else 1."""
    work: tuple[float, ...]
    """Cost of the rows up to each one, in right-hand sides."""
    aim: float
    """Error that a step is to have, in units of the tolerance."""
    safety: float
    """Factor on the step besides."""
    least: float
    """To the power that belongs to the order, the smallest factor of the step; four over it, the largest."""
    lower: float
    """The order falls where the one below costs less than so much of the work."""
    higher: float
    """It rises where this one costs less than so much of the work of the one below."""

    @property
    def rows(self) -> int:
        """Most rows."""
        return len(self.sequence)

    @property
    def top(self) -> int:
        """Highest order: one row is kept in reserve."""
        return self.rows - 1

    def value(self) -> np.ndarray:
        """Weights of $T_{kk}$: a line for each k from zero, a column for each row."""
        lines = [self._weights(0, k) for k in range(self.rows + 1)]
        return np.array(lines, dtype=float)

    def error(self) -> np.ndarray:
        r"""Weights of $T_{kk} - T_{k,k-1}$, likewise."""
        lines = [
            [a - b for a, b in zip(self._weights(0, k), self._weights(1, k), strict=True)]
            for k in range(self.rows + 1)
        ]
        return np.array(lines, dtype=float)

    def promise(self) -> np.ndarray:
        r"""Logarithms of $\prod_{i \le k} (n_i / n_1)^p$: how much smaller the error gets up to row k."""
        gains = [self.power * math.log(n / self.sequence[0]) for n in self.sequence]
        return np.array([0.0, *np.cumsum(gains)])

    def exponent(self) -> np.ndarray:
        """Powers of the step in the errors of $T_{k,k-1}$."""
        return np.array([1.0, *(self.power * (k - 1) + 1.0 for k in range(1, self.rows + 1))])

    def _weights(self, first: int, k: int) -> list[Fraction]:
        steps = [Fraction(n) ** self.power for n in self.sequence]
        used = range(first, k)
        return [
            math.prod((steps[i] / (steps[i] - steps[m]) for m in used if m != i), start=Fraction(1))
            if i in used
            else Fraction(0)
            for i in range(self.rows)
        ]


class Window(NamedTuple):
    """What the control of order and step remembers."""

    k: IntScalar
    """The row in which convergence is expected."""
    h: Scalar
    """The step that was proposed; zero before the first one."""
    refused: BoolScalar
    """Whether the attempt before was rejected."""


class Extrapolated(NamedTuple):
    """What came of a step."""

    y: Packed
    accepted: BoolScalar
    window: Window
    """For the next attempt."""
    row: IntScalar
    """Rows computed; the state is that of the last one."""
    extra: Any
    """What the rows handed on."""


class _Judgement(NamedTuple):
    y: Packed
    error: Scalar
    step: Scalar
    """Optimal size."""
    verdict: IntScalar


class _Tableau(NamedTuple):
    j: IntScalar
    """Rows computed."""
    first: Float[Array, "rows n"]
    """Increments of the rows, `(rows, n)`."""
    y: Packed
    error: Scalar
    step: Float[Array, " rows+1"]
    """Optimal step by each row, from one."""
    work: Float[Array, " rows+1"]
    """Work per unit step by each row, likewise."""
    verdict: IntScalar
    extra: Any


Row = Callable[[IntScalar, IntScalar, Any], tuple[Packed, BoolScalar, Any]]
"""Of index, number of substeps and what earlier rows handed on: the increment of the row, whether it is
stable, and what it hands on."""


def initial_window(scheme: Scheme, tolerance: Scalar) -> Window:
    """A row by the number of digits that are asked for."""
    k = jnp.floor(1.5 - 0.6 * jnp.log10(tolerance)).astype(jnp.int64)
    return Window(jnp.clip(k, 2, scheme.top), jnp.float64(0.0), jnp.array(False))


def combine(scheme: Scheme, rule: Callable[[IntScalar], Packed], k: IntScalar, y: Packed) -> Packed:
    """The state extrapolated from `k` rows, each the increment by `rule` in so many substeps."""

    def body(j, first):
        return first.at[j].set(rule(jnp.asarray(scheme.sequence)[j]))

    first = lax.fori_loop(0, k, body, jnp.zeros((scheme.rows, y.size)))
    return y + _combined(jnp.asarray(scheme.value())[k], first)


def _combined(weights: Float[Array, " rows"], first: Float[Array, "rows n"]) -> Packed:
    return jnp.sum(weights[:, None] * first, axis=0)


def extrapolate(
    scheme: Scheme, row: Row, h: Scalar, y: Packed, window: Window, demands: Demands, extra: Any
) -> Extrapolated:
    r"""One step, with as many rows as it needs, and the order and size of the next.

    With target row k, rows are computed up to k - 1; then the step is accepted in the first of the rows
    k - 1, k, k + 1 whose error $e_j = \|T_{jj} - T_{j,j-1}\|$ is at most one, and is given up where not even
    the asymptotic decrease of the errors up to row k + 1 would do. The first step, and one that has been cut
    to end the run, may end in any row.

    The optimal step and the work per unit step by row j are

    $$ H_j = H \, s \, (\vartheta / e_j)^{1/(p(j-1)+1)}, \qquad W_j = A_j / H_j $$

    and the next row and step are where the work is least, with some reluctance to change. Errors that grow
    from row to row, or a row that calls itself unstable, halve the step.

    Args:
        scheme: substeps and constants.
        row: the simple method.
        h: step, with its sign.
        y: state at its start.
        window: from the attempt before.
        demands: tolerances and largest step.
        extra: what the first row is given from without.
    """
    k = window.k
    anywhere = (window.h == 0.0) | (jnp.abs(h) < 0.9 * jnp.abs(window.h))
    sequence, work = jnp.asarray(scheme.sequence), jnp.asarray([0.0, *scheme.work])

    def body(tableau: _Tableau) -> _Tableau:
        increment, stable, extra = row(tableau.j, sequence[tableau.j], tableau.extra)
        first = tableau.first.at[tableau.j].set(increment)
        j = tableau.j + 1

        def judge() -> _Judgement:
            return _judge(scheme, demands, window, h, y, first, j, tableau.error, anywhere)

        # Of rows further below the target nothing is needed but their increments.
        judged = (j >= 2) & ((j >= k - 2) | anywhere)
        infinite = jnp.float64(jnp.inf)
        unseen = _Judgement(y + increment, infinite, infinite, jnp.int64(CONTINUE))
        seen = lax.cond(judged, judge, lambda: unseen)
        return _Tableau(
            j=j,
            first=first,
            y=seen.y,
            error=seen.error,
            step=tableau.step.at[j].set(seen.step),
            work=tableau.work.at[j].set(jnp.where(judged, work[j] / seen.step, jnp.inf)),
            verdict=jnp.where(stable, seen.verdict, UNSTABLE),
            extra=extra,
        )

    empty = _Tableau(
        j=jnp.int64(0),
        first=jnp.zeros((scheme.rows, y.size)),
        y=y,
        error=jnp.float64(jnp.inf),
        step=jnp.zeros(scheme.rows + 1),
        work=jnp.full(scheme.rows + 1, jnp.inf),
        verdict=jnp.int64(CONTINUE),
        extra=extra,
    )
    tableau = lax.while_loop(lambda one: one.verdict == CONTINUE, body, empty)
    accepted = tableau.verdict == ACCEPT
    k1, size = _next(scheme, tableau, k, jnp.abs(h), window.refused, work)
    proposed = jnp.sign(h) * size
    return Extrapolated(tableau.y, accepted, Window(k1, proposed, ~accepted), tableau.j, tableau.extra)


def _judge(
    scheme: Scheme,
    demands: Demands,
    window: Window,
    h: Scalar,
    y: Packed,
    first: Float[Array, "rows n"],
    j: IntScalar,
    before: Scalar,
    anywhere: BoolScalar,
) -> _Judgement:
    """State, error, optimal step and verdict by row j; `before` is the error by the row before."""
    promise, k = jnp.asarray(scheme.promise()), window.k
    end = hold(y + _combined(jnp.asarray(scheme.value())[j], first))
    error = demands.norm(_combined(jnp.asarray(scheme.error())[j], first), y, end)
    exponent = jnp.asarray(scheme.exponent())[j]
    # Of logarithms, because a power takes longer.
    log = jnp.log(error)
    shrink = jnp.exp(math.log(scheme.least) / exponent)
    factor = scheme.safety * jnp.exp((math.log(scheme.aim) - log) / exponent)
    step = jnp.minimum(jnp.abs(h) * jnp.clip(factor, shrink, 4.0 / shrink), demands.max_step)
    hopeless = (j >= k - 1) & (log > promise[k + 1] - promise[j])
    verdict = jnp.where(hopeless, REJECT, CONTINUE)
    verdict = jnp.where(((j >= k - 1) | anywhere) & (error <= 1.0), ACCEPT, verdict)
    # A NaN must not pass for an error that is small enough to go on.
    grows = ~(error <= jnp.maximum(4.0 * before, 1.0))
    return _Judgement(end, error, step, jnp.where(grows, UNSTABLE, verdict))


def _next(
    scheme: Scheme,
    tableau: _Tableau,
    k: IntScalar,
    h: Scalar,
    refused: BoolScalar,
    work: Float[Array, " rows+1"],
) -> tuple[IntScalar, Scalar]:
    """Row and size of the next attempt."""
    j, step, per_unit = tableau.j, tableau.step, tableau.work
    accepted = tableau.verdict == ACCEPT
    base = jnp.minimum(jnp.minimum(j, k), scheme.top)
    cheaper = (base > 2) & (per_unit[base - 1] < scheme.lower * per_unit[base])
    best = jnp.where(cheaper, base - 1, base)
    late = j > k
    rival = jnp.where(late, per_unit[best], per_unit[j - 1])
    rises = accepted & ~refused & (per_unit[j] < scheme.higher * rival)
    k1 = jnp.clip(jnp.where(rises, base + 1, best), 2, scheme.top)
    # One row further than computed, the step is longer in proportion to the work.
    beyond = step[j] * work[jnp.minimum(k1, scheme.rows)] / work[j]
    size = jnp.where(k1 > j, beyond, step[k1])
    size = jnp.where(refused, jnp.minimum(size, h), size)
    return k1, jnp.where(tableau.verdict == UNSTABLE, 0.5 * h, size)
