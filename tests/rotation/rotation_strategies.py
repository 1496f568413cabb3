"""Samples for the property tests of rotations: batches that mix ordinary, tiny, zero and half-turn angles."""

import jax.numpy as jnp
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

BATCH = 8
EPS = np.finfo(float).eps

property_test = settings(deadline=None, max_examples=20, derandomize=True)

TINY_ANGLES = (0.0, 1e-300, 1e-12, 1e-8, 1e-4)


def _directions(components: int):
    """Unit vectors, built so that coordinate axes and planes occur often."""

    def normalise(raw):
        raw = raw.copy()
        raw[np.linalg.norm(raw, axis=-1) < 1e-3] = np.eye(components)[0]
        return raw / np.linalg.norm(raw, axis=-1, keepdims=True)

    element = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-1.0, 1.0))
    return arrays(float, (BATCH, components), elements=element).map(normalise)


def angles(largest: float):
    """Batches of angles from zero to `largest`, rich in both ends and in tiny values.

    Half an angle must be a normal number: XLA takes subnormal ones for zero.
    """
    special = st.sampled_from([*TINY_ANGLES, largest, largest * (1.0 - 1e-8)])
    return arrays(float, (BATCH,), elements=st.one_of(special, st.floats(1e-300, largest)))


def rotation_vectors(largest: float):
    return st.builds(lambda axis, angle: jnp.asarray(axis * angle[:, None]), _directions(3), angles(largest))


unit_quaternions = _directions(4).map(jnp.asarray)
vectors = arrays(float, (BATCH, 3), elements=st.floats(-10.0, 10.0)).map(jnp.asarray)
matrices = arrays(float, (BATCH, 3, 3), elements=st.floats(-2.0, 2.0)).map(jnp.asarray)


def writable(array) -> np.ndarray:
    """Copy for SciPy, which does not take read-only buffers."""
    return np.array(array)


def apply(matrix, vector):
    """Product of a batch of matrices with a batch of vectors."""
    return jnp.einsum("...ij,...j->...i", matrix, vector)


def largest_gap(left, right) -> float:
    """Largest difference in size; NaN counts as infinite."""
    return float(np.nan_to_num(np.max(np.abs(np.asarray(left) - np.asarray(right))), nan=np.inf))
