"""The problem kinds: what an integrator sees of a system."""

import abc
import functools
import weakref
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core._blocks import Blocks
from poinsot.core._energy import AbstractEnergy, GeneralEnergy, SeparableEnergy
from poinsot.core._errors import InputError
from poinsot.core._functions import Use
from poinsot.core._implicit import AbstractImplicit
from poinsot.core._known import joined, on_device
from poinsot.core._largest import largest
from poinsot.core._local_field import LocalField
from poinsot.core._projection import Projection
from poinsot.core._recommendation import Recommending
from poinsot.core._show import quoted
from poinsot.core._signature import UserFunction, optional_function, user_function
from poinsot.core._state import State

Packed = Float[Array, "n *rest"]
"""A packed state: what integrators step. For a vectorised problem the axes after the first are lanes."""


class AbstractProblem(Recommending):
    """A system of equations, with parameters and the quantities its exact motion conserves.

    Integrators work on the *packed* state, one array, because XLA compiles a loop over one small array
    into one piece of machine code; people see labelled states. `pack` and `unpack` go between the two.
    """

    derived: ClassVar[tuple[str, ...]] = ("recommendation",)
    kind: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]
    ordinary: ClassVar[bool] = True
    """Whether it is an ordinary differential equation, which any one-step method can be applied to."""

    told_apart: ClassVar[bool] = True
    observed: ClassVar[tuple[str, ...]] = ()
    """Names of the `observables`."""

    params: eqx.AbstractVar[Any]
    invariants: eqx.AbstractVar[dict[str, UserFunction]]
    vectorised: eqx.AbstractVar[bool]

    @property
    def name(self) -> str:
        """What reports call it: its recommended name, or its kind."""
        named = None if self.recommendation is None else self.recommendation.name
        return self.kind if named is None else named

    @property
    def conservative(self) -> bool:
        """Whether no force acts but those of a potential, as far as the problem knows of forces."""
        return True

    def lanes(self, y: Packed) -> tuple[int, ...]:
        """Shape of the independent runs that `y` holds: empty for one run."""
        return y.shape[1:] if self.vectorised else ()

    @abc.abstractmethod
    def pack(self, state: State) -> Packed:
        """The array that integrators step."""

    @abc.abstractmethod
    def unpack(self, y: Packed) -> State:
        """The labelled state of a packed one."""

    @abc.abstractmethod
    def vector_field(self, t, y: Packed) -> Packed:
        """Right-hand side of `y' = f(t, y)`."""

    def evaluate(self, function: UserFunction, t, y: Packed) -> Array:
        """Value of a user's function of the state, for instance an invariant or an event."""
        state = self.unpack(y)
        return function(t, *(state[label] for label in self.labels), self.params)

    @abc.abstractmethod
    def magnitude(self, y: Packed) -> Packed:
        """Scale of each component, constant over components of one kind (positions, momenta, ...).

        Iterations converge relative to it, so that momenta far smaller than positions are still
        computed to their own round-off.
        """

    def clearance(self, y: Packed) -> Array | None:
        """How far the state is from where the problem loses its meaning; a run ends where it is negative.

        None where there is no such place.
        """
        return None

    @property
    def looped(self) -> bool:
        """Whether its functions go through a long state in loops, so that native code of them stays short."""
        return False

    @property
    def pivots(self) -> bool:
        """Whether its right-hand side solves linear equations by elimination with a choice of pivots."""
        return False

    @property
    def projectable(self) -> bool:
        """Whether the state has constraints to keep that its equations do not hold by themselves."""
        return False

    def project(self, t, y: Packed, what: Projection) -> Packed:
        """The state next to `y` on the constraints; `y` itself where there are none.

        Args:
            t: time.
            y: packed state that has drifted from them.
            what: "position", "velocity" (or momentum), "both" or "none". A velocity is put along the surface
                at the position of the result, which for "velocity" alone may lie next to the surface.
        """
        return y

    def blocks(self, unknowns: str, *, forces: bool = True) -> Blocks | None:
        """Which of some unknowns stand in equations together; None where all may.

        Args:
            unknowns: what they are, in order: "y" for a packed state; with constraints also "q" for a vector
                like the positions and "g" for one like the constraints.
            forces: whether forces at unknown positions or velocities stand in the equations; without them
                there are only constraints and inertia.
        """
        return None

    @property
    def local_field(self) -> LocalField | None:
        """The right-hand side in pieces, where bodies are equal and in a row and time does not enter."""
        return None

    def implicit_form(self, size: int) -> AbstractImplicit | None:
        """The equations with multipliers, for solvers of differential-algebraic equations; None without.

        Args:
            size: numbers in a packed state.
        """
        return None

    def uses(self, t, y: Packed) -> list[Use]:
        """Calls of the user's functions at a state, which are tried before a run."""
        return []

    def _invariant_uses(self, t, y: Packed) -> list[Use]:
        """Calls of the user's invariants, which may have any shape."""
        state = self.unpack(y)
        arguments = (t, *(state[label] for label in self.labels), self.params)
        return [Use(function, arguments, None) for function in self.invariants.values()]

    @abc.abstractmethod
    def first_integrals(self, t, y: Packed) -> dict[str, Array]:
        """What the kind of problem itself conserves, by name: the energy of an autonomous Hamiltonian."""

    def observables(self, t, y: Packed) -> dict[str, Array]:
        """Further quantities of a state that a trajectory shows, by name."""
        return {}

    def inconsistency(self, t, y: Packed) -> dict[str, Array]:
        """How far a state is from the constraints of the problem, by name, relative to its size."""
        return {}

    def conserved(self, t, y: Packed) -> dict[str, Array]:
        """All conserved quantities at one state, by name: the problem's own, then the user's."""
        users = {name: self.evaluate(function, t, y) for name, function in self.invariants.items()}
        return self.first_integrals(t, y) | users

    def terms(self, t, y: Packed) -> dict[str, Array]:
        """Sizes of what the values of some invariants are sums of, by the `terms` of their functions.

        That takes what the function takes and returns as many numbers. Values of which nothing is said here
        are as inexact as the state: rounding errors of all its components of a kind are those of the largest.
        """
        told = {name: getattr(user.function, "terms", None) for name, user in self.invariants.items()}
        return {
            name: self.evaluate(UserFunction(terms, True, True), t, y)
            for name, terms in told.items()
            if terms is not None
        }

    def with_params(self, params) -> "AbstractProblem":
        """The same problem with other parameters of the same structure: compiles nothing anew."""
        return eqx.tree_at(lambda p: p.params, self, as_params(params), is_leaf=lambda x: x is None)


def field(problem: AbstractProblem, t, y: Packed) -> Packed:
    """Evaluate the right-hand side, as one function of a trace however many places of a step call it.

    It is then traced once, and native code has it once where it is much.
    """
    known = _fields.get(id(problem))
    if known is None or known[0]() is not problem:
        # The reference does not keep the problem alive: its entry goes with it.
        own: Any = weakref.ref(problem, functools.partial(_forget, id(problem)))
        known = _fields[id(problem)] = own, jax.jit(lambda t, y: own().vector_field(t, y))
    return known[1](t, y)


_fields: dict[int, tuple[Any, Callable]] = {}
"""Right-hand sides of problems that are in use, by identity."""


def _forget(key: int, gone: Any) -> None:
    """Drop the entry of a problem that is no more, unless another one has its place."""
    if key in _fields and _fields[key][0] is gone:
        del _fields[key]


def as_params(params):
    """Parameters as a pytree of float64 arrays; integers stay as they are, so they may size arrays."""
    try:
        return jax.tree.map(lambda leaf: leaf if isinstance(leaf, (int, str)) else on_device(leaf), params)
    except Exception:  # Of JAX, or of the repr of what is given, which its message has.
        raise InputError(f"params = {quoted(params)}; it must hold numbers and arrays alone") from None


class ODE(AbstractProblem):
    r"""An ordinary differential equation.

    $$ \dot y = f(t, y, \mathrm{params}) $$

    Args:
        f: the right-hand side; `f(y)`, `f(t, y)`, `f(y, params)` or `f(t, y, params)`.
        params: any pytree of numbers and arrays; gradients, batches and sweeps over it need no new compile.
        invariants: named functions of the state that the exact solution keeps; same signatures as `f`.
        vectorised: as for `Hamiltonian`.

    Example:
        >>> import poinsot as pt
        >>> decay = pt.ODE(lambda y: -y)
        >>> run = pt.simulate(decay, pt.State(y=[1.0]), t1=1.0, dt=0.1, integrator=pt.integrators.RK4())
    """

    kind: ClassVar[str] = "ode"
    labels: ClassVar[tuple[str, ...]] = ("y",)

    f: UserFunction
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)

    def __init__(
        self,
        f: Callable,
        *,
        params: Any = None,
        invariants: Mapping[str, Callable] | None = None,
        vectorised: bool = False,
    ):
        self.f = user_function(f, self.labels, "f")
        self.params = as_params(params)
        self.invariants = named_functions(invariants, self.labels)
        self.vectorised = vectorised

    def pack(self, state: State) -> Packed:
        """The array `y` itself."""
        return state.y

    def unpack(self, y: Packed) -> State:
        """The array under its label."""
        return State(y=y)

    def vector_field(self, t, y: Packed) -> Packed:
        """The user's `f`."""
        return self.f(t, y, self.params)

    def uses(self, t, y: Packed) -> list[Use]:
        """The right-hand side and the invariants."""
        return [Use(self.f, (t, y, self.params), y.shape), *self._invariant_uses(t, y)]

    def magnitude(self, y: Packed) -> Packed:
        """The largest component, for all: an equation without structure has one scale."""
        return largest_component(y, self.vectorised)

    def first_integrals(self, t, y: Packed) -> dict[str, Array]:
        """An equation without further structure conserves nothing by itself."""
        return {}


class PhaseSpace(AbstractProblem):
    """A problem whose state is positions and as many momenta."""

    labels: ClassVar[tuple[str, ...]] = ("q", "p")

    def pack(self, state: State) -> Packed:
        """Positions, then momenta."""
        return joined((state.q, state.p))

    def unpack(self, y: Packed) -> State:
        """Halves of the packed array."""
        q, p = self.split(y)
        return State(q=q, p=p)

    def split(self, y: Packed) -> tuple[Array, Array]:
        """Positions and momenta of a packed state."""
        n = y.shape[0] // 2
        return y[:n], y[n:]

    def magnitude(self, y: Packed) -> Packed:
        """The largest position for all positions, the largest momentum for all momenta."""
        return jnp.concatenate([largest_component(half, self.vectorised) for half in self.split(y)])


class Hamiltonian(PhaseSpace):
    r"""A canonical Hamiltonian system.

    $$ \dot q = \frac{\partial H}{\partial p}, \qquad \dot p = -\frac{\partial H}{\partial q} $$

    Give either `H`, or `T` and `V` when the Hamiltonian is separable, `H = T(p) + V(q)`: then symplectic
    Euler, Störmer-Verlet and the splittings are explicit. Gradients are found by automatic
    differentiation unless given.

    Args:
        H: the Hamiltonian: `H(q, p)`, `H(t, q, p)`, `H(q, p, params)` or `H(t, q, p, params)`; or an
            `AbstractEnergy`, which brings its own gradients.
        T: kinetic energy `T(p)`, with `t` and `params` as above.
        V: potential energy `V(q)`, likewise.
        dHdq: gradient of `H` in `q` (of `V` when separable, with the signature of `V`).
        dHdp: gradient of `H` in `p` (of `T` when separable, with the signature of `T`).
        force: non-conservative force, a function of positions and momenta with the signatures of `H`, added
            to $\dot p$. With it nothing is conserved, and a separable Hamiltonian counts as a general one.
        params: any pytree of numbers and arrays; gradients, batches and sweeps over it need no new compile.
        invariants: further conserved quantities by name, with the signatures of `H`. The energy is
            always watched when `H` does not depend on time.
        vectorised: the functions also take `q` and `p` of shape `(n, runs)` and return `(runs,)`, each run by
            itself, as functions written on components do. Then many runs can be stepped as one array, the
            fastest layout; see `ensemble`.
    """

    kind: ClassVar[str] = "hamiltonian"

    function: AbstractEnergy
    force: UserFunction | None
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)

    def __init__(
        self,
        H: Callable | AbstractEnergy | None = None,
        *,
        T: Callable | None = None,
        V: Callable | None = None,
        dHdq: Callable | None = None,
        dHdp: Callable | None = None,
        force: Callable | None = None,
        params: Any = None,
        invariants: Mapping[str, Callable] | None = None,
        vectorised: bool = False,
    ):
        if isinstance(H, AbstractEnergy):
            self.function = H
        elif H is not None and T is None and V is None:
            self.function = GeneralEnergy(H, dHdq, dHdp)
        elif H is None and T is not None and V is not None:
            self.function = SeparableEnergy(T, V, dHdq, dHdp)
        else:
            raise InputError("a Hamiltonian takes either H, or both T and V when it is separable")
        self.force = optional_function(force, self.labels, "force")
        self.params = as_params(params)
        self.invariants = named_functions(invariants, self.labels)
        self.vectorised = vectorised

    @property
    def separable(self) -> bool:
        """Whether `H = T(p) + V(q)`, and no force depends on both."""
        return self.function.separable and self.conservative

    @property
    def conservative(self) -> bool:
        """Whether there is no non-conservative force."""
        return self.force is None

    @property
    def autonomous(self) -> bool:
        """Whether time does not enter, so that the energy is conserved."""
        return not self.function.takes_time

    def energy(self, t, q: Array, p: Array) -> Array:
        """The value of the Hamiltonian."""
        return self.function.value(t, q, p, self.params)

    def dHdq(self, t, q: Array, p: Array) -> Array:
        """Gradient in the positions, less the force; `p` is not looked at when `H` is separable."""
        slope = self.function.dq(t, q, p, self.params)
        return slope if self.force is None else slope - self.force(t, q, p, self.params)

    def dHdp(self, t, q: Array, p: Array) -> Array:
        """Gradient in the momenta; `q` is not looked at when `H` is separable."""
        return self.function.dp(t, q, p, self.params)

    def discrete_gradient(self, t, q0: Array, p0: Array, q1: Array, p1: Array) -> tuple[Array, Array]:
        """Discrete gradient in positions and momenta: its product with the step is the change of energy."""
        return self.function.discrete_gradient(t, q0, p0, q1, p1, self.params)

    def vector_field(self, t, y: Packed) -> Packed:
        """Hamilton's equations."""
        q, p = self.split(y)
        return jnp.concatenate([self.dHdp(t, q, p), -self.dHdq(t, q, p)])

    def uses(self, t, y: Packed) -> list[Use]:
        """The energy with its gradients, the force and the invariants."""
        q, p = self.split(y)
        own = self.function.uses(t, q, p, self.params, self.lanes(y))
        force = [] if self.force is None else [Use(self.force, (t, q, p, self.params), q.shape)]
        return [*own, *force, *self._invariant_uses(t, y)]

    def blocks(self, unknowns: str, *, forces: bool = True) -> Blocks | None:
        """Positions and their momenta together, in the row of the energy."""
        row = self.function.row
        return None if row is None else Blocks.of(np.tile(row, 2), coupled=True).repeated(len(unknowns))

    @property
    def local_field(self) -> LocalField | None:
        """That of the energy, if no force acts."""
        return self.function.local_field if self.conservative else None

    def clearance(self, y: Packed) -> Array | None:
        """What the energy says of the positions."""
        return self.function.clearance(self.split(y)[0])

    @property
    def projectable(self) -> bool:
        """What the energy says: coordinates of bodies may have constraints."""
        return self.function.projectable

    def project(self, t, y: Packed, what: Projection) -> Packed:
        """Positions and momenta as the energy projects them."""
        return jnp.concatenate(self.function.project(*self.split(y), what)) if self.projectable else y

    def first_integrals(self, t, y: Packed) -> dict[str, Array]:
        """The energy, when neither time nor a force enters."""
        return {"energy": self.energy(t, *self.split(y))} if self.autonomous and self.conservative else {}


def largest_component(y: Array, vectorised: bool) -> Array:
    """Largest magnitude, lane by lane where there are lanes, in the shape of `y`."""
    return jnp.broadcast_to(largest(y, y.ndim - 1 if vectorised else 0), y.shape)


def named_functions(
    functions: Mapping[str, Callable] | None, labels: tuple[str, ...]
) -> dict[str, UserFunction]:
    """Wrapped functions by name."""
    return {name: user_function(f, labels, f"invariant {name!r}") for name, f in (functions or {}).items()}
