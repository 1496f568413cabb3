"""Fills `<!-- table: NAME -->` in a page with a table made from a registry of the package."""

import re
from collections.abc import Iterable, Sequence

from poinsot import coordinates, library, papers
from poinsot.cli._systems import describe
from poinsot.equations import FORMS, formulate, refusal
from poinsot.integrators import as_fixed, names

_PLACE = re.compile(r"<!-- table: (\w+) -->")
_STRONGEST_FIRST = ("energy", "quadratic", "bilinear", "linear")


def on_page_markdown(markdown: str, **_) -> str:
    """Called by MkDocs with the source of every page."""
    return _PLACE.sub(lambda found: TABLES[found[1]](), markdown)


def methods() -> str:
    """Every registered integrator with its declared traits, and the references below."""
    integrators = {name: as_fixed("the table", name) for name in names()}
    references = list(dict.fromkeys(integrator.reference for integrator in integrators.values()))
    rows = (
        (
            f"`{name}`",
            integrator.name,
            integrator.order,
            _tick(integrator.symmetric),
            _tick(integrator.symplectic),
            next((kind for kind in _STRONGEST_FIRST if kind in integrator.conserves), ""),
            integrator.needs,
            f"[{references.index(integrator.reference) + 1}](#sources)",
        )
        for name, integrator in integrators.items()
    )
    columns = ("short name", "method", "order", "symmetric", "symplectic", "conserves", "needs", "source")
    sources = "\n".join(f"{number}. {reference}" for number, reference in enumerate(references, start=1))
    return f"{_table(columns, rows)}\n\n## Sources\n\n{sources}\n"


def systems() -> str:
    """Every system of the library with its kind, state, parameters and suggested step."""
    rows = []
    for entry in map(describe, library.names()):
        given = ", ".join(f"`{key} = {_value(default)}`" for key, default in entry["parameters"].items())
        state = ", ".join(f"{label}[{size}]" for label, size in entry["state"].items())
        rows.append((f"`{entry['name']}`", entry["kind"], state, given, entry["dt"] or ""))
    return _table(("name", "kind", "state", "parameters and defaults", "step"), rows)


def forms() -> str:
    """Every form of the equations in all coordinates: the kind of problem it is there."""
    top = library.heavy_top((3.0, 2.5, 1.0), 1.0)
    names = ("Directors", "Quaternions", "EulerAngles", "Group", "Joint")
    kinds = [getattr(coordinates, name)() for name in names]

    def entry(one, form: str) -> str:
        return "" if refusal(top, one, form) else formulate(top, one, form).problem.kind

    rows = ((f"`{form}`", *(entry(one, form) for one in kinds)) for form in FORMS)
    return _table(("form", *(f"`{type(one).__name__}`" for one in kinds)), rows)


def reproductions() -> str:
    """Every table and figure that can be computed again."""
    return _table(("id", "title"), ((f"`{identifier}`", title) for identifier, title in papers.catalogue()))


TABLES = {"methods": methods, "systems": systems, "forms": forms, "reproductions": reproductions}


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _tick(holds: bool) -> str:
    return "yes" if holds else ""


def _value(default: object) -> str:
    return "optional" if default is None else f"{default:.6g}" if isinstance(default, float) else str(default)
