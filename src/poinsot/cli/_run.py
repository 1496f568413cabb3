"""`poinsot run`: a scenario from its file to a report, a saved trajectory and pictures."""

from pathlib import Path

import typer

from poinsot.cli._exits import ExitCode, fail
from poinsot.cli._outputs import check_folder
from poinsot.cli._stages import Stages
from poinsot.cli._tables import as_json
from poinsot.core import InputError, check_installed
from poinsot.io import check_place, load_scenario
from poinsot.simulation import Interrupted, Report, SimulationError, Trajectory

STORE = "trajectory.zarr"


def run_scenario(path: Path, out: Path | None, *, pictures: bool, quiet: bool, accuracy: bool) -> None:
    """Carry out a scenario; whatever was computed is saved, also when the run fails or is interrupted."""
    scenario = load_scenario(path)
    folder = out or Path(scenario.output.folder or Path("runs") / path.stem)
    pictures = pictures and scenario.output.pictures
    _check_outputs(folder, store=scenario.output.store, pictures=pictures)
    code = ExitCode.done
    try:
        trajectory = scenario.run(progress=False if quiet else None)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (SimulationError, Interrupted) as failure:
        trajectory = failure.trajectory
        code = ExitCode.interrupted if isinstance(failure, Interrupted) else ExitCode.simulation_failed
    stages = Stages(quiet=quiet)
    try:
        with stages.stage("judging what was conserved"):
            report = trajectory.report()
        if not quiet:
            typer.echo(report)
    finally:
        # Whatever becomes of the report, the run is kept.
        written = _write(trajectory, folder, stages, store=scenario.output.store)
    if stages.interrupted:
        fail(f"{path}: interrupted after the run, which is complete in {written[0]}", ExitCode.interrupted)
    if accuracy and code is not ExitCode.interrupted:
        _estimate_error(trajectory, written[-1], quiet=quiet)
    if pictures:
        with stages.stage("drawing pictures"):
            written += trajectory.plot.save_all(folder)
    if not quiet:
        typer.echo("\n".join(["Written:", *(f"  {file}" for file in written)]))
    if code is not ExitCode.done:
        kept = f"what was computed up to t = {trajectory.t[-1]:.12g} is in {written[0]}"
        fail(f"{path}: {trajectory.message}; {kept}", code)


def _check_outputs(folder: Path, *, store: bool, pictures: bool) -> None:
    """What would keep the results from being written is refused before the run, not after it."""
    check_folder(folder)
    if store:
        check_place(folder / STORE)
    if pictures:
        check_installed("matplotlib", "plot", "drawing pictures (--no-plots leaves them out)")


def _write(trajectory: Trajectory, folder: Path, stages: Stages, *, store: bool) -> list[Path]:
    """Write the results and say which files they are."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    if store:
        written.append(folder / STORE)
        with stages.stage("evaluating and saving"):
            trajectory.save(written[-1])
    written.append(folder / "report.json")
    with stages.stage("writing the report"):
        _write_report(trajectory, written[-1], trajectory.report())
    return written


def _write_report(trajectory: Trajectory, path: Path, report: Report) -> None:
    outcome = {"result": trajectory.result.name, "message": trajectory.message}
    summary = outcome | trajectory.attributes | {"report": report.to_dict()}
    path.write_text(as_json(summary) + "\n", encoding="utf-8")


def _estimate_error(trajectory: Trajectory, path: Path, *, quiet: bool) -> None:
    """Compute the run again, finer; an interrupt, or an error of the finer run, costs the estimate alone."""
    try:
        report = trajectory.report(accuracy=True)
    except (InputError, Interrupted) as reason:
        typer.echo(f"poinsot: no estimate of the accuracy: {reason}", err=True)
        return
    _write_report(trajectory, path, report)
    if not quiet:
        typer.echo(report.accuracy)
