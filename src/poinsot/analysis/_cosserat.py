"""The Cosserat rod that a straight chain is, seen from far away."""

from dataclasses import dataclass

import numpy as np

from poinsot.core import InputError, checked
from poinsot.model import Chain

from ._dispersion import straight_bonds

ALONG = np.array([1.0, 0.0, 0.0])
CROSS = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Matrix of the vector product with the unit vector along the rod."""
STRESSED = 1e-9
"""Force along the straight chain, relative to its stiffness, that is none."""


@dataclass(frozen=True)
class CosseratRod:
    r"""A straight elastic rod whose cross-sections are displaced and turned, with shear and stretch.

    $$ W = \tfrac12 \int (\Gamma, \kappa)\cdot C\,(\Gamma, \kappa)\,ds, \qquad
       \Gamma = u' + e_x \times \theta, \qquad \kappa = \theta' $$
    """

    stiffness: np.ndarray
    r"""C, (6, 6), of stretch and shear $\Gamma$ and of twist and bending $\kappa$ about the axes x, y, z."""
    mass: float
    """Mass per length."""
    inertia: np.ndarray
    """Moments of inertia per length, (3, 3)."""

    @property
    def EA(self) -> float:
        """Stiffness in extension."""
        return float(self.stiffness[0, 0])

    @property
    def GA(self) -> tuple[float, float]:
        """Stiffnesses in shear along y and z, with the shape of the cross-section in them."""
        return float(self.stiffness[1, 1]), float(self.stiffness[2, 2])

    @property
    def GJ(self) -> float:
        """Stiffness in torsion."""
        return float(self.stiffness[3, 3])

    @property
    def EI(self) -> tuple[float, float]:
        """Stiffnesses in bending about y and z."""
        return float(self.stiffness[4, 4]), float(self.stiffness[5, 5])

    @property
    def coupling(self) -> float:
        """Largest entry that couples two of the six strains, relative to the two stiffnesses."""
        roots = np.sqrt(np.abs(np.diag(self.stiffness)))
        scaled = self.stiffness / np.outer(roots, roots)
        return float(np.max(np.abs(scaled - np.diag(np.diag(scaled)))))

    @property
    def mass_matrix(self) -> np.ndarray:
        """Of displacement and rotation, per length, (6, 6)."""
        whole = np.zeros((6, 6))
        whole[:3, :3], whole[3:, 3:] = self.mass * np.eye(3), self.inertia
        return whole

    def waves(self, k: np.ndarray) -> np.ndarray:
        r"""Squared angular frequencies of waves $e^{iks}$, (wave number, 6), ascending.

        Without coupling the branches are those of extension $\omega = k\sqrt{EA/m}$, of torsion
        $\omega = k\sqrt{GJ/I_x}$, and two of Timoshenko's beam in each plane.
        """
        from scipy.linalg import eigh

        unit = np.eye(3)
        strains = [
            np.block([[1j * one * unit, CROSS], [0.0 * unit, 1j * one * unit]]) for one in np.atleast_1d(k)
        ]
        return np.array([eigh(s.conj().T @ self.stiffness @ s, self.mass_matrix)[0] for s in strains])

    def spectrum(
        self, length: float, ends: tuple[str, str], degree: int = 32
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Squared angular frequencies of a finite rod, ascending, and how much of each is which motion.

        By Galerkin's method with polynomials of a high degree: slow modes are exact to many digits. The first
        ones of a rod with free ends are zero.

        Args:
            length: of the rod.
            ends: "clamped" or "free", for each end.
            degree: of the polynomials; that many modes in all of each kind, the slower half of them good.

        Returns:
            The squares, and (mode, 6) the parts of the kinetic energy in displacements and rotations.
        """
        from scipy.linalg import eigh

        values, slopes, weights = _polynomials(degree, ends, length)
        # Unknowns are numbered function after function, six components each.
        unit, size = np.eye(6), 6 * len(values)
        derivative = np.einsum("fq,sc->qsfc", slopes, unit)
        derivative[:, :3, :, 3:] += np.einsum("fq,sc->qsfc", values, CROSS)
        strains = derivative.reshape(len(weights), 6, size)
        stiffness = np.einsum("q,qsa,st,qtb->ab", weights, strains, self.stiffness, strains, optimize=True)
        mass = np.kron(np.einsum("q,fq,gq->fg", weights, values, values), self.mass_matrix)
        squares, vectors = eigh(stiffness, mass)
        energies = vectors.T * (mass @ vectors).T
        return squares, energies.reshape(len(squares), len(values), 6).sum(axis=1)


@checked
def cosserat_rod(chain: Chain) -> CosseratRod:
    r"""The rod with the energy of the chain in states of uniform strain (Cauchy and Born).

    In such a state all bodies follow from each other by one screw motion,
    $g = \exp(a\,(e_x + \Gamma, \kappa))$, so that the j-th neighbour is at $g^j$; with the energy $u_j$ of
    its bond

    $$ W(\Gamma, \kappa) = \frac1a \sum_j u_j\bigl(g^j\bigr), \qquad
       C = \frac{\partial^2 W}{\partial(\Gamma, \kappa)^2}\Big|_0 . $$

    Args:
        chain: whose straight state is at rest without tension; its ends do not matter.

    Raises:
        InputError: the straight chain is not at rest, or is under stress.
    """
    a = float(chain.spacing)
    axes = np.eye(3) if chain.body.axes is None else np.asarray(chain.body.axes)
    stiffness, stress = np.zeros((6, 6)), np.zeros(6)
    for reach, bond in enumerate(straight_bonds(chain), start=1):
        slope, hessian = bond.slope[0, 6:], bond.hessian[0, 6:, 6:]
        first, second = _screw(reach * a, axes, slope[:3])
        stress += first.T @ slope / a
        stiffness += (first.T @ hessian @ first + second) / a
    if np.max(np.abs(stress)) > STRESSED * np.max(np.abs(stiffness)):
        raise InputError(
            f"the straight {chain.name!r} is under stress: force {stress[:3]}, moment {stress[3:]}; choose "
            "the spacing at which its bonds are at rest"
        )
    inertia = axes @ np.diag(np.asarray(chain.body.moments)) @ axes.T / a
    return CosseratRod(0.5 * (stiffness + stiffness.T), float(chain.body.mass) / a, inertia)


def _screw(length: float, axes: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""How a neighbour moves with the strains: the first derivative, and force times the second.

    $$ \delta x = l \left(\Gamma + \tfrac{l}{2}\,\kappa\times(e_x + \Gamma)
         + \tfrac{l^2}{6}\,\kappa\times(\kappa\times e_x)\right) + \dots, \qquad w = l\,\kappa $$
    """
    first = np.zeros((6, 6))
    first[:3, :3], first[:3, 3:], first[3:, 3:] = np.eye(3), -0.5 * length * CROSS, axes.T
    second = np.zeros((6, 6))
    # f . (kappa x Gamma) = kappa . (Gamma x f): the matrix of the vector product with f, of either sign.
    skew = np.cross(np.eye(3), force)
    second[3:, :3] = 0.5 * length**2 * skew.T
    second[:3, 3:] = second[3:, :3].T
    mixed = np.outer(force, ALONG)
    second[3:, 3:] = length**3 / 6.0 * (mixed + mixed.T - 2.0 * (force @ ALONG) * np.eye(3))
    return length * first, second


def _polynomials(
    degree: int, ends: tuple[str, str], length: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values and derivatives (function, node) of polynomials that vanish at clamped ends, and weights."""
    from numpy.polynomial import legendre

    nodes, weights = legendre.leggauss(degree + 2)
    identity = np.eye(degree + 1)
    bubbles = [(identity[n] - identity[n - 2]) / np.sqrt(4.0 * n - 2.0) for n in range(2, degree + 1)]
    linear = [0.5 * (identity[0] - identity[1]), 0.5 * (identity[0] + identity[1])]
    kept = [linear[i] for i, end in enumerate(ends) if end == "free"] + bubbles
    values = np.array([legendre.legval(nodes, one) for one in kept])
    slopes = np.array([legendre.legval(nodes, legendre.legder(one)) for one in kept]) * (2.0 / length)
    return values, slopes, weights * (0.5 * length)
