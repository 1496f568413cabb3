"""The shapes of a Hamiltonian function: any, kinetic plus potential energy, or one with own gradients."""

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from poinsot.core._discrete_gradient import whole_gradient
from poinsot.core._functions import Use
from poinsot.core._local_field import LocalField
from poinsot.core._projection import Projection
from poinsot.core._show import Printable
from poinsot.core._signature import UserFunction, optional_function, user_function


class AbstractEnergy(Printable):
    """A Hamiltonian function with its gradients."""

    separable: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def takes_time(self) -> bool:
        """Whether time enters."""

    @abc.abstractmethod
    def value(self, t, q: Array, p: Array, params: Any) -> Array:
        """The energy."""

    @abc.abstractmethod
    def dq(self, t, q: Array, p: Array, params: Any) -> Array:
        """Gradient in the positions."""

    @abc.abstractmethod
    def dp(self, t, q: Array, p: Array, params: Any) -> Array:
        """Gradient in the momenta."""

    def uses(self, t, q: Array, p: Array, params: Any, lanes: tuple[int, ...]) -> list[Use]:
        """Calls of the user's functions, see `AbstractProblem.uses`."""
        return []

    @property
    def row(self) -> Int[np.ndarray, " n"] | None:
        """A place for each position in a row, the energy being a sum over equal and next places; or None."""
        return None

    @property
    def local_field(self) -> LocalField | None:
        """See `AbstractProblem.local_field`."""
        return None

    def clearance(self, q: Array) -> Array | None:
        """See `AbstractProblem.clearance`."""
        return None

    @property
    def projectable(self) -> bool:
        """See `AbstractProblem.projectable`."""
        return False

    def project(self, q: Array, p: Array, what: Projection) -> tuple[Array, Array]:
        """See `AbstractProblem.project`."""
        return q, p

    def discrete_gradient(self, t, q0, p0, q1, p1, params: Any) -> tuple[Array, Array]:
        """Discrete gradient in positions and momenta: Gonzalez', of all variables together."""
        return whole_gradient(lambda q, p: self.value(t, q, p, params), q0, p0, q1, p1)


class GeneralEnergy(AbstractEnergy):
    """Any function `H(t, q, p, params)`, with gradients by automatic differentiation unless given."""

    H: UserFunction
    gradient_q: UserFunction | None
    gradient_p: UserFunction | None

    def __init__(self, H: Callable, dHdq: Callable | None, dHdp: Callable | None):
        self.H = user_function(H, ("q", "p"), "H")
        self.gradient_q = optional_function(dHdq, ("q", "p"), "dHdq")
        self.gradient_p = optional_function(dHdp, ("q", "p"), "dHdp")

    def uses(self, t, q: Array, p: Array, params: Any, lanes: tuple[int, ...]) -> list[Use]:
        """The energy and the gradients that were given."""
        gradients = [f for f in (self.gradient_q, self.gradient_p) if f is not None]
        at = (t, q, p, params)
        return [Use(self.H, at, lanes), *(Use(gradient, at, q.shape) for gradient in gradients)]

    @property
    def takes_time(self) -> bool:
        """Whether time enters."""
        return self.H.takes_time

    def value(self, t, q: Array, p: Array, params: Any) -> Array:
        """The energy."""
        return self.H(t, q, p, params)

    def dq(self, t, q: Array, p: Array, params: Any) -> Array:
        """Gradient in the positions."""
        if self.gradient_q is not None:
            return self.gradient_q(t, q, p, params)
        return jax.grad(lambda x: jnp.sum(self.H(t, x, p, params)))(q)

    def dp(self, t, q: Array, p: Array, params: Any) -> Array:
        """Gradient in the momenta."""
        if self.gradient_p is not None:
            return self.gradient_p(t, q, p, params)
        return jax.grad(lambda x: jnp.sum(self.H(t, q, x, params)))(p)


class SeparableEnergy(AbstractEnergy):
    """Kinetic energy `T(t, p, params)` plus potential energy `V(t, q, params)`."""

    separable: ClassVar[bool] = True

    T: UserFunction
    V: UserFunction
    gradient_q: UserFunction | None
    gradient_p: UserFunction | None

    def __init__(self, T: Callable, V: Callable, dVdq: Callable | None, dTdp: Callable | None):
        self.T = user_function(T, ("p",), "T")
        self.V = user_function(V, ("q",), "V")
        self.gradient_q = optional_function(dVdq, ("q",), "dHdq")
        self.gradient_p = optional_function(dTdp, ("p",), "dHdp")

    def uses(self, t, q: Array, p: Array, params: Any, lanes: tuple[int, ...]) -> list[Use]:
        """Both energies and the gradients that were given."""
        energies = [Use(self.T, (t, p, params), lanes), Use(self.V, (t, q, params), lanes)]
        given = ((self.gradient_q, q), (self.gradient_p, p))
        return energies + [Use(f, (t, x, params), x.shape) for f, x in given if f is not None]

    @property
    def takes_time(self) -> bool:
        """Whether time enters."""
        return self.T.takes_time or self.V.takes_time

    def value(self, t, q: Array, p: Array, params: Any) -> Array:
        """The energy."""
        return self.T(t, p, params) + self.V(t, q, params)

    def dq(self, t, q: Array, p: Array, params: Any) -> Array:
        """Gradient of the potential energy; `p` is not looked at."""
        if self.gradient_q is not None:
            return self.gradient_q(t, q, params)
        return jax.grad(lambda x: jnp.sum(self.V(t, x, params)))(q)

    def dp(self, t, q: Array, p: Array, params: Any) -> Array:
        """Gradient of the kinetic energy; `q` is not looked at."""
        if self.gradient_p is not None:
            return self.gradient_p(t, p, params)
        return jax.grad(lambda x: jnp.sum(self.T(t, x, params)))(p)
