"""Where arrays of arguments and results stand in memory."""

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.kernels.native._emitter import Slots
from poinsot.kernels.native._ir import BYTES, DOUBLE, I1, I64, kind_of

LARGE = 128
"""Elements from which an argument has a pointer of its own."""
STORED_DTYPES = {DOUBLE: np.float64, I64: np.int64, "i32": np.int32, I1: np.bool_}


@dataclass(frozen=True)
class Leaf:
    """One array of the arguments or results, and where it stands."""

    shape: tuple[int, ...]
    kind: str
    offset: int
    """In its block; of a large one, the number of its pointer."""
    large: bool

    @property
    def size(self) -> int:
        """Elements of one run."""
        return math.prod(self.shape)


class Layout:
    """Places of arrays in a block of bytes, small ones in it and large ones outside."""

    def __init__(self, avals: Sequence[Any], wide: bool, width: int):
        self.wide, self.width = wide and width > 1, width
        slots, self.leaves, self.pointers = Slots(width), [], 0
        for aval in avals:
            kind, size = kind_of(aval.dtype), math.prod(aval.shape)
            if size > LARGE:
                self.leaves.append(Leaf(aval.shape, kind, self.pointers, True))
                self.pointers += 1
                continue
            lanes = width if self.wide else 1
            align = min(64, BYTES[kind] * lanes)
            slots.size = -(-slots.size // align) * align
            self.leaves.append(Leaf(aval.shape, kind, slots.size, False))
            slots.size += size * BYTES[kind] * lanes
        self.stride = -(-max(slots.size, 1) // 64) * 64

    def place(self, leaf: Leaf, k: int) -> int:
        """Offset of an element of a small array."""
        return leaf.offset + k * BYTES[leaf.kind] * (self.width if self.wide else 1)


class Block:
    """Memory for arrays of a layout, for some tiles of runs."""

    def __init__(self, layout: Layout, tiles: int):
        self.layout, self.tiles = layout, tiles
        lanes = layout.width if layout.wide else 1
        large = [leaf.size * BYTES[leaf.kind] * lanes * tiles for leaf in layout.leaves if leaf.large]
        memory = [Bytes(size) for size in (layout.stride * tiles, *large)]
        self.bytes, *self.large = (one.array for one in memory)
        self.addresses = [one.address for one in memory]
        """Pointers to the block and to its large arrays."""

    def view(self, leaf: Leaf) -> np.ndarray:
        """An array of the block: tile, element, and lane where there are such."""
        lanes = (self.layout.width,) if self.layout.wide else ()
        dtype = np.dtype(STORED_DTYPES[leaf.kind])
        count = leaf.size * (lanes[0] if lanes else 1)
        if leaf.large:
            return self.large[leaf.offset].view(dtype).reshape(self.tiles, leaf.size, *lanes)
        rows = self.bytes.reshape(self.tiles, self.layout.stride)
        part = rows[:, leaf.offset : leaf.offset + count * dtype.itemsize]
        return part.view(dtype).reshape(self.tiles, leaf.size, *lanes)

    def fill(self, arrays: Sequence[np.ndarray]) -> None:
        """Put arrays into the block; of many runs, with the runs in front."""
        for leaf, array in zip(self.layout.leaves, arrays, strict=True):
            view = self.view(leaf)
            if self.layout.wide:
                spread = array.reshape(self.tiles, self.layout.width, leaf.size)
                np.copyto(view, spread.transpose(0, 2, 1))
            else:
                np.copyto(view, array.reshape(view.shape))

    def arrays(self) -> list[np.ndarray]:
        """The arrays of the block; of many runs, with the runs in front."""
        if not self.layout.wide:
            return [self.single(leaf) for leaf in self.layout.leaves]
        found, runs = [], self.tiles * self.layout.width
        for leaf in self.layout.leaves:
            turned = self.view(leaf).transpose(0, 2, 1).reshape(runs, *leaf.shape)
            # In the order of memory that arrays have elsewhere: products of matrices depend on it.
            found.append(np.ascontiguousarray(turned))
        return found

    def single(self, leaf: Leaf) -> np.ndarray:
        """An array of one run, as it stands in the block."""
        memory, offset = (self.large[leaf.offset], 0) if leaf.large else (self.bytes, leaf.offset)
        return np.ndarray(leaf.shape, STORED_DTYPES[leaf.kind], memory, offset)


def table_of(addresses: Sequence[int], further: int = 0) -> Any:
    """A table of pointers as machine code reads it, with room for some that are put in later."""
    return (ctypes.c_size_t * (len(addresses) + further))(*addresses)


class Bytes:
    """Memory that begins at a cache line, and its address, which takes time to ask an array for."""

    def __init__(self, size: int):
        raw = np.empty(size + 64, dtype=np.uint8)
        address = raw.__array_interface__["data"][0]
        begin = -address % 64
        self.array, self.address = raw[begin : begin + size], address + begin
