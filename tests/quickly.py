"""Compile what a test calls once or twice in about half the time."""

from functools import partial
from typing import Any

import jax

QUICK: Any = {"compiler_options": {"xla_backend_optimization_level": 0}}
"""Options of `jax.jit` and `eqx.filter_jit`: the same trace, written as machine code with little effort."""
quickly = partial(jax.jit, **QUICK)
