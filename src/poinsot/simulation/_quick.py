"""Compiling for one call: code that runs once need not run fast."""

from typing import Any

import equinox as eqx

QUICK_TO_COMPILE: dict[str, Any] = {"compiler_options": {"xla_backend_optimization_level": 0}}
"""For `eqx.filter_jit` of what is called once or twice, such as a check at the start or a derivative."""


def once(function):
    """A function of JAX values compiled whole, and quickly.

    Called as it stands, each of its operations would be compiled by itself, which takes many times longer.
    """
    return eqx.filter_jit(function, **QUICK_TO_COMPILE)
