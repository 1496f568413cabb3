"""Hamilton's quaternions, scalar first: products, matrices of products, rates."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import as_batch
from poinsot.core.types import Quat, Vec3

from ._checks import as_nonzero_quat, as_quat, as_vector


def identity() -> Float[Array, "4"]:
    """Quaternion of no rotation, (1, 0, 0, 0)."""
    return jnp.array([1.0, 0.0, 0.0, 0.0])


def multiply(left: Quat, right: Quat) -> Quat:
    r"""Hamilton product $p * q$; as rotations, first `right`, then `left`.

    $$ p * q = (p_0 q_0 - \mathbf{p}\cdot\mathbf{q},\;
       p_0\mathbf{q} + q_0\mathbf{p} + \mathbf{p}\times\mathbf{q}) $$
    """
    left, right = as_quat(left, "left"), as_quat(right, "right")
    a, b, c, d = (left[..., i] for i in range(4))
    w, x, y, z = (right[..., i] for i in range(4))
    return jnp.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ],
        axis=-1,
    )


def conjugate(quat: Quat) -> Quat:
    r"""Conjugate $\bar p = (p_0, -\mathbf{p})$; the reverse rotation of a unit quaternion."""
    quat = as_quat(quat)
    return jnp.concatenate([quat[..., :1], -quat[..., 1:]], axis=-1)


def inverse(quat: Quat) -> Quat:
    r"""Multiplicative inverse $\bar p / |p|^2$ of a quaternion that is not zero."""
    quat = as_nonzero_quat(quat)
    return conjugate(quat) / jnp.sum(quat * quat, axis=-1, keepdims=True)


def normalise(quat: Quat) -> Quat:
    """Unit quaternion p / |p| of a quaternion that is not zero."""
    quat = as_nonzero_quat(quat)
    return quat / jnp.sqrt(jnp.sum(quat * quat, axis=-1, keepdims=True))


def rotate(quat: Quat, vec: Vec3) -> Vec3:
    r"""Rotate a vector from body to space, $R(p)\,w = p * w * \bar p$.

    $$ R(p)\,w = (p_0^2 - |\mathbf{p}|^2)\,w + 2(\mathbf{p}\cdot w)\,\mathbf{p} + 2 p_0\,\mathbf{p}\times w $$

    Like `to_matrix`, it is homogeneous of degree two: a quaternion that is not of unit length also scales by
    $|p|^2$.

    Args:
        quat: quaternion (w, x, y, z).
        vec: body components.

    Returns:
        Space components.
    """
    quat, vec = as_quat(quat), as_vector(vec, "vec")
    scalar, imaginary = quat[..., :1], quat[..., 1:]
    along = jnp.sum(imaginary * vec, axis=-1, keepdims=True)
    stretch = scalar * scalar - jnp.sum(imaginary * imaginary, axis=-1, keepdims=True)
    return stretch * vec + 2.0 * along * imaginary + 2.0 * scalar * jnp.cross(imaginary, vec)


def from_scalar_last(quat: Quat) -> Quat:
    """Reorder (x, y, z, w), as SciPy and many file formats store it, to (w, x, y, z)."""
    return jnp.roll(as_batch(quat, "quat", (4,), "a quaternion (x, y, z, w)"), 1, axis=-1)


def to_scalar_last(quat: Quat) -> Quat:
    """Reorder (w, x, y, z) to (x, y, z, w)."""
    return jnp.roll(as_quat(quat), -1, axis=-1)


def left_matrix(quat: Quat) -> Float[Array, "*batch 4 4"]:
    r"""Matrix Q(p) of multiplication from the left, $Q(p)\,q = p * q$.

    $$ Q(p) = \begin{pmatrix} p_0 & -p_1 & -p_2 & -p_3 \\ p_1 & p_0 & -p_3 & p_2 \\
              p_2 & p_3 & p_0 & -p_1 \\ p_3 & -p_2 & p_1 & p_0 \end{pmatrix}, \qquad
       Q(p)^T q = \bar p * q, \quad Q Q^T = |p|^2 I. $$
    """
    quat = as_quat(quat)
    w, x, y, z = (quat[..., i] for i in range(4))
    rows = [[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def G(quat: Quat) -> Float[Array, "*batch 3 4"]:
    r"""Last three columns of Q(p), transposed: the imaginary part of $\bar p * q$ as a matrix.

    $$ G(p)\,q = \operatorname{Im}(\bar p * q), \qquad G(p)\,p = 0, \quad G G^T = |p|^2 I_3, \quad
       G(p)\,q = -G(q)\,p. $$
    """
    return jnp.swapaxes(left_matrix(quat)[..., 1:], -1, -2)


def quat_rate(quat: Quat, omega_body: Vec3) -> Quat:
    r"""Rate of a unit quaternion from the body angular velocity, $\dot p = \tfrac12\, p * \Omega$.

    Args:
        quat: unit quaternion.
        omega_body: angular velocity in body components, $\dot R = R\,\hat\Omega$.
    """
    omega_body = as_vector(omega_body, "omega_body")
    pure = jnp.concatenate([jnp.zeros_like(omega_body[..., :1]), omega_body], axis=-1)
    return 0.5 * multiply(quat, pure)


def omega_body(quat: Quat, rate: Quat) -> Vec3:
    r"""Body angular velocity from the rate of a unit quaternion, $\Omega = 2\,G(p)\,\dot p$.

    A component of the rate along p, which would change its length, does not count.

    Args:
        quat: unit quaternion.
        rate: its time derivative.
    """
    return 2.0 * multiply(conjugate(quat), as_quat(rate, "rate"))[..., 1:]
