"""Methods from a discrete principle of stationary action."""

from poinsot.integrators.variational._variational import Variational

__all__ = ["Variational"]
