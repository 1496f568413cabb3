"""A free body that tumbles with no symmetry and no instability."""

from functools import partial

from poinsot.core import checked
from poinsot.library._free_body import free_motion, thrown_body
from poinsot.library._parameters import Vector, moments
from poinsot.model import System


@checked
def tumbling_body(
    inertia: Vector = (0.9144, 1.098, 1.66),
    angular_velocity: Vector = (0.45549, 0.82623, 0.03476),
) -> System:
    r"""A free body with three different moments, from $R(0) = I$.

    The data are those of Terze, Müller and Zlatar (2013), which gives no initial rotation.

    Args:
        inertia: three principal moments about the mass centre.
        angular_velocity: $\Omega(0)$, in the body frame.
    """
    system = thrown_body("tumbling body", inertia)
    start = system.state(angular_velocity=angular_velocity)
    exact = partial(free_motion, inertia=moments(inertia), start=start)
    return system.recommending(start, 0.1, exact)
