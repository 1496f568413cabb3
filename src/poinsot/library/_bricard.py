"""Bricard's loop of six hinges."""

import jax.numpy as jnp
import numpy as np

from poinsot.library._bar import bar
from poinsot.model import System, joints, potentials

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], dtype=float)
"""Where the hinges are at the start: a way along six edges of a cube; the last edge is the ground."""


def bricard() -> System:
    r"""Six hinges in a loop that moves although it should not: after IFToMM benchmark A04.

    Five bars of one metre and one kilogram and the ground between their ends form a hexagon along edges of a
    cube. Each hinge is along the third edge that meets there, so that the axes of every bar are perpendicular
    to it and to each other. Counted, six hinges leave $6\cdot5 - 5\cdot6 = 0$ degrees of freedom. But one of
    the 30 conditions is redundant: the loop, threefold symmetric, has one degree of freedom. With exterior
    angles $\vartheta$ and $\varphi$ at every other corner,

    $$ \cos\vartheta + \cos\varphi + \cos\vartheta\cos\varphi = 0. $$

    The bars start at rest, in gravity along -y.
    """
    edges = np.roll(CORNERS, -1, axis=0) - CORNERS
    axes = np.cross(np.roll(edges, 1, axis=0), edges)
    places = (CORNERS + 0.5 * edges)[:5]
    turned = np.stack([edges, axes, np.cross(edges, axes)], axis=2)[:5]
    names = [f"bar{i}" for i in range(1, 6)]
    ends = ["ground", *names, "ground"]
    system = System(
        [bar(name) for name in names],
        joints=[
            joints.Revolute(ends[k], ends[k + 1], at=CORNERS[k], axis=axes[k], name=f"P{k}") for k in range(6)
        ],
        potentials=[potentials.UniformGravity((0.0, -9.81, 0.0))],
        reference={name: (places[i], turned[i]) for i, name in enumerate(names)},
        name="bricard",
    )
    start = system.state(position=jnp.asarray(places), rotation=jnp.asarray(turned))
    return system.recommending(start, 1e-3)
