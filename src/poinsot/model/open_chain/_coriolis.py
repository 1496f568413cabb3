"""The Coriolis matrix: velocity forces as a matrix times the rates, in step with the metric tensor."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.rotation import hat

from ._dynamics import node_inertias, space_inertias
from ._kinematics import Movement, Posture, of_bodies
from ._nodes import Nodes
from ._spatial import Spatial, applied, bracket, halves, inertia_from, joined, product, twist_at, wrench_from
from ._structure import Structure, to_nodes
from ._sweeps import inward

Triples = Float[Array, "node 3 6"]
"""Three wrenches, one for a unit turn about each direction of space."""


def coriolis(nodes: Nodes, posture: Posture, moved: Movement) -> Float[Array, "n n"]:
    r"""The matrix $C$ with $\dot a = C + C^T$, by composite bodies (Echeandia and Wensing, 2021).

    $$ C_{\alpha\beta} = S_\alpha\cdot (I^c \dot S_\beta + B^c S_\beta) $$

    with $I^c$ and $B^c$ summed over the bodies that both rates move. About the mass centre of a body

    $$ B = \begin{pmatrix} \tfrac12(\hat\omega J - J\hat\omega - \widehat{J\omega}) & 0 \\
       -m\,\hat v & 0 \end{pmatrix} $$

    These are the coefficients of the connection that the metric has without torsion, in the directions of
    the rates: $C_{\gamma\beta} = \sum_\alpha \Gamma_{\alpha\beta,\gamma} v_\alpha$ where these are
    derivatives of coordinates.
    """
    structure = nodes.structure
    inertias, turnings = _composite(nodes, posture, moved)
    own, columns = structure.node_of, posture.columns
    rates = _column_rates(structure, posture, moved)
    turn, _ = halves(columns)
    points = posture.points[own]
    arms = points[None] - points[:, None]
    # Wrenches at the point of the second column, where it is the outer one.
    pushed = applied(inertias[own], rates) + jnp.sum(turnings[own] * turn[..., None], axis=1)
    outer = jnp.sum(_moved_to(columns, arms) * pushed[None], axis=2)
    # And at that of the first one, where this is the outer one.
    kept, turned = applied(inertias[own], columns), applied(turnings[own], columns)
    inner = jnp.sum(_moved_to(rates, arms) * kept[None], axis=2)
    inner = inner + jnp.sum(turn[:, None] * turned[None], axis=2)
    whole = jnp.where(structure.path, outer, jnp.where(structure.path.T, inner.T, 0.0))
    order = structure.column_of
    return whole[order][:, order]


def _moved_to(twists: Spatial, arms: Float[Array, "n n 3"]) -> Float[Array, "n n 6"]:
    """Twists of columns at the points of all columns."""
    turn, velocity = (half[:, None] for half in halves(twists))
    return joined(jnp.broadcast_to(turn, arms.shape), velocity + jnp.cross(turn, arms))


def _column_rates(structure: Structure, posture: Posture, moved: Movement) -> Spatial:
    """Derivatives of the columns in time, as seen at points fixed in space."""
    # Directions of the turns of a ball move with the outer body, or with the inner one if passed from there.
    outer = np.zeros((structure.count, 1), dtype=bool)
    outer[list(structure.balls), 0] = ~np.array(structure.backward, dtype=bool)
    carrier = jnp.where(outer, moved.after, moved.before)
    return bracket(carrier[structure.node_of], posture.columns)


def _composite(nodes: Nodes, posture: Posture, moved: Movement) -> tuple[Float[Array, "node 6 6"], Triples]:
    """The matrices $I^c$, and $B^c$ transposed, of each node with all that it carries, about its point."""
    structure = nodes.structure
    parts = node_inertias(nodes, posture), to_nodes(structure, _turnings(nodes, posture, moved))

    def step(totals, arm):
        return (), (inertia_from(totals[0], arm), wrench_from(totals[1], arm[None]))

    return inward(step, structure.parents, parts, posture.arms)[1]


def _turnings(nodes: Nodes, posture: Posture, moved: Movement) -> Float[Array, "body 3 6"]:
    """The matrices $B$ of the bodies, transposed, about the points of their nodes."""
    J = space_inertias(nodes, posture)
    twists = twist_at(of_bodies(nodes.structure, moved.after), posture.levers)
    omega, velocity = halves(twists)
    turning = product(hat(omega), J)
    # J is symmetric, and the other two are skew.
    moments = 0.5 * (jnp.swapaxes(turning, 1, 2) + hat(applied(J, omega)) + turning)
    forces = nodes.masses[:, None, None] * hat(velocity)
    return wrench_from(joined(moments, forces), posture.levers[:, None])
