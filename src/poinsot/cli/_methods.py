"""`poinsot methods`: the registry of integrators."""

from typing import Any

from poinsot.cli._tables import show_json, show_table
from poinsot.integrators import AbstractAdaptive, adaptive_names, as_fixed, by_name, names

STRONGEST_FIRST = ("energy", "quadratic", "bilinear", "momentum", "linear")


def show_methods(as_json: bool) -> None:
    """Print every integrator with its declared properties, those with fixed steps first."""
    methods = [describe(name) for name in names()]
    adaptive = [describe_adaptive(name) for name in adaptive_names()]
    if as_json:
        show_json(methods + adaptive)
        return
    references = list(dict.fromkeys(method["reference"] for method in methods + adaptive))
    show_table(
        ("name", "method", ">order", "symmetric", "symplectic", "conserves", "needs", ">ref"),
        (
            (
                *(method[key] for key in ("name", "method", "order", "symmetric", "symplectic")),
                next((kind for kind in STRONGEST_FIRST if kind in method["conserves"]), ""),
                method["needs"],
                references.index(method["reference"]) + 1,
            )
            for method in methods
        ),
        flexible="method",
    )
    print("Conserves: the polynomial invariants kept to round-off; quadratic includes bilinear (q'Dp),")
    print("which includes linear. Needs: an ode takes any problem, a separable one is H = T(p) + V(q);")
    print("constrained and group are forms of rigid bodies, with constraints and on the rotation group.\n")
    print("Adaptive solvers, which choose their steps to meet rtol and atol:")
    show_table(
        ("name", "method", ">order", "one step", "stiff", "needs", "package", ">ref"),
        (
            (
                *(method[key] for key in ("name", "method")),
                method["order"] or "any",
                *(method[key] for key in ("one_step", "stiff", "needs")),
                method["package"] or "",
                references.index(method["reference"]) + 1,
            )
            for method in adaptive
        ),
        flexible="method",
    )
    print("Stiff: whether stiffness leaves the steps alone. Package: what `pip install 'poinsot[adaptive]'`")
    print("or, for heyoka, `pip install 'poinsot[taylor]'` brings.\n")
    for number, reference in enumerate(references, start=1):
        print(f"{number:3}  {reference}")


def describe(name: str) -> dict[str, Any]:
    """The declared properties of one integrator."""
    integrator = as_fixed("poinsot methods", name)
    return {
        "name": name,
        "method": integrator.name,
        "class": type(integrator).__name__,
        "order": integrator.order,
        "symmetric": integrator.symmetric,
        "symplectic": integrator.symplectic,
        "conserves": sorted(integrator.conserves),
        "needs": integrator.needs,
        "reference": integrator.reference,
    }


def describe_adaptive(name: str) -> dict[str, Any]:
    """What one adaptive solver says of itself."""
    solver = by_name(name)
    assert isinstance(solver, AbstractAdaptive)
    return {
        "name": name,
        "method": solver.name,
        "class": type(solver).__name__,
        "adaptive": True,
        "order": solver.traits.order,
        "one_step": solver.traits.one_step,
        "stiff": solver.traits.stiff,
        "needs": solver.traits.needs,
        "package": solver.traits.package,
        "extra": solver.traits.extra,
        "reference": solver.traits.reference,
    }
