r"""The body on which formulations and their integrators are measured.

An asymmetric body turns about a fixed point, with its weight and a spring from one of its points to a place
on the vertical above the pivot. The energy and the vertical angular momentum are conserved, nothing else; the
spring is nonlinear in every coordinates and declares its invariant, the squared length.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.analysis._specimen import Specimen, seen
from poinsot.analysis._travel import travel
from poinsot.coordinates import Directors
from poinsot.core import State
from poinsot.equations import formulate
from poinsot.integrators import FixedPoint, GaussLegendre
from poinsot.model import RigidBody, System, freedom
from poinsot.model.potentials import HeavyTop, Marker, Spring
from poinsot.rotation import euler

INERTIA = (1.0, 1.3, 1.7)
T1 = 4.0
"""Time at which motions are compared."""
STEP = 0.05


@cache
def standard_body() -> System:
    """The system."""
    weight = HeavyTop(1.4)
    spring = Spring(Marker(0, (0.3, -0.2, 0.9)), (0.0, 0.0, 1.6), stiffness=1.1, rest_length=0.4)
    return System(
        [RigidBody(1.0, INERTIA)],
        freedom=freedom.FixedPoint(point=(0.0, 0.0, 0.0)),
        potentials=[weight, spring],
        name="standard body",
    )


@cache
def standard_start() -> State:
    """Where it starts: away from gimbal lock of every sequence, with all components in motion."""
    return standard_body().state(rotation=euler("zxz", (0.4, 1.1, -0.7)), angular_velocity=(0.7, -0.5, 1.1))


@cache
def standard_end() -> Float[Array, "12"]:
    """Rotation and angular velocity at time `T1`, by Gauss of order 16 in directors."""
    formulation = formulate(standard_body(), Directors(), "null_space")
    exactest = GaussLegendre(8, solver=FixedPoint(tolerance=0.0), compensated=True)
    y = formulation.problem.pack(formulation.start(standard_start()))
    end = travel(formulation.problem, exactest, y, T1 / 64, 64)
    return jnp.asarray(np.asarray(seen(formulation, end.y)))


@cache
def standard_top() -> Specimen:
    """The body and its start, as what methods are measured on."""
    return Specimen("body", standard_body(), standard_start(), T1, STEP, 4.0, 2.0, standard_end)
