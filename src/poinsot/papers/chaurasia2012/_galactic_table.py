"""Table 2.1: how many points six methods find on the Poincaré section of the galactic orbit."""

from typing import NamedTuple

import numpy as np

from poinsot.analysis import PoincareSection, poincare_section
from poinsot.library import galactic_orbit
from poinsot.papers._reproduction import Findings, Number


class Row(NamedTuple):
    """A row: the method, and the counts of Hairer's book and of the thesis."""

    item: str
    label: str
    method: str
    step: float
    hairer: int
    thesis: int


ROWS = (
    Row("a", "Gauss, order 6, h = 1/5", "gauss6", 1 / 5, 47093, 47082),
    Row("b", "Gauss, order 6, h = 2/5", "gauss6", 2 / 5, 46852, 46897),
    Row("c", "Radau, order 5, h = 1/10", "radau5", 1 / 10, 46597, 46594),
    Row("d", "Sun Geng, order 5, h = 1/5", "sun-geng5", 1 / 5, 47092, 47085),
    Row("e", "RK4, h = 1/40", "rk4", 1 / 40, 47004, 47003),
    Row("f", "RK4, h = 1/10", "rk4", 1 / 10, 46192, 46190),
)
PRINTED = {"c": 0.5, "p2": 1.688}
"""The data as the thesis prints them."""
DATA = {"corrected": {"c": 0.75, "p2": "larger root of H = 2"}, "printed": PRINTED}
END, QUICK_END = 1e6, 2e4
QUICK_COUNT = 941
"""Points of the exact motion up to `QUICK_END`, corrected data, by SciPy's DOP853 at a tolerance of 1e-13."""
QUICK_WITHIN = {"a": 1, "b": 3, "c": 3, "d": 1, "e": 1, "f": 10}
ROUND_OFF_LOW, ROUND_OFF_HIGH = 46800, 47060
DRAWS = 9
"""Starts, one unit in the last place of p2 apart, whose median count stands for row b."""


def height(q, p):
    """The section is where this coordinate is zero."""
    return q[1]


def in_front(q, p):
    """The half of the plane that counts."""
    return q[0] > 0.0


def section(
    row: Row, parameters: dict[str, float], t1: float, *, locate: bool, progress: bool | None
) -> PoincareSection:
    """Points of the section by the method of a row; the start, which lies on it, is the first."""
    system = galactic_orbit(**parameters)
    return poincare_section(
        system,
        row.method,
        system.start,
        section=height,
        where=in_front,
        t1=t1,
        dt=row.step,
        locate=locate,
        progress=progress,
    )


def draws(row: Row, t1: float, progress: bool | None) -> list[int]:
    """Counts from starts that differ by round-off alone, the start of the table first."""
    first = float(galactic_orbit().start.p[1])
    starts = [first + k * np.spacing(first) for k in range(DRAWS)]
    return [section(row, {"p2": p2}, t1, locate=False, progress=progress).count for p2 in starts]


def table_2_1(quick: bool, progress: bool | None) -> Findings:
    """All six rows, with the corrected data and with the printed ones."""
    t1 = QUICK_END if quick else END
    corrected, printed = (
        {row.item: section(row, data, t1, locate=False, progress=progress).count for row in ROWS}
        for data in ({}, PRINTED)
    )
    numbers = [judge(f"{row.item}) {row.label}", corrected[row.item], row, quick) for row in ROWS]
    numbers += [
        Number.shown(
            f"{row.item}) {row.label}, printed data", printed[row.item], None if quick else row.hairer
        )
        for row in ROWS
    ]
    if not quick:
        numbers += [
            Number.shown(f"{row.item}) {row.label}, beside the thesis", corrected[row.item], row.thesis)
            for row in ROWS
        ]
        numbers += _spread(ROWS[1], progress)
    return Findings({"t1": t1} | DATA, numbers, _remarks(quick, corrected, printed))


def _spread(row: Row, progress: bool | None) -> list[Number]:
    """Row b as what it is, a random number: its median is judged, the draws are shown."""
    counts = draws(row, END, progress)
    name = f"{row.item}) {row.label}, {DRAWS} starts one unit in the last place apart"
    return [
        Number.between(f"{name}: median", np.median(counts), ROUND_OFF_LOW, ROUND_OFF_HIGH, row.hairer),
        Number.shown(f"{name}: smallest", min(counts)),
        Number.shown(f"{name}: largest", max(counts)),
    ]


def judge(name: str, count: int, row: Row, quick: bool) -> Number:
    """A count beside that of Hairer's book, or in the quick run beside that of the exact motion."""
    if quick:
        return Number.matches(name, count, QUICK_COUNT, QUICK_WITHIN[row.item], "exact motion")
    if row.item == "b":
        return Number.shown(f"{name}, one draw", count, row.hairer)
    return Number.near(name, count, row.hairer, 3)


def _remarks(quick: bool, corrected: dict[str, int], printed: dict[str, int]) -> list[str]:
    change = printed["a"] - corrected["a"]
    remarks = [
        "Counted are the upward zero crossings of q2 with q1 > 0, the starting point included.",
        "The thesis prints c = 0.5 and p2 = 1.688. Hairer's counts, which it quotes, belong to c = 0.75 and "
        "to the larger root p2 = 1.6888370059... of H = 2. The printed data are another orbit: with them "
        f"row a has {abs(change)} points {'more' if change > 0 else 'fewer'}.",
        f"Row b is decided by round-off at t = {END:g}: starts that differ in the last bit of p2, or another "
        "order of the same additions, move its count by hundreds. A single run is one draw; the "
        f"full table judges the median of {DRAWS} of them.",
    ]
    if quick:
        remarks.append(
            f"This is the short run up to t = {QUICK_END:g}, beside the {QUICK_COUNT} points of the exact "
            "motion; the published counts belong to t = 1e6."
        )
    return remarks
