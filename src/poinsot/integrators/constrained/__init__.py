"""Methods that impose constraints themselves."""

from poinsot.integrators.constrained._rattle import Rattle
from poinsot.integrators.constrained._runge_kutta import ConstrainedRungeKutta

__all__ = ["ConstrainedRungeKutta", "Rattle"]
