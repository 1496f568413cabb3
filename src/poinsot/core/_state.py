"""The state of a system: labelled arrays."""

from collections.abc import Iterator
from typing import Any

import jax
from jaxtyping import Array

from poinsot.core._numbers import as_floats
from poinsot.core._show import brief


@jax.tree_util.register_pytree_with_keys_class
class State:
    """Labelled arrays, for instance `State(q=[0.4, 0.0], p=[0.0, 2.0])` or `State(y=[1.0, 2.0])`.

    Which labels a state needs is fixed by the kind of problem: `q, p` for a Hamiltonian, `y` for an
    ordinary differential equation. Lists and numbers become float64 arrays. A state is a pytree, so it
    passes through `jit`, `vmap` and `grad`; a saved trajectory is a state with a leading time axis.
    """

    in_words = "a pt.State, such as system.state(...) or pt.State(q=..., p=...)"

    def __init__(self, **components):
        self._components = {name: as_floats(value, name) for name, value in components.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The labels, in the order given."""
        return tuple(self._components)

    def __getattr__(self, name: str) -> Array:
        # While a state is copied or unpickled it has no components yet, and is asked for other attributes.
        components = self.__dict__.get("_components", {})
        if name in components:
            return components[name]
        raise AttributeError(f"this state has no {name!r}; it has {', '.join(components)}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.names})

    def __getitem__(self, name: str) -> Array:
        return self._components[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._components)

    def items(self):
        """Pairs of label and array."""
        return self._components.items()

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={brief(value)}' for name, value in self.items())})"

    def tree_flatten_with_keys(self) -> tuple[tuple, Any]:
        """Leaves with their labels (for JAX)."""
        keyed = tuple((jax.tree_util.GetAttrKey(name), value) for name, value in self.items())
        return keyed, self.names

    @classmethod
    def tree_unflatten(cls, names, leaves):
        """Rebuild from leaves, whatever they are: JAX passes placeholders here."""
        state = object.__new__(cls)
        state._components = dict(zip(names, leaves, strict=True))
        return state
