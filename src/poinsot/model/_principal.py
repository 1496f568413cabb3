"""Principal axes of a symmetric 3x3 matrix, and what makes a matrix an inertia tensor."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, on_device

from ._checks import concrete, shown

TRIANGLE = 1e-10
"""How much the largest moment may exceed the sum of the others, relative to it: round-off of a flat body."""

SYMMETRY = 1e-10
"""How far from symmetric an inertia matrix may be, relative to its largest entry."""

_ORDERS = np.array(list(itertools.permutations(range(3))))


def principal_axes(
    inertia: Float[Array, "3 3"],
) -> tuple[Float[Array, "3"], Float[Array, "3 3"] | None]:
    r"""Principal moments and axes of an inertia matrix.

    $$ J = A\,\operatorname{diag}(J_1, J_2, J_3)\,A^T, \qquad \det A = 1. $$

    The axes are ordered and directed so that A is as near to the identity as an order of axes allows, not by
    size: a matrix that is nearly diagonal keeps its frame. Derivatives exist where the moments are distinct;
    where two coincide, axes have no derivative and the answer is not a number.

    Args:
        inertia: symmetric matrix.

    Returns:
        The moments, and the axes as columns of A, or None where the matrix is diagonal already.
    """
    if concrete(inertia) and _diagonal(np.asarray(inertia)):
        return on_device(np.diag(inertia)), None
    return _eigenframe(inertia)


@jax.jit
def _eigenframe(inertia: Float[Array, "3 3"]) -> tuple[Float[Array, "3"], Float[Array, "3 3"]]:
    """Eigenvalues and a right-handed frame of eigenvectors, as near to the identity as an order allows."""
    moments, vectors = jnp.linalg.eigh(0.5 * (inertia + inertia.T))
    weights = jnp.stack([sum(jnp.abs(vectors[k, order[k]]) for k in range(3)) for order in _ORDERS])
    order = jnp.asarray(_ORDERS)[jnp.argmax(weights)]
    moments, vectors = moments[order], vectors[:, order]
    signs = jnp.where(jnp.diagonal(vectors) < 0.0, -1.0, 1.0)
    first, second = signs[0] * vectors[:, 0], signs[1] * vectors[:, 1]
    return moments, jnp.stack([first, second, jnp.cross(first, second)], axis=1)


def check_symmetric(inertia: Float[Array, "3 3"], field: str) -> None:
    """Refuse a matrix that is not symmetric."""
    if not concrete(inertia):
        return
    matrix = np.asarray(inertia)
    off = float(np.max(np.abs(matrix - matrix.T)))
    if off > SYMMETRY * float(np.max(np.abs(matrix))):
        raise InputError(
            f"{field} = {shown(matrix)} is not symmetric (off by {off:.3g}); "
            "give the products of inertia twice, (J + J.T) / 2 if they are rounded"
        )


def check_moments(moments: Float[Array, "3"], field: str, *, light: bool = False) -> None:
    """Refuse principal moments that no rigid body has: not positive, or against the triangle inequality.

    Those of a light body may be zero.
    """
    if not concrete(moments):
        return
    numbers = np.asarray(moments)
    if light and np.any(numbers < 0.0):
        raise InputError(f"{field} has principal moments {shown(numbers)}; none may be negative")
    if not light and not np.all(numbers > 0.0):
        raise InputError(
            f"{field} has principal moments {shown(numbers)}; all three must be positive "
            "(points and straight lines are no rigid bodies here)"
        )
    small, middle, large = np.sort(numbers)
    if large - (small + middle) > TRIANGLE * large:
        raise InputError(
            f"{field} has principal moments {shown(numbers)}, and {large:.6g} > {small:.6g} + {middle:.6g}: "
            "the largest may not exceed the sum of the others (triangle inequality); "
            "check the units and the signs of the products of inertia"
        )


def _diagonal(matrix: np.ndarray) -> bool:
    """Whether everything beside the diagonal is round-off."""
    beside = matrix - np.diag(np.diag(matrix))
    return float(np.max(np.abs(beside))) <= 4.0 * np.finfo(float).eps * float(np.max(np.abs(matrix)))
