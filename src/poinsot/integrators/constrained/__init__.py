"""Methods that impose constraints themselves."""

from poinsot.integrators.constrained._rattle import Rattle

__all__ = ["Rattle"]
