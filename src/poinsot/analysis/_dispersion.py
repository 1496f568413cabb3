"""Waves along a straight chain that repeats itself: frequency against wave number."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot.core import InputError, checked
from poinsot.model import Chain

from ._bond_derivatives import BondDerivatives, bond_derivatives
from ._linearisation import ROUND_OFF

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRESSED = 1e-9
"""Force on a body of the straight chain, relative to its stiffness times the spacing, that is none."""


@dataclass(frozen=True)
class Dispersion:
    r"""Frequencies of waves $u_n = u\,e^{ikan}$ along the straight chain."""

    name: str
    """Of the chain."""
    k: np.ndarray
    """Wave numbers, radians per length."""
    squares: np.ndarray
    r"""(wave number, 6): $\omega^2$ of the six branches, ascending; negative where a wave is unstable."""
    shapes: np.ndarray
    """(wave number, branch, 6): complex displacement and rotation vector of a body, scaled to unit mass."""
    spacing: float

    @property
    def angular(self) -> np.ndarray:
        r"""Angular frequencies $\omega$, in radians per unit of time; imaginary for unstable waves."""
        return np.emath.sqrt(self.squares)

    @property
    def unstable(self) -> int:
        """Number of wave numbers at which some wave is unstable, beyond round-off."""
        return int(np.count_nonzero(self.squares[:, 0] < 0.0))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The branches over the wave number; parts of them that are unstable are drawn below zero."""
        from poinsot.viz import plot_dispersion

        return plot_dispersion(self.k * self.spacing, self.squares, title=f"Waves along {self.name}", ax=ax)


@checked
def dispersion(chain: Chain, k: np.ndarray | None = None, *, points: int = 101) -> Dispersion:
    r"""Waves along the straight chain of a chain's bodies, at its spacing and without ends.

    $$ D(k)\,u = \omega^2 M u, \qquad
       D(k) = \sum_j \bigl(A_j + C_j + B_j\,e^{ikja} + B_j^T e^{-ikja}\bigr) $$

    with the second derivatives $A_j, B_j, C_j$ of the bond of a body with the j-th one further. There are six
    branches: at long waves one of extension, one of torsion, two of bending that go to zero frequency, and
    two in which the bodies turn against the chain.

    Args:
        chain: its body, spacing and bonds; its ends do not matter.
        k: wave numbers; from zero to $\pi/a$ when left out.
        points: how many of them.

    Raises:
        InputError: the forces on a body of the straight chain do not cancel.
    """
    a = float(chain.spacing)
    waves = np.linspace(0.0, np.pi / a, points) if k is None else np.atleast_1d(np.asarray(k, dtype=float))
    roots = np.sqrt(np.concatenate([np.full(3, float(chain.body.mass)), np.asarray(chain.body.moments)]))
    matrix = np.zeros((len(waves), 6, 6), dtype=complex)
    for reach, bond in enumerate(straight_bonds(chain), start=1):
        whole = bond.hessian[0]
        phase = np.exp(1j * waves * reach * a)[:, None, None]
        matrix += whole[:6, :6] + whole[6:, 6:] + whole[:6, 6:] * phase + whole[6:, :6] * phase.conj()
    squares, vectors = np.linalg.eigh(matrix / np.outer(roots, roots))
    # Waves of no frequency, such as translations, have squares to either side of zero.
    squares[(squares < 0.0) & (squares > -ROUND_OFF * np.max(np.abs(squares)))] = 0.0
    shapes = np.swapaxes(vectors, 1, 2) / roots
    shapes[..., 3:] = shapes[..., 3:] @ _axes(chain).T
    return Dispersion(chain.name, waves, squares, shapes, a)


def straight_bonds(chain: Chain) -> list[BondDerivatives]:
    """Derivatives of the bonds of a body in the endless straight chain, one for each order of neighbours.

    Raises:
        InputError: potentials beside the bonds; or forces or torques on the body do not cancel.
    """
    if chain.potentials:
        raise InputError(
            f"potentials of {chain.name!r}: waves and rods are those of the bonds alone; leave them out"
        )
    turned = np.broadcast_to(_axes(chain), (1, 2, 3, 3))
    ahead = float(chain.spacing) * np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    bonds = [bond_derivatives(chain, reach * ahead, turned) for reach in range(1, chain.neighbours.order + 1)]
    net = np.sum([bond.slope[0, :6] + bond.slope[0, 6:] for bond in bonds], axis=0)
    scale = max(float(np.max(np.abs(bond.hessian))) for bond in bonds) * max(1.0, float(chain.spacing))
    if np.max(np.abs(net)) > STRESSED * scale:
        raise InputError(
            f"the bodies of the straight {chain.name!r} are not at rest: force {net[:3]}, torque {net[3:]}; "
            "waves need a straight chain in equilibrium, such as one of pt.shapes.two_rim_disc(..., axis=0)"
        )
    return bonds


def _axes(chain: Chain) -> np.ndarray:
    """Principal axes of the bodies of the straight chain."""
    return np.eye(3) if chain.body.axes is None else np.asarray(chain.body.axes)
