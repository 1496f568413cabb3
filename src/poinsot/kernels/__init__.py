"""How a step runs: traced once, then compiled by XLA, or component by component to machine code."""

from poinsot.kernels._apart import arrays, is_traced
from poinsot.kernels._at_once import at_once
from poinsot.kernels._compile_time import compilations, covered
from poinsot.kernels._components import (
    Arithmetic,
    Components,
    apart,
    evaluate,
    in_components,
    is_number,
    objects,
)
from poinsot.kernels._cores import cores, shared_out
from poinsot.kernels._kernel import SHORT, Bound, Choice, Kernel
from poinsot.kernels._lanes import Lanes, in_lanes, lanes_apart
from poinsot.kernels._methods import of_states
from poinsot.kernels._once import alone, by_blocks, each_state, filled, once
from poinsot.kernels._pieces import in_pieces
from poinsot.kernels._programs import Fitted, jitted, programs_made, remembered, with_numbers
from poinsot.kernels._recursion import is_long, is_serial
from poinsot.kernels._snapshot import settled
from poinsot.kernels._xla_cache import install

install()

__all__ = [
    "SHORT",
    "Arithmetic",
    "Bound",
    "Choice",
    "Components",
    "Fitted",
    "Kernel",
    "Lanes",
    "alone",
    "apart",
    "arrays",
    "at_once",
    "by_blocks",
    "compilations",
    "cores",
    "covered",
    "each_state",
    "evaluate",
    "filled",
    "in_components",
    "in_lanes",
    "in_pieces",
    "is_long",
    "is_number",
    "is_serial",
    "is_traced",
    "jitted",
    "lanes_apart",
    "objects",
    "of_states",
    "once",
    "programs_made",
    "remembered",
    "settled",
    "shared_out",
    "with_numbers",
]
