"""`poinsot compare-formalisms`: the bodies of a scenario in all formulations, by all adaptive solvers."""

import itertools
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import typer

from poinsot.analysis import InterruptedComparison, WorkPrecision, work_precision
from poinsot.analysis._work_precision import COORDINATES, TOLERANCES
from poinsot.cli._exits import ExitCode, fail
from poinsot.cli._outputs import check_folder
from poinsot.cli._tables import as_json as json_text
from poinsot.cli._tables import show_json, show_table
from poinsot.coordinates import AbstractOrientation, Directors, EulerAngles, Quaternions
from poinsot.core import InputError, State, check_installed
from poinsot.equations import FORMS, refusal
from poinsot.integrators import AbstractAdaptive, adaptive_names, by_name
from poinsot.io import load_scenario
from poinsot.io._setup import Setup
from poinsot.model import AbstractSystem
from poinsot.viz import plot_formalisms

QUICK = (1e-4, 1e-6, 1e-8)
"""Tolerances of a quick look."""
LANG = (
    (Quaternions(), "null_space"),
    (Directors(), "null_space"),
    (EulerAngles("zxz"), "null_space"),
    (Quaternions(), "index0"),
    (Directors(), "index0"),
)
"""Formulations of a quick look: those that Lang (2010) compares."""


@dataclass(frozen=True)
class Selection:
    """What is compared, and how long it may take."""

    quick: bool
    solver: list[str] | None
    form: list[str] | None
    patience: float

    @property
    def solvers(self) -> dict[str, AbstractAdaptive]:
        """Those named, or all that are led by a tolerance."""
        chosen = {name: by_name(name) for name in self.solver or adaptive_names()}
        led = {
            name: method
            for name, method in chosen.items()
            if isinstance(method, AbstractAdaptive) and method.control == "tolerance"
        }
        for name in set(chosen) - set(led) if self.solver else ():
            raise InputError(f"--solver {name}: it is not led by a tolerance; `poinsot methods` lists those")
        return led

    def formulations(self, system: AbstractSystem) -> list[tuple[AbstractOrientation, str]]:
        """Coordinates and form, of the named forms or of all, where they go together."""
        forms = [FORMS.name_of(name, f"--form {name}") for name in self.form or ()]
        every = LANG if self.quick else tuple(itertools.product(COORDINATES, reversed(tuple(FORMS))))
        chosen = [pair for pair in every if not forms or pair[1] in forms]
        return [pair for pair in chosen if refusal(system, *pair) is None]


def compare_scenario(path: Path, out: Path | None, chosen: Selection, as_json: bool) -> None:
    """Compare, and write what was measured, also when it is interrupted."""
    scenario = load_scenario(path)
    (system, start), times = _bodies(scenario.setup, path), scenario.times
    folder = out or Path("runs") / f"{path.stem}-formalisms"
    check_folder(folder)
    check_installed("matplotlib", "plot", "drawing pictures")
    code = ExitCode.done
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        try:
            found = work_precision(
                system,
                start,
                times.t1,
                chosen.solvers,
                t0=times.t0,
                formulations=chosen.formulations(system),
                tolerances=QUICK if chosen.quick else TOLERANCES,
                patience=chosen.patience,
                repeats=1 if chosen.quick else 3,
                progress=None,
            )
        except InterruptedComparison as interrupted:
            found, code = interrupted.work_precision, ExitCode.interrupted
    for warning in told:
        typer.echo(f"poinsot: {warning.message}", err=True)
    written = _write(found, folder)
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found)
        typer.echo("\n".join(["Written:", *(f"  {file}" for file in written)]))
    if code is not ExitCode.done:
        fail(f"{path}: interrupted; the {len(found.points)} runs until then are in {written[0]}", code)


def _bodies(setup: Setup, path: Path) -> tuple[AbstractSystem, State]:
    """The scenario's bodies and their start; equations have no choice of formulation."""
    if not isinstance(setup.system, AbstractSystem):
        raise InputError(
            f"{path}: formalisms are those of rigid bodies; this system is given by its equations"
        )
    if setup.control is not None:
        raise InputError(f"{path}: formalisms are compared without a controller; leave out [control]")
    return setup.system, setup.start


def _write(found: WorkPrecision, folder: Path) -> list[Path]:
    """All numbers, and a picture for each solver."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "comparison.json"]
    written[0].write_text(json_text(found.to_dict()) + "\n", encoding="utf-8")
    points = found.to_dict()["points"]
    for method in found.methods:
        written.append(folder / f"{method}.png")
        plot_formalisms(points, methods=[method], to_file=True).savefig(written[-1])
    return written


def _show(found: WorkPrecision) -> None:
    """The finest errors, what an error costs that half of them reach, and why anything is missing."""
    pairs = sorted({(point.method, point.formulation) for point in found.points})
    finest = [min(point.error for point in found.of(*pair)) for pair in pairs]
    middle = np.median(finest) if finest else np.inf
    aim = 10.0 ** np.ceil(np.log10(middle)) if 0.0 < middle < np.inf else 1.0
    columns = ("solver", "formulation", ">runs", ">finest error", f">rhs for {aim:.0e}", f">s for {aim:.0e}")
    rows = (_row(found, pair, least, aim) for pair, least in zip(pairs, finest, strict=True))
    show_table(columns, rows, flexible="formulation")
    typer.echo(f"Errors of rotation and angular velocity at the end, beside {found.reference}.")
    ended = [one for one in found.refused if found.of(one.method, one.formulation)]
    if ended:
        typer.echo(f"Ladders that ended early: {len(ended)}. comparison.json says which; try --patience.")
    for reason in replace(found, refused=tuple(one for one in found.refused if one not in ended)).reasons():
        typer.echo(f"not run: {reason}")


def _row(found: WorkPrecision, pair: tuple[str, str], finest: float, aim: float) -> tuple[str, ...]:
    method, formulation = pair
    rhs = at_error(*found.curve(method, "rhs", formulation), aim)
    seconds = at_error(*found.curve(method, "seconds", formulation), aim)
    shown = ("" if np.isnan(rhs) else f"{rhs:.0f}", "" if np.isnan(seconds) else f"{seconds:.2g}")
    return method, formulation, str(len(found.of(*pair))), f"{finest:.1e}", *shown


def at_error(work: np.ndarray, error: np.ndarray, aim: float) -> float:
    """Work for an error between those of a curve, in logarithms; NaN outside."""
    good = np.isfinite(error) & (error > 0.0)
    order = np.argsort(error[good])
    errors, works = np.log(error[good][order]), np.log(work[good][order])
    if not len(errors) or not errors[0] <= np.log(aim) <= errors[-1]:
        return float("nan")
    return float(np.exp(np.interp(np.log(aim), errors, works)))
