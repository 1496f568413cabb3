"""The body frame with its axes arranged: the middle one second, third the one that the momentum circles."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import held
from poinsot.core.types import Vec3

Batch = Float[Array, "*batch"]
Components = tuple[Batch, Batch, Batch]


class Frame(NamedTuple):
    """The turn of the body frame that arranges its axes: exchanges, and a half turn about the first."""

    exchanged: tuple[tuple[int, int, Array], ...]
    sign: Batch

    def restore(self, vector: Components) -> Components:
        """Components in the frame that was given."""
        v = (vector[0], self.sign * vector[1], self.sign * vector[2])
        for i, j, condition in reversed(self.exchanged):
            v = _exchange(v, i, j, condition)
        return v

    def restore_squares(self, squares: Components) -> Components:
        """The same of squares of components, which have no sign."""
        v = list(squares)
        for i, j, condition in reversed(self.exchanged):
            v[i], v[j] = jnp.where(condition, v[j], v[i]), jnp.where(condition, v[i], v[j])
        return v[0], v[1], v[2]


def _exchange(v: Components, i: int, j: int, condition: Array) -> Components:
    """Exchange two axes where the condition holds, and reverse the third to keep the frame right-handed."""
    exchanged = [-component for component in v]
    exchanged[i], exchanged[j] = v[j], v[i]
    x, y, z = (jnp.where(condition, new, old) for new, old in zip(exchanged, v, strict=True))
    return x, y, z


def arrange(inverse: Vec3, momentum: Vec3) -> tuple[Frame, Components, Components]:
    """Middle axis second, and third the axis that the momentum circles, on its positive side."""
    a: Components = (inverse[..., 0], inverse[..., 1], inverse[..., 2])
    m: Components = (momentum[..., 0], momentum[..., 1], momentum[..., 2])
    exchanged = []
    for i, j in ((0, 1), (1, 2), (0, 1)):
        condition = a[i] < a[j]
        exchanged.append((i, j, condition))
        m = _exchange(m, i, j, condition)
        larger, smaller = jnp.where(condition, a[j], a[i]), jnp.where(condition, a[i], a[j])
        a = (larger, smaller, a[2]) if i == 0 else (a[0], larger, smaller)
    about_first = (a[0] - a[1]) * m[0] * m[0] > (a[1] - a[2]) * m[2] * m[2]
    exchanged.append((0, 2, about_first))
    m = _exchange(m, 0, 2, about_first)
    a = (jnp.where(about_first, a[2], a[0]), a[1], jnp.where(about_first, a[0], a[2]))
    sign = jnp.where(m[2] < 0.0, -1.0, 1.0)
    a1, a2, a3, m1, m2, m3 = held((*a, m[0], sign * m[1], sign * m[2]))
    return Frame(tuple(exchanged), sign), (a1, a2, a3), (m1, m2, m3)
