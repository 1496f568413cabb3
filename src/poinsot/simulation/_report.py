"""The conservation report: what a run kept, how well, and whether that lasts."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot.integrators.adaptive import Counts
from poinsot.simulation._trajectory import Trajectory
from poinsot.simulation._verdict import CYCLES, FEWEST, Finding, Verdict, judge, oscillations

if TYPE_CHECKING:
    from rich.console import Group

NEGLIGIBLE = 1e-6
"""A start value, or a swing of a component, below this share of its scale counts as zero."""

_COLUMNS = ("quantity", "start", "largest deviation", "relative", "drift per unit time", "verdict")

_MEANING = {
    Verdict.exact: "no more than a random walk of rounding errors",
    Verdict.bounded: "oscillates, and any drift is slower than stated",
    Verdict.drifting: "keeps moving away from its start value",
    Verdict.short: (
        f"needs {FEWEST} saved states, {CYCLES:g} oscillations of the motion and halves that look alike"
    ),
    Verdict.not_finite: "became infinite or NaN",
}

_COLOUR = {
    Verdict.exact: "green",
    Verdict.bounded: "cyan",
    Verdict.drifting: "red",
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
    """Size of the start value, or the quantity's round-off scale where it starts at zero."""
    drift: float
    """Change per unit time, from a line through window means; NaN where the run is too short for it."""
    resolution: float
    """Rates smaller than this could not be seen."""
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
            str(self.verdict),
        )

    @property
    def _drift_text(self) -> str:
        if self.verdict is Verdict.drifting:
            return f"{self.drift:+.2e}"
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

    @classmethod
    def of(cls, trajectory: Trajectory) -> "Report":
        """Look at every conserved quantity of a run, those of the user included."""
        cycles = _cycles(trajectory.components)
        steps = _steps_taken(trajectory)
        scales = trajectory.scales
        rows = tuple(
            _row(name, trajectory.t, values, steps, scales[name], cycles)
            for name, values in trajectory.conserved.items()
        )
        return cls(_header(trajectory), rows)

    def __getitem__(self, name: str) -> Row:
        """The row of one quantity."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"the report has no {name!r}; it has {', '.join(row.name for row in self.rows)}")

    def to_dict(self) -> dict:
        """The report as JSON can hold it: no NaN, which becomes None."""
        rows = [asdict(row) | {"verdict": str(row.verdict)} for row in self.rows]
        return {"run": self.header, "conserved": [{k: _jsonable(v) for k, v in r.items()} for r in rows]}

    def __repr__(self) -> str:
        rows = ", ".join(f"{row.name} {row.verdict}" for row in self.rows)
        return f"Report({rows or 'nothing conserved is known'})"

    def __str__(self) -> str:
        lines = [f"{key:<12}{text}" for key, text in self.header.items()]
        if not self.rows:
            return "\n".join([*lines, "", "Nothing conserved is known: give the problem invariants={...}."])
        table = [_COLUMNS, *(row.cells for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        align = (str.ljust, str.rjust, str.rjust, str.rjust, str.rjust, str.ljust)
        text = ["  ".join(f(c, w) for f, c, w in zip(align, r, widths, strict=True)).rstrip() for r in table]
        rule = "  ".join("-" * width for width in widths)
        legend = [f"{verdict}: {_MEANING[verdict]}" for verdict in self._verdicts]
        return "\n".join([*lines, "", text[0], rule, *text[1:], "", *legend])

    @property
    def _verdicts(self) -> list[Verdict]:
        return [verdict for verdict in Verdict if any(row.verdict is verdict for row in self.rows)]

    def __rich__(self) -> "Group":
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        head = Table.grid(padding=(0, 2))
        for key, text in self.header.items():
            head.add_row(Text(key, style="bold"), Text(text))
        table = Table(header_style="bold", title_justify="left")
        for index, column in enumerate(_COLUMNS):
            table.add_column(column, justify="right" if 0 < index < 5 else "left", overflow="fold")
        for row in self.rows:
            *cells, verdict = row.cells
            table.add_row(*map(Text, cells), Text(verdict, style=_COLOUR[row.verdict]))
        legend = [Text.assemble((str(v), _COLOUR[v]), (f": {_MEANING[v]}", "dim")) for v in self._verdicts]
        return Group(head, table, *legend)


def _row(name: str, t, values: np.ndarray, steps, scale: np.ndarray, cycles: float) -> Row:
    """The row of one quantity, whatever its shape."""
    columns = values.reshape(len(t), -1).astype(float)
    scales = np.broadcast_to(scale, values.shape[1:]).reshape(-1)
    findings = [
        judge(t, column, steps, float(s), cycles) for column, s in zip(columns.T, scales, strict=True)
    ]
    worst = max(findings, key=_severity)
    largest = max(finding.deviation for finding in findings)
    size, whole = float(np.max(np.abs(columns[0]))), float(np.max(scales))
    reference = size if size > NEGLIGIBLE * whole else whole
    relative = 0.0 if largest == 0.0 else largest / reference
    start = float(columns[0, 0]) if values.ndim == 1 else values[0].tolist()
    return Row(name, start, largest, relative, reference, worst.rate, worst.resolution, worst.verdict)


def _severity(finding: Finding) -> tuple[int, float]:
    return list(Verdict).index(finding.verdict), finding.deviation


def _cycles(components: Mapping[str, np.ndarray]) -> float:
    """Oscillations of the motion: of the component that has most, noise in constant ones apart."""
    most = 0.0
    for values in components.values():
        columns = values.reshape(len(values), -1)
        moving = np.ptp(columns, axis=0) > NEGLIGIBLE * np.max(np.abs(columns), initial=0.0)
        most = max([most, *(oscillations(column) for column in columns.T[moving])])
    return most


def _steps_taken(trajectory: Trajectory) -> np.ndarray:
    """Steps taken until each saved state; the count of saved states where the step is not known."""
    if trajectory.history is not None:
        ends = np.abs(trajectory.steps.t - trajectory.t[0])
        return np.interp(np.abs(trajectory.t - trajectory.t[0]), ends, np.arange(len(ends), dtype=float))
    dt = trajectory.attributes.get("dt")
    if dt is None:
        return np.arange(len(trajectory), dtype=float)
    return np.abs((trajectory.t - trajectory.t[0]) / dt)


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
    if "wall_seconds" in about:
        header["wall time"] = f"{about['wall_seconds']:.3g} s"
    return header | {"result": trajectory.message}


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
    return f"{size:.{digits}e}" if size else "0"


def _start_text(start: float | list) -> str:
    if not isinstance(start, list):
        return f"{start + 0.0:.6g}"  # minus zero prints as zero
    flat = np.ravel(start)
    return f"({', '.join(f'{x:.4g}' for x in flat)})" if len(flat) <= 3 else f"{len(flat)} numbers"


def _jsonable(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value
