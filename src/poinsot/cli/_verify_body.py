"""`poinsot verify --body`: a rigid body in every coordinates and form, integrator by integrator."""

import sys
from collections.abc import Sequence

import typer

from poinsot.analysis import BodyCertificate, body_matrix
from poinsot.analysis._body_verify import METHODS
from poinsot.cli._exits import ExitCode
from poinsot.cli._tables import show_json, show_table
from poinsot.integrators import as_fixed
from poinsot.integrators import names as all_names

COLUMNS = (
    "coordinates",
    "form",
    ">order",
    ">symplectic",
    ">energy",
    ">momentum",
    ">constraint",
    ">its rate",
    "",
)


def verify_body(chosen: Sequence[str], every: bool, as_json: bool) -> None:
    """Measure a body in all formulations; exit code 1 if a declared property is not met."""
    wanted = all_names() if every else tuple(dict.fromkeys(chosen)) or METHODS
    for name in wanted:
        as_fixed("verify", name)
    certificates: list[BodyCertificate] = []
    for name in wanted:
        own = []
        for certificate in body_matrix([name]):
            own.append(certificate)
            if sys.stderr.isatty() and certificate.refused is None:
                typer.echo(f"measured {name}: {certificate.coordinates}, {certificate.form}", err=True)
        certificates += own
        if not as_json:
            _show(name, own)
    failed = [one for one in certificates if not one.confirmed]
    if as_json:
        show_json([one.to_dict() for one in certificates])
    else:
        measured = sum(one.refused is None for one in certificates)
        typer.echo(f"{measured - len(failed)} of {measured} combinations as declared")
    if failed:
        raise typer.Exit(ExitCode.not_confirmed)


def _show(name: str, certificates: Sequence[BodyCertificate]) -> None:
    """The measured combinations as a table, then why the others are refused."""
    typer.echo(name)
    rows = [_row(one) for one in certificates if one.refused is None]
    if rows:
        show_table(COLUMNS, rows, flexible="coordinates")
    reasons: dict[str, list[str]] = {}
    for one in certificates:
        if one.refused is not None:
            reasons.setdefault(one.refused, []).append(f"{one.coordinates} {one.form}")
    for reason, places in reasons.items():
        typer.echo(f"  refused: {'; '.join(places)}\n    {reason}")
    typer.echo("")


def _row(one: BodyCertificate) -> tuple[str, ...]:
    sizes = (one.symplectic, one.energy, one.momentum, one.position, one.velocity)
    verdict = "ok" if one.confirmed else "NOT AS DECLARED"
    if one.result != "successful":
        verdict = f"{verdict}, long run: {one.result}"
    return one.coordinates, one.form, f"{one.order:.2f}", *(f"{size:.1e}" for size in sizes), verdict
