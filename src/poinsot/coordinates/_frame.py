"""Nine numbers as three directors: the maps of a frame that has no inertia yet."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.rotation import extracted_quaternion, hat, normalise, to_matrix, unvec, vec

Frame = Float[Array, "9"]
Vector = Float[Array, "3"]

# Which rows (or columns) each of the six constraints pairs: three lengths, then three angles.
_FIRST = (0, 1, 2, 0, 2, 1)
_SECOND = (0, 1, 2, 1, 0, 2)


def product(a: Float[Array, "3 3"], b: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
    """Matrix product as a sum of products, which fuses with what is around it."""
    return jnp.sum(a[:, :, None] * b[None, :, :], axis=1)


def frame_rate(q: Frame, Omega: Vector) -> Frame:
    r"""Rate of the directors, $T_d\,\Omega = \operatorname{vec}(R\,\hat\Omega)$."""
    d1, d2, d3 = q[:3], q[3:6], q[6:]
    x, y, z = Omega
    return jnp.concatenate([z * d2 - y * d3, x * d3 - z * d1, y * d1 - x * d2])


def frame_moment(q: Frame, p: Frame) -> Vector:
    r"""Moment of nine forces on the directors in the body frame, $T_d^T p$."""
    d1, d2, d3 = q[:3], q[3:6], q[6:]
    p1, p2, p3 = p[:3], p[3:6], p[6:]
    return jnp.stack([jnp.sum(d3 * p2 - d2 * p3), jnp.sum(d1 * p3 - d3 * p1), jnp.sum(d2 * p1 - d1 * p2)])


def row_products(a: Float[Array, "3 3"], b: Float[Array, "3 3"]) -> Float[Array, "6"]:
    r"""Six symmetric products of the rows of two matrices.

    $$ (a_1 b_1,\; a_2 b_2,\; a_3 b_3,\; a_1 b_2 + a_2 b_1,\; a_3 b_1 + a_1 b_3,\; a_2 b_3 + a_3 b_2) $$
    """
    mixed = jnp.sum(a[:, None, :] * b[None, :, :], axis=2)
    return jnp.stack(
        [mixed[i, j] if i == j else mixed[i, j] + mixed[j, i] for i, j in zip(_FIRST, _SECOND, strict=True)]
    )


def symmetric(entries: Float[Array, "6"]) -> Float[Array, "3 3"]:
    """Symmetric matrix of six entries, in the order of the constraints."""
    a, b, c, ab, ca, bc = entries
    return jnp.stack([jnp.stack(row) for row in ((a, ab, ca), (ab, b, bc), (ca, bc, c))])


def entries(matrix: Float[Array, "3 3"]) -> Float[Array, "6"]:
    """Six entries of the symmetric part of a matrix, the inverse of `symmetric`."""
    return jnp.stack([0.5 * (matrix[i, j] + matrix[j, i]) for i, j in zip(_FIRST, _SECOND, strict=True)])


def reciprocal(vectors: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
    r"""Reciprocal of three vectors (rows): $e_1 = x_2\times x_3 / x_1\cdot(x_2\times x_3)$ and cyclic.

    As a matrix it is the inverse of the transpose; the rows of a rotation are their own reciprocal vectors.
    """
    x1, x2, x3 = vectors
    normals = jnp.stack([jnp.cross(x2, x3), jnp.cross(x3, x1), jnp.cross(x1, x2)])
    return normals / jnp.sum(x1 * normals[0])


def solve(matrix: Float[Array, "3 3"], right: Vector) -> Vector:
    """Solution of three linear equations by reciprocal vectors."""
    return jnp.sum(reciprocal(matrix) * right[:, None], axis=0)


def turned(q: Frame, turn: Float[Array, "4"]) -> Frame:
    r"""Directors after a further rotation in the body frame, $R\,R(p)$, drawn back to orthonormal ones.

    Equal turns have equal rounding errors, which would add up in proportion to their number. So $R$ is put
    back on the group by $E = \tfrac12 (I - R^T R)$, and the sum is rounded once:

    $$ R + R\,(S + E\,R(p)), \qquad S = R(p) - I = 2\,\hat{\mathbf p}\,(\hat{\mathbf p} + p_0) . $$
    """
    R, identity, skew = unvec(q), jnp.eye(3), hat(turn[1:])
    change = 2.0 * product(skew, skew + turn[0] * identity)
    back = 0.5 * (identity - product(R.T, R))
    return vec(R + product(R, change + product(back, identity + change)))


def nearest_frame(q: Frame) -> Frame:
    r"""Directors of the rotation nearest to right-handed ones that have drifted.

    The mean of a frame and its reciprocal frame, taken again and again, is Newton's iteration for the
    orthogonal factor of the polar decomposition:

    $$ d_i \leftarrow \tfrac12 \left(d_i + \frac{d_j \times d_k}{d_1\cdot(d_2\times d_3)}\right). $$

    Eight times reach round-off when all stretches lie between 1/10 and 10;
    `poinsot.rotation.nearest_rotation` has no such limit and takes left-handed frames too.
    """

    def mean(_, vectors: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
        return 0.5 * (vectors + reciprocal(vectors))

    return jax.lax.fori_loop(0, 8, mean, q.reshape(3, 3)).reshape(9)


def extracted_frame(q: Frame) -> Frame:
    """Directors of the quaternion that Spurrier and Klumpp's method extracts, once normalised.

    A rotation next to the given directors, but in general not the nearest one: the two differ at first order
    in the drift.
    """
    return vec(to_matrix(normalise(extracted_quaternion(unvec(q)))))
