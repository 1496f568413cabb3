"""Functions as native programs, in lanes and one run at a time, beside what JAX makes of them."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import USERS
from poinsot.kernels.native import NativeProgram

LANES = 8
"""Runs of a test, one to a lane."""


def random(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def users(function: Callable) -> Callable:
    """A function as users' functions are traced, where nothing is simplified but what IEEE 754 allows."""
    return jax.named_scope(USERS)(function)


def wide_program(function: Callable, runs: Any, width: int = LANES) -> NativeProgram:
    """A program of runs alone, given with the runs in front."""
    one = jax.tree.map(lambda leaf: leaf[0], runs)
    return NativeProgram.of(lambda model, grid, run: function(*run), (), (), one, width=width, fast=False)


def in_lanes(function: Callable, runs: tuple, width: int = LANES) -> Any:
    program = wide_program(function, runs, width)
    return program(program.block((), ()), runs)


def one_by_one(function: Callable, runs: tuple) -> Any:
    call = wide_program(function, runs, 1).bound([])
    each = [
        call((), jax.tree.map(lambda leaf, k=k: leaf[k], runs)) for k in range(len(jax.tree.leaves(runs)[0]))
    ]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *each)


def same(a: Any, b: Any, *, signs: bool = True) -> bool:
    """Whether arrays are the same, NaN equal to NaN, and zeros of the same sign where that is asked for."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype or not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
        return False
    known = ~np.isnan(a) if a.dtype.kind == "f" else np.ones(a.shape, dtype=bool)
    return not signs or a.dtype.kind != "f" or np.array_equal(np.signbit(a[known]), np.signbit(b[known]))


def check(function: Callable, *runs: Any, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Native lanes and native runs have the same bits, and are what JAX makes of each run."""
    wide, single = in_lanes(function, runs), one_by_one(function, runs)
    compiled = jax.jit(function)
    count = len(jax.tree.leaves(runs)[0])
    each = [compiled(*jax.tree.map(lambda leaf, k=k: jnp.asarray(leaf[k]), runs)) for k in range(count)]
    wanted = jax.tree.map(lambda *leaves: np.stack(leaves), *each)
    assert jax.tree.structure(wide) == jax.tree.structure(wanted)
    for a, b, want in zip(*map(jax.tree.leaves, (wide, single, wanted)), strict=True):
        assert same(a, b), "a lane differs from the same run alone"
        assert a.dtype == want.dtype
        np.testing.assert_allclose(a, want, rtol=rtol, atol=atol)
