"""Small motions about a point, in displacements that joints allow, in the metric of the masses."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.model import AbstractSystem

from ._displacements import Numbering, Point, inertia_of, numbering
from ._expansion import expansion
from ._joint_tangent import JointTangent, joint_tangent
from ._load_slopes import static_loads

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROUND_OFF = 1e-13
"""Squared frequencies, relative to the scale, that cannot be told from zero."""
TRIAL = 100.0
"""Size of a body in trial lengths."""


@dataclass(frozen=True)
class Linearisation:
    r"""Small motions about a point, in displacements times the roots of the masses.

    $$ \ddot y = -f - (K + N)\,y, \qquad K = M^{-1/2} H M^{-1/2}, \qquad y = M^{1/2} u $$

    With joints $y = Z s$, and everything is stated in $s$, with what joint forces add to $H$. Loads that act
    on bodies at rest are part of $f$, and the derivatives of these of the stiffness, whose symmetric part is
    $K$, conservative, and whose antisymmetric part is $N$, circulatory.
    """

    point: Point
    order: Numbering
    roots: np.ndarray
    """Roots of the masses and moments of inertia."""
    energy: float
    """Potential energy at the point."""
    slope: np.ndarray
    """f, its derivative less the loads at rest."""
    matrix: "csr_array"
    """K, symmetric."""
    asymmetry: float
    """Largest difference of the assembled matrix and its transpose, relative to its largest entry."""
    scale: float
    """Of squared frequencies: the parts that K is a sum of, and forces over masses and sizes of bodies, are
    no larger. Of parts that cancel, round-off of this scale is left. One where nothing acts at all."""
    sizes: np.ndarray
    """Sizes of the bodies times the roots of the masses, and the roots of the moments of inertia."""
    basis: np.ndarray | None = None
    """Z, orthonormal columns; None without joints, where all displacements are free."""
    circulatory: np.ndarray | None = None
    """N; None where no loads act on bodies at rest."""
    loaded: bool = False
    """Whether loads on bodies at rest are part of this."""

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
    def stiffness(self) -> "csr_array":
        """K + N."""
        from scipy.sparse import csr_array

        return self.matrix if self.circulatory is None else csr_array(self.matrix + self.circulatory)

    @property
    def bound(self) -> float:
        """No squared frequency is larger: the largest sum of entries in a row."""
        return _row_sum(self.matrix)

    @property
    def force(self) -> float:
        """Largest component of the forces and torques that joints do not balance."""
        return float(np.max(np.abs(self.whole(self.slope) * self.roots), initial=0.0))

    @property
    def unrest(self) -> float:
        """The forces that joints do not balance, over masses and sizes of bodies: a squared frequency."""
        return float(np.max(np.abs(self.whole(self.slope)) / self.sizes, initial=0.0))

    @property
    def blur(self) -> float:
        """Squared frequencies below this cannot be told from zero, for round-off and forces that are left."""
        return ROUND_OFF * self.scale + self.unrest


def linearisation(system: AbstractSystem, point: Point, *, loaded: bool = False) -> Linearisation:
    """The equations of small motions about a point.

    Args:
        system: the bodies.
        point: where they are.
        loaded: whether loads act on bodies at rest, see `act_at_rest`.
    """
    from scipy.sparse import csr_array, dia_array

    order = numbering(system)
    roots = np.sqrt(inertia_of(system, order))
    near = expansion(system, point, order)
    scale = dia_array((1.0 / roots[None], [0]), shape=(order.size, order.size))
    raw = (scale @ near.hessian @ scale).tocsr()
    asymmetry = float(abs(raw - raw.T).max() / max(abs(raw).max(), np.finfo(float).tiny))
    matrix, slope, circulatory = (0.5 * (raw + raw.T)).tocsr(), near.slope / roots, None
    lengths = TRIAL * np.asarray(system.trial_lengths(point.x))
    sizes = roots * order.flat(np.tile(lengths, (3, 1)), np.ones((3, len(order.rotating))))
    largest = max(_row_sum(matrix), float(np.max(np.abs(slope) / sizes, initial=0.0)))
    if loaded:
        force, by_place = static_loads(system, point, order)
        stiffness = -by_place / roots[:, None] / roots[None]
        largest += max(_row_sum(stiffness), float(np.max(np.abs(force / roots) / sizes, initial=0.0)))
        matrix = csr_array(matrix + 0.5 * (stiffness + stiffness.T))
        slope, circulatory = slope - force / roots, 0.5 * (stiffness - stiffness.T)
    tangent = None
    if system.linkage is not None:
        tangent = joint_tangent(system, point, order, roots, slope)
        largest += _row_sum(tangent.stiffness)
        matrix = csr_array(_along(tangent, matrix.toarray() + tangent.stiffness))
        slope = tangent.basis.T @ slope
        circulatory = None if circulatory is None else _along(tangent, circulatory)
    return Linearisation(
        point=point,
        order=order,
        roots=roots,
        energy=near.energy + 0.0,
        slope=slope,
        matrix=matrix,
        asymmetry=asymmetry,
        scale=largest or 1.0,
        sizes=sizes,
        basis=None if tangent is None else tangent.basis,
        circulatory=circulatory,
        loaded=loaded,
    )


def _along(tangent: JointTangent, matrix: np.ndarray) -> np.ndarray:
    """A matrix on what joints allow."""
    return tangent.basis.T @ matrix @ tangent.basis


def _row_sum(matrix: Any) -> float:
    """The largest sum of sizes of entries in a row: no eigenvalue is larger."""
    return float(abs(matrix).sum(axis=1).max(initial=0.0))
