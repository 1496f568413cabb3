"""Shared by the benchmarks: timing, and a table of ratios with what was wanted."""

import platform
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version


def best_of(function: Callable[[], object], repeats: int = 5) -> float:
    """Smallest wall time of several calls, after one that is not counted."""
    function()
    times = []
    for _ in range(repeats):
        tick = time.perf_counter()
        function()
        times.append(time.perf_counter() - tick)
    return min(times)


def first_call(function: Callable[[], object]) -> float:
    """Wall time of the first call, which compiles."""
    tick = time.perf_counter()
    function()
    return time.perf_counter() - tick


@dataclass
class Scoreboard:
    """Rows of measured ratios, each with the bound it is to meet."""

    title: str
    rows: list[tuple[str, str, str, bool]] = field(default_factory=list)

    def at_most(self, what: str, measured: float, bound: float, detail: str = "") -> None:
        """A ratio that should not exceed its bound."""
        self._add(what, measured, f"at most {bound:g}", measured <= bound, detail)

    def at_least(self, what: str, measured: float, bound: float, detail: str = "") -> None:
        """A ratio that should reach its bound."""
        self._add(what, measured, f"at least {bound:g}", measured >= bound, detail)

    def _add(self, what: str, measured: float, wanted: str, met: bool, detail: str) -> None:
        self.rows.append((what, f"{measured:.3g}" + (f"  ({detail})" if detail else ""), wanted, met))
        # At once, as some rows take minutes; the table comes at the end.
        print(*self.rows[-1][:3], sep=" | ", file=sys.stderr, flush=True)

    def show(self) -> None:
        """Print the table and the versions behind it."""
        from rich.console import Console
        from rich.table import Table

        table = Table(title=self.title)
        for column in ("what", "measured", "wanted", "met"):
            table.add_column(column)
        for what, measured, wanted, met in self.rows:
            table.add_row(what, measured, wanted, "[green]yes" if met else "[red]no")
        console = Console()
        console.print(table)
        console.print(
            f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, {_packages()}"
        )


def _packages() -> str:
    """Versions of the packages behind the numbers, those that are installed."""
    found = []
    for name in ("jax", "numba", "scipy", "numpy"):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)
