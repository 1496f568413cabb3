r"""Mechanical systems on the surface of their constraints: what a DAE integrator sees."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core._discrete_gradient import corrected, whole_gradient
from poinsot.core._errors import InputError
from poinsot.core._functions import Use
from poinsot.core._implicit import AbstractImplicit, StabilisedForm
from poinsot.core._numbers import as_array, concrete
from poinsot.core._problem import Packed, PhaseSpace, as_params, named_functions
from poinsot.core._projection import Projection, along_surface, nearest_on_surface, saddle_point
from poinsot.core._show import quoted
from poinsot.core._signature import UserFunction, optional_function, user_function
from poinsot.core._state import State

Positions = Float[Array, " n"]
Multipliers = Float[Array, " m"]


class AbstractConstrained(PhaseSpace):
    r"""A mechanical system $L = \tfrac12 v^T M(q)\,v - V(t, q)$ with constraints $g(t, q) = 0$.

    $$ \dot q = v, \qquad \frac{d}{dt} M(q)\,v = L_q - G(t, q)^T \lambda + F(t, q, v), \qquad g(t, q) = 0,
       \qquad G = g_q $$

    The state is $q$ and $p = M(q)\,v$, with $g(t, q) = 0$ and a velocity that stays on the surface, which may
    move: $G v + g_t = 0$.
    Integrators impose the constraints themselves: the equations are a differential-algebraic system of
    index 3. $M$ may be singular across the surface (`regular` is false): then there is a Lagrangian but no
    Hamiltonian.
    """

    kind: ClassVar[str] = "constrained"
    ordinary: ClassVar[bool] = False

    @property
    def index(self) -> int:
        """Which constraints the equations contain: positions (index 3), or only velocities (index 2)."""
        return 3

    @property
    @abc.abstractmethod
    def autonomous(self) -> bool:
        """Whether time does not enter."""

    @property
    @abc.abstractmethod
    def regular(self) -> bool:
        """Whether $M$ can be inverted, so that there is a Hamiltonian on the whole space."""

    @property
    def massive(self) -> bool:
        """Whether momenta are products of a mass matrix and velocities, so that there is a Lagrangian."""
        return True

    @property
    @abc.abstractmethod
    def separable(self) -> bool:
        """Whether $M$ is constant, so that $H = T(p) + V(q)$."""

    @property
    @abc.abstractmethod
    def conservative(self) -> bool:
        """Whether there is no load."""

    @abc.abstractmethod
    def potential(self, t, q: Positions) -> Array:
        """Potential energy."""

    @property
    def rheonomic(self) -> bool:
        """Whether time enters the constraints, so that their surface moves."""
        return False

    @abc.abstractmethod
    def constraint(self, t, q: Positions) -> Multipliers:
        """What must vanish."""

    @abc.abstractmethod
    def momentum(self, q: Positions, v: Positions) -> Positions:
        """Momentum of a velocity, the product of $M(q)$ and $v$."""

    @abc.abstractmethod
    def velocity(self, t, q: Positions, p: Positions) -> Positions:
        """The velocity of a momentum that stays on the surface; its part across the surface does not count.

        That part is replaced by what the motion of the surface asks for.
        """

    @abc.abstractmethod
    def kinetic(self, q: Positions, p: Positions) -> Array:
        """Kinetic energy in momenta, on the whole space; needs `regular`."""

    @abc.abstractmethod
    def discrete_gradient(
        self, t, q0: Positions, p0: Positions, q1: Positions, p1: Positions
    ) -> tuple[Positions, Positions]:
        """Discrete gradient of the Hamiltonian in positions and momenta; needs `regular`."""

    @abc.abstractmethod
    def load(self, t, q: Positions, v: Positions) -> Positions:
        """Generalised force of the loads; zero when `conservative`."""

    def extent(self, q: Positions) -> Array:
        """Sizes, one for all or one for each, of which rounding errors of positions are a part.

        The largest position. Where the constraints add lengths of their own to the positions, these count
        as well: positions may all be zero.
        """
        return jnp.max(jnp.abs(q))

    def lagrangian(self, t, q: Positions, v: Positions) -> Array:
        """Kinetic less potential energy."""
        return 0.5 * jnp.sum(v * self.momentum(q, v)) - self.potential(t, q)

    def hamiltonian(self, t, q: Positions, p: Positions) -> Array:
        """Kinetic plus potential energy on the whole space; needs `regular`."""
        return self.kinetic(q, p) + self.potential(t, q)

    def dHdq(self, t, q: Positions, p: Positions) -> Positions:
        """Gradient of the Hamiltonian in the positions, less the load; needs `regular`."""
        if self.separable:
            slope = jax.grad(self.potential, argnums=1)(t, q)
        else:
            slope = jax.grad(self.hamiltonian, argnums=1)(t, q, p)
        return slope if self.conservative else slope - self.load(t, q, self.velocity(t, q, p))

    def dHdp(self, q: Positions, p: Positions) -> Positions:
        """Gradient of the Hamiltonian in the momenta; needs `regular`."""
        return jax.grad(self.kinetic, argnums=1)(q, p)

    def slack(self, t, q: Positions) -> Multipliers | None:
        r"""How far the Newton matrix of each constraint may be off, in units of $G M^{-1} G^T$, or None.

        Where constraints depend on each other that matrix is singular, though the equations have a solution.
        Integrators then take a little of this off its diagonal, which costs iterations but moves no solution.
        """
        return None

    @property
    def dense_refusal(self) -> str | None:
        """Why there are too many unknowns for equations without structure, or None if there are not."""
        return None

    def normal(self, t, q: Positions, multipliers: Multipliers) -> Positions:
        r"""The direction $G(t, q)^T \lambda$ of a constraint force."""
        return jax.vjp(lambda x: self.constraint(t, x), q)[1](multipliers)[0]

    def discrete_normal(self, t, q0: Positions, q1: Positions, multipliers: Multipliers) -> Positions:
        r"""Gonzalez' discrete gradient of $\lambda\cdot g$ at one time, over a step.

        Its product with the step is the change of $\lambda\cdot g$: a force along it does no work from one
        point of the surface to another.
        """
        middle = 0.5 * (q0 + q1)
        slope = self.normal(t, middle, multipliers)
        change = jnp.sum(multipliers * (self.constraint(t, q1) - self.constraint(t, q0)))
        # On the surface the terms of g cancel: their round-off is that of the positions.
        return corrected(slope, q1 - q0, change, jnp.sum(jnp.abs(slope * middle)))

    def constraint_rate(self, t, q: Positions, v: Positions) -> Multipliers:
        r"""Rate $G v + g_t$ of the constraints."""
        t = jnp.asarray(t, dtype=float)
        return jax.jvp(self.constraint, (t, q), (jnp.ones_like(t), v))[1]

    def constraint_bend(self, t, q: Positions, v: Positions) -> Multipliers:
        r"""Second rate of the constraints at a constant velocity, $\ddot g - G \dot v$."""
        t = jnp.asarray(t, dtype=float)
        return jax.jvp(lambda t, x: self.constraint_rate(t, x, v), (t, q), (jnp.ones_like(t), v))[1]

    def _surface_rate(self, t, q: Positions) -> Multipliers:
        """The rate $g_t$ that the motion of the surface gives to the constraints."""
        if self.rheonomic:
            return self.constraint_rate(t, q, jnp.zeros_like(q))
        return jnp.zeros_like(self.constraint(t, q))

    def tangent_momentum(self, t, q: Positions, p: Positions) -> Positions:
        """The momentum of the velocity that stays on the surface."""
        return self.momentum(q, self.velocity(t, q, p))

    def _mass(self, q: Positions) -> Float[Array, "n n"]:
        """The matrix $M(q)$."""
        return jax.vmap(lambda e: self.momentum(q, e), out_axes=1)(jnp.eye(q.shape[0]))

    def acceleration(self, t, q: Positions, v: Positions) -> tuple[Positions, Multipliers]:
        r"""Acceleration and multipliers, from the equations differentiated to index 1.

        $$ M a + G^T \lambda = L_q - \dot M v + F, \qquad G a = -\dot G v - \dot g_t $$
        """
        n = q.shape[0]
        drift = jax.jvp(lambda x: self.momentum(x, v), (q,), (v,))[1]
        force = jax.grad(self.lagrangian, argnums=1)(t, q, v) - drift + self.load(t, q, v)
        bend = self.constraint_bend(t, q, v)
        solution = saddle_point(self._mass(q), jax.jacfwd(self._at(t))(q), force, -bend)
        return solution[:n], solution[n:]

    def _at(self, t) -> Callable[[Positions], Multipliers]:
        """The constraints at one time."""
        return lambda q: self.constraint(t, q)

    def implicit_form(self, size: int) -> AbstractImplicit | None:
        """The stabilised form, which holds positions and velocities to the constraints."""
        return StabilisedForm(system=self, positions=size // 2)

    def vector_field(self, t, y: Packed) -> Packed:
        """The motion along the surface, by `acceleration`: what integrators approximate."""
        q, p = self.split(y)
        v = self.velocity(t, q, p)
        a, _ = self.acceleration(t, q, v)
        return jnp.concatenate([v, jax.jvp(self.momentum, (q, v), (v, a))[1]])

    def energy(self, t, y: Packed) -> Array:
        """Kinetic plus potential energy; without a Hamiltonian, of the motion along the surface."""
        q, p = self.split(y)
        if self.regular:
            return self.hamiltonian(t, q, p)
        v = self.velocity(t, q, p)
        return 0.5 * jnp.sum(v * self.momentum(q, v)) + self.potential(t, q)

    @property
    def projectable(self) -> bool:
        """Always."""
        return True

    def project(self, t, y: Packed, what: Projection) -> Packed:
        """Positions and momenta on the surface, nearest in the metric of the mass."""
        q, p = self.split(y)
        if what in ("position", "both"):
            q = nearest_on_surface(self._at(t), self._mass(q), q)
        if what in ("velocity", "both"):
            p = along_surface(self._at(t), self._mass(q), q, p, -self._surface_rate(t, q))
        return jnp.concatenate([q, p])

    def first_integrals(self, t, y: Packed) -> dict[str, Array]:
        """The energy, when neither time nor loads enter."""
        return {"energy": self.energy(t, y)} if self.autonomous and self.conservative else {}


def _as_mass(mass: Any) -> Array:
    """Numbers on the diagonal of a mass matrix, or the matrix: positive definite."""
    array = as_array(mass, "mass")
    if array.ndim > 2 or (array.ndim == 2 and array.shape[0] != array.shape[1]):
        raise InputError(f"mass has shape {array.shape}; it must be a number, a list of them or a matrix")
    if concrete(array):
        numbers = np.asarray(array)
        if array.ndim == 2 and not np.allclose(numbers, numbers.T, rtol=1e-9, atol=0.0):
            raise InputError(f"mass = {quoted(mass)}; a mass matrix must be symmetric")
        if not np.all((np.linalg.eigvalsh(numbers) if array.ndim == 2 else numbers) > 0.0):
            raise InputError(f"mass = {quoted(mass)}; it must be positive, a matrix positive definite")
    return array


class Constrained(AbstractConstrained):
    r"""Point masses or generalised coordinates with constraints, given by functions.

    A start must satisfy the constraints, with a velocity along them; `consistent` makes one that does. A run
    has the `multipliers`, and in its report rows of the constraints and of their rates.

    Args:
        V: potential energy `V(q)`, with `t` and `params` as for a `Hamiltonian`.
        g: constraints `g(q)` or `g(t, q)`, a vector.
        mass: $M$: numbers for a constant diagonal matrix, a constant matrix, or a function `M(q)` giving one.
        force: non-conservative force `F(q, v)`, with `t` and `params` likewise.
        params: any pytree of numbers and arrays.
        invariants: further conserved quantities by name, functions of `(q, p)`.

    Example:
        A spherical pendulum:

        >>> import poinsot as pt
        >>> pendulum = pt.Constrained(V=lambda q: 9.81 * q[2], g=lambda q: 0.5 * (q @ q - 1.0)[None])
        >>> start = pt.State(q=[1.0, 0.0, 0.0], p=[0.0, 1.0, 0.0])
        >>> run = pt.simulate(pendulum, start, t1=1.0, dt=0.01, integrator=pt.integrators.Rattle())
    """

    observed: ClassVar[tuple[str, ...]] = ("multipliers",)

    V: UserFunction
    g: UserFunction
    mass: Any
    force: UserFunction | None
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)

    def __init__(
        self,
        V: Callable,
        g: Callable,
        mass: Any = 1.0,
        *,
        force: Callable | None = None,
        params: Any = None,
        invariants: Mapping[str, Callable] | None = None,
    ):
        self.V = user_function(V, ("q",), "V")
        self.g = user_function(g, ("q",), "g")
        self.mass = user_function(mass, ("q",), "mass") if callable(mass) else _as_mass(mass)
        self.force = optional_function(force, ("q", "v"), "force")
        self.params = as_params(params)
        self.invariants = named_functions(invariants, self.labels)
        self.vectorised = False

    def uses(self, t, y: Packed) -> list[Use]:
        """Potential, constraints, mass, force and invariants."""
        q, p = self.split(y)
        own = [Use(self.V, (t, q, self.params), ()), Use(self.g, (t, q, self.params), None)]
        if isinstance(self.mass, UserFunction):
            own.append(Use(self.mass, (t, q, self.params), None))
        if self.force is not None:
            own.append(Use(self.force, (t, q, p, self.params), q.shape))
        return [*own, *self._invariant_uses(t, y)]

    @property
    def autonomous(self) -> bool:
        """Whether time does not enter."""
        loaded = self.force is not None and self.force.takes_time
        return not (self.V.takes_time or self.g.takes_time or loaded)

    @property
    def rheonomic(self) -> bool:
        """Whether `g` takes time."""
        return self.g.takes_time

    @property
    def regular(self) -> bool:
        """Always: a mass that cannot be inverted has no place here."""
        return True

    @property
    def separable(self) -> bool:
        """Whether the mass is constant."""
        return not isinstance(self.mass, UserFunction)

    @property
    def conservative(self) -> bool:
        """Whether there is no load."""
        return self.force is None

    def potential(self, t, q: Positions) -> Array:
        """The user's `V`."""
        return self.V(t, q, self.params)

    def constraint(self, t, q: Positions) -> Multipliers:
        """The user's `g`."""
        return self.g(t, q, self.params)

    def mass_matrix(self, q: Positions) -> Float[Array, "n n"]:
        """The matrix $M(q)$."""
        mass = self.mass(0.0, q, self.params) if isinstance(self.mass, UserFunction) else self.mass
        return mass if mass.ndim == 2 else jnp.diag(jnp.broadcast_to(mass, q.shape))

    def momentum(self, q: Positions, v: Positions) -> Positions:
        """Momentum of a velocity."""
        return self.mass_matrix(q) @ v

    def _accelerate(self, q: Positions, forces: Float[Array, "n k"]) -> Float[Array, "n k"]:
        """The product of the inverse mass and some columns."""
        if isinstance(self.mass, Array) and self.mass.ndim < 2:
            return forces / jnp.broadcast_to(self.mass, q.shape)[:, None]
        return jnp.linalg.solve(self.mass_matrix(q), forces)

    def velocity(self, t, q: Positions, p: Positions) -> Positions:
        """The velocity that stays on the surface, by orthogonal projection in the metric of the mass."""
        return self._accelerate(q, self.tangent_momentum(t, q, p)[:, None])[:, 0]

    def tangent_momentum(self, t, q: Positions, p: Positions) -> Positions:
        """The momentum less its part across the surface, which costs no round-off where there is none."""
        G = jax.jacfwd(self._at(t))(q)
        across = self._accelerate(q, G.T)
        rate = across.T @ p
        if self.rheonomic:
            rate = rate + self._surface_rate(t, q)
        return p - G.T @ jnp.linalg.solve(G @ across, rate)

    def kinetic(self, q: Positions, p: Positions) -> Array:
        """Kinetic energy in momenta."""
        return 0.5 * jnp.sum(p * self._accelerate(q, p[:, None])[:, 0])

    def discrete_gradient(self, t, q0, p0, q1, p1) -> tuple[Positions, Positions]:
        """Gonzalez' discrete gradient of the Hamiltonian in all variables."""
        return whole_gradient(lambda q, p: self.hamiltonian(t, q, p), q0, p0, q1, p1)

    def first_integrals(self, t, y: Packed) -> dict[str, Array]:
        """The energy, when neither time nor loads enter; the constraints and their rates, which stay zero."""
        q, p = self.split(y)
        rate = self.constraint_rate(t, q, self.dHdp(q, p))
        return super().first_integrals(t, y) | {"constraint": self.constraint(t, q), "constraint rate": rate}

    def observables(self, t, y: Packed) -> dict[str, Array]:
        r"""The multipliers $\lambda$ of the motion along the surface."""
        q, p = self.split(y)
        return {"multipliers": self.acceleration(t, q, self.velocity(t, q, p))[1]}

    def inconsistency(self, t, y: Packed) -> dict[str, Array]:
        """Distance of the positions from the surface, and the part of the momenta across it."""
        q, p = self.split(y)
        off = jnp.linalg.lstsq(jax.jacfwd(self._at(t))(q), self.constraint(t, q))[0]
        across = p - self.tangent_momentum(t, q, p)
        return {
            "position": jnp.max(jnp.abs(off)) / (1.0 + jnp.max(jnp.abs(q))),
            "momentum": jnp.max(jnp.abs(across)) / (1.0 + jnp.max(jnp.abs(p))),
        }

    def consistent(self, state: State, t: float = 0.0) -> State:
        """The state next to a given one with positions on the constraints and velocities along them.

        Args:
            state: positions `q` and momenta `p`.
            t: time.

        Raises:
            InputError: it is too far from the constraints for one to be found.
        """
        y = self.project(t, self.pack(state), "both")
        if concrete(y) and not np.all(np.isfinite(np.asarray(y))):
            raise InputError(
                f"q = {quoted(np.asarray(state.q).tolist())} is too far from the constraints, or their "
                "gradients depend on each other there; start nearer to them"
            )
        return self.unpack(y)

    def load(self, t, q: Positions, v: Positions) -> Positions:
        """The user's force."""
        return jnp.zeros_like(q) if self.force is None else self.force(t, q, v, self.params)
