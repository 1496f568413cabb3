"""Coefficients of Runge-Kutta and composition methods: data by family, each entry with its reference.

A function builds its tableau or scheme on the first call, in 50 digits, and validates it; later calls return
the same object.
"""

from .collocation import (
    gauss,
    implicit_euler,
    implicit_midpoint,
    lobatto_iiia,
    lobatto_iiib,
    lobatto_iiic,
    lobatto_pair,
    radau_iia,
    sun_geng5,
)
from .composition import (
    COMPOSITION_SCHEMES,
    blanes_moan4,
    blanes_moan6,
    kahan_li6,
    kahan_li8,
    mclachlan4,
    mclachlan4_pair,
    mclachlan6,
    mclachlan8,
    suzuki4,
    yoshida4,
    yoshida6,
    yoshida8,
)
from .explicit import dormand_prince5, explicit_euler, heun, rk4

__all__ = [
    "COMPOSITION_SCHEMES",
    "blanes_moan4",
    "blanes_moan6",
    "dormand_prince5",
    "explicit_euler",
    "gauss",
    "heun",
    "implicit_euler",
    "implicit_midpoint",
    "kahan_li6",
    "kahan_li8",
    "lobatto_iiia",
    "lobatto_iiib",
    "lobatto_iiic",
    "lobatto_pair",
    "mclachlan4",
    "mclachlan4_pair",
    "mclachlan6",
    "mclachlan8",
    "radau_iia",
    "rk4",
    "sun_geng5",
    "suzuki4",
    "yoshida4",
    "yoshida6",
    "yoshida8",
]
