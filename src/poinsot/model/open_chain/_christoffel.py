"""Christoffel symbols of the first kind in closed form, all index triples at once."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ._dynamics import space_inertias
from ._kinematics import Posture
from ._nodes import Nodes
from ._spatial import halves


def christoffel(nodes: Nodes, posture: Posture) -> Float[Array, "n n n"]:
    r"""Coefficients of the forces of inertia that are quadratic in the rates (Zoric et al., 2010).

    $$ \Gamma_{\alpha\beta,\gamma} = \sum_i m_i\,(e_\mu\times T_\nu(i))\cdot T_\gamma(i)
       + (e_\nu\times e_\gamma)\cdot \Pi_i\,e_\mu, $$

    where $\mu$ is the inner one of $\alpha$ and $\beta$ and $\nu$ the outer one, $e$ is the axis of a turn
    (zero for a slide), $T(i)$ the velocity of mass centre $i$ at a unit rate, $\Pi_i = \tfrac12
    \operatorname{tr}(J_i) - J_i$ the planar moments, and the sum is over the bodies that all three move.

    Args:
        nodes: of the tree.
        posture: where they are.

    Returns:
        The symbols, the two symmetric indices first. For the rates of balls, which are no derivatives of
        coordinates, the coefficients in the same sense: symmetric in these two.
    """
    structure = nodes.structure
    turn, slide = halves(posture.columns)
    points = posture.points[structure.node_of]
    moves = jnp.asarray(structure.moves, dtype=float)
    arms = posture.x[None] - points[:, None]
    # T[a, i]: velocity of the mass centre of body i at a unit rate a; zero where it does not move.
    T = moves[:, :, None] * (slide[:, None] + jnp.cross(turn[:, None], arms))
    bend = jnp.cross(turn[:, None, None], T[None])
    moving = jnp.einsum("i,abik,cik->abc", nodes.masses, bend, T)
    J = space_inertias(nodes, posture)
    trace = jnp.trace(J, axis1=1, axis2=2)
    planar = 0.5 * trace[:, None, None] * jnp.eye(3)[None] - J
    # Bodies that the outer of the pair and the third index move; the inner one moves them too.
    shared = jnp.einsum("bi,ci,ikl->bckl", moves, moves, planar)
    across = jnp.cross(turn[:, None], turn[None])
    turning = jnp.einsum("bck,bckl,al->abc", across, shared, turn)
    ordered = moving + turning
    whole = _symmetric(ordered, structure.path, structure.same_ball)
    order = structure.column_of
    return whole[order][:, order][:, :, order]


def _symmetric(ordered: Array, path: np.ndarray, same: np.ndarray) -> Array:
    """Both orders of a pair, from that with the inner one first; of one ball their mean."""
    swapped = jnp.swapaxes(ordered, 0, 1)
    inner_first = (path & ~(same & ~np.eye(len(path), dtype=bool)))[:, :, None]
    whole = jnp.where(inner_first, ordered, jnp.where(np.swapaxes(inner_first, 0, 1), swapped, 0.0))
    both = (same & ~np.eye(len(path), dtype=bool))[:, :, None]
    return jnp.where(both, 0.5 * (ordered + swapped), whole)
