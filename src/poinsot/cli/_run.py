"""`poinsot run`: a scenario from its file to a report, a saved trajectory and pictures."""

from pathlib import Path

import typer

from poinsot.cli._exits import ExitCode, fail
from poinsot.cli._outputs import check_folder, check_installed
from poinsot.cli._tables import as_json, show
from poinsot.io import Scenario, load_scenario
from poinsot.simulate import Interrupted, SimulationError, Trajectory


def run_scenario(path: Path, out: Path | None, *, pictures: bool, quiet: bool) -> None:
    """Carry out a scenario; whatever was computed is saved, also when the run fails or is interrupted."""
    scenario = load_scenario(path)
    folder = out or Path(scenario.output.folder or Path("runs") / path.stem)
    pictures = pictures and scenario.output.pictures
    check_folder(folder)
    if scenario.output.store:
        check_installed(("xarray", "zarr"), "data", "set store = false in [output]")
    if pictures:
        check_installed(("matplotlib",), "plot", "give --no-plots")
    code = ExitCode.done
    try:
        trajectory = scenario.run(progress=False if quiet else None)
    except (SimulationError, Interrupted) as failure:
        trajectory = failure.trajectory
        code = ExitCode.interrupted if isinstance(failure, Interrupted) else ExitCode.simulation_failed
    written = _write(trajectory, folder, store=scenario.output.store, pictures=pictures)
    if not quiet:
        typer.echo(_headline(scenario))
        show(trajectory.report())
        typer.echo(_outcome(trajectory))
        for file in written:
            typer.echo(f"  {file}")
    if code is not ExitCode.done:
        kept = f"; what was computed up to t = {trajectory.t[-1]:.12g} is in {folder}" if written else ""
        fail(f"{path}: {trajectory.message}{kept}", code)


def _headline(scenario: Scenario) -> str:
    times = scenario.times
    return (
        f"{scenario.system.name} with {scenario.integrator.name}, "
        f"from t = {times.t0:g} to {times.t1:g} in steps of {times.dt:g}"
    )


def _outcome(trajectory: Trajectory) -> str:
    attributes = trajectory.attributes
    steps, seconds = attributes["steps"], attributes["wall_seconds"]
    return f"{steps:,} steps in {seconds:.2g} s, {len(trajectory):,} states kept; {trajectory.message}"


def _write(trajectory: Trajectory, folder: Path, *, store: bool, pictures: bool) -> list[Path]:
    """Write the results and say which files they are."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    if store:
        written.append(folder / "trajectory.zarr")
        trajectory.save(written[-1])
    written.append(folder / "report.json")
    written[-1].write_text(as_json(_summary(trajectory)) + "\n", encoding="utf-8")
    if pictures:
        written += trajectory.plot.save_all(folder)
    return written


def _summary(trajectory: Trajectory) -> dict:
    outcome = {"result": trajectory.result.name, "message": trajectory.message}
    return outcome | trajectory.attributes | {"report": trajectory.report().to_dict()}
