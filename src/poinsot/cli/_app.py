"""The program `poinsot`: its commands and their options.

Everything heavy is imported inside the commands, so that `poinsot --help` answers at once.
"""

from pathlib import Path
from typing import Annotated

import typer

from poinsot._version import __version__
from poinsot.cli._exits import one_line_errors

app = typer.Typer(
    name="poinsot",
    help="Simulate mechanical systems so that what physics conserves stays conserved.",
    epilog="Exit codes: 0 done, 1 not confirmed, 2 wrong input, 3 simulation failed, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Importing rich for the help pages would double the time they take.
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"poinsot {__version__}")
        raise typer.Exit


@app.callback()
def poinsot(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Simulate mechanical systems so that what physics conserves stays conserved."""


@app.command()
@one_line_errors
def run(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file, in TOML.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="runs/<name of the scenario>")
    ] = None,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Write no pictures.")] = False,
    accuracy: Annotated[
        bool, typer.Option("--accuracy", help="Run it again at half the step, to estimate the error.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Run a scenario, report what was conserved, save the motion and pictures of it."""
    from poinsot.cli._run import run_scenario

    run_scenario(scenario, out, pictures=not no_plots, quiet=quiet, accuracy=accuracy)


@app.command()
@one_line_errors
def export(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A stored run of bodies, a Zarr folder.")],
    out: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file; .xyz, .lammpstrj or .gsd tells the format.")
    ],
) -> None:
    """Write particles and orientations of a stored run for other programs."""
    from poinsot.cli._export import export_run

    export_run(store, out)


@app.command()
@one_line_errors
def inspect(
    robot: Annotated[Path, typer.Argument(metavar="ROBOT", help="A robot, in URDF or MJCF.")],
    floating: Annotated[bool, typer.Option("--floating", help="Let the root of URDF move freely.")] = False,
    as_json: Json = False,
) -> None:
    """Print the joints, masses, limits and frames of a robot, and what is missing."""
    from poinsot.cli._inspect import inspect_robot

    inspect_robot(robot, floating=floating, as_json=as_json)


@app.command("compare-formalisms")
@one_line_errors
def compare_formalisms(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file of rigid bodies.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for data and pictures.", show_default="runs/<name of the scenario>-formalisms"
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Five formulations, short ladders.")] = False,
    solver: Annotated[
        list[str] | None, typer.Option(help="A solver by short name; may be repeated.", show_default="all")
    ] = None,
    form: Annotated[
        list[str] | None, typer.Option(help="A form of the equations; may be repeated.", show_default="all")
    ] = None,
    patience: Annotated[float, typer.Option(help="Seconds that one run may take.")] = 3.0,
    as_json: Json = False,
) -> None:
    """Run the bodies of a scenario in all formulations with all adaptive solvers: error against work.

    For a top over a minute that takes some twenty minutes, a few with --quick; what is there when it is
    interrupted is kept.
    """
    from poinsot.cli._compare import Selection, compare_scenario

    compare_scenario(scenario, out, Selection(quick, solver, form, patience), as_json)


@app.command()
@one_line_errors
def methods(as_json: Json = False) -> None:
    """List every integrator with its declared properties."""
    from poinsot.cli._methods import show_methods

    show_methods(as_json)


@app.command()
@one_line_errors
def systems(as_json: Json = False) -> None:
    """List the systems of the library with their parameters and defaults."""
    from poinsot.cli._systems import show_systems

    show_systems(as_json)


@app.command()
@one_line_errors
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Integrators by short name.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Verify all integrators; takes minutes.")] = False,
    body: Annotated[
        bool, typer.Option("--body", help="A rigid body in all coordinates and forms; takes minutes.")
    ] = False,
    verdicts: Annotated[
        bool, typer.Option("--verdicts", help="How often verdicts of a report are wrong; takes minutes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure what integrators declare: order, symplecticity, reversibility, invariants."""
    if verdicts:
        from poinsot.cli._verify_verdicts import verify_verdicts

        verify_verdicts(names or [], every or body, as_json)
    elif body:
        from poinsot.cli._verify_body import verify_body

        verify_body(names or [], every, as_json)
    else:
        from poinsot.cli._verify import verify_methods

        verify_methods(names or [], every, as_json)


@app.command()
@one_line_errors
def reproduce(
    item: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A table or figure, or a paper; lists all if left out."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All tables and figures of all papers.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A shorter run.")] = False,
    as_json: Json = False,
    out: Annotated[Path | None, typer.Option(help="Folder for figures and data.")] = None,
) -> None:
    """Regenerate a table or figure of a paper, or all of them, our numbers beside the published ones."""
    from poinsot.cli._reproduce import reproduce_chosen

    reproduce_chosen(item, every, quick, as_json, out)
