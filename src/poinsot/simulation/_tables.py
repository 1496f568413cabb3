"""Tables of a report: texts in the first and the last column, numbers between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def lines_of(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Head, rule and rows in plain text."""
    table = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    align = [str.ljust, *[str.rjust] * (len(columns) - 2), str.ljust]
    text = ["  ".join(f(c, w) for f, c, w in zip(align, r, widths, strict=True)).rstrip() for r in table]
    return [text[0], "  ".join("-" * width for width in widths).rstrip(), *text[1:]]


def rich_table(columns: tuple[str, ...]) -> "Table":
    """The head of such a table in colour; rows are to be added."""
    from rich.table import Table

    table = Table(header_style="bold", title_justify="left")
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if 0 < index < len(columns) - 1 else "left", overflow="fold")
    return table
