"""Traced functions as machine code, through LLVM: the same bits on every processor.

A function is traced by JAX, gone through component by component (`poinsot.kernels.evaluate`), and written as
LLVM code in which a component is a number, or a vector with one for each of several runs side by side.
"""

from poinsot.kernels.native import _kept as kept
from poinsot.kernels.native._blocks import Block
from poinsot.kernels.native._frozen import frozen
from poinsot.kernels.native._ir import NotNative
from poinsot.kernels.native._program import NativeProgram, trace_of
from poinsot.kernels.native._target import Target, lanes_of, target

__all__ = [
    "Block",
    "NativeProgram",
    "NotNative",
    "Target",
    "frozen",
    "kept",
    "lanes_of",
    "target",
    "trace_of",
]
