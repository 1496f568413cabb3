"""Strictness for every test: float64, no silent promotion of dtype or rank, warnings are errors."""

import gc

import jax
import pytest

import poinsot  # noqa: F401  (switches float64 on)

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(autouse=True, scope="module")
def _fresh_caches():
    """Compiled programs of one module are of no use to the next and fill the memory."""
    yield
    jax.clear_caches()
    gc.collect()
