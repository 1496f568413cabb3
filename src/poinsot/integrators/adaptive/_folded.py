"""Trees of numbers in one array."""

import math
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Tree = TypeVar("Tree")


class Folded(eqx.Module, Generic[Tree]):
    """A tree of numbers in one array, because a compiled program takes time for each that it gives or takes.

    Integers, which must be below $2^{53}$, and truth values come back as they were.
    """

    numbers: Float[Array, " size"]
    layout: tuple[Any, ...] = eqx.field(static=True)
    """Structure of the tree, then shape and type of each leaf."""

    @classmethod
    def of(cls, tree: Tree) -> "Folded[Tree]":
        """The tree, folded."""
        leaves, structure = jax.tree.flatten(tree)
        numbers = jnp.concatenate([jnp.ravel(leaf).astype(float) for leaf in leaves])
        return cls(numbers, (structure, *((leaf.shape, leaf.dtype) for leaf in leaves)))

    def tree(self) -> Tree:
        """The tree as it was."""
        structure, *kinds = self.layout
        leaves, begin = [], 0
        for shape, dtype in kinds:
            end = begin + math.prod(shape)
            leaves.append(self.numbers[begin:end].reshape(shape).astype(dtype))
            begin = end
        return jax.tree.unflatten(structure, leaves)
