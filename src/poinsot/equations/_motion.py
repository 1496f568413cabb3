"""What can be seen of bodies, whatever the coordinates and the form."""

from functools import cached_property
from typing import TYPE_CHECKING

from jaxtyping import Array, Float

from poinsot.core import Packed, Printable
from poinsot.equations._forms import Rates
from poinsot.rotation import extracted_quaternion, normalise

if TYPE_CHECKING:
    from poinsot.equations._formulation import Formulation


class Motion(Printable):
    """What can be seen of all bodies at one time, whatever the coordinates and the form."""

    position: Float[Array, "body 3"]
    """Mass centres."""
    rotation: Float[Array, "body 3 3"]
    """Body to space; columns are the directors."""
    quaternion: Float[Array, "body 4"]
    """Of the rotation, scalar first; the sign at one time by itself is arbitrary."""
    velocity: Float[Array, "body 3"]
    """Of the mass centres, in space."""
    angular_velocity: Float[Array, "body 3"]
    """In the body frames, as the form carries it."""
    energy: Float[Array, ""]
    """Kinetic and potential, as the form carries it; of prescribed motions too."""
    linear_momentum: Float[Array, "3"]
    """In space."""
    angular_momentum: Float[Array, "3"]
    """In space, about the origin."""
    constraint: Float[Array, "body m"]
    """Residuals of the internal constraints of the coordinates; zero for bodies that do not rotate."""
    constraint_rate: Float[Array, "body m"]
    """Their rates."""
    multipliers: Float[Array, "body k"]
    r"""Multipliers $\lambda$ of $M\ddot q + G^T\lambda = f$, by post-processing; none on the group."""


class View:
    """The parts of the `Motion` at one packed state, each computed when it is first asked for.

    Args:
        formulation: system, coordinates and form.
        t: time.
        y: packed state of the problem.
    """

    def __init__(self, formulation: "Formulation", t, y: Packed):
        self._formulation, self._system = formulation, formulation.bodies.system
        self._t, self._y = t, y

    @cached_property
    def _rates(self) -> Rates:
        return self._formulation.rates(self._t, self._y)

    @cached_property
    def _poses(self) -> tuple[Array, Array, Array, Array]:
        return self._formulation.poses(self._t, *self._rates)

    @cached_property
    def _residuals(self) -> tuple[Array, Array]:
        return self._formulation.residuals(self._t, self._y)

    @property
    def position(self) -> Array:
        """See `Motion`, for this and the others."""
        return self._poses[0]

    @property
    def rotation(self) -> Array:
        """See `Motion`."""
        return self._poses[1]

    @cached_property
    def quaternion(self) -> Array:
        """See `Motion`."""
        return normalise(extracted_quaternion(self.rotation))

    @property
    def velocity(self) -> Array:
        """See `Motion`."""
        return self._poses[2]

    @property
    def angular_velocity(self) -> Array:
        """See `Motion`."""
        return self._poses[3]

    @cached_property
    def energy(self) -> Array:
        """See `Motion`."""
        of_free = self._formulation.energy(self._t, self._y)
        return of_free + self._system.driven_energy(self.velocity, self.angular_velocity)

    @cached_property
    def linear_momentum(self) -> Array:
        """See `Motion`."""
        return self._system.linear_momentum(*self._poses)

    @cached_property
    def angular_momentum(self) -> Array:
        """See `Motion`."""
        return self._system.angular_momentum(*self._poses)

    @cached_property
    def constraint(self) -> Array:
        """See `Motion`."""
        return self._formulation.of_all(self._residuals[0])

    @cached_property
    def constraint_rate(self) -> Array:
        """See `Motion`."""
        return self._formulation.of_all(self._residuals[1])

    @cached_property
    def multipliers(self) -> Array:
        """See `Motion`."""
        q, rate, _ = self._rates
        return self._formulation.of_all(self._formulation.multipliers(self._t, q, rate))
