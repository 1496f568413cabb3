"""Every integrator by its short name: one line each feeds command line, docs and contract test."""

from collections.abc import Callable
from typing import Any

from poinsot.core import AbstractProblem, InputError, Registry, check_called, checked, quoted
from poinsot.integrators._base import AbstractIntegrator
from poinsot.integrators.adaptive import (
    AbstractAdaptive,
    Bdf,
    DormandPrince5,
    DormandPrince8,
    DormandPrince853,
    Ida,
    Lsoda,
    Odex,
    Radau5,
    ReversibleSteps,
    Seulex,
    Taylor,
)
from poinsot.integrators.constrained import (
    ConstrainedGauss,
    ConstrainedLobatto,
    ConstrainedRungeKutta,
    Rattle,
)
from poinsot.integrators.energy_momentum import EnergyMomentum
from poinsot.integrators.lie import (
    GeneralizedAlpha,
    KryslEndresNewmark,
    LieMidpoint,
    LieRattle,
    LieSplitting,
    MuntheKaas,
    TerzeRattle,
)
from poinsot.integrators.runge_kutta import (
    RK4,
    DormandPrince,
    ExplicitEuler,
    GaussLegendre,
    Heun,
    ImplicitEuler,
    ImplicitMidpoint,
    LobattoIIIA,
    LobattoIIIAB,
    LobattoIIIB,
    LobattoIIIC,
    RadauIIA,
    SunGeng5,
)
from poinsot.integrators.splitting import Composition, Splitting
from poinsot.integrators.symplectic import StormerVerlet, SymplecticEulerA, SymplecticEulerB
from poinsot.integrators.variational import Variational


def _pair(scheme: str) -> Composition:
    return Composition(SymplecticEulerA(), scheme, adjoint=SymplecticEulerB())


FIXED: dict[str, Callable[[], AbstractIntegrator]] = {
    "explicit-euler": ExplicitEuler,
    "implicit-euler": ImplicitEuler,
    "heun": Heun,
    "rk4": RK4,
    "dopri5": DormandPrince,
    "midpoint": ImplicitMidpoint,
    **{f"gauss{2 * s}": lambda s=s: GaussLegendre(s) for s in range(1, 9)},
    **{f"radau{2 * s - 1}": lambda s=s: RadauIIA(s) for s in (2, 3, 4)},
    **{f"lobatto-iiia{2 * s - 2}": lambda s=s: LobattoIIIA(s) for s in (2, 3, 4)},
    **{f"lobatto-iiib{2 * s - 2}": lambda s=s: LobattoIIIB(s) for s in (3, 4)},
    **{f"lobatto-iiic{2 * s - 2}": lambda s=s: LobattoIIIC(s) for s in (2, 3, 4)},
    **{f"lobatto-iiiab{2 * s - 2}": lambda s=s: LobattoIIIAB(s) for s in (2, 3, 4, 5)},
    "sun-geng5": SunGeng5,
    "symplectic-euler-a": SymplecticEulerA,
    "symplectic-euler-b": SymplecticEulerB,
    "verlet": StormerVerlet,
    "verlet-qpq": lambda: StormerVerlet("qpq"),
    "yoshida4": lambda: Composition(StormerVerlet(), "yoshida4"),
    "yoshida6": lambda: Composition(StormerVerlet(), "yoshida6"),
    "yoshida8": lambda: Composition(StormerVerlet(), "yoshida8"),
    "suzuki4": lambda: Composition(StormerVerlet(), "suzuki4"),
    "mclachlan4": lambda: Composition(StormerVerlet(), "mclachlan4"),
    "mclachlan6": lambda: Composition(StormerVerlet(), "mclachlan6"),
    "mclachlan8": lambda: Composition(StormerVerlet(), "mclachlan8"),
    "kahan-li6": lambda: Composition(StormerVerlet(), "kahan-li6"),
    "kahan-li8": lambda: Composition(StormerVerlet(), "kahan-li8"),
    "mclachlan4-pair": lambda: _pair("mclachlan4-pair"),
    "blanes-moan4": lambda: _pair("blanes-moan4"),
    "blanes-moan6": lambda: _pair("blanes-moan6"),
    "midpoint-yoshida4": lambda: Composition(ImplicitMidpoint(), "yoshida4"),
    "rattle": Rattle,
    "rattle-suzuki4": lambda: Composition(Rattle(), "suzuki4"),
    "variational": Variational,
    "variational-suzuki4": lambda: Composition(Variational(), "suzuki4"),
    "energy-momentum": EnergyMomentum,
    **{f"constrained-gauss{2 * s}": lambda s=s: ConstrainedGauss(s) for s in (2, 3)},
    **{f"constrained-lobatto{2 * s - 2}": lambda s=s: ConstrainedLobatto(s) for s in (3, 4)},
    "constrained-radau5": lambda: ConstrainedRungeKutta(RadauIIA(3).tableau),
    "lie-splitting": LieSplitting,
    "lie-splitting-exact": lambda: LieSplitting("exact"),
    "lie-splitting-suzuki4": lambda: Composition(LieSplitting(), "suzuki4"),
    "lie-splitting-kahan-li6": lambda: Composition(LieSplitting("exact"), "kahan-li6"),
    "lie-rattle": LieRattle,
    "lie-rattle-suzuki4": lambda: Composition(LieRattle(), "suzuki4"),
    "lie-rattle-kahan-li6": lambda: Composition(LieRattle(), "kahan-li6"),
    "lie-midpoint": LieMidpoint,
    "munthe-kaas4": lambda: MuntheKaas(RK4().tableau),
    "krysl-endres": KryslEndresNewmark,
    "terze-rattle": TerzeRattle,
    "generalized-alpha": GeneralizedAlpha,
    "splitting2": Splitting,
    "splitting-yoshida4": lambda: Splitting("yoshida4"),
    "splitting-kahan-li8": lambda: Splitting("kahan-li8"),
    "splitting-blanes-moan4": lambda: Splitting("blanes-moan4"),
    "splitting-blanes-moan6": lambda: Splitting("blanes-moan6"),
}


ADAPTIVE: dict[str, Callable[[], AbstractAdaptive]] = {
    "dormand-prince5": DormandPrince5,
    "dormand-prince8": DormandPrince8,
    "dormand-prince853": DormandPrince853,
    "radau5-adaptive": Radau5,
    "bdf": Bdf,
    "lsoda": Lsoda,
    "ida": Ida,
    "odex": Odex,
    "seulex": Seulex,
    "taylor": Taylor,
    "reversible-verlet": lambda: ReversibleSteps(StormerVerlet()),
    "reversible-gauss4": lambda: ReversibleSteps(GaussLegendre(2)),
    "reversible-rattle": lambda: ReversibleSteps(Rattle()),
    "reversible-lie-splitting": lambda: ReversibleSteps(LieSplitting()),
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
