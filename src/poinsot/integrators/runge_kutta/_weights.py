"""Weighted sums of stage derivatives, in double or in double-double precision."""

import operator
from collections.abc import Sequence
from functools import reduce

import numpy as np
from jaxtyping import Array

Weights = tuple[np.ndarray | Array, ...]
"""Matrices whose products with the stage derivatives are added up, the smallest first."""

SHORT = 2.0**10
"""Coefficients are split at this fraction of one, where digits beyond double are to count."""


def weights(matrix: np.ndarray, remainder: np.ndarray, beyond_double: bool) -> Weights:
    """A matrix, and its digits beyond double where these are to count.

    Added to a finished sum those digits would be rounded away. Moved to a second matrix, a thousand times
    smaller than the first, which is exact in ten bits, they count (Hairer et al. 2008).
    """
    if not beyond_double:
        return (matrix,)
    short = np.round(matrix * SHORT) / SHORT
    return (matrix - short) + remainder, short


def weighted(weights: Weights, F: Array) -> Array:
    """Weighted sums over the stage axis, one for each row of the weights.

    A sum of scaled stages rather than a matrix product: XLA fuses it with its surroundings, which matters
    most for a batch.
    """
    return _added([_product(matrix, F) for matrix in weights])


def _product(matrix: np.ndarray | Array, F: Array) -> Array:
    shape = (-1,) + (1,) * (F.ndim - 1)
    return _added([column.reshape(shape) * F[j][None] for j, column in enumerate(matrix.T)])


def _added(terms: Sequence[Array]) -> Array:
    return reduce(operator.add, terms)
