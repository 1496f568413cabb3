"""Compiling for one call: code that runs once need not run fast."""

from typing import Any

import equinox as eqx

QUICKLY: dict[str, Any] = {"compiler_options": {"xla_backend_optimization_level": 0}}
"""How `eqx.filter_jit` compiles in about half the time."""


def once(function):
    """A function of JAX values compiled whole, and quickly, for one call or two.

    Called as it stands, each of its operations would be compiled by itself, which takes many times longer. It
    cannot be called within another compiled function.
    """
    return eqx.filter_jit(function, **QUICKLY)
