"""The sum of potential terms: energy, declared invariants, and the energy as a function of them."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .potentials import AbstractInvariantPotential, AbstractPotential

Terms = Sequence[AbstractPotential]


def total_energy(terms: Terms, t, x: Float[Array, "body 3"], R: Float[Array, "body 3 3"]) -> Scalar:
    """Sum the energies of all terms, at the poses of all bodies."""
    return sum((term.energy(t, x, R) for term in terms), start=jnp.zeros(()))


def all_declare(terms: Terms) -> bool:
    """Tell whether every term declares quadratic invariants."""
    return all(isinstance(term, AbstractInvariantPotential) for term in terms)


def total_invariants(
    terms: Terms, x: Float[Array, "body 3"], R: Float[Array, "body 3 3"]
) -> Float[Array, "k"]:
    """Concatenate the invariants of all terms."""
    return jnp.concatenate([jnp.zeros(0), *(term.invariants(x, R) for term in _declaring(terms))])


def total_energy_of(terms: Terms, c: Float[Array, "k"], count: int) -> Scalar:
    """Energy of all terms as a function of `total_invariants`.

    Args:
        terms: those whose energy it is; each declares its invariants.
        c: the invariants of all terms, one after the other.
        count: number of bodies, on which the number of invariants of a term may depend.
    """
    shapes = jax.eval_shape(
        lambda x, R: [term.invariants(x, R) for term in _declaring(terms)],
        jnp.zeros((count, 3)),
        jnp.zeros((count, 3, 3)),
    )
    energy, begin = jnp.zeros(()), 0
    for term, shape in zip(_declaring(terms), shapes, strict=True):
        end = begin + shape.shape[0]
        energy, begin = energy + term.energy_of(c[begin:end]), end
    return energy


def _declaring(terms: Terms) -> list[AbstractInvariantPotential]:
    """The terms that declare invariants."""
    return [term for term in terms if isinstance(term, AbstractInvariantPotential)]
