"""The gyro top of Lang's Example A: its numbers, the error of a run, tables of error against time."""

import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _peers import MACHINE, PUBLISHED
from rich.console import Console
from rich.table import Table

import poinsot as pt

T_END = 60.0
TOP = pt.library.gyro_top()
J, MGL = np.array([50.0, 42.0, 10.0]), 11.09 * 9.81
START = np.array([math.sqrt(0.75), 0.5, 0.0, 0.0, 0.0, 0.0, 20.0])
REFERENCE = json.loads((Path(__file__).parents[1] / "tests/references/lang2010.json").read_text())[
    "example A"
]


class Row(NamedTuple):
    """One run of the gyro top to 60 s."""

    who: str
    setting: str
    error: float
    milliseconds: float


def error(R: np.ndarray, Omega: np.ndarray) -> float:
    off = np.linalg.norm(R - np.array(REFERENCE["R"][1])), np.linalg.norm(Omega - REFERENCE["Omega"][1])
    return float(np.hypot(*off))


def time_at(rows, target: float) -> float:
    """Time at an error, from the runs on both sides of it in logarithms; infinite if it was not reached."""
    ordered = sorted(rows, key=lambda row: row.error)
    errors = np.log([row.error for row in ordered])
    if math.log(target) < errors[0]:
        return math.inf
    return math.exp(np.interp(math.log(target), errors, np.log([row.milliseconds for row in ordered])))


def show(rows: list[Row]) -> None:
    """The runs of this machine, and those that were published."""
    published = [Row(who, *measured) for who, runs in PUBLISHED.items() for measured in runs]
    for title, part in ((f"Gyro top to T = {T_END:g} s", rows), (f"Published: {MACHINE}", published)):
        table = Table(title=title)
        for column in ("who", "setting", "error", "ms"):
            table.add_column(column, no_wrap=True)
        for who, setting, reached, milliseconds in part:
            table.add_row(who, setting, f"{reached:.1e}", f"{milliseconds:.2f}")
        Console(width=120).print(table)
