"""Methods that impose constraints themselves."""

from poinsot.integrators.constrained._rattle import Rattle
from poinsot.integrators.constrained._runge_kutta import ConstrainedRungeKutta
from poinsot.integrators.constrained._spark import ConstrainedGauss, ConstrainedLobatto, Spark

__all__ = ["ConstrainedGauss", "ConstrainedLobatto", "ConstrainedRungeKutta", "Rattle", "Spark"]
