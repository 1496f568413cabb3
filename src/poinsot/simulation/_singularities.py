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


@dataclass(frozen=True)
class Singularity:
    """A time at which conditions of joints depend on each other that do not in general."""

    t: float
    joints: tuple[str, ...]
    """Those that take part, the most first."""
    value: float
    """Smallest singular value at the saved state next to it."""

    def __str__(self) -> str:
        return f"t = {self.t:.6g}: {', '.join(self.joints)}"


def singularities(
    formulation: Formulation, linkage: Linkage, times: np.ndarray, packed: np.ndarray
) -> list[Singularity]:
    r"""Where the smallest singular value that is not always zero passes through zero.

    Near a singular configuration it is $c\,|t - t_*|$. So it is taken to pass where its values at two states
    before a smallest one, and those at two states behind with the other sign, lie on a line, and where at the
    smallest it is no more than half of what it changes by in a step.
    """
    core = in_loops(linkage)
    if not core:
        return []
    matrices = _Matrices(formulation, linkage, core, times, packed)
    values = matrices.singular_values()
    rank = int(np.max(np.sum(values > DEPENDENT, axis=1)))
    least = values[:, rank - 1]
    earlier, later = np.append(np.inf, least[:-1]), np.append(least[1:], np.inf)
    found = []
    # Of equal neighbours the first counts; a stretch of zeros begins with its first state.
    for k in np.flatnonzero((least < earlier) & (least <= later)).tolist():
        zero = float(times[k]) if least[k] <= DEPENDENT else crossing(times, least, k)
        if zero is not None:
            joints = _taking_part(linkage, core, matrices.combinations(k)[:, rank - 1])
            found.append(Singularity(zero, joints, float(least[k])))
    return found


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


def _taking_part(linkage: Linkage, core: list[int], combination: np.ndarray) -> tuple[str, ...]:
    """Names of the conditions in a combination, by their shares."""
    ends = np.cumsum([linkage.conditions[i].rows for i in core])
    shares = [float(np.linalg.norm(part)) for part in np.split(combination, ends[:-1])]
    order = sorted(range(len(core)), key=lambda k: -shares[k])
    return tuple(linkage.conditions[core[k]].name for k in order if shares[k] > SHARE)


class _Matrices:
    """Scaled Jacobians of conditions at all states, put together for some states at a time."""

    def __init__(
        self,
        formulation: Formulation,
        linkage: Linkage,
        core: list[int],
        times: np.ndarray,
        packed: np.ndarray,
    ):
        self._linkage, self._core, self._count = linkage, core, len(times)
        flat = at_states(_jacobians, formulation, times, packed)
        shapes = [(one.rows, len(part)) for one, part in zip(linkage.conditions, linkage.parts, strict=True)]
        parts = np.split(flat, np.cumsum([rows * columns for rows, columns in shapes])[:-1], axis=1)
        self._parts = [part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)]

    def _at(self, states: slice) -> np.ndarray:
        return scaled_jacobians(self._linkage, self._core, [part[states] for part in self._parts])

    def singular_values(self) -> np.ndarray:
        """Those of each state, the largest first."""
        block = max(1, NUMBERS // self._at(slice(1)).size)
        blocks = (self._at(slice(begin, begin + block)) for begin in range(0, self._count, block))
        return np.concatenate([np.linalg.svd(one, compute_uv=False) for one in blocks])

    def combinations(self, k: int) -> np.ndarray:
        """The combinations of conditions that belong to them, of one state, as columns."""
        return np.linalg.svd(self._at(slice(k, k + 1))[0], full_matrices=False)[0]


def _jacobians(formulation: Formulation, grid, at) -> Array:
    """Jacobians of all conditions, one after the other."""
    t, y = at
    bodies = formulation.bodies
    x, c = bodies.split(formulation.rates(t, y)[0])
    linkage = bodies.system.linkage
    assert linkage is not None
    return jnp.concatenate([G.reshape(-1) for G in jacobians_of(linkage, t, x, bodies.rotation(c))])
