"""A physical state that still knows the numbers it was read from."""

from collections.abc import Mapping
from typing import Any

import jax

from poinsot.core import State


@jax.tree_util.register_pytree_with_keys_class
class FormState(State):
    """A physical state of bodies, with the numbers that a form of their equations has for it.

    A formulation in the same coordinates and form goes on from these numbers, so that neither a drift from
    the constraints nor a momentum across them is lost. Any other starts from the physical state.

    Args:
        physical: `position`, `quaternion`, `velocity` and `angular_velocity` of all bodies.
        own: the state of the problem.
        coordinates: those of the formulation, as they print.
        form: its form.
    """

    own: State
    coordinates: str
    form: str

    def __init__(self, physical: Mapping[str, Any], own: State, coordinates: str, form: str):
        super().__init__(**physical)
        self.own, self.coordinates, self.form = own, coordinates, form

    def tree_flatten_with_keys(self) -> tuple[tuple, Any]:
        """Leaves with their labels (for JAX)."""
        keyed, names = super().tree_flatten_with_keys()
        return (*keyed, (jax.tree_util.GetAttrKey("own"), self.own)), (names, self.coordinates, self.form)

    @classmethod
    def tree_unflatten(cls, names, leaves):
        """Rebuild from leaves."""
        labels, coordinates, form = names
        *physical, own = leaves
        state = super().tree_unflatten(labels, physical)
        state.own, state.coordinates, state.form = own, coordinates, form
        return state
