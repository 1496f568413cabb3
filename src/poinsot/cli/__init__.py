"""The command line: `poinsot run`, `compare-formalisms`, `methods`, `systems`, `verify`, `reproduce`."""

import gc
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poinsot.cli._app import app

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of the program `poinsot`."""
    # What is imported and traced makes many objects and little garbage.
    gc.set_threshold(50_000, 20, 20)
    from poinsot.cli._app import app

    app()


def __getattr__(name: str) -> Any:
    if name == "app":
        from poinsot.cli._app import app

        return app
    raise AttributeError(f"module 'poinsot.cli' has no attribute {name!r}")
