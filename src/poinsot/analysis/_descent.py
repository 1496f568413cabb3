"""Ways to a stationary point of the energy: down to a minimum, or to the nearest of any kind."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from poinsot.model import AbstractSystem

from ._binding import binding
from ._displacements import Point, moved
from ._joint_tangent import closed
from ._linearisation import Linearisation, linearisation
from ._spectrum import (
    eigenpairs,
    factor,
    least_squares_step,
    neutral_motions,
    unstable_count,
)

STATIONARY = 1e-9
"""Forces below this are none, relative to the stiffest bond times the size of a body."""
BOLDEST_TURN = 0.2
BOLDEST_MOVE = 5.0
"""Largest steps: an angle, and a length in units of the trial length of a body."""
TRUSTED, DISTRUSTED = 0.75, 0.25
"""Real over predicted gain above which the next step is bolder, and below which it is more careful."""
LEAST_SHIFT = 1e-12
ROOT_TEN = 10.0**0.5
EASE = 1e-2
"""First shift where bodies settle under loads, relative to the scale of their motions."""
ROUND = 32
"""Steps without smaller forces after which bodies do not settle: the boldest steps make a turn of these."""
PATIENCE, STAGNANT = 12, 0.99
"""A search for the least forces ends where so many steps have left more than this part of them."""
LOOK = 20
"""Steps after which a descent looks whether what it moves still holds together."""
NEAREST = 1e-6
"""Smallest step off a saddle that is tried, relative to the largest."""


def step_from(system: AbstractSystem, here: Linearisation, step: np.ndarray) -> Linearisation:
    """What is found after a step."""
    dx, w = here.parts(step)
    there = closed(system, moved(here.point, jnp.asarray(dx), jnp.asarray(w)))
    return linearisation(system, there, loaded=here.loaded)


def within_reach(system: AbstractSystem, here: Linearisation, step: np.ndarray) -> np.ndarray:
    """A step, shortened where it would move or turn a body further than the boldest."""
    dx, w = here.parts(step)
    lengths = BOLDEST_MOVE * np.asarray(system.trial_lengths(here.point.x))
    excess = [np.max(np.abs(dx) / lengths[None], initial=1.0), np.max(np.abs(w) / BOLDEST_TURN, initial=1.0)]
    return step / max(excess)


def resting(here: Linearisation, tolerance: float = STATIONARY) -> bool:
    """Whether the forces are none, relative to those that displace a body by its own size."""
    return here.unrest <= tolerance * here.scale


def descend(system: AbstractSystem, start: Point, limit: int) -> Linearisation:
    r"""A minimum of the energy, by Newton steps with a shift that keeps them going down (Levenberg).

    $$ (K + \mu I)\,y = -\nabla V $$

    The shift $\mu$ makes the matrix positive and grows where the energy falls less than predicted. Where it
    comes to rest at a saddle it goes on along the most unstable direction.

    Returns:
        Where it came to, a stationary point unless bodies fly apart or the steps did not suffice.
    """
    here, stuck = linearisation(system, start), 0
    shift, whole = 1e-3 * here.scale, binding(here, 0.0)
    for count in range(limit):
        if count % LOOK == LOOK - 1 and binding(here).looser_than(whole):
            return here
        rests = resting(here)
        if rests and stuck >= 2:
            lower = _off_the_saddle(system, here) if unstable_count(here) else None
            if lower is None:
                return here
            here, shift, stuck = lower, 1e-3 * here.scale, 0
            continue
        solve, shift = _positive(here, shift)
        step = within_reach(system, here, solve(-here.slope))
        there = step_from(system, here, step)
        gain = _gain(here, there, step)
        if rests:
            # The energy has no digits left to tell better from worse; the forces have.
            gain = 1.0 if there.force < 0.9 * here.force else 0.0
            stuck = 0 if gain else stuck + 1
        shift = _next_shift(shift, gain, here)
        here = there if gain > 1e-4 else here
    return here


def approach(system: AbstractSystem, start: Point, limit: int, *, loaded: bool = False) -> Linearisation:
    """The stationary point next to a start, of any kind: least squares of the forces (Levenberg).

    Where there is none it ends with the least force.
    """
    here, stuck = linearisation(system, start, loaded=loaded), 0
    shift, sizes = 1e-3 * here.scale, []
    for _ in range(limit):
        if stuck >= (2 if resting(here) else 12) or (not resting(here) and _stagnant(sizes)):
            break
        there = step_from(system, here, within_reach(system, here, least_squares_step(here, shift)))
        better = np.linalg.norm(there.slope) < np.linalg.norm(here.slope)
        shift = max(shift / ROOT_TEN, LEAST_SHIFT * here.scale) if better else ROOT_TEN * shift
        stuck = 0 if better else stuck + 1
        here = there if better else here
        sizes.append(float(np.linalg.norm(here.slope)))
    return here


def settle(system: AbstractSystem, start: Point, limit: int) -> Linearisation:
    r"""Where bodies under loads come to, that have no energy: along the forces, in ever longer steps.

    $$ (A + \mu I)\,y = -f, \qquad \mu \propto |f| $$

    This is pseudo-transient continuation (Kelley, Keyes, SIAM J. Numer. Anal. 35 (1998)): implicit steps of
    $\dot y = -f$, with a $\mu$ that makes K positive, so that what is unstable is left, and that becomes
    small where the forces do.

    Returns:
        A place of rest, or that with the least forces on the way.
    """
    here = best = linearisation(system, start, loaded=True)
    first, since = float(np.linalg.norm(here.slope)), 0
    for _ in range(limit):
        if resting(here) or since > ROUND:
            break
        relative = min(1.0, float(np.linalg.norm(here.slope)) / first)
        solve, shift = _positive(here, max(EASE * relative, LEAST_SHIFT) * here.scale)
        if here.circulatory is not None and np.any(here.circulatory):
            solve, _ = factor(here.stiffness, shift, symmetric=False)
        here = step_from(system, here, within_reach(system, here, solve(-here.slope)))
        best, since = (here, 0) if here.unrest < best.unrest else (best, since + 1)
    return best


def _stagnant(sizes: list[float]) -> bool:
    """Whether the last steps have made the forces hardly smaller."""
    return len(sizes) > PATIENCE and sizes[-1] > STAGNANT * sizes[-1 - PATIENCE]


def _positive(about: Linearisation, shift: float) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """A way to solve with the shifted matrix, and the shift, grown until the matrix is positive."""
    solve, negative = factor(about.matrix, shift)
    while negative:
        shift = max(4.0 * shift, 1e-8 * about.scale)
        solve, negative = factor(about.matrix, shift)
    return solve, shift


def _gain(here: Linearisation, there: Linearisation, step: np.ndarray) -> float:
    """By how much the energy fell, relative to the quadratic prediction."""
    predicted = -float(here.slope @ step + 0.5 * step @ (here.matrix @ step))
    fall = here.energy - there.energy
    return fall / predicted if np.isfinite(fall) and predicted > 0.0 else -1.0


def _next_shift(shift: float, gain: float, about: Linearisation) -> float:
    if gain > TRUSTED:
        return max(shift / 5.0, LEAST_SHIFT * about.scale)
    return shift if gain > DISTRUSTED else min(4.0 * shift, about.scale * 1e6)


def _off_the_saddle(system: AbstractSystem, here: Linearisation) -> Linearisation | None:
    """A lower point along the most unstable direction, as far away as one is found; None if there is none."""
    direction = eigenpairs(here, neutral_motions(here), 1)[1][:, 0]
    boldest = within_reach(system, here, direction / NEAREST**2)
    part = 1.0
    while part > NEAREST:
        sides = (step_from(system, here, sign * part * boldest) for sign in (1.0, -1.0))
        lower = min(sides, key=lambda place: place.energy)
        if lower.energy < here.energy:
            return lower
        part *= 0.25
    return None
