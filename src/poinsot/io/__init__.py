"""Files: scenarios."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poinsot.io._scenario import Scenario, load_scenario

__all__ = ["Scenario", "load_scenario"]


def __getattr__(name: str):
    # Scenarios need pydantic, which reading a trajectory does not.
    if name in ("Scenario", "load_scenario"):
        from poinsot.io import _scenario

        return getattr(_scenario, name)
    raise AttributeError(f"module 'poinsot.io' has no attribute {name!r}")
