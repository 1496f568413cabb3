"""Methods that impose constraints themselves."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.integrators.constrained._rattle import Rattle
    from poinsot.integrators.constrained._runge_kutta import ConstrainedRungeKutta
    from poinsot.integrators.constrained._spark import ConstrainedGauss, ConstrainedLobatto, Spark

__all__ = ["ConstrainedGauss", "ConstrainedLobatto", "ConstrainedRungeKutta", "Rattle", "Spark"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Rattle": "._rattle",
        "ConstrainedRungeKutta": "._runge_kutta",
        "ConstrainedGauss ConstrainedLobatto Spark": "._spark",
    },
)
