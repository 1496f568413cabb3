"""The command line: `poinsot run`, `compare-formalisms`, `methods`, `systems`, `verify`, `reproduce`."""

from poinsot.cli._app import app, main

__all__ = ["app", "main"]
