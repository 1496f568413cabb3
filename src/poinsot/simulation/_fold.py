"""Where joints that nothing keeps closed come to a place from which they could go on in two ways."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import HOLDING, HOLDING_REPETITIONS, Mobility
from poinsot.equations import Formulation
from poinsot.integrators.adaptive import Batch
from poinsot.model import Linkage, SerialLinkage, in_loops
from poinsot.simulation._evaluation import at_states
from poinsot.simulation._singularities import rank_lost

REGULAR = 1e-10
"""Pivots below this, relative to the diagonal, belong to conditions that follow from others."""
KANTOROVICH = 0.75
"""How much of a pivot must be left when the joints are closed by one step of Newton's iteration.

Next to two branches that cross, $\\theta\\eta = g$ with a gap $g$, the sum of squares of the two coordinates
is $2 |g|$ at least, and one half is left there.
"""
PARTS = 8
"""Into which a step is divided: the sign of a pivot tells of singular values where joints turn little."""
HALVINGS = 40
"""Of a part of a step in which a singular configuration is looked for."""


@dataclass(frozen=True)
class Folds:
    r"""Watches a run that lets its joints drift open for configurations in which they lose rank.

    A singular value passes through zero there, and on the way on the joints are closed along either of two
    branches. Those of closed joints cross; those of joints with a gap $g \ne 0$ do not, but turn from one
    into the other at a distance of about $\sqrt{|g|}$. Which way a solver goes depends on its drift, so the
    run has to end.

    With $A = G M^{-1} G^T$ the pivots of $G_1 M^{-1} G_0^T$ between the two ends of a step are those of $A$
    until a singular value changes its sign; they have the sign of the product of its values at both ends.
    Between a configuration and the result of one Newton step that closes the joints they differ little from
    those of $A$, as long as Newton's iteration converges (Kantorovich). Within the distance above it does
    not. Conditions that follow from others everywhere have no pivot.
    """

    formulation: Formulation
    linkage: Linkage

    @classmethod
    def of(cls, formulation: Formulation | None) -> "Folds | None":
        """The watch, if there are loops that could lose rank."""
        if formulation is None or formulation.bodies.joints is None:
            return None
        linkage = formulation.bodies.system.linkage
        if linkage is None or linkage.independent or not in_loops(linkage):
            return None
        return cls(formulation, linkage)

    def first(self, batch: Batch, t: float, y: np.ndarray) -> tuple[float, int] | None:
        """Time and step of the first such place in a batch that begins at `t` and `y`, if there is one."""
        begins = np.append(t, batch.t[:-1])
        inner = begins[:, None] + np.arange(1, PARTS) / PARTS * (batch.t - begins)[:, None]
        states = batch.dense(inner.reshape(-1)).reshape(len(begins), PARTS - 1, -1)
        times = np.append(t, np.concatenate([inner, batch.t[:, None]], axis=1))
        packed = np.concatenate([states, batch.y[:, None]], axis=1).reshape(-1, len(y))
        packed = np.concatenate([y[None], packed])
        passed, closed = self._ratios(times[:-1], packed[:-1], times[1:], packed[1:]).T
        for part in np.flatnonzero((passed < 0.0) | (closed < KANTOROVICH)):
            begin, end = times[part : part + 2]
            found = self._zero(batch, begin, end) if passed[part] < 0.0 else end
            if self._lost(batch, begin, packed[part], found):
                return found, int(part) // PARTS
        return None

    def _ratios(self, t: np.ndarray, y: np.ndarray, later: np.ndarray, y_later: np.ndarray) -> np.ndarray:
        """The two least ratios of pivots, for pairs of states."""
        packed = np.concatenate([later[:, None], y, y_later], axis=1)
        return at_states(_ratios, self.formulation, t, packed)

    def _zero(self, batch: Batch, begin: float, end: float) -> float:
        """Where a pivot changes its sign, as closely as it can be told from zero."""
        for _ in range(HALVINGS):
            middle = 0.5 * (begin + end)
            marks = np.array([begin, middle, end])
            states = batch.dense(marks)
            first, second = self._ratios(marks[:-1], states[:-1], marks[1:], states[1:])[:, 0]
            if first < 0.0:
                end = middle
            elif second < 0.0:
                begin = middle
            else:
                break
        return end

    def _lost(self, batch: Batch, begin: float, y: np.ndarray, t: float) -> bool:
        """Whether the joints have less rank at a time than before: others may hold what a pivot does not."""
        states = np.stack([y, batch.dense(np.array([t]))[0]])
        return rank_lost(self.formulation, self.linkage, np.array([begin, t]), states)


def _ratios(formulation: Formulation, grid, at) -> Float[Array, "2"]:
    """Least ratios of pivots: from one state to another, and from that to where it would be closed."""
    t, both = at
    later, (first, second) = both[0], jnp.split(both[1:], 2)
    bodies = formulation.bodies
    joints = bodies.joints
    assert joints is not None and not isinstance(joints, SerialLinkage)

    def pose(t, y: Array):
        x, c = bodies.split(formulation.rates(t, y)[0])
        return x, bodies.rotation(c)

    def least(reach, t, x: Array, R: Array) -> Array:
        pivots = joints.closing(reach, t, x, R, mobility, 0.0).pivots
        rows = zip(pivots, reach.pivots, reach.diagonal, strict=True)
        ratios = [jnp.where(d > REGULAR * a, p / jnp.where(d > 0.0, d, 1.0), 1.0) for p, d, a in rows]
        return jnp.min(jnp.stack([jnp.min(one) for one in ratios]))

    (x0, R0), (x, R) = pose(t, first), pose(later, second)
    mass = joints.weights[x.size :].reshape(3, -1)
    mobility = Mobility(jnp.ones(()), jnp.eye(3)[:, :, None] * mass[None])
    there = joints.at(later, x, R, HOLDING)
    gaps = [-gap for gap in joints.gaps(later, x, R)]
    move = joints.weights * there.pull(there.solve(gaps, HOLDING_REPETITIONS))
    shift, turn = move[: x.size].reshape(x.shape), move[x.size :].reshape(3, -1)
    turned = R + jnp.cross(R, turn[None], axis=1)
    return jnp.stack(
        [least(joints.at(t, x0, R0, HOLDING), later, x, R), least(there, later, x + shift, turned)]
    )
