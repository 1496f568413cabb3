"""`poinsot verify`: declared properties against measured ones."""

import sys
from collections.abc import Sequence

import typer

from poinsot.analysis import Check, Verification, verify
from poinsot.cli._exits import ExitCode
from poinsot.cli._tables import show_json, show_table
from poinsot.core import InputError
from poinsot.integrators import as_fixed, names


def verify_methods(chosen: Sequence[str], every: bool, as_json: bool) -> None:
    """Verify integrators one by one; exit code 1 if a declared property is not met."""
    if every and chosen:
        raise InputError("give names of integrators or --all, not both")
    if not every and not chosen:
        raise InputError("give the name of an integrator, or --all; `poinsot methods` lists them")
    wanted = names() if every else tuple(dict.fromkeys(chosen))
    for name in wanted:
        as_fixed("verify", name)
    verifications: list[Verification] = []
    for name in wanted:
        if sys.stderr.isatty():
            typer.echo(f"measuring {name} ({len(verifications) + 1} of {len(wanted)})", err=True)
        verifications.append(verify(name))
        if not as_json:
            _show(verifications[-1])
    if as_json:
        show_json([verification.to_dict() for verification in verifications])
    failed = [verification.integrator for verification in verifications if not verification.passed]
    if not as_json and len(wanted) > 1:
        summary = f"; not confirmed: {', '.join(failed)}" if failed else ""
        typer.echo(f"{len(wanted) - len(failed)} of {len(wanted)} integrators confirmed{summary}")
    if failed:
        raise typer.Exit(ExitCode.not_confirmed)


def _show(verification: Verification) -> None:
    outcome = "all declared properties confirmed" if verification.passed else "NOT confirmed"
    typer.echo(f"{verification.integrator}: {outcome}")
    columns = ("property", "declared", ">measured", ">tolerance", "", "note")
    show_table(columns, map(_row, verification.checks), flexible="note")


def _row(check: Check) -> tuple[str, ...]:
    measured = f"{check.measured:.4g}" if check.tolerance > 1e-3 else f"{check.measured:.2g}"
    verdict = "ok" if check.passed else "FAILED"
    return check.property, check.declared, measured, f"{check.tolerance:.2g}", verdict, check.note
