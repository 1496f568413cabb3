"""`poinsot reproduce`: tables and figures of the papers, regenerated."""

import traceback
from pathlib import Path
from typing import Any

import typer

from poinsot.cli._exits import ExitCode
from poinsot.cli._outputs import check_folder
from poinsot.cli._tables import show_json, show_table
from poinsot.core import InputError, check_installed, quoted
from poinsot.papers import Number, Reproduction, catalogue, items_of, reproduce, verdict_of


def reproduce_chosen(name: str | None, every: bool, quick: bool, as_json: bool, out: Path | None) -> None:
    """Regenerate one item, all of a paper, or all; list them where none is named."""
    if every and name is not None:
        raise InputError(f"--all takes no id; leave out {quoted(name)} or --all")
    if every:
        _reproduce_several([identifier for identifier, _ in catalogue()], quick, as_json, out)
    elif name is None:
        _list_items(as_json)
    elif (identifiers := items_of(name)) == [name]:
        _reproduce_one(name, quick, as_json, out)
    else:
        _reproduce_several(identifiers, quick, as_json, out)


def _list_items(as_json: bool) -> None:
    """Print every table and figure that can be regenerated."""
    items = catalogue()
    if as_json:
        show_json([{"id": identifier, "title": title} for identifier, title in items])
    else:
        show_table(("id", "title"), items, flexible="title")


def _reproduce_one(identifier: str, quick: bool, as_json: bool, out: Path | None) -> None:
    """Regenerate an item; exit code 1 if a judged number fails."""
    made = _made(identifier, quick, out)
    if as_json:
        show_json(made.to_dict())
    else:
        _show(made)
    if not made.agrees:
        raise typer.Exit(ExitCode.not_confirmed)


def _reproduce_several(identifiers: list[str], quick: bool, as_json: bool, out: Path | None) -> None:
    """Regenerate items one after the other; report one that fails, and go on with the others."""
    made: list[Reproduction] = []
    records: list[dict[str, Any]] = []
    broken: list[str] = []
    for identifier in identifiers:
        try:
            made.append(_made(identifier, quick, out))
        except InputError:
            raise
        except Exception as error:
            broken.append(identifier)
            records.append({"id": identifier, "error": f"{type(error).__name__}: {error}"})
            typer.echo(f"{identifier} broke off:\n{traceback.format_exc()}", err=True)
            continue
        records.append(made[-1].to_dict())
        if not as_json:
            _show(made[-1])
    if as_json:
        show_json(records)
    else:
        told = verdict_of(number for one in made for number in one.numbers)
        typer.echo(f"{len(made)} of {len(identifiers)} items completed. {told}")
        typer.echo("".join(f"broke off: {identifier}\n" for identifier in broken), nl=False)
    if broken or not all(one.agrees for one in made):
        raise typer.Exit(ExitCode.not_confirmed)


def _made(identifier: str, quick: bool, out: Path | None) -> Reproduction:
    folder = out or Path("runs") / identifier.partition("/")[0]
    check_folder(folder)
    check_installed("matplotlib", "plot", "drawing figures")
    return reproduce(identifier, quick=quick, out=folder)


def _show(made: Reproduction) -> None:
    typer.echo(f"{made.id}: {made.title}{' (quick)' if made.quick else ''}")
    columns = ("quantity", ">ours", ">published", "must be", "outcome")
    show_table(columns, map(_row, made.numbers), flexible=("quantity", "must be", "outcome"))
    for remark in made.remarks:
        typer.echo(remark)
    typer.echo(f"{made.verdict} Time: {made.seconds:.3g} s.")
    for file in made.files:
        typer.echo(f"  {file}")


def _row(number: Number) -> tuple[str, ...]:
    published = "" if number.published is None else f"{number.published:.8g}"
    return number.name, f"{number.ours:.8g}", published, number.rule, number.outcome
