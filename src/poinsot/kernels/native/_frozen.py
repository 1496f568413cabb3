"""Numbers of a model that are part of the code."""

from typing import Any

import numpy as np

ORTHONORMAL = 1e-12
"""How far products of the columns of a rotation matrix may be from zeros and ones."""


def frozen(leaf: np.ndarray, measured: bool = False) -> np.ndarray:
    """Which elements of an array of the model are part of the code.

    Whatever is no real number is; so are zeros of vectors and matrices, which products make the most of, and
    ones of rotation matrices and axes. Any other one is a number like two: a mass, or a length. A single
    number never is part of the code: a parameter that passes zero compiles nothing.

    Args:
        leaf: the array.
        measured: whether it holds measured quantities alone, such as inertias, whatever they look like.
    """
    if leaf.dtype != np.float64:
        return np.ones(leaf.shape, dtype=bool)
    if leaf.ndim == 0:
        return np.zeros((), dtype=bool)
    return (leaf == 0.0) | ((np.abs(leaf) == 1.0) & (not measured) & _directions(leaf))


def _directions(leaf: np.ndarray) -> Any:
    """Which elements stand in rotation matrices, or in rows of turns and slides of joints."""
    if leaf.ndim < 2:
        return False
    if leaf.shape[-1] == 6:
        return True
    if leaf.shape[-2:] != (3, 3):
        return False
    gaps = np.swapaxes(leaf, -1, -2) @ leaf - np.eye(3)
    return (np.abs(gaps).max(axis=(-1, -2)) < ORTHONORMAL)[..., None, None]
