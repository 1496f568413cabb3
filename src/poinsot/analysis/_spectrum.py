"""The spectrum of small motions: eigenvalues of the stiffness matrix in the metric of the masses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.model import AbstractSystem

from ._displacements import Numbering, Point, inertia_of, numbering
from ._expansion import expansion
from ._joint_tangent import joint_tangent

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DENSE = 1000
"""Unknowns up to which all eigenvalues are found at once."""
RIGID = 1e-8
"""Forces that answer to a rigid motion, relative to the stiffest ones, below which it is free."""
ROUND_OFF = 1e-13
"""Squared frequencies, relative to the largest, that cannot be told from zero."""


@dataclass(frozen=True)
class Linearisation:
    r"""Small motions about a point, in displacements times the roots of the masses.

    $$ \ddot y = -f - K y, \qquad K = M^{-1/2} H M^{-1/2}, \qquad y = M^{1/2} u $$

    With joints $y = Z s$, and everything is stated in $s$, with what joint forces add to $H$.
    """

    point: Point
    order: Numbering
    roots: np.ndarray
    """Roots of the masses and moments of inertia."""
    energy: float
    """Potential energy at the point."""
    slope: np.ndarray
    """f, its derivative."""
    matrix: "csr_array"
    """K, symmetric."""
    asymmetry: float
    """Largest difference of the assembled matrix and its transpose, relative to its largest entry."""
    basis: np.ndarray | None = None
    """Z, orthonormal columns; None without joints, where all displacements are free."""

    @property
    def size(self) -> int:
        """Number of independent displacements."""
        return len(self.slope)

    def whole(self, y: np.ndarray) -> np.ndarray:
        """Displacements times the roots of the masses, from independent ones; a vector, or columns."""
        return y if self.basis is None else self.basis @ y

    def parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Displacements (3, Nx) and rotation vectors (3, Nr) of a step in independent displacements."""
        return self.order.parts(self.whole(y) / self.roots)

    @property
    def bound(self) -> float:
        """No squared frequency is larger: the largest sum of entries in a row."""
        return float(abs(self.matrix).sum(axis=1).max())

    @property
    def force(self) -> float:
        """Largest component of the forces and torques that joints do not balance."""
        return float(np.max(np.abs(self.whole(self.slope) * self.roots), initial=0.0))


def linearisation(system: AbstractSystem, point: Point) -> Linearisation:
    """The equations of small motions about a point."""
    from scipy.sparse import csr_array, dia_array

    order = numbering(system)
    roots = np.sqrt(inertia_of(system, order))
    near = expansion(system, point, order)
    scale = dia_array((1.0 / roots[None], [0]), shape=(order.size, order.size))
    raw = (scale @ near.hessian @ scale).tocsr()
    asymmetry = float(abs(raw - raw.T).max() / max(abs(raw).max(), np.finfo(float).tiny))
    matrix = (0.5 * (raw + raw.T)).tocsr()
    if system.linkage is None:
        return Linearisation(point, order, roots, near.energy, near.slope / roots, matrix, asymmetry)
    tangent = joint_tangent(system, point, order, roots, near.slope / roots)
    Z = tangent.basis
    reduced = csr_array(Z.T @ (matrix.toarray() + tangent.stiffness) @ Z)
    return Linearisation(point, order, roots, near.energy, Z.T @ (near.slope / roots), reduced, asymmetry, Z)


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
    forbidden = about.bound * (basis - about.whole(inner))
    answer = np.concatenate([about.matrix @ inner, forbidden])
    _, resistance, combinations = np.linalg.svd(answer, full_matrices=False)
    return inner @ combinations[resistance <= RIGID * about.bound].T


def eigenpairs(about: Linearisation, rigid: np.ndarray, count: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The smallest squared frequencies but those of rigid motions, ascending, and their shapes as columns.

    Args:
        about: the small motions.
        rigid: motions without resistance, which are left out.
        count: how many are wanted; None for all.
    """
    size, free = about.size, about.size - rigid.shape[1]
    wanted = free if count is None else min(count, free)
    if size <= DENSE or wanted > size // 4:
        squares, shapes = np.linalg.eigh(_lifted(about, rigid))
        return squares[:wanted], shapes[:, :wanted]
    return _lanczos(about, rigid, wanted)


def _lanczos(about: Linearisation, rigid: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest eigenvalues from the inverse, shifted below the spectrum."""
    from scipy.sparse import linalg

    size, shift = about.size, 1e-12 * about.bound
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
        return int(np.count_nonzero(np.linalg.eigvalsh(lifted) < -ROUND_OFF * about.bound))
    return factor(about.matrix, ROUND_OFF * about.bound)[1]


def _lifted(about: Linearisation, rigid: np.ndarray) -> np.ndarray:
    """The matrix with rigid motions above all others, out of the way."""
    return about.matrix.toarray() + 4.0 * about.bound * rigid @ rigid.T


def factor(matrix: Any, shift: float) -> tuple[Callable[[np.ndarray], np.ndarray], int]:
    r"""A way to solve with $K + \mu I$, and the number of negative eigenvalues it has.

    By Sylvester's law of inertia they are as many as negative pivots of $L D L^T$, in time linear in the
    length of a chain.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    shifted = (matrix + shift * eye_array(*matrix.shape)).tocsc()
    # Pivots are taken from the diagonal: other ones would be no LDL^T, and tell nothing of signs.
    parts = splu(shifted, diag_pivot_thresh=0.0, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    return parts.solve, int(np.count_nonzero(parts.U.diagonal() < 0.0))
