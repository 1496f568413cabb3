"""The Euler map from quaternions to matrices, its differential and the inverse of that."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import as_batch
from poinsot.core.types import Quat, Rot
from poinsot.kernels import alone

from ._checks import as_nonzero_quat, as_quat, as_square


def vec(matrix: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 9"]:
    """Stack the columns of a matrix, (d1, d2, d3)."""
    matrix = as_square(matrix, "matrix")
    return jnp.swapaxes(matrix, -1, -2).reshape(*matrix.shape[:-2], 9)


def unvec(columns: Float[Array, "*batch 9"]) -> Float[Array, "*batch 3 3"]:
    """Matrix with the stacked columns (d1, d2, d3), the inverse of `vec`."""
    columns = as_batch(columns, "columns", (9,), "three columns one after the other")
    return jnp.swapaxes(columns.reshape(*columns.shape[:-1], 3, 3), -1, -2)


def to_matrix(quat: Quat) -> Rot:
    r"""Euler map $\phi$: matrix R(p) that takes body to space components, homogeneous of degree two.

    $$ R(p) = \begin{pmatrix}
       p_0^2+p_1^2-p_2^2-p_3^2 & 2(p_1p_2-p_0p_3) & 2(p_1p_3+p_0p_2) \\
       2(p_1p_2+p_0p_3) & p_0^2-p_1^2+p_2^2-p_3^2 & 2(p_2p_3-p_0p_1) \\
       2(p_1p_3-p_0p_2) & 2(p_2p_3+p_0p_1) & p_0^2-p_1^2-p_2^2+p_3^2 \end{pmatrix} $$

    It is a rotation for $|p| = 1$; in general $R(s\,p) = s^2 R(p)$ and $R^T R = |p|^4 I$.
    """
    return _to_matrix(as_quat(quat))


@alone
def _to_matrix(quat: Quat) -> Rot:
    w, x, y, z = (quat[..., i] for i in range(4))
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    rows = [
        [ww + xx - yy - zz, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), ww - xx + yy - zz, 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), ww - xx - yy + zz],
    ]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def euler_map_differential(quat: Quat) -> Float[Array, "*batch 9 4"]:
    r"""Differential of the Euler map, $\operatorname{vec}(\dot R) = D\phi(p)\,\dot p$, columns of R stacked.

    Its columns satisfy $D\phi(p)\,p = 2\operatorname{vec} R(p)$ and
    $D\phi^T D\phi = 8\,(|p|^2 I + \tfrac12\,p\,p^T)$.
    """
    quat = as_quat(quat)
    w, x, y, z = (quat[..., i] for i in range(4))
    rows = [
        [w, x, -y, -z],
        [z, y, x, w],
        [-y, z, -w, x],
        [-z, y, x, -w],
        [w, -x, y, -z],
        [x, w, z, y],
        [y, z, w, x],
        [-x, -w, z, y],
        [w, -x, -y, z],
    ]
    return 2.0 * jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def euler_map_pseudo_inverse(quat: Quat) -> Float[Array, "*batch 4 9"]:
    r"""Moore-Penrose inverse of the differential of the Euler map, in closed form.

    $$ D\phi^+ = \frac{1}{8|p|^2}\left(I - \frac{p\,p^T}{3|p|^2}\right) D\phi^T. $$

    It recovers the quaternion and its rate from the directors and theirs: $p = 2\,D\phi^+\operatorname{vec}
    R$ and $\dot p = D\phi^+ \operatorname{vec}\dot R$.
    """
    quat = as_nonzero_quat(quat)
    transpose = jnp.swapaxes(euler_map_differential(quat), -1, -2)
    square = jnp.sum(quat * quat, axis=-1)[..., None, None]
    radial = quat[..., :, None] * jnp.sum(quat[..., :, None] * transpose, axis=-2, keepdims=True)
    return (transpose - radial / (3.0 * square)) / (8.0 * square)
