"""From a rotation matrix to its quaternion."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Quat, Rot
from poinsot.kernels import alone

from ._checks import as_rotation, as_square


def davenport_matrix(matrix: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 4 4"]:
    r"""Davenport's symmetric matrix K, with $p^T K\,p = \operatorname{tr}(A^T R(p))$ for every quaternion.

    $$ K = \begin{pmatrix} \operatorname{tr} A & z^T \\ z & A + A^T - \operatorname{tr}(A)\,I \end{pmatrix},
       \qquad z = (A_{32}-A_{23},\; A_{13}-A_{31},\; A_{21}-A_{12}). $$

    For a rotation matrix $K = 4\,p\,p^T - I$.
    """
    matrix = as_square(matrix, "matrix")
    a = [[matrix[..., i, j] for j in range(3)] for i in range(3)]
    trace = a[0][0] + a[1][1] + a[2][2]
    z1, z2, z3 = a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1]
    s12, s13, s23 = a[0][1] + a[1][0], a[0][2] + a[2][0], a[1][2] + a[2][1]
    rows = [
        [trace, z1, z2, z3],
        [z1, a[0][0] - a[1][1] - a[2][2], s12, s13],
        [z2, s12, a[1][1] - a[2][2] - a[0][0], s23],
        [z3, s13, s23, a[2][2] - a[0][0] - a[1][1]],
    ]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(rot: Rot) -> Quat:
    r"""Unit quaternion of a rotation matrix by the method of Spurrier and Klumpp.

    The largest of $\operatorname{tr} R, R_{11}, R_{22}, R_{33}$ tells which component $p_n$ is largest in
    size. With $M = 4\,p\,p^T$, whose entries are sums and differences of entries of R,

    $$ p = \frac{M_{n\cdot}}{2\sqrt{M_{nn}}}, \qquad M_{nn} = 4 p_n^2 \ge 1, $$

    so that the square root and the division are always well conditioned, and $p_n > 0$. The row is chosen
    before the square root is taken: no derivative passes through the rows that were not chosen.

    Args:
        rot: rotation matrix, body to space. When it has drifted from orthogonality, `nearest_rotation` first.

    Returns:
        Quaternion, scalar first, of unit length to the accuracy of the matrix.

    Raises:
        InputError: known numbers are not those of a rotation matrix.
    """
    return extracted_quaternion(as_rotation(rot))


@alone
def extracted_quaternion(rot: Float[Array, "*batch 3 3"]) -> Quat:
    """What `from_matrix` makes of a matrix, also of one that has drifted far from a rotation in a run."""
    products = davenport_matrix(rot) + jnp.broadcast_to(jnp.eye(4), (*rot.shape[:-2], 4, 4))
    squares = jnp.diagonal(products, axis1=-2, axis2=-1)
    chosen = jnp.argmax(squares, axis=-1)[..., None] == jnp.arange(4).reshape((1,) * (rot.ndim - 2) + (4,))
    row = jnp.sum(jnp.where(chosen[..., None], products, 0.0), axis=-2)
    square = jnp.sum(jnp.where(chosen, squares, 0.0), axis=-1, keepdims=True)
    return row / (2.0 * jnp.sqrt(square))
