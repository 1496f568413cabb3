"""Section 7: its general statements as data, over all solvers and Examples A and B."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._accuracy import EULER, EXPLICIT, IMPLICIT, PAIRS, comparison, examples, ratios
from poinsot.papers.lang2010._formulations import FORMULATIONS, UNKNOWNS
from poinsot.viz._style import PALETTE, QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPETITIVE = 2.0 / 3.0
"""Least ratio of formulations that are said to be competitive."""

REMARKS = [
    "The paper says that null-space forms are superior to index 0 with every solver, quaternions to "
    "directors, and that null-space quaternions are competitive with Euler angles in Example A "
    "and better in Example B.",
    "For each solver and example a ratio says how many times the right-hand sides the second formulation "
    "takes for the same error. A statement of every solver is judged by the smallest of them, for each "
    "example by itself; each single ratio is in the record, whichever way it goes. Left out are solvers that "
    "do not take both forms, and pairs of curves that have no error in common.",
    "Steps against unknowns: the rank correlation of the median step with the number of unknowns, over the "
    "five formulations at one tolerance. For DoPri5, whose steps the paper shows, it is negative; with "
    "methods of high order Euler angles take the smallest steps in Example B, and little is left of it.",
]


def section_7(quick: bool, progress: bool | None) -> Findings:
    """All solvers, all examples; one solver and one example if quick."""
    keys = ("B, 0.1",) if quick else tuple(examples())
    solvers = ("DOP853",) if quick else tuple(EXPLICIT | IMPLICIT)
    found = {(key, solver): comparison(key, solver, quick) for key in keys for solver in solvers}
    table = {place: ratios(one) for place, one in found.items()}
    judged = [number for statement in PAIRS for number in statement_numbers(statement, table)]
    judged += _correlations(found)
    record = {
        f"{key}, {solver}": {
            statement: None if np.isnan(ratio) else ratio for statement, ratio in row.items()
        }
        for (key, solver), row in table.items()
    }
    return Findings(
        settings={"ratios": record, "unknowns": UNKNOWNS},
        numbers=judged,
        remarks=REMARKS,
        figures={"": _draw(table)},
    )


def statement_numbers(statement: str, table: dict[tuple[str, str], dict[str, float]]) -> list[Number]:
    """A statement on each example: the solver for which it holds least must satisfy it."""
    made = []
    for key in dict.fromkeys(key for key, _ in table):
        found = {
            solver: row[statement] for (k, solver), row in table.items() if k == key and statement in row
        }
        found = {solver: ratio for solver, ratio in found.items() if not np.isnan(ratio)}
        if not found:
            continue
        last = min(found, key=lambda solver: found[solver])
        title = f"{examples()[key].title}, {statement}"
        name, least = f"{title}: smallest ratio of {len(found)} solvers ({last})", found[last]
        competitive = statement == EULER and key == "A"
        made += [
            Number.at_least(name, least, COMPETITIVE) if competitive else Number.above(name, least, 1.0),
            Number.shown(f"{title}: median ratio", float(np.median(list(found.values())))),
            Number.shown(f"{title}: solvers above one", sum(ratio > 1.0 for ratio in found.values())),
        ]
    return made


def _correlations(found) -> list[Number]:
    """Rank correlation of median steps with unknowns, for each solver and example."""
    made = []
    for (key, solver), one in found.items():
        steps = {}
        for name in FORMULATIONS:
            sizes = {p.tolerance: p.h for p in one.of(solver, name) if np.isfinite(p.h)}
            if 1e-6 in sizes:
                steps[name] = sizes[1e-6]
        if len(steps) == len(FORMULATIONS):
            value = rank_correlation([UNKNOWNS[name] for name in steps], list(steps.values()))
            made.append(Number.shown(f"{key}, {solver}: steps with unknowns", value))
    first = [number.ours for number in made if "DoPri5" in number.name]
    if first:
        made.append(Number.at_most("steps of DoPri5 with unknowns: median", float(np.median(first)), -0.5))
    return made


def rank_correlation(first: list[float], second: list[float]) -> float:
    """Spearman's correlation of two lists without ties."""
    ranks, others = (np.argsort(np.argsort(np.asarray(values))) for values in (first, second))
    n = len(first)
    return 1.0 - 6.0 * float(np.sum((ranks - others) ** 2)) / (n * (n * n - 1))


@styled
def _draw(table: dict[tuple[str, str], dict[str, float]]) -> "Figure":
    figure, ax = canvas(1, 1, (10.0, 1.6 + 0.9 * len(PAIRS)), "Statements of section 7, solver by solver")
    keys = list(dict.fromkeys(key for key, _ in table))
    for row, statement in enumerate(PAIRS):
        for shift, key in enumerate(keys):
            values = [one[statement] for (k, _), one in table.items() if k == key and statement in one]
            height = np.full(len(values), row + 0.2 * (shift - 0.5 * (len(keys) - 1)))
            label = examples()[key].title if row == 0 else None
            ax.semilogx(
                values, height, marker="o", linestyle="", markersize=5, color=PALETTE[shift], label=label
            )
    ax.axvline(1.0, color=QUIET, linewidth=1.0)
    ax.set_yticks(range(len(PAIRS)), [name.replace(", ", ",\n", 1) for name in PAIRS])
    ax.invert_yaxis()
    ax.set_xlabel("right-hand sides of the second over those of the first, at equal error")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
