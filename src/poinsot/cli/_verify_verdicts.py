"""`poinsot verify --verdicts`: how often the verdicts of a report are wrong."""

import sys
from collections.abc import Sequence

import typer

from poinsot.analysis import VerdictRates, verdict_rates
from poinsot.cli._exits import ExitCode
from poinsot.cli._tables import show_json, show_table
from poinsot.core import InputError
from poinsot.simulation import Verdict

TOLERANCE = 0.005
"""Share of wrong verdicts of each kind that is tolerated."""


def verify_verdicts(chosen: Sequence[str], others: bool, as_json: bool) -> None:
    """Measure the rates of false alarms and of missed drifts; exit code 1 if one is too large."""
    if chosen or others:
        raise InputError("--verdicts measures the rule of the report: give no integrators, --all or --body")
    rates = verdict_rates(progress=_say if sys.stderr.isatty() else None)
    if as_json:
        show_json([rate.to_dict() for rate in rates])
    else:
        typer.echo(f"{rates[0].series} errors of each family, without drift and with one\n")
        columns = ("family", ">false alarms", ">missed drifts", ">too short", ">drifts found", "")
        show_table(columns, map(_row, rates), flexible="family")
    if not all(map(_passed, rates)):
        raise typer.Exit(ExitCode.not_confirmed)


def _passed(rate: VerdictRates) -> bool:
    return max(rate.false_alarm_rate, rate.missed_rate) < TOLERANCE


def _row(rate: VerdictRates) -> tuple[str, ...]:
    shares = (
        rate.false_alarm_rate,
        rate.missed_rate,
        rate.still[Verdict.short] / rate.series,
        rate.moving[Verdict.drifting] / rate.series,
    )
    return rate.family, *(f"{share:.2%}" for share in shares), "ok" if _passed(rate) else "FAILED"


def _say(family: str) -> None:
    typer.echo(f"judging errors: {family}", err=True)
