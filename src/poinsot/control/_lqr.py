"""Linear-quadratic control about an equilibrium."""

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.control._actuation import Places, acted_on, as_chain, deviation, spread
from poinsot.control._riccati import riccati
from poinsot.core import InputError, as_array, as_floats, concrete, quoted
from poinsot.kernels import jitted, once
from poinsot.model import OpenChain
from poinsot.model.loads import AbstractControl
from poinsot.model.open_chain import as_coordinates

BALANCED = 1e-6
"""Largest force at the equilibrium on a rate that is not acted on, relative to the largest."""

ROUND_OFF = 1e-12
"""What counts as zero beside the largest entry of a matrix of weights."""


class LQR(AbstractControl):
    r"""Linear feedback that is best for small deviations from an equilibrium.

    With the deviation $z = (e, v)$ in joint coordinates and rates, and the forces $u$ of the joints that it
    acts on, it minimises

    $$ \int_0^\infty (z\cdot Q\,z + u\cdot R\,u)\,dt, \qquad \dot z = A z + B u, \qquad
       \tau = \tau_0 - K z, \quad K = R^{-1} B^T P $$

    where $P$ solves the algebraic Riccati equation (`riccati`) and $\tau_0$ holds the equilibrium.

    Args:
        chain: `pt.OpenChain(system)`, what the controller knows of the system.
        target: coordinates of the equilibrium.
        Q: weights of the deviations, (2 nv, 2 nv), or 2 nv numbers of its diagonal, or one for all.
        R: weights of the forces likewise, for the rates acted on.
        joints: those it acts on, by name; all joints when left out.

    Raises:
        InputError: the target is no equilibrium that these joints can hold, or they cannot stabilise it.
    """

    derived: ClassVar[tuple[str, ...]] = ("A", "B", "P")
    chain: OpenChain
    target: Float[Array, " nq"]
    hold: Float[Array, " m"]
    r"""The forces $\tau_0$."""
    gain: Float[Array, "m n"]
    """The matrix $K$."""
    A: Float[Array, "n n"]
    B: Float[Array, "n m"]
    P: Float[Array, "n n"]
    places: Places = eqx.field(static=True)

    def __init__(
        self, chain: Any, target: Any, Q: Any = 1.0, R: Any = 1.0, joints: Sequence[str] | None = None
    ):
        self.chain = as_chain(chain, "LQR")
        self.places = acted_on(self.chain, joints, "LQR")
        self.target = as_coordinates(self.chain.structure, target, "target of LQR")
        n, m = 2 * self.chain.v_size, len(self.places)
        weights = _weights(Q, n, "Q of LQR"), _weights(R, m, "R of LQR")
        _check_weights(*weights)
        acted = _Acted(self.chain, self.places)
        forces, (self.A, self.B) = _next_to(acted, self.target)
        _check_held(self.chain, self.places, forces)
        self.hold = forces[np.array(self.places)]
        self.P, self.gain = _designed(self.A, self.B, *weights)
        _check_stable(self)

    @property
    def closed_loop(self) -> Float[Array, "n n"]:
        r"""The matrix $A - B K$ of the controlled motion."""
        return self.A - self.B @ self.gain

    @property
    def takes_time(self) -> bool:
        """Time does not enter."""
        return False

    def efforts(self, t, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """The forces of the equilibrium, less the gain times the deviation."""
        z = jnp.concatenate([-deviation(self.chain, q, self.target), v])
        return spread(self.chain, self.places, self.hold - jnp.sum(self.gain * z[None], axis=1))


class _Acted(eqx.Module):
    """A chain, and the rates that are acted on."""

    chain: OpenChain
    places: Places = eqx.field(static=True)


@once
def _next_to(acted: _Acted, q: Float[Array, " nq"]):
    """Forces that hold a place, and matrices of small deviations from it.

    The deviations are those of the coordinates, along the rates, and of the rates.
    """
    chain, nv = acted.chain, acted.chain.v_size
    tau = chain.gravity(q)

    def acceleration(z, tau):
        return chain.forward_dynamics(chain.moved(q, z[:nv]), z[nv:], tau)

    slope, response = jax.jacfwd(acceleration, argnums=(0, 1))(jnp.zeros(2 * nv), tau)
    rates = jnp.concatenate([jnp.zeros((nv, nv)), jnp.eye(nv)], axis=1)
    B = jnp.concatenate([jnp.zeros((nv, nv)), response])[:, np.array(acted.places)]
    return tau, (jnp.concatenate([rates, slope]), B)


@jitted
def _designed(A, B, Q, R) -> tuple[Float[Array, "n n"], Float[Array, "m n"]]:
    """Solution of the Riccati equation, and the gain."""
    P = riccati(A, B, Q, R)
    return P, jnp.linalg.solve(R, B.T @ P)


def _weights(value: Any, size: int, field: str) -> Float[Array, "n n"]:
    """A symmetric matrix from one number, a diagonal or all of it."""
    numbers = as_floats(value, field)
    if numbers.ndim < 2:
        diagonal = numbers if numbers.ndim else jnp.full(size, numbers)
        return jnp.diag(as_array(diagonal, field, (size,)))
    return as_array(numbers, field, (size, size))


def _check_weights(Q: Array, R: Array) -> None:
    """Refuse weights that are no measure of deviations and forces."""
    for field, matrix, positive in (("Q of LQR", Q, False), ("R of LQR", R, True)):
        if not concrete(matrix):
            continue
        numbers = np.asarray(matrix)
        scale = np.max(np.abs(numbers))
        if np.max(np.abs(numbers - numbers.T)) > ROUND_OFF * scale:
            raise InputError(f"{field} is not symmetric; take the mean of the matrix and its transpose")
        least = float(np.min(np.linalg.eigvalsh(numbers)))
        if positive and least <= 0.0:
            raise InputError(f"{field} has the eigenvalue {least:.3g}; all must be positive")
        if least < -ROUND_OFF * scale:
            raise InputError(f"{field} has the eigenvalue {least:.3g}; none may be negative")


def _check_held(chain: OpenChain, places: Places, forces: Array) -> None:
    """Refuse a place where something must act on a rate that is not acted on."""
    if not concrete(forces):
        return
    numbers = np.abs(np.asarray(forces))
    for place in range(chain.v_size):
        if place not in places and numbers[place] > BALANCED * max(1.0, float(np.max(numbers))):
            raise InputError(
                f"target of LQR is no equilibrium: {chain.v_labels[place]!r}, which is not acted on, would "
                f"need {numbers[place]:.3g}"
            )


def _check_stable(found: LQR) -> None:
    """Refuse a gain that does not stabilise."""
    if not concrete(found.gain):
        return
    closed = np.asarray(found.closed_loop)
    if not np.all(np.isfinite(closed)) or np.max(np.linalg.eigvals(closed).real) >= 0.0:
        names = ", ".join(found.chain.v_labels[place] for place in found.places)
        raise InputError(
            f"LQR finds no feedback through {quoted(names)} that stabilises the target; act on more joints, "
            "or give every deviation a weight in Q"
        )
