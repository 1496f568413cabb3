"""Every integrator by its short name: one line each feeds command line, docs and contract test."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import poinsot.integrators as methods  # Which load when one is made.
from poinsot.core import AbstractProblem, InputError, Registry, check_called, checked, quoted
from poinsot.integrators._base import AbstractIntegrator
from poinsot.integrators.adaptive._base import AbstractAdaptive

if TYPE_CHECKING:
    from poinsot.integrators.splitting import Composition


def _pair(scheme: str) -> "Composition":
    return methods.Composition(methods.SymplecticEulerA(), scheme, adjoint=methods.SymplecticEulerB())


FIXED: dict[str, Callable[[], AbstractIntegrator]] = {
    "explicit-euler": lambda: methods.ExplicitEuler(),
    "implicit-euler": lambda: methods.ImplicitEuler(),
    "heun": lambda: methods.Heun(),
    "rk4": lambda: methods.RK4(),
    "dopri5": lambda: methods.DormandPrince(),
    "midpoint": lambda: methods.ImplicitMidpoint(),
    **{f"gauss{2 * s}": lambda s=s: methods.GaussLegendre(s) for s in range(1, 9)},
    **{f"radau{2 * s - 1}": lambda s=s: methods.RadauIIA(s) for s in (2, 3, 4)},
    **{f"lobatto-iiia{2 * s - 2}": lambda s=s: methods.LobattoIIIA(s) for s in (2, 3, 4)},
    **{f"lobatto-iiib{2 * s - 2}": lambda s=s: methods.LobattoIIIB(s) for s in (3, 4)},
    **{f"lobatto-iiic{2 * s - 2}": lambda s=s: methods.LobattoIIIC(s) for s in (2, 3, 4)},
    **{f"lobatto-iiiab{2 * s - 2}": lambda s=s: methods.LobattoIIIAB(s) for s in (2, 3, 4, 5)},
    "sun-geng5": lambda: methods.SunGeng5(),
    "symplectic-euler-a": lambda: methods.SymplecticEulerA(),
    "symplectic-euler-b": lambda: methods.SymplecticEulerB(),
    "verlet": lambda: methods.StormerVerlet(),
    "verlet-qpq": lambda: methods.StormerVerlet("qpq"),
    "yoshida4": lambda: methods.Composition(methods.StormerVerlet(), "yoshida4"),
    "yoshida6": lambda: methods.Composition(methods.StormerVerlet(), "yoshida6"),
    "yoshida8": lambda: methods.Composition(methods.StormerVerlet(), "yoshida8"),
    "suzuki4": lambda: methods.Composition(methods.StormerVerlet(), "suzuki4"),
    "mclachlan4": lambda: methods.Composition(methods.StormerVerlet(), "mclachlan4"),
    "mclachlan6": lambda: methods.Composition(methods.StormerVerlet(), "mclachlan6"),
    "mclachlan8": lambda: methods.Composition(methods.StormerVerlet(), "mclachlan8"),
    "kahan-li6": lambda: methods.Composition(methods.StormerVerlet(), "kahan-li6"),
    "kahan-li8": lambda: methods.Composition(methods.StormerVerlet(), "kahan-li8"),
    "mclachlan4-pair": lambda: _pair("mclachlan4-pair"),
    "blanes-moan4": lambda: _pair("blanes-moan4"),
    "blanes-moan6": lambda: _pair("blanes-moan6"),
    "midpoint-yoshida4": lambda: methods.Composition(methods.ImplicitMidpoint(), "yoshida4"),
    "rattle": lambda: methods.Rattle(),
    "rattle-suzuki4": lambda: methods.Composition(methods.Rattle(), "suzuki4"),
    "variational": lambda: methods.Variational(),
    "variational-suzuki4": lambda: methods.Composition(methods.Variational(), "suzuki4"),
    "energy-momentum": lambda: methods.EnergyMomentum(),
    **{f"constrained-gauss{2 * s}": lambda s=s: methods.ConstrainedGauss(s) for s in (2, 3)},
    **{f"constrained-lobatto{2 * s - 2}": lambda s=s: methods.ConstrainedLobatto(s) for s in (3, 4)},
    "constrained-radau5": lambda: methods.ConstrainedRungeKutta(methods.RadauIIA(3).tableau),
    "lie-splitting": lambda: methods.LieSplitting(),
    "lie-splitting-exact": lambda: methods.LieSplitting("exact"),
    "lie-splitting-suzuki4": lambda: methods.Composition(methods.LieSplitting(), "suzuki4"),
    "lie-splitting-kahan-li6": lambda: methods.Composition(methods.LieSplitting("exact"), "kahan-li6"),
    "lie-rattle": lambda: methods.LieRattle(),
    "lie-rattle-suzuki4": lambda: methods.Composition(methods.LieRattle(), "suzuki4"),
    "lie-rattle-kahan-li6": lambda: methods.Composition(methods.LieRattle(), "kahan-li6"),
    "lie-midpoint": lambda: methods.LieMidpoint(),
    "munthe-kaas4": lambda: methods.MuntheKaas(methods.RK4().tableau),
    "krysl-endres": lambda: methods.KryslEndresNewmark(),
    "terze-rattle": lambda: methods.TerzeRattle(),
    "generalized-alpha": lambda: methods.GeneralizedAlpha(),
    "splitting2": lambda: methods.Splitting(),
    "splitting-yoshida4": lambda: methods.Splitting("yoshida4"),
    "splitting-kahan-li8": lambda: methods.Splitting("kahan-li8"),
    "splitting-blanes-moan4": lambda: methods.Splitting("blanes-moan4"),
    "splitting-blanes-moan6": lambda: methods.Splitting("blanes-moan6"),
}


ADAPTIVE: dict[str, Callable[[], AbstractAdaptive]] = {
    "dormand-prince5": lambda: methods.DormandPrince5(),
    "dormand-prince8": lambda: methods.DormandPrince8(),
    "dormand-prince853": lambda: methods.DormandPrince853(),
    "radau5-adaptive": lambda: methods.Radau5(),
    "bdf": lambda: methods.Bdf(),
    "lsoda": lambda: methods.Lsoda(),
    "ida": lambda: methods.Ida(),
    "odex": lambda: methods.Odex(),
    "seulex": lambda: methods.Seulex(),
    "taylor": lambda: methods.Taylor(),
    "reversible-verlet": lambda: methods.ReversibleSteps(methods.StormerVerlet()),
    "reversible-gauss4": lambda: methods.ReversibleSteps(methods.GaussLegendre(2)),
    "reversible-rattle": lambda: methods.ReversibleSteps(methods.Rattle()),
    "reversible-lie-splitting": lambda: methods.ReversibleSteps(methods.LieSplitting()),
}


REGISTRY: Registry[Callable[[], AbstractIntegrator | AbstractAdaptive]] = Registry(
    "integrator", FIXED | ADAPTIVE, "`poinsot methods` lists them"
)
_ADAPTIVE = set(ADAPTIVE)
"""Names of the adaptive ones, so that they need not be made to be told apart."""


def names() -> tuple[str, ...]:
    """Short names of all registered integrators with fixed steps."""
    return tuple(name for name in REGISTRY if name not in _ADAPTIVE)


def adaptive_names() -> tuple[str, ...]:
    """Short names of all registered adaptive solvers."""
    return tuple(name for name in REGISTRY if name in _ADAPTIVE)


@checked
def by_name(name: str) -> AbstractIntegrator | AbstractAdaptive:
    """The integrator or adaptive solver registered under a short name.

    Args:
        name: one of `names()` or `adaptive_names()`; underscores may stand for hyphens.

    Raises:
        InputError: for an unknown name; it suggests near ones.
    """
    return REGISTRY.find(name)()


def register(name: str, maker: Callable[[], AbstractIntegrator | AbstractAdaptive]) -> None:
    """Make an integrator known under a short name; see `poinsot.register`."""
    made = maker()
    if not isinstance(made, (AbstractIntegrator, AbstractAdaptive)):
        raise InputError(
            f"integrator {quoted(name)}: its maker returns {type(made).__name__}; it must return a "
            "pt.integrators.AbstractIntegrator or AbstractAdaptive"
        )
    REGISTRY.add(name, maker)
    if isinstance(made, AbstractAdaptive):
        _ADAPTIVE.add(name)


def as_integrator(integrator: Any) -> AbstractIntegrator | AbstractAdaptive:
    """An integrator, from itself or from its short name.

    Raises:
        InputError: for an unknown name, or for something else, such as a class in place of an integrator.
    """
    if isinstance(integrator, str):
        return by_name(integrator)
    if isinstance(integrator, (AbstractIntegrator, AbstractAdaptive)):
        return integrator
    check_called("integrator", integrator)
    raise InputError(
        "integrator must be one of pt.integrators, or a name such as 'gauss6', "
        f"got {type(integrator).__name__}"
    )


def as_fixed(caller: str, integrator: Any) -> AbstractIntegrator:
    """An integrator with fixed steps, from itself or from its short name.

    Args:
        caller: the function that needs it, for the message.
        integrator: an integrator or a name.

    Raises:
        InputError: as `as_integrator`, and for a solver that chooses its steps.
    """
    method = as_integrator(integrator)
    if isinstance(method, AbstractAdaptive):
        raise InputError(
            f"{caller} takes fixed steps, and {method.name} chooses its own; use pt.simulate, or one of the "
            "integrators with fixed steps"
        )
    return method


def fitting(problem: AbstractProblem) -> tuple[str, ...]:
    """Short names of the integrators and adaptive solvers that work on `problem`."""
    return tuple(name for name, make in REGISTRY.items() if make().refusal(problem) is None)
