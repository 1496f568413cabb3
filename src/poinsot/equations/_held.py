"""What problems with multipliers of bodies have in common, in whatever coordinates."""

from typing import Any

import equinox as eqx

from poinsot.core import AbstractConstrained, UserFunction


class AbstractHeld(AbstractConstrained):
    """Bodies with constraints that the integrator imposes: on positions, or on velocities alone."""

    bodies: eqx.AbstractVar[Any]
    """The bodies in coordinates."""
    held: eqx.AbstractVar[int]
    """The index: 3 for constraints on positions, 2 where integrators hold velocities only."""
    params: eqx.AbstractVar[Any]
    invariants: eqx.AbstractVar[dict[str, UserFunction]]
    vectorised: eqx.AbstractVar[bool]

    @property
    def index(self) -> int:
        """As given."""
        return self.held

    @property
    def autonomous(self) -> bool:
        """Whether time does not enter."""
        return self.bodies.autonomous

    @property
    def conservative(self) -> bool:
        """Whether no load acts."""
        return self.bodies.conservative
