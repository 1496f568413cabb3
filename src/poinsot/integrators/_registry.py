"""Every integrator by its short name: one line each feeds command line, docs and contract test."""

import difflib
from collections.abc import Callable

from poinsot.core import AbstractProblem, InputError
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
from poinsot.integrators.constrained import ConstrainedRungeKutta, Rattle
from poinsot.integrators.energy_momentum import EnergyMomentum
from poinsot.integrators.lie import (
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


REGISTRY: dict[str, Callable[[], AbstractIntegrator]] = {
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
    "constrained-radau5": lambda: ConstrainedRungeKutta(RadauIIA(3).tableau),
    "lie-splitting": LieSplitting,
    "lie-splitting-exact": lambda: LieSplitting("exact"),
    "lie-splitting-suzuki4": lambda: Composition(LieSplitting(), "suzuki4"),
    "lie-splitting-kahan-li6": lambda: Composition(LieSplitting("exact"), "kahan-li6"),
    "lie-rattle": LieRattle,
    "lie-midpoint": LieMidpoint,
    "munthe-kaas4": lambda: MuntheKaas(RK4().tableau),
    "krysl-endres": KryslEndresNewmark,
    "terze-rattle": TerzeRattle,
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


def names() -> tuple[str, ...]:
    """Short names of all registered integrators with fixed steps."""
    return tuple(REGISTRY)


def adaptive_names() -> tuple[str, ...]:
    """Short names of all registered adaptive solvers."""
    return tuple(ADAPTIVE)


def by_name(name: str) -> AbstractIntegrator:
    """The integrator with fixed steps that is registered under a short name."""
    if name in ADAPTIVE:
        raise InputError(f"{name!r} is an adaptive solver; an integrator with fixed steps is needed here")
    method = method_by_name(name)
    assert isinstance(method, AbstractIntegrator)
    return method


def method_by_name(name: str) -> AbstractIntegrator | AbstractAdaptive:
    """The integrator or adaptive solver registered under a short name."""
    known = REGISTRY | ADAPTIVE
    try:
        return known[name]()
    except KeyError:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`poinsot methods` lists them"
        raise InputError(f"integrator {name!r} is not known; {hint}") from None


def fitting(problem: AbstractProblem) -> tuple[str, ...]:
    """Short names of the integrators and adaptive solvers that work on `problem`."""
    return tuple(name for name, make in (REGISTRY | ADAPTIVE).items() if make().refusal(problem) is None)
