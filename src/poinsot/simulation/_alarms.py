"""What is said of a run before any verdict: steps too large for the motion, and quantities that are lost."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from poinsot.simulation._body_trajectory import BodyTrajectory
from poinsot.simulation._trajectory import Trajectory
from poinsot.simulation._verdict import Verdict

if TYPE_CHECKING:
    from poinsot.simulation._report import Row

HALF_TURN = np.pi
"""Angle beyond which a turn within a step looks like a smaller one the other way."""
FEW = 3
"""Lost quantities that are named."""


def alarms(trajectory: Trajectory, rows: Iterable["Row"]) -> tuple[str, ...]:
    """Sentences that stand above the verdicts, which say nothing where these apply."""
    found = (_turning(trajectory), _lost([row for row in rows if row.verdict is Verdict.lost]))
    return tuple(text for text in found if text is not None)


def _turning(trajectory: Trajectory) -> str | None:
    r"""Whether a body turns by more than half a turn in a step.

    The angle is $|\Omega|\,h$, at the saved states and with the steps that were taken from there. No
    conserved quantity tells how often a body went round.
    """
    if not isinstance(trajectory, BodyTrajectory) or not trajectory.motion:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        speeds = np.linalg.norm(trajectory.motion["angular_velocity"], axis=-1)
    fastest = np.max(speeds, axis=1, initial=0.0)
    angles = fastest * trajectory.step_sizes
    # No step was taken from the last state, unless the first one has failed.
    beyond = np.flatnonzero(angles[: max(len(angles) - 1, 1)] > HALF_TURN)
    if not len(beyond):
        return None
    first = int(beyond[0])
    body = int(np.argmax(speeds[first]))
    if trajectory.history is not None:
        remedy = "only the tolerances hold it, compare with a run at smaller ones"
    else:
        # Later speeds may be those of a run that has gone wrong.
        remedy = "take a smaller dt" if first else f"take dt below {HALF_TURN / fastest[0]:.2g}"
    name, t = trajectory.attributes["bodies"][body], trajectory.t[first]
    return (
        f"{name} turns by {angles[first]:.2g} rad in the step from t = {t:g}, more than half a turn: "
        f"no verdict says anything of its attitude; {remedy}"
    )


def _lost(rows: list["Row"]) -> str | None:
    """Which quantities have changed by their own size."""
    if not rows:
        return None
    worst = sorted(rows, key=lambda row: -row.relative_deviation)
    texts = [f"{row.name} has changed by {row.relative_deviation:.2g} times its size" for row in worst[:FEW]]
    more = f" and {len(rows) - FEW} more" if len(rows) > FEW else ""
    return f"{', '.join(texts)}{more}: take a smaller step, unless the motion does not conserve it"
