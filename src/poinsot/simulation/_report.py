"""The conservation report: what a run kept, how well, and whether that lasts."""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot.integrators.adaptive import Counts
from poinsot.simulation._alarms import alarms
from poinsot.simulation._clock import times_text
from poinsot.simulation._error_estimate import ErrorEstimate
from poinsot.simulation._hann import Windows
from poinsot.simulation._pace import Pace
from poinsot.simulation._scale import Scale
from poinsot.simulation._tables import lines_of, rich_table
from poinsot.simulation._trajectory import Trajectory
from poinsot.simulation._verdict import CYCLES, FEWEST, Finding, Verdict, judge

if TYPE_CHECKING:
    from rich.console import Group

NOTED = 0.01
"""Share of its size from which on a quantity is said to move."""
SUSPECTS = 32
"""Components of a long vector that are judged: so many that deviate most, and so many that move most."""

_COLUMNS = ("quantity", "start", "largest deviation", "relative", "drift per unit time", "verdict")

NOT_ACCURACY = (
    "None of this is accuracy, which run.report(accuracy=True) and poinsot run --accuracy estimate."
)

_MEANING = {
    Verdict.exact: "no more than a random walk of rounding errors",
    Verdict.bounded: "oscillates, and any drift is slower than stated",
    Verdict.lost: "has changed by its own size or more",
    Verdict.drifting: "keeps moving away from its start value, or stays far from it",
    Verdict.short: (
        f"needs {FEWEST} saved states, {CYCLES:g} oscillations of the motion, also of its slow parts, and "
        "halves that look alike"
    ),
    Verdict.not_finite: "became infinite or NaN",
}

_COLOUR = {
    Verdict.exact: "green",
    Verdict.bounded: "cyan",
    Verdict.drifting: "red",
    Verdict.lost: "bold red",
    Verdict.short: "yellow",
    Verdict.not_finite: "bold red",
}


@dataclass(frozen=True)
class Row:
    """One conserved quantity of a run. A quantity with several components is judged by its worst one."""

    name: str
    start: float | list
    largest_deviation: float
    relative_deviation: float
    """Largest deviation in units of `reference`."""
    reference: float
    """Size of the start value; of its terms where it is a small difference of these; NaN if unknown."""
    drift: float
    """Change per unit time, from a line through window means; NaN where the run is too short for it."""
    resolution: float
    """Rates smaller than this could not be seen."""
    roundoff: float
    """Deviations up to this count as round-off at the end of the run."""
    verdict: Verdict

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        return (
            self.name,
            _start_text(self.start),
            _size_text(self.largest_deviation, 2),
            _size_text(self.relative_deviation, 1),
            self._drift_text,
            self._verdict_text,
        )

    @property
    def _verdict_text(self) -> str:
        """To be bounded, or too short to tell, is not to be small."""
        if self.verdict not in (Verdict.bounded, Verdict.short) or not self.relative_deviation >= NOTED:
            return str(self.verdict)
        return f"{self.verdict}, moves by {100.0 * self.relative_deviation:.2g} % of its size"

    @property
    def _drift_text(self) -> str:
        if self.verdict in (Verdict.drifting, Verdict.lost):
            return "-" if math.isnan(self.drift) else f"{self.drift:+.2e}"
        if self.verdict in (Verdict.exact, Verdict.bounded):
            return f"below {_size_text(self.resolution, 0)}" if self.resolution else "0"
        return "-"


@dataclass(frozen=True, repr=False)
class Report:
    """What a run conserved: print it, or take its `rows`.

    The rule behind the verdicts stands in the documentation of `poinsot.simulation._verdict`.
    """

    header: dict[str, str]
    """What was run and how it ended, in words."""
    rows: tuple[Row, ...]
    alarms: tuple[str, ...] = ()
    """What comes before any verdict: steps too large for the motion, and what was lost."""
    accuracy: ErrorEstimate | None = None
    """The error of the motion, where it was asked for."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "Report":
        """Look at every conserved quantity of a run, those of the user included."""
        rows = trajectory.judged  # First: the header says how long it took.
        found = alarms(trajectory, rows)
        return cls(_header(trajectory), rows, found)

    def __getitem__(self, name: str) -> Row:
        """The row of one quantity."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"the report has no {name!r}; it has {', '.join(row.name for row in self.rows)}")

    def to_dict(self) -> dict:
        """The report as JSON can hold it: no NaN, which becomes None."""
        rows = [asdict(row) | {"verdict": str(row.verdict)} for row in self.rows]
        conserved = [{k: _jsonable(v) for k, v in row.items()} for row in rows]
        found = {"run": self.header, "alarms": list(self.alarms), "conserved": conserved}
        return found if self.accuracy is None else found | {"accuracy": asdict(self.accuracy)}

    def __repr__(self) -> str:
        rows = ", ".join(f"{row.name} {row.verdict}" for row in self.rows)
        return f"Report({rows or 'nothing conserved is known'})"

    def __str__(self) -> str:
        lines = [f"{key:<12}{text}" for key, text in (*self.header.items(), *self._alarms)]
        if not self.rows:
            lines += ["", "Nothing conserved is known: give the problem invariants={...}."]
        else:
            legend = [f"{verdict}: {meaning}" for verdict, meaning in self._legend]
            table = lines_of(_COLUMNS, [row.cells for row in self.rows])
            lines += ["", *table, "", *legend, NOT_ACCURACY]
        if self.accuracy is not None:
            lines += ["", str(self.accuracy)]
        return "\n".join(lines)

    @property
    def _alarms(self) -> list[tuple[str, str]]:
        return [("ATTENTION", text) for text in self.alarms]

    @property
    def _legend(self) -> list[tuple[Verdict, str]]:
        given = [verdict for verdict in Verdict if any(row.verdict is verdict for row in self.rows)]
        return [(verdict, _MEANING[verdict] + self._limits(verdict)) for verdict in given]

    def _limits(self, verdict: Verdict) -> str:
        """What counts as round-off in the quantities that are exact to it: smaller changes are not seen."""
        named: dict[str, list[str]] = {}
        for row in self.rows:
            if row.verdict is verdict is Verdict.exact and row.roundoff:
                named.setdefault(_size_text(row.roundoff, 0), []).append(row.name)
        limits = (f"{limit} in {', '.join(names)}" for limit, names in named.items())
        return f", up to {'; '.join(limits)}" if named else ""

    def __rich__(self) -> "Group":
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        head = Table.grid(padding=(0, 2))
        for key, text in self.header.items():
            head.add_row(Text(key, style="bold"), Text(text))
        for key, text in self._alarms:
            head.add_row(Text(key, style="bold red"), Text(text, style="red"))
        table = rich_table(_COLUMNS)
        for row in self.rows:
            *cells, verdict = row.cells
            table.add_row(*map(Text, cells), Text(verdict, style=_COLOUR[row.verdict]))
        legend = [Text.assemble((str(v), _COLOUR[v]), (f": {text}", "dim")) for v, text in self._legend]
        parts = [head, table, *legend, Text(NOT_ACCURACY, style="dim")]
        return Group(*parts, *([] if self.accuracy is None else [self.accuracy]))


def row_of(name: str, t, values: np.ndarray, steps, scale: Scale, pace: Pace) -> Row:
    """The row of one quantity, whatever its shape."""
    columns = _columns(values)
    with np.errstate(over="ignore", invalid="ignore"):
        farthest = float(np.max(np.abs(columns - columns[0]), initial=0.0))
    size = scale.size(float(np.max(np.abs(columns[0]), initial=0.0)), farthest)
    findings = [judge(t, columns[:, i], steps, scale, pace, size) for i in _suspects(columns)]
    worst = max(findings, key=_severity)
    largest = max(finding.deviation for finding in findings)
    relative = 0.0 if largest == 0.0 else largest / size
    start = float(columns[0, 0]) if values.ndim == 1 else values[0].tolist()
    limit = max(finding.roundoff for finding in findings)
    return Row(name, start, largest, relative, size, worst.rate, worst.resolution, limit, worst.verdict)


def _columns(values: np.ndarray) -> np.ndarray:
    """The components of a quantity, one column each."""
    return np.asarray(values, dtype=float).reshape(len(values), -1)


def _suspects(columns: np.ndarray) -> np.ndarray:
    """Components among which the worst one is: all of a few, of many those that deviate or move most."""
    if columns.shape[1] <= 2 * SUSPECTS:
        return np.arange(columns.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        farthest = np.max(np.abs(columns - columns[0]), axis=0)
        moved = np.abs(np.subtract(*Windows.of(len(columns), 2).means(columns)))
    # NaN sorts as largest.
    return np.union1d(np.argsort(farthest)[-SUSPECTS:], np.argsort(moved)[-SUSPECTS:])


def _change(columns: np.ndarray, scale: Scale) -> float:
    """How far the second half of a run is from the first one in its mean, in units of the extent."""
    if len(columns) < FEWEST or not scale.extent:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.max(np.abs(np.subtract(*Windows.of(len(columns), 2).means(columns))), initial=0.0)
    return 2.0 * float(moved) / scale.extent if np.isfinite(moved) else 0.0


def _severity(finding: Finding) -> tuple[int, float]:
    return list(Verdict).index(finding.verdict), finding.deviation


def judged(trajectory: Trajectory) -> tuple[Row, ...]:
    """A row for every conserved quantity of a run."""
    t, steps, scales = trajectory.t, trajectory.steps_taken, trajectory.scales
    columns = {name: _columns(values) for name, values in trajectory.conserved.items()}
    change = max((_change(columns[name], scales[name]) for name in columns), default=0.0)
    pace = Pace.of(t, trajectory.components).beside(change)
    return tuple(
        row_of(name, t, values, steps, scales[name], pace) for name, values in trajectory.conserved.items()
    )


def _header(trajectory: Trajectory) -> dict[str, str]:
    """What was run, from the run's attributes; those that are missing are left out."""
    about = trajectory.attributes
    header = trajectory.heading
    loads = about.get("loads", False)
    if "integrator" in about:
        declared = f": {_traits_text(about['traits'])}" if "traits" in about else ""
        header["integrator"] = about.get("method", about["integrator"]) + declared
    if loads:
        header["loads"] = (
            "act on the bodies: no claim to be symplectic or to keep invariants holds in this run"
        )
    span = f"t = {trajectory.t[0]:g} to {trajectory.t[-1]:g}"
    header["run"] = f"{span}{_steps_text(trajectory)}, {len(trajectory):,} states saved"
    if trajectory.history is not None:
        header["cost"] = _cost_text(trajectory.counts)
    if trajectory.seconds:
        header["wall time"] = times_text(trajectory.seconds)
    elif "wall_seconds" in about:
        header["wall time"] = f"{about['wall_seconds']:.3g} s"
    return header | trajectory.remarks | {"result": trajectory.message}


def _steps_text(trajectory: Trajectory) -> str:
    """How many steps, and what set their size."""
    about = trajectory.attributes
    if {"steps", "dt"} <= about.keys():
        return f", {about['steps']:,} steps of {about['dt']:g}"
    if trajectory.history is None:
        return ""
    sizes = np.abs(trajectory.steps.h)
    span = f" of {np.min(sizes):.2g} to {np.max(sizes):.2g}" if len(sizes) else ""
    led = [
        f"{key.replace('_', ' ')} = {about[key]:g}" for key in ("rtol", "atol", "nominal_dt") if key in about
    ]
    return ", ".join([f", {len(sizes):,} steps{span}", *led])


def _cost_text(counts: Counts) -> str:
    words = [f"{counts.rhs:,} right-hand sides"] if counts.rhs else []
    words += [f"{counts.rejected:,} rejected steps"]
    words += [f"{counts.jacobians:,} Jacobians"] if counts.jacobians else []
    words += [f"{counts.factorisations:,} factorisations"] if counts.factorisations else []
    return ", ".join(words)


def _traits_text(declared: dict) -> str:
    order, conserves = declared["order"], declared.get("conserves", ())
    words = ["order chosen in the run" if order is None else f"order {order}"]
    words += [name for name in ("symmetric", "symplectic") if declared.get(name)]
    words += ["adaptive"] if "stiff" in declared else []
    kept = [kind for kind in ("linear", "bilinear", "quadratic") if kind in conserves]
    words += [f"keeps {' and '.join(kept)} invariants"] if kept else []
    words += ["keeps the energy"] if "energy" in conserves else []
    words += ["keeps angular momentum in space"] if "momentum" in conserves else []
    return ", ".join(words)


def _size_text(size: float, digits: int) -> str:
    if math.isnan(size):
        return "-"
    return f"{size:.{digits}e}" if size else "0"


def _start_text(start: float | list) -> str:
    if not isinstance(start, list):
        return f"{start + 0.0:.6g}"  # minus zero prints as zero
    flat = np.ravel(start)
    return f"({', '.join(f'{x:.4g}' for x in flat)})" if len(flat) <= 3 else f"{len(flat)} numbers"


def _jsonable(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value
