"""`poinsot methods`: the registry of integrators."""

from typing import Any

from poinsot.cli._tables import show_json, show_table
from poinsot.integrators import by_name, names

STRONGEST_FIRST = ("energy", "quadratic", "bilinear", "momentum", "linear")


def show_methods(as_json: bool) -> None:
    """Print every integrator with its declared properties."""
    methods = [describe(name) for name in names()]
    if as_json:
        show_json(methods)
        return
    references = list(dict.fromkeys(method["reference"] for method in methods))
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
    for number, reference in enumerate(references, start=1):
        print(f"{number:3}  {reference}")


def describe(name: str) -> dict[str, Any]:
    """The declared properties of one integrator."""
    integrator = by_name(name)
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
