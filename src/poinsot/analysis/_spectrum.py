"""The spectrum of small motions: eigenvalues of the stiffness matrix in the metric of the masses."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._linearisation import Linearisation

DENSE = 1000
"""Unknowns up to which all eigenvalues are found at once."""
RIGID = 1e-8
"""Forces that answer to a rigid motion, relative to the stiffest ones, below which it is free."""


def rigid_motions(about: Linearisation) -> np.ndarray:
    """Translations and rotations of all bodies together that meet no resistance, as orthonormal columns.

    Those of the six, and of their combinations, that the system can make and that change no force.
    """
    x, R = np.asarray(about.point.x), np.asarray(about.point.rotations)
    centre = x.mean(axis=1) if x.size else np.zeros(3)
    motions = []
    for axis in np.eye(3):
        still, arms = np.zeros((3, R.shape[-1])), x - centre[:, None]
        turn = np.einsum("ijn,i->jn", R, axis)
        motions.append(about.order.flat(np.tile(axis[:, None], (1, x.shape[1])), still))
        motions.append(about.order.flat(np.cross(axis[:, None], arms, axis=0), turn))
    columns = np.stack(motions, axis=1) * about.roots[:, None]
    basis, sizes, _ = np.linalg.svd(columns / np.linalg.norm(columns), full_matrices=False)
    basis = basis[:, sizes > RIGID * sizes[0]]
    inner = basis if about.basis is None else about.basis.T @ basis
    # What joints forbid counts as resistance.
    forbidden = about.scale * (basis - about.whole(inner))
    answer = np.concatenate([about.matrix @ inner, forbidden])
    _, resistance, combinations = np.linalg.svd(answer, full_matrices=False)
    return inner @ combinations[resistance <= RIGID * about.scale].T


def neutral_motions(about: Linearisation) -> np.ndarray:
    """All motions that meet no resistance, as orthonormal columns: rigid ones, then what else there is.

    Besides rigid motions there are, for instance, rods on ball joints that spin about themselves. Of more
    than a thousand unknowns, the rigid ones.
    """
    rigid = rigid_motions(about)
    if about.size > DENSE:
        return rigid
    squares, shapes = np.linalg.eigh(_lifted(about, rigid))
    return np.concatenate([rigid, shapes[:, np.abs(squares) <= about.blur]], axis=1)


def eigenpairs(about: Linearisation, neutral: np.ndarray, count: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The smallest squared frequencies but those without resistance, ascending, and their shapes as columns.

    Args:
        about: the small motions.
        neutral: motions without resistance, which are left out.
        count: how many are wanted; None for all.
    """
    size, free = about.size, about.size - neutral.shape[1]
    wanted = free if count is None else min(count, free)
    if size <= DENSE or wanted > size // 4:
        squares, shapes = np.linalg.eigh(_lifted(about, neutral))
        return squares[:wanted], shapes[:, :wanted]
    return _lanczos(about, neutral, wanted)


def _lanczos(about: Linearisation, rigid: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest eigenvalues from the inverse, shifted below the spectrum."""
    from scipy.sparse import linalg

    size, shift = about.size, 1e-12 * about.scale
    solve, below = factor(about.matrix, shift)
    while below:
        shift *= 4.0
        solve, below = factor(about.matrix, shift)

    def without_rigid(vector: np.ndarray) -> np.ndarray:
        return vector - rigid @ (rigid.T @ vector)

    operator: Any = linalg.LinearOperator
    inverse = operator((size, size), matvec=lambda y: without_rigid(solve(without_rigid(y))), dtype=float)
    start = without_rigid(np.random.default_rng(0).standard_normal(size))
    squares, shapes = linalg.eigsh(about.matrix, k=wanted, sigma=-shift, OPinv=inverse, v0=start)
    order = np.argsort(squares)
    return squares[order], shapes[:, order]


def unstable_count(about: Linearisation) -> int:
    """Number of squared frequencies below zero beyond round-off, those of rigid motions left out."""
    if about.size <= DENSE:
        lifted = _lifted(about, rigid_motions(about))
        return int(np.count_nonzero(np.linalg.eigvalsh(lifted) < -about.blur))
    return factor(about.matrix, about.blur)[1]


def _lifted(about: Linearisation, neutral: np.ndarray) -> np.ndarray:
    """The matrix with motions without resistance above all others, out of the way."""
    return about.matrix.toarray() + 4.0 * about.scale * neutral @ neutral.T


def factor(
    matrix: Any, shift: float, *, symmetric: bool = True
) -> tuple[Callable[[np.ndarray], np.ndarray], int]:
    r"""A way to solve with $K + \mu I$, and the number of negative eigenvalues it has if it is symmetric.

    By Sylvester's law of inertia they are as many as negative pivots of $L D L^T$, in time linear in the
    length of a chain.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    shifted = (matrix + shift * eye_array(*matrix.shape)).tocsc()
    if not symmetric:
        return splu(shifted).solve, 0
    # Pivots are taken from the diagonal: other ones would be no LDL^T, and tell nothing of signs.
    parts = splu(shifted, diag_pivot_thresh=0.0, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    return parts.solve, int(np.count_nonzero(parts.U.diagonal() < 0.0))


def least_squares_step(about: Linearisation, shift: float) -> np.ndarray:
    r"""The step that makes the forces smallest, with a shift that keeps it short.

    $$ \min_y\; |A y + f|^2 + \mu^2 |y|^2: \qquad
       \begin{pmatrix} \mu I & A \\ A^T & -\mu I \end{pmatrix} \begin{pmatrix} r \\ y \end{pmatrix}
       = \begin{pmatrix} -f \\ 0 \end{pmatrix}, \qquad A = K + N $$

    No $A^T A$ is formed, in which motions without resistance would be lost in round-off: the eigenvalues of
    this matrix are $\pm\sqrt{\sigma^2 + \mu^2}$, with the singular values $\sigma$ of A.
    """
    from scipy.sparse import block_array, eye_array
    from scipy.sparse.linalg import splu

    A = about.stiffness
    shifts = shift * eye_array(about.size)
    whole: Any = block_array(np.array([[shifts, A], [A.T, -shifts]], dtype=object)).tocsc()
    return splu(whole).solve(np.concatenate([-about.slope, np.zeros(about.size)]))[about.size :]
