"""Recursions along a tree, from the ground outwards and back."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.kernels import is_long, is_serial


def outward(step: Callable[[Any, Any], Any], above: Sequence[int], ground: Any, own: Any) -> Any:
    """What each node makes of that above it and of its own numbers.

    Args:
        step: `step(before, own) -> after`.
        above: node above each; -1 for the ground.
        ground: what stands for the ground; like `after`.
        own: arrays with one entry for each node.
    """
    if not is_long(above):
        done: list[Any] = []
        for k, before in enumerate(above):
            done.append(step(ground if before < 0 else done[before], _at(own, k)))
        return _stacked(done, ground)
    if is_serial(above):

        def along(before, numbers):
            after = step(before, numbers)
            return after, after

        return jax.lax.scan(along, ground, own)[1]
    rows = jax.tree.map(lambda leaf: jnp.zeros((len(above) + 1, *leaf.shape)).at[-1].set(leaf), ground)

    def body(rows, given):
        k, before, numbers = given
        after = step(_at(rows, before), numbers)
        return jax.tree.map(lambda row, leaf: row.at[k].set(leaf), rows, after), None

    rows, _ = jax.lax.scan(body, rows, (np.arange(len(above)), _indices(above), own))
    return jax.tree.map(lambda row: row[:-1], rows)


def inward(
    step: Callable[[Any, Any], tuple[Any, Any]], above: Sequence[int], start: Any, own: Any
) -> tuple[Any, Any]:
    """What each node makes of the sum of those on it; it hands on what it adds to the one above.

    Args:
        step: `step(total, own) -> (kept, handed)`; `handed` is like `total`.
        above: node above each; -1 for the ground.
        start: what each total starts from.
        own: further numbers of each node.

    Returns:
        What the nodes kept, and the total of each.
    """
    if not is_long(above):
        totals = [_at(start, k) for k in range(len(above))]
        kept: list[Any] = [None] * len(above)
        for k in reversed(range(len(above))):
            kept[k], handed = step(totals[k], _at(own, k))
            if above[k] >= 0:
                totals[above[k]] = jax.tree.map(jnp.add, totals[above[k]], handed)
        return _stacked(kept, None), _stacked(totals, None)
    if is_serial(above):

        def back(handed, given):
            begin, numbers = given
            total = jax.tree.map(jnp.add, begin, handed)
            kept, handed = step(total, numbers)
            return handed, (kept, total)

        nothing = jax.tree.map(lambda leaf: jnp.zeros_like(leaf[0]), start)
        return jax.lax.scan(back, nothing, (start, own), reverse=True)[1]
    rows = jax.tree.map(lambda leaf: jnp.concatenate([leaf, jnp.zeros_like(leaf[:1])]), start)

    def body(rows, given):
        k, before, numbers = given
        kept, handed = step(_at(rows, k), numbers)
        return jax.tree.map(lambda row, leaf: row.at[before].add(leaf), rows, handed), kept

    rows, kept = jax.lax.scan(body, rows, (np.arange(len(above)), _indices(above), own), reverse=True)
    return kept, jax.tree.map(lambda row: row[:-1], rows)


def each(above: Sequence[int], function: Callable, *rows: Any) -> Any:
    """Apply a function to the numbers of every node: all at once, or where they are many one after another.

    Args:
        above: node above each; -1 for the ground.
        function: takes numbers of one node, or of many along first axes.
        rows: its arguments, one entry for each node.
    """
    if not is_long(above) or not len(jax.tree.leaves(rows)[0]):
        return function(*rows)
    return jax.lax.map(lambda row: function(*row), rows)


def picked(rows: Array, places: Any) -> Array:
    """Rows by their places; as they stand, without a copy, where these are their own."""
    places = np.asarray(places, dtype=int)
    return rows if np.array_equal(places, np.arange(len(rows))) else rows[places]


def _indices(above: Sequence[int]) -> np.ndarray:
    """Rows of the nodes above, that of the ground last."""
    indices = np.array(above, dtype=int)
    return np.where(indices < 0, len(indices), indices)


def _at(tree: Any, k: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[k], tree)


def _stacked(rows: Sequence[Any], like: Any) -> Any:
    """Rows as one array for each of their parts; `like` says which where there are no rows."""
    if not rows:
        return jax.tree.map(lambda leaf: jnp.zeros((0, *leaf.shape)), like)
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *rows)
