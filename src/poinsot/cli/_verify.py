"""`poinsot verify`: declared properties against measured ones."""

import sys
from collections.abc import Sequence

import typer

from poinsot.analysis import Verification, verify
from poinsot.cli._exits import ExitCode
from poinsot.cli._tables import show, show_json
from poinsot.core import InputError
from poinsot.integrators import by_name, names


def verify_methods(chosen: Sequence[str], every: bool, as_json: bool) -> None:
    """Verify integrators one by one; exit code 1 if a declared property is not met."""
    if every and chosen:
        raise InputError("give names of integrators or --all, not both")
    if not every and not chosen:
        raise InputError("give the name of an integrator, or --all; `poinsot methods` lists them")
    wanted = names() if every else chosen
    for name in wanted:
        by_name(name)
    verifications: list[Verification] = []
    for name in wanted:
        if len(wanted) > 1 and sys.stderr.isatty():
            typer.echo(f"verifying {name} ({len(verifications) + 1} of {len(wanted)})", err=True)
        verifications.append(verify(name))
        if not as_json:
            show(verifications[-1])
    if as_json:
        show_json([verification.to_dict() for verification in verifications])
    if not all(verification.passed for verification in verifications):
        raise typer.Exit(ExitCode.not_confirmed)
