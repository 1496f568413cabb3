"""The Runge-Kutta methods of the literature, by name: each is a tableau for one of the two steppers."""

from poinsot.core import checked
from poinsot.integrators.coefficients import collocation, explicit
from poinsot.integrators.coefficients.collocation import GaussStages, LobattoStages
from poinsot.integrators.runge_kutta._explicit import ExplicitRungeKutta
from poinsot.integrators.runge_kutta._implicit import ImplicitRungeKutta
from poinsot.integrators.runge_kutta._stages import AbstractStageSolver, FixedPoint

FIXED_POINT = FixedPoint()


@checked
def ExplicitEuler(*, compensated: bool = False) -> ExplicitRungeKutta:
    r"""Euler's method, $y_1 = y_0 + h f(t_0, y_0)$; order 1. Energy grows: here for comparison."""
    return ExplicitRungeKutta(explicit.explicit_euler(), compensated)


@checked
def Heun(*, compensated: bool = False) -> ExplicitRungeKutta:
    """Heun's method of order 2: the trapezoidal rule with an Euler predictor."""
    return ExplicitRungeKutta(explicit.heun(), compensated)


@checked
def RK4(*, compensated: bool = False) -> ExplicitRungeKutta:
    """The classical Runge-Kutta method of order 4."""
    return ExplicitRungeKutta(explicit.rk4(), compensated)


@checked
def DormandPrince(*, compensated: bool = False) -> ExplicitRungeKutta:
    """The order 5 formula of Dormand and Prince with a fixed step."""
    return ExplicitRungeKutta(explicit.dormand_prince5(), compensated)


@checked
def ImplicitEuler(
    *, solver: AbstractStageSolver = FIXED_POINT, compensated: bool = False
) -> ImplicitRungeKutta:
    r"""Implicit Euler, $y_1 = y_0 + h f(t_1, y_1)$; order 1. Energy decays: here for comparison."""
    return ImplicitRungeKutta(collocation.implicit_euler(), solver, compensated)


@checked
def ImplicitMidpoint(
    *, solver: AbstractStageSolver = FIXED_POINT, compensated: bool = False
) -> ImplicitRungeKutta:
    r"""Implicit midpoint rule, $y_1 = y_0 + h f(t_0 + h/2, (y_0 + y_1)/2)$: Gauss with one stage."""
    return ImplicitRungeKutta(collocation.implicit_midpoint(), solver, compensated)


@checked
def GaussLegendre(
    stages: GaussStages = 3, *, solver: AbstractStageSolver = FIXED_POINT, compensated: bool = False
) -> ImplicitRungeKutta:
    """Gauss collocation: order `2 stages`, symmetric, symplectic, keeps every quadratic invariant.

    Args:
        stages: number of stages; 3 gives order 6, 8 gives order 16.
        solver: how to solve the stage equations, `FixedPoint()` or `SimplifiedNewton()`.
        compensated: double-double coefficients and compensated summation of the update; with
            `FixedPoint(tolerance=0)` the energy error is then a random walk (Brouwer's law).
    """
    return ImplicitRungeKutta(collocation.gauss(stages), solver, compensated)


@checked
def RadauIIA(
    stages: GaussStages = 3, *, solver: AbstractStageSolver = FIXED_POINT, compensated: bool = False
) -> ImplicitRungeKutta:
    """Radau IIA collocation: order `2 stages - 1`, stiffly accurate, damps; not symplectic."""
    return ImplicitRungeKutta(collocation.radau_iia(stages), solver, compensated)


@checked
def LobattoIIIA(
    stages: LobattoStages = 3, *, solver: AbstractStageSolver = FIXED_POINT, compensated: bool = False
) -> ImplicitRungeKutta:
    """Lobatto IIIA collocation: order `2 stages - 2`, symmetric, not symplectic."""
    return ImplicitRungeKutta(collocation.lobatto_iiia(stages), solver, compensated)


@checked
def LobattoIIIB(
    stages: LobattoStages = 3, *, solver: AbstractStageSolver = FIXED_POINT, compensated: bool = False
) -> ImplicitRungeKutta:
    """Lobatto IIIB: order `2 stages - 2`, symmetric, not symplectic by itself (see `LobattoIIIAB`)."""
    return ImplicitRungeKutta(collocation.lobatto_iiib(stages), solver, compensated)


@checked
def LobattoIIIC(
    stages: LobattoStages = 3, *, solver: AbstractStageSolver = FIXED_POINT, compensated: bool = False
) -> ImplicitRungeKutta:
    """Lobatto IIIC: order `2 stages - 2`, stiffly accurate, damps; not symplectic."""
    return ImplicitRungeKutta(collocation.lobatto_iiic(stages), solver, compensated)


@checked
def SunGeng5(*, solver: AbstractStageSolver = FIXED_POINT, compensated: bool = False) -> ImplicitRungeKutta:
    """Sun Geng's method of order 5: mean of Radau IIA and its symplectic adjoint; not symmetric."""
    return ImplicitRungeKutta(collocation.sun_geng5(), solver, compensated)
