"""Nearest rotation to a matrix."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Rot

from ._checks import as_square
from ._euler_map import to_matrix
from ._extraction import davenport_matrix
from ._quaternion import normalise
from ._so3 import hat, vee


def nearest_rotation(matrix: Float[Array, "*batch 3 3"]) -> Rot:
    r"""Proper rotation nearest to a matrix in the Frobenius norm.

    It is $R(p)$ with p the eigenvector of Davenport's matrix that belongs to the largest eigenvalue; where
    the determinant is positive it is the orthogonal factor of the polar decomposition $A = R\,S$. Its
    derivative is $\dot R = R\,\hat w$ with

    $$ (\operatorname{tr}(S)\,I - S)\,w = \operatorname{vee}(R^T \dot A - \dot A^T R), \qquad S = R^T A, $$

    which stays finite at a rotation matrix, where eigenvectors and singular vectors have no derivatives.

    The answer is unique unless the two smallest singular values cancel, $\sigma_2 + \operatorname{sign}(\det
    A)\,\sigma_3 = 0$.

    Args:
        matrix: any 3x3 matrix with a unique answer, for instance directors that have drifted.
    """
    return _nearest(as_square(matrix, "matrix"))


@jax.custom_jvp
def _nearest(matrix: Float[Array, "*batch 3 3"]) -> Rot:
    _, vectors = jnp.linalg.eigh(davenport_matrix(matrix))
    return to_matrix(normalise(vectors[..., -1]))


@_nearest.defjvp
def _nearest_jvp(primals, tangents):
    (matrix,), (rate,) = primals, tangents
    rot = _nearest(matrix)
    transpose = jnp.swapaxes(rot, -1, -2)
    stretch = transpose @ matrix
    trace = jnp.trace(stretch, axis1=-2, axis2=-1)[..., None, None]
    operator = trace * jnp.broadcast_to(jnp.eye(3), stretch.shape) - stretch
    turned = transpose @ rate
    turn = jnp.linalg.solve(operator, vee(turned - jnp.swapaxes(turned, -1, -2))[..., None])[..., 0]
    return rot, rot @ hat(turn)
