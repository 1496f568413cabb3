"""Where along a run the joints of a mechanism lose rank."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.equations import Formulation
from poinsot.model import DEPENDENT, Linkage, in_loops, jacobians_of, scaled_jacobians
from poinsot.simulation._evaluation import at_states

NUMBERS = 2**22
"""Of the matrices whose singular values are found in one go."""
STRAIGHT = 0.1
"""How far from a line values may be, relative to their range."""
SHARE = 1e-3
"""Share in the dependence from which on a joint is named."""
NEXT_TO = 0.02
"""Smallest singular value, of rows of length one, up to which a state is next to a singular configuration."""
PARTS = 8
"""Into which the time between two saved states is divided where the rank may drop in it."""
STEEP = 2.0
"""How many times the smallest value its larger neighbour is at least where there is a zero beside it."""


@dataclass(frozen=True)
class Singularity:
    """A time at which conditions of joints depend on each other that do not in general."""

    t: float
    joints: tuple[str, ...]
    """Those that take part, the most first."""
    value: float
    """Smallest singular value that was found next to it."""

    def __str__(self) -> str:
        return f"t = {self.t:.6g}: {', '.join(self.joints)}"


def singularities(
    formulation: Formulation, linkage: Linkage, times: np.ndarray, packed: np.ndarray
) -> list[Singularity]:
    r"""Where the smallest singular value that is not always zero passes through zero.

    Near a singular configuration it is $c\,|t - t_*|$. So it is taken to pass where its values at two states
    before a smallest one, and those at two states behind with the other sign, lie on a line, and where at the
    smallest it is no more than half of what it changes by in a step. Where saved states are too far apart for
    that, the same is looked for between them.
    """
    core = in_loops(linkage)
    if not core:
        return []
    path = _Path.of(formulation, times, packed)
    matrices = _Matrices(formulation, linkage, core)
    values = matrices.singular_values(path.times, path.places)
    rank = int(np.max(np.sum(values > DEPENDENT, axis=1)))
    least = values[:, rank - 1]
    found = []

    def note(t: float, path: _Path, least: np.ndarray, k: int) -> None:
        joints = matrices.taking_part(path.times[k], path.places[k], rank)
        found.append(Singularity(t, joints, float(least[k])))

    for k in _smallest(least):
        zero = float(times[k]) if least[k] <= DEPENDENT else crossing(times, least, k)
        if zero is not None:
            note(zero, path, least, k)
        elif _steep(least, k):
            near = path.between(max(k - 2, 0), min(k + 2, len(times) - 1))
            low, high = times[max(k - 1, 0)], times[min(k + 1, len(times) - 1)]
            closer = matrices.singular_values(near.times, near.places)[:, rank - 1]
            for j in _smallest(closer):
                zero = crossing(near.times, closer, j)
                if zero is not None and low <= zero < high:
                    note(zero, near, closer, j)
    return found


def dead_point(
    formulation: Formulation, linkage: Linkage, times: np.ndarray, packed: np.ndarray, reach: float
) -> Singularity | None:
    r"""The singular configuration right behind the last state, if there is one.

    A mechanism that is driven towards it cannot pass, and the smallest singular value is $c\sqrt{t_* - t}$.
    So its square is continued along the line through the last two states; a zero within `reach` counts.
    """
    core = in_loops(linkage)
    if not core or len(times) < 2:
        return None
    path = _Path.of(formulation, times[-2:], packed[-2:])
    matrices = _Matrices(formulation, linkage, core)
    values = matrices.singular_values(path.times, path.places)
    rank = int(np.sum(values[0] > DEPENDENT))
    before, last = values[:, rank - 1] ** 2
    if last >= before:
        return None
    ahead = (times[-1] - times[-2]) * last / (before - last)
    if abs(ahead) > reach:
        return None
    joints = matrices.taking_part(times[-1], path.places[-1], rank)
    return Singularity(float(times[-1] + ahead), joints, float(values[1, rank - 1]))


def rank_lost(formulation: Formulation, linkage: Linkage, times: np.ndarray, packed: np.ndarray) -> bool:
    """Whether the second of two states is next to one at which joints have less rank than at the first."""
    path = _Path.of(formulation, times, packed)
    before, after = _Matrices(formulation, linkage, in_loops(linkage)).singular_values(
        path.times, path.places
    )
    rank = int(np.sum(before > DEPENDENT))
    return rank > 0 and float(after[rank - 1]) < NEXT_TO


def crossing(times: np.ndarray, least: np.ndarray, k: int) -> float | None:
    """Where the line through the neighbours of a smallest value is zero; None where there is no such line."""
    if not 2 <= k < len(times) - 2:
        return None
    places, signs = np.array([k - 2, k - 1, k + 1, k + 2]), np.array([1.0, 1.0, -1.0, -1.0])
    values, since = signs * least[places], times[places] - times[k]
    slope, level = np.polyfit(since, values, 1)
    off = np.max(np.abs(level + slope * since - values))
    step = abs(slope) * np.max(np.diff(times[k - 1 : k + 2]))
    if off > STRAIGHT * np.ptp(values) or 2.0 * least[k] > (1.0 + STRAIGHT) * step:
        return None
    return float(times[k] - level / slope)


def _smallest(values: np.ndarray) -> list[int]:
    """Places of values no larger than their neighbours.

    Of equal neighbours the first counts; a stretch of zeros begins with its first.
    """
    earlier, later = np.append(np.inf, values[:-1]), np.append(values[1:], np.inf)
    return np.flatnonzero((values < earlier) & (values <= later)).tolist()


def _steep(values: np.ndarray, k: int) -> bool:
    """Whether a zero may lie beside a smallest value: between the two ends of the run, or on one side of it.

    Where values are straight on both sides of a zero, the larger neighbour is three times the smallest.
    """
    if not 1 <= k < len(values) - 1:
        return len(values) > 1
    return max(values[k - 1], values[k + 1]) >= STEEP * values[k]


@dataclass(frozen=True)
class _Path:
    """Configurations of all bodies along a run, with their rates."""

    times: np.ndarray
    places: np.ndarray
    rates: np.ndarray

    @classmethod
    def of(cls, formulation: Formulation, times: np.ndarray, packed: np.ndarray) -> "_Path":
        """Those of packed states."""
        return cls(times, *np.split(at_states(_configuration, formulation, times, packed), 2, axis=1))

    def between(self, first: int, last: int) -> "_Path":
        """The path from one state to another, each interval in parts, by cubic Hermite interpolation."""
        s = np.arange(PARTS)[:, None] / PARTS
        values = np.stack([(1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s**2 * (3 - 2 * s), s**2 * (s - 1)])
        slopes = np.stack([6 * s * (s - 1), (1 - s) * (1 - 3 * s), 6 * s * (1 - s), s * (3 * s - 2)])
        times, places, rates = [], [], []
        for k in range(first, last):
            h = self.times[k + 1] - self.times[k]
            ends = np.stack([self.places[k], h * self.rates[k], self.places[k + 1], h * self.rates[k + 1]])
            times.append(self.times[k] + s[:, 0] * h)
            places.append(np.sum(values * ends[:, None], axis=0))
            rates.append(np.sum(slopes * ends[:, None], axis=0) / h)
        return _Path(
            np.append(np.concatenate(times), self.times[last]),
            np.concatenate([*places, self.places[last][None]]),
            np.concatenate([*rates, self.rates[last][None]]),
        )


class _Matrices:
    """Scaled Jacobians of the conditions that may depend on each other, some configurations at a time."""

    def __init__(self, formulation: Formulation, linkage: Linkage, core: list[int]):
        self._formulation, self._linkage, self._core = formulation, linkage, core

    def _at(self, times: np.ndarray, places: np.ndarray) -> np.ndarray:
        linkage = self._linkage
        flat = at_states(_jacobians, self._formulation, times, places)
        shapes = [(one.rows, len(part)) for one, part in zip(linkage.conditions, linkage.parts, strict=True)]
        parts = np.split(flat, np.cumsum([rows * columns for rows, columns in shapes])[:-1], axis=1)
        blocks = [part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)]
        return scaled_jacobians(linkage, self._core, blocks)

    def singular_values(self, times: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Those of each configuration, the largest first."""
        size = sum(self._linkage.conditions[i].rows for i in self._core) * self._linkage.weights.size
        block = max(1, NUMBERS // size)
        parts = (slice(begin, begin + block) for begin in range(0, len(times), block))
        return np.concatenate(
            [np.linalg.svd(self._at(times[one], places[one]), compute_uv=False) for one in parts]
        )

    def taking_part(self, t: float, place: np.ndarray, rank: int) -> tuple[str, ...]:
        """Names of the conditions in the combination that belongs to the singular value of the rank."""
        matrix = self._at(np.array([t]), place[None])[0]
        combination = np.linalg.svd(matrix, full_matrices=False)[0][:, rank - 1]
        ends = np.cumsum([self._linkage.conditions[i].rows for i in self._core])
        shares = [float(np.linalg.norm(part)) for part in np.split(combination, ends[:-1])]
        order = sorted(range(len(shares)), key=lambda k: -shares[k])
        return tuple(self._linkage.conditions[self._core[k]].name for k in order if shares[k] > SHARE)


def _configuration(formulation: Formulation, grid, at) -> Array:
    """Coordinates of all bodies, and their rates."""
    q, rate, _ = formulation.rates(*at)
    return jnp.concatenate([q, rate])


def _jacobians(formulation: Formulation, grid, at) -> Array:
    """Jacobians of all conditions, one after the other."""
    t, q = at
    bodies = formulation.bodies
    x, c = bodies.split(q)
    linkage = bodies.system.linkage
    assert linkage is not None
    return jnp.concatenate([G.reshape(-1) for G in jacobians_of(linkage, t, x, bodies.rotation(c))])
