"""Potentials of single bodies along a chain: what keeps its forces local, and what does not."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from poinsot.core import InputError, title
from poinsot.core.types import Scalar

from ._places import relocated
from .potentials import AbstractPotential

FEW = 8
"""Bodies that a term may pick out of a row and still be evaluated for every body in it."""


class RowField(eqx.Module):
    """A potential energy of single bodies in a row, as a function of one body.

    Args:
        term: the term as of a system of one body.
        places: the bodies it acts on; None for all.
        axes: principal axes in the body frame, as columns; None where they are those of the body frame.
    """

    term: AbstractPotential
    axes: Float[Array, "3 3"] | None
    places: tuple[int, ...] | None = eqx.field(static=True)

    def slopes(
        self, place: Int[Array, " n"], x: Float[Array, "3 n"], R: Float[Array, "3 3 n"]
    ) -> tuple[Float[Array, "3 n"], Float[Array, "3 3 n"]]:
        """Derivatives in the positions and principal directors of the bodies at these places."""
        slope_x, slope_R = jax.vmap(jax.grad(self._one, argnums=(0, 1)), in_axes=-1, out_axes=-1)(x, R)
        if self.places is None:
            return slope_x, slope_R
        chosen = jnp.zeros(place.shape, dtype=bool)
        for one in self.places:
            chosen = chosen | (place == one)
        return jnp.where(chosen[None], slope_x, 0.0), jnp.where(chosen[None, None], slope_R, 0.0)

    def _one(self, x: Float[Array, "3"], R: Float[Array, "3 3"]) -> Scalar:
        """Energy of one body."""
        own = R if self.axes is None else jnp.sum(R[:, None, :] * self.axes[None], axis=2)
        return self.term.energy(jnp.zeros(()), x[None], own[None])


def row_fields(terms: Sequence[AbstractPotential], axes: Float[Array, "3 3"] | None) -> tuple[RowField, ...]:
    """The terms as functions of one body.

    Raises:
        InputError: one of them is no such function, see `not_local`.
    """
    reason = not_local(terms)
    if reason is not None:
        raise InputError(reason)
    return tuple(RowField(relocated(term, lambda _: 0), axes, term.bodies) for term in terms)


def not_local(terms: Sequence[AbstractPotential]) -> str | None:
    """Say which term keeps the forces from being those of a body and its neighbours, or return None."""
    for i, term in enumerate(terms):
        name = f"potentials[{i}] ({title(term)})"
        if not term.separable:
            return f"{name} couples bodies that are no neighbours"
        if term.takes_time:
            return f"{name} depends on time"
        if term.bodies is not None and len(term.bodies) > FEW:
            return f"{name} acts on {len(term.bodies)} bodies, neither on all nor on {FEW} at most"
        if term.bodies is not None and relocated(term, lambda _: 0).bodies != (0,):
            return f"{name} cannot be evaluated for one body by itself"
    return None
