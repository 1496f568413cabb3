r"""How far a run is from the exact motion: estimated by the same run, computed finer.

Conserved quantities do not tell: a motion may run ahead of the exact one on the very surface of its energy.
A method of order $p$ has an error $e_h = C h^p + \dots$, so the run of step $h$ and that of half the step
give, at the same times (Richardson),

$$ e_h \approx \frac{2^p}{2^p - 1}\,\big(y_h - y_{h/2}\big) . $$

The error of an adaptive solver follows its tolerance $\delta$: of a run with tolerances $c$ times as small,
the difference is about $1 - 1/c$ of it. Rounding errors are in the difference as they are in the run. Where
the two runs differ by as much as the motion is large, nothing is known of the error but that it is not
small.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.core import InputError
from poinsot.simulation._body_trajectory import BodyTrajectory
from poinsot.simulation._tables import lines_of, rich_table
from poinsot.simulation._trajectory import Trajectory

if TYPE_CHECKING:
    from rich.console import Group

TIGHTER = 100.0
"""How much smaller the tolerances of the finer run are, where they can be."""
LEAST = 2.0
"""How much smaller they have to be."""
FEW = 6
"""Numbers of a component up to which each has its own row; of more there is one row, for the worst."""
LARGE = 0.1
"""Share of the motion beyond which an error is not known by its estimate."""
NEVER = 10**15
"""Interval of saving of a run of which the end alone is wanted."""
SEEN = ("position", "rotation", "velocity", "angular_velocity")
"""What is compared of bodies."""

_COLUMNS = ("", "largest error", "at t", "at the end", "")


@dataclass(frozen=True)
class ErrorRow:
    """The estimated error of one part of the state."""

    name: str
    largest: float
    time: float
    """When it is so large."""
    final: float
    """At the end of the run."""
    known: bool
    """Whether it is so much smaller than the motion that the estimate holds."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        numbers = f"{self.largest:.1e}", f"{self.time:.6g}", f"{self.final:.1e}"
        return self.name, *numbers, "" if self.known else "as large as the motion"


@dataclass(frozen=True, repr=False)
class ErrorEstimate:
    """The estimated error of a run: of positions, rotations in radians and velocities, or of components."""

    beside: str
    """What the run was compared with."""
    rows: tuple[ErrorRow, ...]

    @classmethod
    def of(cls, run: Trajectory) -> "ErrorEstimate":
        """Run it again, finer, and compare the states at the saved times.

        Raises:
            InputError: the run was loaded, has taken no step, or cannot be computed finer.
        """
        if run.again is None:
            raise InputError(
                "accuracy: a run that was loaded keeps no code and cannot be computed again; ask for "
                "report(accuracy=True) before saving it, or simulate it anew"
            )
        if len(run) < 2:
            raise InputError("accuracy: the run has taken no step")
        beside, factor, options = _finer(run)
        fine = run.again(t1=float(run.t[-1]), **options)
        _, places, others = np.intersect1d(run.t, fine.t, return_indices=True)
        order = np.argsort(places)
        places, others = places[order], others[order]
        if places[-1] != len(run) - 1:
            beside += f", which ended at t = {fine.t[-1]:g}"
        rows = []
        for name, ours, finer in _pairs(run, fine):
            errors = factor * _distance(name, ours[places], finer[others])
            if name == "rotation":
                errors = np.minimum(errors, np.pi)
            moved = np.max(_distance(name, ours[places], ours[:1]), axis=0, initial=0.0)
            rows += _rows(name, run.t[places], errors, LARGE * moved + _noise(ours))
        return cls(beside, tuple(rows))

    def __repr__(self) -> str:
        return f"ErrorEstimate({', '.join(f'{row.name} {row.largest:.1e}' for row in self.rows)})"

    def __str__(self) -> str:
        return "\n".join([self._title, *lines_of(_COLUMNS, [row.cells for row in self.rows])])

    def __rich__(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        table = rich_table(_COLUMNS)
        for row in self.rows:
            *cells, remark = row.cells
            table.add_row(*map(Text, cells), Text(remark, style="bold red"))
        return Group(Text(self._title), table)

    @property
    def _title(self) -> str:
        return f"Error of the motion, estimated by the same run at {self.beside}:"


def _finer(run: Trajectory) -> tuple[str, float, dict[str, Any]]:
    """The finer run in words, the factor that makes an error of a difference, and what is to be changed."""
    assert run.again is not None
    method, about = run.again.keywords["integrator"], run.attributes
    dt = about.get("dt", about.get("nominal_dt"))
    saves = {"save_at": run.t[1:]} if getattr(method, "dense_output", True) else {"save_every": NEVER}
    if dt is not None:
        order = about["traits"]["order"]
        ends = {"last_step": "shorten"} if run.history is None else {}
        return f"dt = {dt / 2:g}, order {order}", 1.0 / (1.0 - 0.5**order), {"dt": dt / 2} | ends | saves
    rtol, atol = about["rtol"], about["atol"]
    share = min(TIGHTER, rtol / method.finest)
    if share < LEAST:
        raise InputError(
            f"accuracy: rtol = {rtol:g} is as small as {method.name} takes it, so there is no finer run to "
            "compare with; ask for the accuracy of a run at a larger rtol"
        )
    finer = {"rtol": rtol / share, "atol": atol / share}
    words = ", ".join(f"{name} = {value:.2g}" for name, value in finer.items())
    return words, 1.0 / (1.0 - 1.0 / share), finer | saves


def _pairs(run: Trajectory, fine: Trajectory) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """What is compared, by name: of bodies (time, body, ...), else (time, number)."""
    if isinstance(run, BodyTrajectory) and isinstance(fine, BodyTrajectory):
        return [(name, run.motion[name], fine.motion[name]) for name in SEEN]
    return [
        (name, values.reshape(len(run), -1), fine.components[name].reshape(len(fine), -1))
        for name, values in run.components.items()
        if values.size
    ]


def _distance(name: str, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    r"""How far apart they are, (time, k): lengths of vectors, angles of rotations, else number by number.

    The angle $\varphi$ between rotations has $\lVert M - M^T \rVert_F = 2 \sqrt 2 \sin \varphi$ and
    $\operatorname{tr} M = 1 + 2 \cos \varphi$ with $M = R^T S$. A drift off the rotations changes both
    alike, and not the angle.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if name == "rotation" and first.ndim == 4:
            between = np.swapaxes(first, -1, -2) @ second
            sine = np.linalg.norm(between - np.swapaxes(between, -1, -2), axis=(-2, -1)) / np.sqrt(8.0)
            return np.arctan2(sine, 0.5 * (np.trace(between, axis1=-2, axis2=-1) - 1.0))
        return np.linalg.norm(first - second, axis=-1) if first.ndim == 3 else np.abs(first - second)


def _noise(values: np.ndarray) -> float:
    """Round-off of values that stand still."""
    return 1e3 * float(np.finfo(float).eps) * float(np.max(np.abs(values)))


def _rows(name: str, t: np.ndarray, errors: np.ndarray, bounds: np.ndarray) -> list[ErrorRow]:
    """One row for each of a few numbers of a component; of bodies and of many numbers one, for the worst."""
    if name in SEEN or errors.shape[1] > FEW:
        worst = int(np.argmax(np.max(errors, axis=0)))
        whole = name if name in SEEN else f"{name}[{worst}] of {errors.shape[1]}"
        return [_row(whole, t, np.max(errors, axis=1), float(np.max(bounds)))]
    return [
        _row(f"{name}[{k}]" if errors.shape[1] > 1 else name, t, errors[:, k], float(bounds[k]))
        for k in range(errors.shape[1])
    ]


def _row(name: str, t: np.ndarray, errors: np.ndarray, bound: float) -> ErrorRow:
    worst = int(np.argmax(errors))
    largest = float(errors[worst])
    return ErrorRow(name, largest, float(t[worst]), float(errors[-1]), largest <= bound)
