"""Small motions with loads: eigenvalues that decay, grow and oscillate."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import State
from poinsot.model import AbstractSystem
from poinsot.rotation import exp

from ._displacements import Point
from ._equilibrium import Equilibrium
from ._joint_tangent import twist_places
from ._mode_labels import kinetic_shares, most
from ._modes import about_rest, mode_shapes

REAL = 1e-9
"""Imaginary parts, relative to the size of an eigenvalue, that count as none."""


@dataclass(frozen=True, repr=False)
class DampedModes:
    r"""Motions $u(t) = \operatorname{Re}\,\phi\,e^{st}$ about an equilibrium, the slowest decay first.

    Of each pair $s, \bar s$ the one with a positive imaginary part is listed.
    """

    name: str
    """Of the system."""
    eigenvalues: np.ndarray
    r"""$s = -\delta + i\omega$: decay rate and angular frequency of the damped motion."""
    shapes: np.ndarray
    """(mode, body, 6), complex: displacement of the mass centre, and rotation vector in the body frame."""
    labels: tuple[str, ...]
    """The bodies with most kinetic energy."""

    @property
    def decay(self) -> np.ndarray:
        """Rates at which the motions decay; negative where they grow."""
        return -np.real(self.eigenvalues)

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
        lines = [f"damped modes of {self.name}: {self.unstable} unstable"]
        rows = zip(self.eigenvalues, self.damping_ratio, self.labels, strict=True)
        for place, (value, ratio, label) in enumerate(rows):
            shown = f"s = {value.real:12.6g} {value.imag:+12.6g} i"
            lines.append(f"  {place:4d}  {shown}, damping ratio {ratio:.3g}  {label}".rstrip())
        return "\n".join(lines)


def damped_modes(
    system: AbstractSystem, equilibrium: Equilibrium | State, *, t: float | None = None
) -> DampedModes:
    r"""Small motions about an equilibrium with the loads of the system, such as dampers.

    $$ M \ddot u + C \dot u + (H + H_F)\,u = G^T\delta\lambda, \qquad
       C = -\frac{\partial F}{\partial \dot u}, \qquad H_F = -\frac{\partial F}{\partial u}, $$

    on the displacements that joints allow, $u = Z s$, with the stiffness of joint forces in $H$ as in
    `modes`. Neither $C$ nor $H_F$ need be symmetric: follower forces may make motions grow.

    Args:
        system: bodies with or without loads; the loads vanish at rest.
        equilibrium: from `equilibrium` or `stationary_point`; or a state where all forces vanish.
        t: time at which what is moved is held; that of the equilibrium when left out.

    Raises:
        InputError: forces or loads act on the bodies at rest there.
    """
    about = about_rest(system, equilibrium, t)
    K, size = about.matrix.toarray(), about.size
    C = np.zeros((size, size))
    if not system.conservative:
        places = twist_places(about.point, about.order)
        scale = 1.0 / about.roots
        by_place, by_rate = (
            about.whole(np.eye(size)).T
            @ (scale[:, None] * np.asarray(part)[np.ix_(places, places)] * scale[None])
            @ about.whole(np.eye(size))
            for part in _load_slopes(system, about.point)
        )
        K, C = K - by_place, -by_rate
    values, vectors = np.linalg.eig(np.block([[np.zeros((size, size)), np.eye(size)], [-K, -C]]))
    kept = np.imag(values) >= -REAL * np.abs(values)
    values, vectors = values[kept], vectors[:size, kept]
    order = np.argsort(-np.real(values), kind="stable")
    values, vectors = values[order], vectors[:, order]
    displacements = about.whole(vectors) / about.roots[:, None]
    shapes = mode_shapes(system, about.point, np.real(displacements)) + 1j * mode_shapes(
        system, about.point, np.imag(displacements)
    )
    labels = tuple(most(system.names, row) for row in kinetic_shares(system, shapes))
    return DampedModes(system.name, values, shapes, labels)


@eqx.filter_jit
def _load_slopes(system: AbstractSystem, point: Point) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
    """Derivatives of the loads in displacements and in velocities, at rest."""
    count = point.x.size

    def force(move: Array, twist: Array) -> Array:
        w = move[count:].reshape(3, -1)
        R = jnp.einsum("ijn,jkn->ikn", point.rotations, jnp.moveaxis(exp(w.T), 0, -1))
        v, Omega = twist[:count].reshape(point.x.shape), twist[count:].reshape(3, -1)
        load = system.load(point.t, point.x + move[:count].reshape(point.x.shape), R, v, Omega)
        assert load is not None
        return jnp.concatenate([part.reshape(-1) for part in load])

    still = jnp.zeros(count + point.quat[1:].size)
    by_place, by_rate = jax.jacfwd(force, argnums=(0, 1))(still, still)
    return by_place, by_rate
