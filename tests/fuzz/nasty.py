"""Values that nobody means, and what a call may do with them."""

import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import poinsot as pt

LIMIT = 20.0
"""Seconds of the processor that no refusal takes."""


class Unprintable:
    """An object without a text."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


NASTY: tuple[Any, ...] = (
    None,
    True,
    False,
    "",
    "abc",
    "rk4",
    b"x",
    math.nan,
    math.inf,
    -math.inf,
    0,
    -1,
    1,
    2.5,
    -0.0,
    1e308,
    1e-320,
    10**9,
    10**400,
    -(10**400),
    1 + 2j,
    [],
    (),
    {},
    set(),
    [math.nan],
    [1, [2]],
    [[1, 2], [3, 4]],
    (1, 2, 3),
    np.zeros((3, 3)),
    np.ones(2),
    np.ones(0),
    np.array(None),
    np.array(["a", "b"]),
    np.float32(2),
    jnp.ones(3),
    {"a": 1},
    {1: 2},
    ["a"],
    range(3),
    object(),
    Unprintable(),
    len,
    lambda: 0,
    lambda *_: math.nan,
    int,
    math,
    Path("none"),
    pt.State(q=[1.0], p=[0.0]),
    pt.RigidBody,
    NotImplemented,
    Ellipsis,
)


def outcome(call: Callable[[], Any]) -> str | None:
    """What is wrong with how a call ends; None where it returns, or refuses in one line and in time."""
    began = time.process_time()
    said = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            repr(call())
        except (pt.InputError, pt.SimulationError, pt.core.MissingPackageError) as error:
            lines = str(error).splitlines()
            if len(lines) != 1 or len(lines[0]) > 900:
                said = f"{len(lines)} lines: {str(error)[:200]}"
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:200]}"
    taken = time.process_time() - began
    return f"{taken:.0f} s" if said is None and taken > LIMIT else said
