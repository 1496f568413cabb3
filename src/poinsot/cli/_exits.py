"""How the program ends: exit codes, and one clear line instead of a traceback."""

import enum
import functools
from collections.abc import Callable
from typing import NoReturn, ParamSpec, TypeVar

import typer

P = ParamSpec("P")
R = TypeVar("R")


class ExitCode(enum.IntEnum):
    """What the program tells the shell."""

    done = 0
    not_confirmed = 1
    wrong_input = 2
    simulation_failed = 3
    interrupted = 130


def fail(message: object, code: ExitCode) -> NoReturn:
    """Say in one line on standard error what went wrong, and end."""
    typer.echo(f"poinsot: {' '.join(str(message).split())}", err=True)
    raise typer.Exit(code)


def one_line_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the errors that people cause into one line and an exit code; others keep their traceback."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            fail("interrupted", ExitCode.interrupted)
        except (ValueError, RuntimeError) as error:
            code = _code_of(error)
            if code is None:
                raise
            fail(error, code)

    return wrapped


def _code_of(error: Exception) -> ExitCode | None:
    from poinsot.core import InputError
    from poinsot.simulation import SimulationError

    if isinstance(error, InputError):
        return ExitCode.wrong_input
    return ExitCode.simulation_failed if isinstance(error, SimulationError) else None
