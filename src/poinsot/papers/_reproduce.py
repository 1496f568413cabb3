"""Run the code behind a table or figure of a paper."""

import dataclasses
import json
import time
from pathlib import Path

from poinsot.core import InputError, did_you_mean
from poinsot.papers import chaurasia2012, lang2010, terze2013, xu2016, zoric2010
from poinsot.papers._reproduction import Findings, Reproduction

PAPERS = {
    "chaurasia2012": chaurasia2012.ITEMS,
    "lang2010": lang2010.ITEMS,
    "terze2013": terze2013.ITEMS,
    "xu2016": xu2016.ITEMS,
    "zoric2010": zoric2010.ITEMS,
}
DPI = 160
"""Resolution of the pictures."""
ITEMS = {f"{paper}/{name}": item for paper, items in PAPERS.items() for name, item in items.items()}


def catalogue() -> list[tuple[str, str]]:
    """Every reproducible table and figure: its id and its title."""
    return [(identifier, title) for identifier, (title, _) in ITEMS.items()]


def items_of(name: str) -> list[str]:
    """The ids of all that is reproducible of a paper; the name itself where it names none."""
    return [f"{name}/{item}" for item in PAPERS[name]] if name in PAPERS else [name]


def reproduce(
    identifier: str, *, quick: bool = False, out: str | Path | None = None, progress: bool | None = None
) -> Reproduction:
    """Compute a table or figure of a paper again.

    Args:
        identifier: one of `catalogue()`, for instance `"chaurasia2012/table-2.1"`.
        quick: shorter runs, for a look at it within seconds.
        out: folder for the pictures and a JSON record of the numbers; nothing is written without it.
        progress: show progress bars; by default on a terminal.

    Raises:
        InputError: for an unknown identifier.
    """
    if identifier not in ITEMS:
        hint = did_you_mean(identifier, ITEMS, "`poinsot reproduce` lists them all")
        raise InputError(f"reproduction {identifier!r} is not known; {hint}")
    title, compute = ITEMS[identifier]
    began = time.perf_counter()
    findings = compute(quick, progress)
    made = Reproduction(
        id=identifier,
        title=title,
        quick=quick,
        settings=findings.settings,
        numbers=tuple(findings.numbers),
        remarks=tuple(findings.remarks),
        files=(),
        seconds=time.perf_counter() - began,
    )
    return made if out is None else _written(made, findings, Path(out))


def _written(made: Reproduction, findings: Findings, folder: Path) -> Reproduction:
    """The same reproduction with its pictures and its record on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = made.id.replace("/", "-")
    pictures = [(folder / f"{stem}{suffix}.png", figure) for suffix, figure in findings.figures.items()]
    for path, figure in pictures:
        figure.savefig(path, dpi=DPI)
    record = folder / f"{stem}.json"
    made = dataclasses.replace(made, files=(*(path for path, _ in pictures), record))
    record.write_text(json.dumps(made.to_dict(), indent=2) + "\n")
    return made
