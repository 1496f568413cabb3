"""The scaling parameter sigma of the modified inertia, and numbers like it."""

import math
from typing import Literal

import jax.numpy as jnp

from poinsot.core import InputError, quoted
from poinsot.core.types import Scalar

from ._base import Moments

Sigma = float | Literal["mean"] | None


def checked_number(field: str, value: float) -> float:
    """A finite number that is not negative, or an `InputError` that names the field."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not 0.0 <= number < math.inf:
        raise InputError(f"{field} = {quoted(value)} must be a finite number that is zero or more")
    return number


def checked_sigma(value: Sigma) -> Sigma:
    """`None`, "mean" or a number that is not negative."""
    if value is None or value == "mean":
        return value
    if isinstance(value, str):
        raise InputError(f"sigma = {quoted(value)} is not known; give a number, 'mean' or None")
    return checked_number("sigma", value)


def sigma_value(sigma: float | Literal["mean"], J: Moments) -> Scalar:
    r"""The number that sigma stands for; "mean" is $\sigma_m = \tfrac13\operatorname{tr} J$."""
    return jnp.sum(J) / 3.0 if sigma == "mean" else jnp.asarray(sigma)
