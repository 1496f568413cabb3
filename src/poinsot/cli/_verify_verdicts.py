"""`poinsot verify --verdicts`: how often the verdicts of a report are wrong."""

import sys
from collections.abc import Sequence

import typer

from poinsot.analysis import ClaimRates, VerdictRates, claim_rates, verdict_rates
from poinsot.cli._exits import ExitCode
from poinsot.cli._tables import show_json, show_table
from poinsot.core import InputError
from poinsot.simulation import Verdict

TOLERANCE = 0.005
"""Share of wrong verdicts of each kind that is tolerated."""


def verify_verdicts(chosen: Sequence[str], others: bool, as_json: bool) -> None:
    """Measure how often trends and claims of a report are wrong; exit code 1 if a rate is too large."""
    if chosen or others:
        raise InputError("--verdicts measures the rule of the report: give no integrators, --all or --body")
    say = _say if sys.stderr.isatty() else None
    rates, claims = verdict_rates(progress=say), claim_rates(progress=say)
    if as_json:
        found = {"trends": [rate.to_dict() for rate in rates], "claims": [rate.to_dict() for rate in claims]}
        show_json(found)
    else:
        typer.echo(f"{rates[0].series} errors of each family, without drift and with one\n")
        columns = ("family", ">false alarms", ">missed drifts", ">too short", ">drifts found", "")
        show_table(columns, map(_row, rates), flexible="family")
        typer.echo("\nWhat reports say, where it is so and where it is not\n")
        columns = ("claim", ">so", ">not said", ">not so", ">said", "")
        show_table(columns, map(_claim_row, claims), flexible="claim")
    if not (all(map(_passed, rates)) and all(map(_kept, claims))):
        raise typer.Exit(ExitCode.not_confirmed)


def _passed(rate: VerdictRates) -> bool:
    return max(rate.false_alarm_rate, rate.missed_rate) < TOLERANCE


def _kept(rate: ClaimRates) -> bool:
    return max(rate.missed_rate, rate.false_rate) < TOLERANCE


def _row(rate: VerdictRates) -> tuple[str, ...]:
    shares = (
        rate.false_alarm_rate,
        rate.missed_rate,
        rate.still[Verdict.short] / rate.series,
        rate.moving[Verdict.drifting] / rate.series,
    )
    return rate.family, *(f"{share:.2%}" for share in shares), "ok" if _passed(rate) else "FAILED"


def _claim_row(rate: ClaimRates) -> tuple[str, ...]:
    counts = str(rate.so), f"{rate.missed_rate:.2%}", str(rate.not_so), f"{rate.false_rate:.2%}"
    return rate.claim, *counts, "ok" if _kept(rate) else "FAILED"


def _say(family: str) -> None:
    typer.echo(f"judging: {family}", err=True)
