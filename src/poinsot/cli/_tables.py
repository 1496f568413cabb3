"""Output of the commands: tables for people, strict JSON for programs, both on standard output."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

WIDTH_WITHOUT_TERMINAL = 160
"""A file or a pipe has no width of its own; narrow tables would be broken over lines."""


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, flexible: str | tuple[str, ...]
) -> None:
    """Print a table.

    Args:
        columns: headings; one that begins with `>` belongs to numbers, aligned to the right.
        rows: values of each row; true and false are shown as yes and no.
        flexible: the column, or columns, broken over lines where the terminal is narrow.
    """
    from rich import box
    from rich.table import Table

    wrapped = (flexible,) if isinstance(flexible, str) else flexible
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column in columns:
        justify = "right" if column.startswith(">") else "left"
        table.add_column(column.lstrip(">"), justify=justify, no_wrap=column not in wrapped)
    for row in rows:
        # Text objects, so that square brackets are printed and not taken for markup.
        table.add_row(*(_cell(value) for value in row))
    show(table)


def show(renderable: Any) -> None:
    """Print anything that rich can."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH_WITHOUT_TERMINAL)
    console.print(renderable, markup=False, highlight=False)


def show_json(value: Any) -> None:
    """Print strict JSON: a number that is not finite becomes null."""
    print(as_json(value))


def as_json(value: Any) -> str:
    """Strict JSON text."""
    return json.dumps(_strict(value), indent=2, allow_nan=False, ensure_ascii=False)


def _cell(value: object):
    from rich.text import Text

    if isinstance(value, bool):
        return Text("yes" if value else "no")
    return Text(str(value))


def _strict(value: Any) -> Any:
    """Plain lists, dictionaries and numbers."""
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return [_strict(item) for item in items]
    if hasattr(value, "tolist"):
        return _strict(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
