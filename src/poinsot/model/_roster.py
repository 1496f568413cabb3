"""The bodies of a system as terms see them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, known_names, on_device, quoted

from ._checks import stacked
from ._joint_coordinate import Held, JointCoordinate, Kind, chosen
from ._rigid_body import RigidBody


@dataclass(frozen=True)
class Roster:
    """Names of all bodies, and what they are.

    Args:
        names: one for each body.
        kinds: one body for each name, or a single one that all bodies are equal to.
        joints: by name, with their markers.
    """

    names: Sequence[str]
    kinds: Sequence[RigidBody]
    joints: Held = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of bodies."""
        return len(self.names)

    def place(self, reference: Any) -> int:
        """Place of a body given by its place or its name.

        Raises:
            InputError: there is no such body.
        """
        if isinstance(reference, str):
            if reference in self.names:
                return self.names.index(reference)
            raise InputError(f"no body is called {quoted(reference)}; {known_names(reference, self.names)}")
        if reference >= self.count:
            last = self.count - 1
            raise InputError(f"is about body {reference}; of {self.count} bodies the last is body {last}")
        return reference

    def coordinate(
        self, joint: str, coordinate: str | None, kind: Kind | None, label: str
    ) -> JointCoordinate:
        """A coordinate of a joint; see `chosen`."""
        return chosen(self.joints, joint, coordinate, kind, label)

    def chosen(self, places: Sequence[int] | None) -> Sequence[RigidBody]:
        """The bodies at these places, or all; a single one where all bodies are equal."""
        if places is None or len(self.kinds) == 1:
            return self.kinds
        return [self.kinds[place] for place in places]

    def masses(self, places: Sequence[int] | None) -> Float[Array, "chosen"]:
        """Mass of each chosen body, or one mass where all bodies are equal."""
        return stacked([body.mass for body in self.chosen(places)], ())

    def inertias(self, places: Sequence[int] | None) -> Float[Array, "chosen 3 3"]:
        """Inertia matrix of each chosen body, or one where all bodies are equal."""
        return stacked([body.inertia_matrix for body in self.chosen(places)], (3, 3))

    def particle_counts(self, places: Sequence[int]) -> tuple[int, ...]:
        """Number of particles of each chosen body; a body without particles counts as one."""
        own = tuple(len(_points(body)) for body in self.chosen(places))
        return own * (len(places) // len(own))

    def particles(self, places: Sequence[int]) -> Float[Array, "particle 3"]:
        """Particles of the chosen bodies in their body frames, body after body.

        A body without particles counts as one particle at its mass centre.
        """
        own = jnp.concatenate([_points(body) for body in self.chosen(places)])
        return jnp.tile(own, (len(places) // len(self.chosen(places)), 1))


def _points(body: RigidBody) -> Float[Array, "particle 3"]:
    return on_device(np.zeros((1, 3))) if body.particles is None else body.particles.points
