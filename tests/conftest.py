"""Strictness for every test: float64, no silent promotion of dtype or rank, warnings are errors."""

import gc
import os
from pathlib import Path

import jax
import pytest

import poinsot  # noqa: F401  (switches float64 on)

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
# Compiling is most of the suite's time, and the same programs occur in many modules. Each process has a cache
# of its own: one that reads what another has not finished writing would be warned.
CACHE = Path(__file__).parents[1] / ".pytest_cache" / "jax" / os.environ.get("PYTEST_XDIST_WORKER", "alone")
jax.config.update("jax_compilation_cache_dir", str(CACHE))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
# Native code may be shared: entries appear whole. What make set up stays.
os.environ.setdefault("POINSOT_CACHE_DIR", str(CACHE.parents[1] / "native"))


@pytest.fixture(autouse=True, scope="module")
def _fresh_caches():
    """Compiled programs of one module are of no use to the next and fill the memory."""
    yield
    jax.clear_caches()
    gc.collect()
