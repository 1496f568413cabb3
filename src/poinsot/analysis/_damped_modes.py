"""Small motions with loads: eigenvalues that decay, grow and oscillate."""

from dataclasses import dataclass

import numpy as np

from poinsot.core import State, checked
from poinsot.model import AbstractSystem

from ._equilibrium import Equilibrium
from ._linearisation import Linearisation
from ._load_slopes import load_damping
from ._mode_labels import mode_labels
from ._modes import about_rest
from ._shapes import mode_shapes, twists
from ._spectrum import neutral_motions

REAL = 1e-9
"""Imaginary parts, relative to the size of an eigenvalue, and eigenvalues, relative to the root
of the scale of squared frequencies, that count as none."""


@dataclass(frozen=True, repr=False)
class DampedModes:
    r"""Motions $u(t) = \operatorname{Re}\,\phi\,e^{st}$ about an equilibrium, the slowest decay first.

    Of motions that decay alike the one with the least $|s|$ is first.
    Of each pair $s, \bar s$ the one with a positive imaginary part is listed.
    """

    name: str
    """Of the system."""
    eigenvalues: np.ndarray
    r"""$s = -\delta + i\omega$: decay rate and angular frequency of the damped motion."""
    shapes: np.ndarray
    """(mode, body, 6), complex: displacement of the mass centre, and rotation vector in the body frame."""
    zero: int
    """Number of displacements that meet no resistance, as of `modes`. They stay, s = 0, and are not listed;
    nor is the steady motion along them that no damper ends. What dampers end is listed by its decay."""
    labels: tuple[str, ...]
    """The bodies with most kinetic energy, and the joint that moves most."""

    @property
    def decay(self) -> np.ndarray:
        """Rates at which the motions decay; negative where they grow."""
        return 0.0 - np.real(self.eigenvalues)

    @property
    def angular(self) -> np.ndarray:
        """Angular frequencies of the damped motions."""
        return np.imag(self.eigenvalues)

    @property
    def damping_ratio(self) -> np.ndarray:
        r"""$\delta/|s|$: 0 without damping, 1 where a motion does not oscillate."""
        return self.decay / np.maximum(np.abs(self.eigenvalues), np.finfo(float).tiny)

    @property
    def unstable(self) -> int:
        """Number of motions that grow, beyond round-off."""
        size = np.max(np.abs(self.eigenvalues), initial=0.0)
        return int(np.count_nonzero(np.real(self.eigenvalues) > REAL * size))

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def __repr__(self) -> str:
        lines = [f"damped modes of {self.name}: {self.zero} zero modes, {self.unstable} unstable"]
        rows = zip(self.eigenvalues, self.damping_ratio, self.labels, strict=True)
        for place, (value, ratio, label) in enumerate(rows):
            real, ratio = (value.real, ratio) if abs(ratio) > REAL else (0.0, 0.0)
            shown = f"s = {real:12.6g} {value.imag:+12.6g} i"
            lines.append(f"  {place:4d}  {shown}, damping ratio {ratio:.3g}  {label}".rstrip())
        return "\n".join(lines)


@checked
def damped_modes(
    system: AbstractSystem, equilibrium: Equilibrium | State, *, t: float | None = None
) -> DampedModes:
    r"""Small motions about an equilibrium with the loads of the system, such as dampers.

    $$ M \ddot u + C \dot u + (H + H_F)\,u = G^T\delta\lambda, \qquad
       C = -\frac{\partial F}{\partial \dot u}, \qquad H_F = -\frac{\partial F}{\partial u}, $$

    on the displacements that joints allow, with the stiffness of joint forces in $H$ as in `modes`. Neither
    $C$ nor $H_F$ need be symmetric: follower forces may make motions grow.

    Args:
        system: bodies with or without loads.
        equilibrium: from `equilibrium` or `stationary_point`; or a state where all forces vanish.
        t: time at which what is moved is held; that of the equilibrium when left out.

    Raises:
        InputError: the forces do not vanish there.
    """
    about = about_rest(system, equilibrium, t)
    values, vectors, zero = _eigenvalues(about, _damping(system, about))
    displacements = about.whole(vectors) / about.roots[:, None]
    shapes = mode_shapes(system, about.point, np.real(displacements)) + 1j * mode_shapes(
        system, about.point, np.imag(displacements)
    )
    motions = twists(about, np.real(displacements)) + 1j * twists(about, np.imag(displacements))
    labels = mode_labels(system, about.point, shapes, motions)
    return DampedModes(system.name, values, shapes, zero, labels)


def _damping(system: AbstractSystem, about: Linearisation) -> np.ndarray:
    """C in independent displacements."""
    if system.conservative:
        return np.zeros((about.size, about.size))
    Z = about.whole(np.eye(about.size))
    slopes = load_damping(system, about.point, about.order)
    return -Z.T @ (slopes / about.roots[:, None] / about.roots[None]) @ Z


def _eigenvalues(about: Linearisation, C: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    r"""Eigenvalues, the slowest decay first, shapes as columns, and the number of neutral displacements.

    With these as columns of N, and P for all others, $y = N a + P b$, the unknown a does not enter, and

    $$ \ddot b = -P^T A P\,b - P^T C\,(P \dot b + N r), \qquad
       \dot r = -N^T A P\,b - N^T C\,(P \dot b + N r), \qquad r = \dot a. $$

    In a matrix of $y$ and $\dot y$ each would be a double eigenvalue of zero with one vector, and come out
    as a pair as large as the root of round-off.
    """
    A, neutral = about.stiffness.toarray(), _neutral(about)
    zero = neutral.shape[1]
    others = np.linalg.svd(neutral, full_matrices=True)[0][:, zero:]
    count, basis = others.shape[1], np.concatenate([others, neutral], axis=1)
    pace = np.sqrt(about.scale)
    first = np.eye(count, count + about.size, count)
    second = np.concatenate([-basis.T @ A @ others / about.scale, -basis.T @ C @ basis / pace], axis=1)
    values, vectors = np.linalg.eig(np.concatenate([first, second]))
    kept = (np.imag(values) >= -REAL * np.abs(values)) & (np.abs(values) > REAL)
    values, vectors = values[kept], vectors[:, kept]
    decays = np.round(-np.real(values) / REAL)
    order = np.lexsort((np.abs(values), decays))
    values, vectors = values[order], vectors[:, order]
    along = vectors[2 * count :] / values
    return pace * values, others @ vectors[:count] + neutral @ along, zero


def _neutral(about: Linearisation) -> np.ndarray:
    """Displacements that no force answers to; circulatory ones may answer where conservative ones do not."""
    if about.circulatory is None or not np.any(np.abs(about.circulatory) > about.blur):
        return neutral_motions(about)
    _, sizes, rows = np.linalg.svd(about.stiffness.toarray())
    return rows[sizes <= about.blur].T
