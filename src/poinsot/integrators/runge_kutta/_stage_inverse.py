r"""The Newton matrix of stage equations, decoupled by the eigenvalues of the method's own matrix."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Complex, Float

from poinsot.core import Blocks
from poinsot.solvers import BlockMatrix, Elimination

DEFECTIVE = 1e6
"""Condition of the eigenvectors above which a matrix counts as one that has too few of them."""
APART = 1e-3
"""How far the diagonal of such a matrix is moved, so that it has all: Newton's method forgives that."""


class Spectrum(NamedTuple):
    r"""A real matrix as $A = \operatorname{Re} \sum_i t_i \lambda_i w_i^T$, of conjugate terms one."""

    values: Complex[np.ndarray, " k"]
    right: Complex[np.ndarray, "s k"]
    left: Complex[np.ndarray, "k s"]


def spectrum(A: Float[np.ndarray, "s s"]) -> Spectrum:
    """Eigenvalues and eigenvectors of a method's matrix, or of one next to it where they are too few."""
    values, vectors = np.linalg.eig(A)
    if np.linalg.cond(vectors) > DEFECTIVE:
        shift = APART * np.max(np.abs(A)) * np.diag(np.arange(len(A)))
        values, vectors = np.linalg.eig(A + shift)
    chosen = np.imag(values) >= 0.0
    weight = np.where(np.imag(values[chosen]) > 0.0, 2.0, 1.0)
    left = np.linalg.inv(vectors)[chosen]
    return Spectrum(values[chosen] + 0j, vectors[:, chosen] * weight + 0j, left + 0j)


def stage_inverse(
    A: Float[np.ndarray, "s s"], h: Array, jacobian: BlockMatrix, blocks: Blocks
) -> Callable[[Array], Array]:
    r"""A function that multiplies by $(I - h A \otimes J)^{-1}$, factored once.

    $$ (I - h A \otimes J)^{-1} = \operatorname{Re} \sum_i t_i w_i^T \otimes (I - h \lambda_i J)^{-1} $$

    Args:
        A: the matrix of the method.
        h: step.
        jacobian: $J$ in blocks.
        blocks: of the components of a state.
    """
    values, right, left = spectrum(A)
    # Derivatives of a solution do not go through the way to it.
    h, jacobian = lax.stop_gradient((h, jacobian))
    one = jnp.asarray(np.eye(blocks.size)[:, :, None] + 0j)

    def eliminated(value: Array) -> Elimination:
        scaled = jax.tree.map(lambda part: -value * h.astype(complex) * part.astype(complex), jacobian)
        return Elimination(BlockMatrix(one + scaled.diagonal, scaled.beside))

    eliminations = jax.vmap(eliminated)(jnp.asarray(values))

    def solve(elimination: Elimination, b: Array) -> Array:
        return blocks.join(elimination.solve(blocks.split(b)))

    def inverse(flat: Array) -> Array:
        stages = flat.reshape(len(A), -1).astype(complex)
        parts = jax.vmap(solve)(eliminations, jnp.tensordot(left, stages, 1))
        return jnp.tensordot(right, parts, 1).real.reshape(-1)

    return inverse
