"""Two bodies joined by a ball joint, one of them on a spring: chaotic."""

import jax.numpy as jnp

from poinsot.core import checked
from poinsot.library._parameters import NotNegative, single
from poinsot.model import RigidBody, System, joints, potentials
from poinsot.rotation import about_x


@checked
def two_body_linkage(stiffness: NotNegative = 1e4) -> System:
    r"""Two bodies that share a point, the first held by a spring to the origin: Lang (2010), Example C.

    Points $\varrho_1 = (1, 2, -3)$ m of the first and $\varrho_2 = (5, -6, -7)$ m of the second body meet;
    masses 10 and 20 kg, moments $J = (41.6, 11.6, 50)$ kg m² of both. They start turned by 60° about x with
    $\Omega_1 = (3, 2, 1)$/s and $\Omega_2 = (24, 15, 12)$/s, the first at the origin and at rest. An error
    of $10^{-12}$ is one of $10^{-4}$ after a second: compare states up to half a second, the energy always.

    Args:
        stiffness: of the spring on the first mass centre, in N/m.
    """
    given = single(stiffness=stiffness)
    first, second = jnp.array([1.0, 2.0, -3.0]), jnp.array([5.0, -6.0, -7.0])
    spins = jnp.array([[3.0, 2.0, 1.0], [24.0, 15.0, 12.0]])
    moments = (41.6, 11.6, 50.0)
    spring = potentials.Spring((0.0, 0.0, 0.0), potentials.Marker("first"), stiffness=given["stiffness"])
    system = System(
        [RigidBody(10.0, moments, name="first"), RigidBody(20.0, moments, name="second")],
        joints=[joints.Spherical("first", "second", at_first=first, at_second=second, name="ball")],
        potentials=[spring],
        name="two-body linkage",
    )
    R = about_x(jnp.pi / 3)
    start = system.state(
        position=jnp.stack([jnp.zeros(3), R @ (first - second)]),
        rotation=jnp.stack([R, R]),
        velocity=jnp.stack([jnp.zeros(3), R @ (jnp.cross(spins[0], first) - jnp.cross(spins[1], second))]),
        angular_velocity=spins,
    )
    return system.recommending(start, 2.5e-4)
