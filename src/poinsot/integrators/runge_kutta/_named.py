"""The implicit Runge-Kutta methods of the literature: a tableau each, stepped by one stepper."""

import equinox as eqx

from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators.coefficients import collocation
from poinsot.integrators.runge_kutta._implicit import AbstractImplicitRungeKutta
from poinsot.integrators.runge_kutta._stages import AbstractStageSolver, FixedPoint


class ImplicitRungeKutta(AbstractImplicitRungeKutta):
    """An implicit Runge-Kutta method from your own tableau.

    Args:
        tableau: a `ButcherTableau`.
        solver: how to solve the stage equations, `FixedPoint()` or `SimplifiedNewton()`.
        compensated: double-double coefficients and compensated summation of the update.
    """

    tableau: ButcherTableau = eqx.field(static=True)
    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)


class GaussLegendre(AbstractImplicitRungeKutta):
    """Gauss collocation: order `2 stages`, symmetric, symplectic, keeps every quadratic invariant.

    Args:
        stages: number of stages; 3 gives order 6, 8 gives order 16.
        solver: how to solve the stage equations, `FixedPoint()` or `SimplifiedNewton()`.
        compensated: double-double coefficients and compensated summation of the update; with
            `FixedPoint(tolerance=0)` the energy error is then a random walk (Brouwer's law).
    """

    stages: int = eqx.field(default=3, static=True)
    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        _check_stages(self.stages, 1, "GaussLegendre")

    @property
    def tableau(self) -> ButcherTableau:
        """Collocation at the zeros of the shifted Legendre polynomial."""
        return collocation.gauss(self.stages)


class ImplicitMidpoint(AbstractImplicitRungeKutta):
    r"""Implicit midpoint rule, $y_1 = y_0 + h f(t_0 + h/2, (y_0 + y_1)/2)$: Gauss with one stage."""

    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    @property
    def tableau(self) -> ButcherTableau:
        """One stage."""
        return collocation.implicit_midpoint()


class ImplicitEuler(AbstractImplicitRungeKutta):
    r"""Implicit Euler, $y_1 = y_0 + h f(t_1, y_1)$; order 1. Energy decays: here for comparison."""

    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    @property
    def tableau(self) -> ButcherTableau:
        """One stage."""
        return collocation.implicit_euler()


class RadauIIA(AbstractImplicitRungeKutta):
    """Radau IIA collocation: order `2 stages - 1`, stiffly accurate, damps; not symplectic.

    Args:
        stages: number of stages; 2 gives order 3, 3 gives order 5.
        solver: as for `GaussLegendre`.
        compensated: as for `GaussLegendre`.
    """

    stages: int = eqx.field(default=3, static=True)
    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        _check_stages(self.stages, 1, "RadauIIA")

    @property
    def tableau(self) -> ButcherTableau:
        """Collocation with the end of the step as last node."""
        return collocation.radau_iia(self.stages)


class LobattoIIIA(AbstractImplicitRungeKutta):
    """Lobatto IIIA collocation: order `2 stages - 2`, symmetric, not symplectic.

    Args:
        stages: number of stages, at least 2.
        solver: as for `GaussLegendre`.
        compensated: as for `GaussLegendre`.
    """

    stages: int = eqx.field(default=3, static=True)
    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        _check_stages(self.stages, 2, "LobattoIIIA")

    @property
    def tableau(self) -> ButcherTableau:
        """Collocation with both ends of the step as nodes."""
        return collocation.lobatto_iiia(self.stages)


class LobattoIIIB(AbstractImplicitRungeKutta):
    """Lobatto IIIB: order `2 stages - 2`, symmetric, not symplectic by itself (see `LobattoIIIAB`).

    Args:
        stages: number of stages, at least 2.
        solver: as for `GaussLegendre`.
        compensated: as for `GaussLegendre`.
    """

    stages: int = eqx.field(default=3, static=True)
    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        _check_stages(self.stages, 2, "LobattoIIIB")

    @property
    def tableau(self) -> ButcherTableau:
        """Discontinuous collocation at the Lobatto nodes."""
        return collocation.lobatto_iiib(self.stages)


class LobattoIIIC(AbstractImplicitRungeKutta):
    """Lobatto IIIC: order `2 stages - 2`, stiffly accurate, damps; not symplectic.

    Args:
        stages: number of stages, at least 2.
        solver: as for `GaussLegendre`.
        compensated: as for `GaussLegendre`.
    """

    stages: int = eqx.field(default=3, static=True)
    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        _check_stages(self.stages, 2, "LobattoIIIC")

    @property
    def tableau(self) -> ButcherTableau:
        """Lobatto nodes with a constant first column."""
        return collocation.lobatto_iiic(self.stages)


class SunGeng5(AbstractImplicitRungeKutta):
    """Sun Geng's symplectic method of order 5: mean of Radau IIA and its symplectic adjoint.

    Three stages on the Radau nodes; symplectic but not symmetric.
    """

    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    @property
    def tableau(self) -> ButcherTableau:
        """Three stages."""
        return collocation.sun_geng5()


def _check_stages(stages: int, least: int, name: str) -> None:
    if not isinstance(stages, int) or stages < least:
        raise ValueError(f"{name}: stages must be a whole number of at least {least}, got {stages!r}")
