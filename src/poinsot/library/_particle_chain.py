"""A chain of rigid bodies made of particles."""

from typing import Annotated, Any

from jax.typing import ArrayLike

from poinsot.core import checked, whole
from poinsot.model import Chain, RigidBody, potentials, shapes


@checked
def particle_chain(
    body: RigidBody | None = None,
    count: Annotated[int, whole(1, 10**7)] = 8,
    spacing: ArrayLike = 2.0,
    potential: Any = None,
    ends: Any = ("clamped", "clamped"),
    *,
    neighbours: int = 1,
) -> Chain:
    r"""A chain of rigid bodies whose particles act on those of neighbouring bodies.

    By default the example of Chaurasia's thesis (2012), section 3.6: eight tetrahedra, two apart, whose
    particles attract and repel each other by Lennard-Jones potentials with $\varepsilon = 5$, $\sigma = 1$.
    Its straight chain is far from equilibrium: the bonds are compressed.

    Args:
        body: what all bodies are; a tetrahedron of four unit masses when left out.
        count: number of bodies, the ends included.
        spacing: distance of neighbours in the straight chain.
        potential: between particles or poses of neighbours, one of `pt.potentials`, or a list.
        ends: see `pt.Chain`: "clamped", "free", `pt.ends.force(F)`, `pt.ends.displaced(d)` for each end, or
            "ring", or "periodic".
        neighbours: bodies each body acts on to either side.

    Returns:
        The chain, for `straight_state`, `state` and `pt.simulate`. Its `dt` suits the default data.

    Example:
        >>> import poinsot as pt
        >>> chain = pt.library.particle_chain(count=8, ends=("clamped", pt.ends.force((3.0, 0, 0))))
        >>> start = chain.straight_state(velocity_scale=0.05, seed=0)
    """
    chain = Chain(
        shapes.tetrahedron(a=1.0, particle_mass=1.0) if body is None else body,
        count,
        spacing,
        potentials.LennardJones(epsilon=5.0, sigma=1.0) if potential is None else potential,
        ends,
        neighbours=neighbours,
        name="particle chain",
    )
    return chain.recommending(dt=0.002)
