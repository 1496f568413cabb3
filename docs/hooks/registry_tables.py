"""Fills `<!-- table: NAME -->` in a page with a table made from a registry of the package."""

import re
from collections.abc import Iterable, Sequence

from poinsot import library, papers
from poinsot.core import Hamiltonian
from poinsot.integrators import by_name, names

_PLACE = re.compile(r"<!-- table: (\w+) -->")
_STRONGEST_FIRST = ("quadratic", "bilinear", "linear")


def on_page_markdown(markdown: str, **_) -> str:
    """Called by MkDocs with the source of every page."""
    return _PLACE.sub(lambda found: TABLES[found[1]](), markdown)


def methods() -> str:
    """Every registered integrator with its declared traits, and the references below."""
    integrators = {name: by_name(name) for name in names()}
    references = list(dict.fromkeys(integrator.reference for integrator in integrators.values()))
    rows = (
        (
            f"`{name}`",
            integrator.name,
            integrator.order,
            _tick(integrator.symmetric),
            _tick(integrator.symplectic),
            next(kind for kind in _STRONGEST_FIRST if kind in integrator.conserves),
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
    for name in library.names():
        system = library.by_name(name)
        problem = system.problem
        separable = isinstance(problem, Hamiltonian) and problem.separable
        given = ", ".join(f"`{key} = {_value(default)}`" for key, default in library.parameters(name).items())
        state = ", ".join(f"{label}[{value.size}]" for label, value in system.start.items())
        rows.append((f"`{name}`", "separable" if separable else problem.kind, state, given, system.dt))
    return _table(("name", "kind", "state", "parameters and defaults", "step"), rows)


def reproductions() -> str:
    """Every table and figure that can be computed again."""
    return _table(("id", "title"), ((f"`{identifier}`", title) for identifier, title in papers.catalogue()))


TABLES = {"methods": methods, "systems": systems, "reproductions": reproductions}


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _tick(holds: bool) -> str:
    return "yes" if holds else ""


def _value(default: object) -> str:
    return "computed" if default is None else f"{default:.6g}" if isinstance(default, float) else str(default)
