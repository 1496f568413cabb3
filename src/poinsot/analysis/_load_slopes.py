"""Loads on bodies near rest: what they are, and how they change with places and velocities."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.kernels import jitted
from poinsot.model import AbstractSystem
from poinsot.rotation import exp

from ._displacements import Numbering, Point, moved
from ._joint_tangent import twist_places

PROBE = 0.1
"""Size of the rotations by which bodies are displaced to see whether loads act on them at rest."""


def act_at_rest(system: AbstractSystem, point: Point) -> bool:
    """Whether loads act on bodies at rest, at a point or at one displaced at random; dampers do not."""
    if system.conservative:
        return False
    draw = np.random.default_rng(0)
    dx = np.asarray(system.trial_lengths(point.x)) * draw.standard_normal(point.x.shape)
    aside = moved(point, jnp.asarray(dx), jnp.asarray(PROBE * draw.standard_normal(point.quat[1:].shape)))
    return any(bool(np.any(np.asarray(_at_rest(system, place)) != 0.0)) for place in (point, aside))


def static_loads(
    system: AbstractSystem, point: Point, order: Numbering
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"]]:
    """Loads on bodies at rest as forces along the displacements, and their derivatives in these."""
    places = twist_places(point, order)
    force, by_place = _static(system, point)
    return np.asarray(force)[places], np.asarray(by_place)[np.ix_(places, places)]


def load_at_rest(system: AbstractSystem, point: Point, order: Numbering) -> Float[np.ndarray, " n"]:
    """Loads on bodies at rest as forces along the displacements."""
    return np.asarray(_at_rest(system, point))[twist_places(point, order)]


def load_damping(system: AbstractSystem, point: Point, order: Numbering) -> Float[np.ndarray, "n n"]:
    """Derivatives of the loads in the velocities, at rest."""
    places = twist_places(point, order)
    return np.asarray(_by_rate(system, point))[np.ix_(places, places)]


def _load(system: AbstractSystem, point: Point, move: Array, twist: Array) -> Float[Array, " n"]:
    r"""Forces along displacements $\delta x$ and rotation vectors $w$ of $R \exp\hat w$, at these.

    Of a torque in the body frame, along w it is $\tau + \tfrac12 w\times\tau$ to first order, since
    $\Omega = \dot w - \tfrac12 w\times\dot w$.
    """
    count = point.x.size
    w = move[count:].reshape(3, -1)
    R = jnp.einsum("ijn,jkn->ikn", point.rotations, jnp.moveaxis(exp(w.T), 0, -1))
    v, Omega = twist[:count].reshape(point.x.shape), twist[count:].reshape(3, -1)
    load = system.load(point.t, point.x + move[:count].reshape(point.x.shape), R, v, Omega)
    assert load is not None
    forces, torques = load
    torques = torques + 0.5 * jnp.cross(w, torques, axis=0)
    return jnp.concatenate([forces.reshape(-1), torques.reshape(-1)])


def _still(point: Point) -> Float[Array, " n"]:
    return jnp.zeros(point.x.size + point.quat[1:].size)


@jitted
def _at_rest(system: AbstractSystem, point: Point) -> Float[Array, " n"]:
    return _load(system, point, _still(point), _still(point))


@jitted
def _static(system: AbstractSystem, point: Point) -> tuple[Float[Array, " n"], Float[Array, "n n"]]:
    still = _still(point)
    force, along = jax.linearize(lambda move: _load(system, point, move, still), still)
    return force, jax.vmap(along, out_axes=1)(jnp.eye(still.size))


@jitted
def _by_rate(system: AbstractSystem, point: Point) -> Float[Array, "n n"]:
    still = _still(point)
    return jax.jacfwd(lambda twist: _load(system, point, still, twist))(still)
