"""Natural modes: small vibrations about an equilibrium."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, State
from poinsot.model import AbstractSystem

from ._descent import resting
from ._displacements import (
    Point,
    check_loads_rest,
    moved,
    numbering,
    point_of,
    state_of,
)
from ._equilibrium import Equilibrium
from ._mode_labels import mode_labels
from ._spectrum import ROUND_OFF, Linearisation, eigenpairs, linearisation, rigid_motions, unstable_count

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
    """Number of zero modes, which are not listed: rigid motions, and what else meets no resistance."""
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

    Up to a thousand unknowns all eigenvalues are found at once; in longer chains the slowest ones by Lanczos
    iterations, in time and memory linear in the number of bodies.

    Args:
        system: bodies without loads.
        equilibrium: from `equilibrium` or `stationary_point`; or a state where the forces vanish.
        count: how many modes besides the zero modes; None for all.
        t: time at which ends that are moved are held; that of the equilibrium when left out.

    Raises:
        InputError: loads, or forces that do not vanish.
    """
    if not system.conservative:
        raise InputError(f"loads of {system.name!r} damp or drive its modes; take damped_modes")
    about = about_rest(system, equilibrium, t)
    point = about.point
    rigid = rigid_motions(about)
    squares, vectors = eigenpairs(about, rigid, count)
    still = np.abs(squares) <= ROUND_OFF * about.bound
    if np.any(still) and count is not None:
        squares, vectors = eigenpairs(about, rigid, count + int(np.count_nonzero(still)))
        still = np.abs(squares) <= ROUND_OFF * about.bound
    displacements = (about.whole(vectors) / about.roots[:, None])[:, ~still]
    largest = np.take_along_axis(displacements, np.argmax(np.abs(displacements), axis=0)[None], axis=0)
    displacements = displacements * np.sign(largest)
    shapes = mode_shapes(system, point, displacements)
    return Modes(
        name=system.name,
        squares=squares[~still],
        shapes=shapes,
        labels=mode_labels(system, point, shapes, _twists(about, displacements)),
        zero=rigid.shape[1] + int(np.count_nonzero(still)),
        rigid=rigid.shape[1],
        unstable=unstable_count(about),
        _system=system,
        _point=point,
        _displacements=displacements,
    )


def about_rest(system: AbstractSystem, equilibrium: Equilibrium | State, t: float | None) -> Linearisation:
    """Small motions about an equilibrium.

    Raises:
        InputError: forces or loads act there.
    """
    known = isinstance(equilibrium, Equilibrium)
    state, time = (equilibrium.state, equilibrium.t) if known else (equilibrium, 0.0)
    point = point_of(system, state, time if t is None else t)
    check_loads_rest(system, point)
    about = linearisation(system, point)
    _refuse_motion(system, about)
    return about


def _twists(about: Linearisation, displacements: np.ndarray) -> np.ndarray:
    """Columns of displacements as rows of velocities, then angular velocities."""
    parts = [about.order.parts(column) for column in displacements.T]
    rows = [np.concatenate([dx.reshape(-1), w.reshape(-1)]) for dx, w in parts]
    return np.stack(rows) if rows else np.zeros((0, displacements.shape[0]))


def _refuse_motion(system: AbstractSystem, about: Linearisation) -> None:
    """Refuse a state that would not stay: small motions about it are no vibrations."""
    if not resting(system, about, NEARLY):
        raise InputError(
            f"equilibrium of {system.name!r}: the largest force on it is {about.force:.3g}; find a place of "
            "rest by equilibrium or stationary_point first"
        )


def mode_shapes(system: AbstractSystem, point: Point, vectors: np.ndarray) -> np.ndarray:
    """Displacements and rotation vectors of all bodies, (mode, body, 6), of columns of unknowns."""
    parts = [numbering(system).parts(vector) for vector in vectors.T]
    moves = np.stack([dx for dx, _ in parts]) if parts else np.zeros((0, *point.x.shape))
    turns = np.stack([w for _, w in parts]) if parts else np.zeros((0, *point.quat[1:].shape))
    return np.asarray(_rates(system, point, jnp.asarray(moves), jnp.asarray(turns)))


@eqx.filter_jit
def _rates(system: AbstractSystem, point: Point, moves: Array, turns: Array) -> Array:
    """What velocities of the unknowns are for the bodies, less the motion of what is moved."""

    def of(v: Array, Omega: Array) -> Array:
        rates = system.rates(point.t, point.x, point.rotations, v, Omega)
        return jnp.concatenate(rates, axis=1)

    driven = of(jnp.zeros_like(point.x), jnp.zeros_like(point.quat[1:]))
    return jax.vmap(lambda v, Omega: of(v, Omega) - driven)(moves, turns)
