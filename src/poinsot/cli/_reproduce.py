"""`poinsot reproduce`: tables and figures of the papers, regenerated."""

from pathlib import Path

import typer

from poinsot.cli._exits import ExitCode
from poinsot.cli._outputs import check_folder
from poinsot.cli._tables import show_json, show_table
from poinsot.core import optional
from poinsot.papers import Number, Reproduction, catalogue, items_of, reproduce


def list_items(as_json: bool) -> None:
    """Print every table and figure that can be regenerated."""
    items = catalogue()
    if as_json:
        show_json([{"id": identifier, "title": title} for identifier, title in items])
    else:
        show_table(("id", "title"), items, flexible="title")


def reproduce_named(name: str, quick: bool, as_json: bool, out: Path | None) -> None:
    """Regenerate one, or all of a paper; exit code 1 if a judged number does not agree."""
    folder = out or Path("runs") / name.partition("/")[0]
    check_folder(folder)
    optional("matplotlib", "plot", "drawing figures")
    identifiers, made = items_of(name), []
    for identifier in identifiers:
        made.append(reproduce(identifier, quick=quick, out=folder))
        if not as_json:
            _show(made[-1])
    if as_json:
        records = [one.to_dict() for one in made]
        show_json(records[0] if identifiers == [name] else records)
    if not all(one.agrees for one in made):
        raise typer.Exit(ExitCode.not_confirmed)


def _show(made: Reproduction) -> None:
    typer.echo(f"{made.id}: {made.title}{' (quick)' if made.quick else ''}")
    columns = ("quantity", ">ours", ">published", "must be", "")
    show_table(columns, map(_row, made.numbers), flexible="quantity")
    for remark in made.remarks:
        typer.echo(remark)
    outcome = "agrees" if made.agrees else "does NOT agree"
    typer.echo(f"{outcome}, in {made.seconds:.3g} s")
    for file in made.files:
        typer.echo(f"  {file}")


def _row(number: Number) -> tuple[str, ...]:
    published = "" if number.published is None else f"{number.published:.8g}"
    verdict = {True: "agrees", False: "DIFFERS", None: ""}[number.agrees]
    return number.name, f"{number.ours:.8g}", published, number.rule, verdict
