"""Natural modes: small vibrations about an equilibrium."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from poinsot.core import InputError, State, checked
from poinsot.model import AbstractSystem

from ._descent import resting
from ._displacements import Point, moved, numbering, point_of, state_of
from ._equilibrium import Equilibrium
from ._linearisation import Linearisation, linearisation
from ._load_slopes import act_at_rest
from ._mode_labels import mode_labels
from ._shapes import mode_shapes, twists
from ._spectrum import (
    eigenpairs,
    neutral_motions,
    rigid_motions,
    unstable_count,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


NEARLY = 1e-6
"""Forces, relative to those that displace a body by its own size, about which there are no modes."""


@dataclass(frozen=True, repr=False)
class Modes:
    r"""Natural frequencies and mode shapes, from the slowest on; unstable ones come first.

    Each mode is a motion $u(t) = q(t)\,\phi$ with $\ddot q = -\omega^2 q$, its shape scaled to unit mass,
    $\phi^T M \phi = 1$: its energy is $\tfrac12(\dot q^2 + \omega^2 q^2)$.
    """

    name: str
    """Of the system."""
    squares: np.ndarray
    r"""$\omega^2$, ascending; negative where the mode is unstable."""
    shapes: np.ndarray
    """(mode, body, 6): displacement of the mass centre in space, and rotation vector in the body frame."""
    zero: int
    """Number of zero modes, which are not listed: rigid motions, and what else meets no resistance. Of more
    than a thousand unknowns the rigid ones, and those met on the way to the modes that were asked for."""
    rigid: int
    """Those of them that are translations and rotations of all bodies together."""
    unstable: int
    """Number of unstable modes, listed or not."""
    labels: tuple[str, ...]
    """Of each mode: the bodies with most of its kinetic energy, and the joint that moves most."""
    _system: AbstractSystem
    _point: Point
    _displacements: np.ndarray
    """Shapes in the unknowns, as columns."""

    @property
    def angular(self) -> np.ndarray:
        r"""Angular frequencies $\omega$, in radians per unit of time; unstable modes have imaginary ones."""
        return np.emath.sqrt(self.squares)

    @property
    def frequencies(self) -> np.ndarray:
        r"""Ordinary frequencies $\omega / 2\pi$, in cycles per unit of time; imaginary for unstable modes."""
        return self.angular / (2.0 * np.pi)

    def __len__(self) -> int:
        return len(self.squares)

    def state(self, mode: int, amplitude: float, velocity: float = 0.0) -> State:
        r"""A start along one mode, $u = q\,\phi$ and $\dot u = \dot q\,\phi$.

        Args:
            mode: its place in the list.
            amplitude: q, such that the energy above the equilibrium is $\tfrac12 \omega^2 q^2$.
            velocity: $\dot q$.
        """
        vector = self._displacements[:, mode]
        dx, w = numbering(self._system).parts(amplitude * vector)
        there = moved(self._point, jnp.asarray(dx), jnp.asarray(w))
        rest = state_of(self._system, there)
        if velocity != 0.0:
            speeds = velocity * mode_shapes(self._system, there, vector[:, None])[0]
            rest = self._system.state(
                position=rest.position,
                rotation=rest.quaternion,
                velocity=rest.velocity + speeds[:, :3],
                angular_velocity=rest.angular_velocity + speeds[:, 3:],
                t=there.t,
            )
        return rest if self._system.linkage is None else self._system.assemble(rest, t=there.t)

    def plot(self, count: int = 4) -> "Figure":
        """Frequencies, and the shapes of the first modes along the bodies.

        Args:
            count: how many shapes.
        """
        from poinsot.viz import plot_modes

        return plot_modes(self.squares, self.shapes, count=count, title=f"Modes of {self.name}")

    def __repr__(self) -> str:
        lines = [f"modes of {self.name}: {self.zero} zero modes, {self.unstable} unstable"]
        for place, value in enumerate(self.angular):
            shown = f"{value.imag:12.6g} i" if value.imag else f"{value.real:12.6g}"
            label = "" if self._system.linkage is None else f"  {self.labels[place]}"
            lines.append(f"  {place:4d}  omega = {shown}{label}")
        return "\n".join(lines)


@checked
def modes(
    system: AbstractSystem,
    equilibrium: Equilibrium | State,
    count: int | None = 12,
    *,
    t: float | None = None,
) -> Modes:
    r"""Small vibrations about an equilibrium, at rest or held at one time.

    $$ H \phi = \omega^2 M \phi, \qquad M = \operatorname{diag}(m, J) $$

    With joints the motions are those that keep them closed, $\phi = Z s$ with $G Z = 0$, and $H$ has the
    stiffness of the joint forces in it: $Z^T (H - \lambda\cdot\nabla^2 g)\,Z\,s = \omega^2 Z^T M Z\,s$.

    Loads count as far as they are conservative: those that act on bodies at rest are taken there, with the
    symmetric part of the stiffness that they add. Dampers, gyroscopic and circulatory forces are left out;
    `damped_modes` has them all.

    Up to a thousand unknowns all eigenvalues are found at once; in longer chains the slowest ones by Lanczos
    iterations, in time and memory linear in the number of bodies.

    Args:
        system: the bodies.
        equilibrium: from `equilibrium` or `stationary_point`; or a state where the forces vanish.
        count: how many modes besides the zero modes; None for all.
        t: time at which ends that are moved are held; that of the equilibrium when left out.

    Raises:
        InputError: forces that do not vanish.
    """
    about = about_rest(system, equilibrium, t)
    point = about.point
    neutral = neutral_motions(about)
    squares, vectors = eigenpairs(about, neutral, count)
    still = np.abs(squares) <= about.blur
    if np.any(still) and count is not None:
        squares, vectors = eigenpairs(about, neutral, count + int(np.count_nonzero(still)))
        still = np.abs(squares) <= about.blur
    displacements = (about.whole(vectors) / about.roots[:, None])[:, ~still]
    largest = np.take_along_axis(displacements, np.argmax(np.abs(displacements), axis=0)[None], axis=0)
    displacements = displacements * np.sign(largest)
    shapes = mode_shapes(system, point, displacements)
    return Modes(
        name=system.name,
        squares=squares[~still],
        shapes=shapes,
        labels=mode_labels(system, point, shapes, twists(about, displacements)),
        zero=neutral.shape[1] + int(np.count_nonzero(still)),
        rigid=rigid_motions(about).shape[1],
        unstable=unstable_count(about),
        _system=system,
        _point=point,
        _displacements=displacements,
    )


def about_rest(system: AbstractSystem, equilibrium: Equilibrium | State, t: float | None) -> Linearisation:
    """Small motions about an equilibrium.

    Raises:
        InputError: the forces do not vanish there.
    """
    known = isinstance(equilibrium, Equilibrium)
    state, time = (equilibrium.state, equilibrium.t) if known else (equilibrium, 0.0)
    point = point_of(system, state, time if t is None else t)
    about = linearisation(system, point, loaded=act_at_rest(system, point))
    _refuse_motion(system, about)
    return about


def _refuse_motion(system: AbstractSystem, about: Linearisation) -> None:
    """Refuse a state that would not stay: small motions about it are no vibrations."""
    if not resting(about, NEARLY):
        raise InputError(
            f"equilibrium of {system.name!r}: the largest force on it is {about.force:.3g}; find a place of "
            "rest by equilibrium or stationary_point first"
        )
