"""Things of one's own, known by name like those of the package."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from poinsot import coordinates, integrators
from poinsot.core import InputError, Registry, checked
from poinsot.library._registry import REGISTRY
from poinsot.model import joints, loads, potentials, shapes

Maker = TypeVar("Maker", bound=Callable[..., Any])
Kind = Literal["integrator", "system", "potential", "load", "joint", "shape", "coordinates"]

KINDS: Registry[Callable[[str, Any], None]] = Registry(
    "kind",
    {
        "integrator": integrators.register,
        "system": REGISTRY.add,
        "potential": potentials.REGISTRY.add,
        "load": loads.REGISTRY.add,
        "joint": joints.REGISTRY.add,
        "shape": shapes.REGISTRY.add,
        "coordinates": coordinates.REGISTRY.add,
    },
)


@checked
def register(kind: Kind, name: str, maker: Any = None) -> Any:
    """Make something of your own known by a name: in scenario files, `by_name`, messages and lists.

    Args:
        kind: "integrator", "system", "potential", "load", "joint", "shape" or "coordinates".
        name: lower case letters, digits and hyphens.
        maker: the class or function that makes it. Its arguments are the keys in a scenario file; that of an
            integrator needs none. A system is what `pt.simulate` takes, a problem or a `pt.System`; its
            `recommending(start, dt)` gives it the start that files may leave out.

    Returns:
        The maker; without one, a decorator of it.

    Raises:
        InputError: for an unknown kind, a name that is taken or cannot be written, or a maker that is none.

    Example:
        >>> import poinsot as pt
        >>> @pt.register("system", "duffing")
        ... def duffing(stiffness=1.0):
        ...     oscillator = pt.Hamiltonian(
        ...         T=lambda p: 0.5 * p @ p,
        ...         V=lambda q, params: 0.25 * params["k"] * q[0] ** 4,
        ...         params={"k": stiffness},
        ...     )
        ...     return oscillator.recommending(pt.State(q=[1.0], p=[0.0]), dt=0.05, name="duffing")
        >>> system = pt.library.by_name("duffing", stiffness=2.0)
    """
    add = KINDS.find(kind)

    def registered(made: Maker) -> Maker:
        if not callable(made):
            raise InputError(
                f"{kind} {name!r}: maker is {type(made).__name__}; give a class or function that makes it"
            )
        add(name, made)
        return made

    return registered if maker is None else registered(maker)
