"""Rows of ordinary arrays, one for each run, put into lanes and back.

That is the transposition of a matrix of runs and components. Vectors are loaded and stored as they stand in
the rows, and turned in registers: square by square where rows are long, all at once where a row is shorter
than a vector.
"""

from collections.abc import Callable, Sequence

import numpy as np

from poinsot.kernels.native._emitter import Emitter
from poinsot.kernels.native._ir import ALIGNED, BYTES, DOUBLE, I64, STORED, Value
from poinsot.kernels.native._memory import Memory

SQUARE = 8
"""Most rows of a square, as many as the numbers of the longest vectors."""


def in_lanes(emitter: Emitter, rows: str, tile: Value, target: Memory) -> None:
    """Copy the rows of a tile of runs, so that the runs stand side by side.

    Args:
        emitter: writes the code.
        rows: pointer to the row of the first run of all.
        tile: number of the tile.
        target: where its runs stand side by side.
    """
    _Tile(emitter, rows, tile, target).copied(inwards=True)


def in_rows(emitter: Emitter, source: Memory, rows: str, tile: Value) -> None:
    """Copy what stands side by side to the rows of a tile of runs; see `in_lanes`."""
    _Tile(emitter, rows, tile, source).copied(inwards=False)


class _Tile:
    """The rows of a tile, and the array where its runs stand side by side."""

    def __init__(self, emitter: Emitter, rows: str, tile: Value, array: Memory):
        self.emitter, self.builder, self.array = emitter, emitter.builder, array
        self.width, self.size = self.builder.width, array.size
        self.side = min(self.width, SQUARE)
        self.stored = STORED[array.kind]
        begin = self.builder.fresh(I64, False, f"mul i64 {tile.text}, {self.size * self.width}")
        self.first = self._pointer(rows, begin.text)

    def copied(self, inwards: bool) -> None:
        """Copy all components, into the lanes or back."""
        if self.array.kind != DOUBLE:
            self.emitter.memory.each(self.size, lambda place: self._one_by_one(place.text, inwards))
        elif self.size < self.side:
            self._short_rows(inwards)
        else:
            squares, left = divmod(self.size, self.side)
            if squares == 1:
                self._squares("0", inwards)
            else:
                self.emitter.memory.each(squares, lambda k: self._squares(self._times(k, self.side), inwards))
            if left:
                # The last square begins earlier, in components that are copied twice.
                self._squares(str(self.size - self.side), inwards)

    def _one_by_one(self, place: str, inwards: bool) -> None:
        """Copy one component."""
        vector, lanes = f"<{self.width} x {self.stored}>", "poison"
        slot = self._pointer(self.array.pointer, self._times(place, self.width))
        align = min(ALIGNED, BYTES[self.array.kind] * self.width)
        if not inwards:
            lanes = self._made(f"load {vector}, ptr {slot}, align {align}")
        for lane in range(self.width):
            address = self._pointer(self.first, self._plus(place, lane * self.size))
            if inwards:
                one = self._made(f"load {self.stored}, ptr {address}, align {BYTES[self.array.kind]}")
                lanes = self._made(f"insertelement {vector} {lanes}, {self.stored} {one}, i64 {lane}")
            else:
                one = self._made(f"extractelement {vector} {lanes}, i64 {lane}")
                self.builder.effect(
                    f"store {self.stored} {one}, ptr {address}, align {BYTES[self.array.kind]}"
                )
        if inwards:
            self.builder.effect(f"store {vector} {lanes}, ptr {slot}, align {align}")

    def _squares(self, place: str, inwards: bool) -> None:
        """Copy as many components as a square has, from a place on, of all lanes."""
        begin, side = self._times(place, self.width), range(self.side)
        for lane in range(0, self.width, self.side):
            rows = [self._pointer(self.first, self._plus(place, (lane + k) * self.size)) for k in side]
            places = [self._plus(begin, k * self.width + lane) for k in side]
            slots = [self._pointer(self.array.pointer, one) for one in places]
            self._turned(rows, slots, self._transposed, inwards)

    def _short_rows(self, inwards: bool) -> None:
        """Copy all components of rows that are shorter than a vector; several rows stand in one."""
        size, side = self.size, self.side
        for lane in range(0, self.width, side):
            rows = [self._pointer(self.first, str(lane * size + k * side)) for k in range(size)]
            slots = [self._pointer(self.array.pointer, str(k * self.width + lane)) for k in range(size)]
            # Where each number of a result stands among all numbers of the sources.
            places = np.arange(size * side).reshape((side, size) if inwards else (size, side)).T
            chosen = places.reshape(size, side)
            self._turned(rows, slots, lambda given, chosen=chosen: self._gathered(given, chosen), inwards)

    def _turned(
        self, rows: list[str], slots: list[str], turn: Callable[[list[str]], list[str]], inwards: bool
    ) -> None:
        """Load vectors, turn them, and store them."""
        size = BYTES[self.array.kind]
        sources, targets = (rows, slots) if inwards else (slots, rows)
        aligns = (size, min(ALIGNED, size * self.side))
        load, store = aligns if inwards else aligns[::-1]
        vectors = turn([self._made(f"load {self._vector}, ptr {one}, align {load}") for one in sources])
        for vector, one in zip(vectors, targets, strict=True):
            self.builder.effect(f"store {self._vector} {vector}, ptr {one}, align {store}")

    def _transposed(self, vectors: list[str]) -> list[str]:
        """The columns of a square matrix, from its rows: blocks change places, ever smaller ones."""
        columns, lanes, half = list(vectors), np.arange(self.side), self.side // 2
        while half:
            upper = (lanes & half) == 0
            for k in np.flatnonzero(upper):
                a, b = columns[k], columns[k + half]
                columns[k] = self._shuffled(a, b, np.where(upper, lanes, lanes - half + self.side))
                columns[k + half] = self._shuffled(a, b, np.where(upper, lanes + half, lanes + self.side))
            half //= 2
        return columns

    def _gathered(self, vectors: list[str], chosen: np.ndarray) -> list[str]:
        """Vectors of numbers chosen among all of some others."""
        results = []
        for places in chosen:
            found, lanes = vectors[0], np.where(places < self.side, places, 0)
            for k, vector in enumerate(vectors[1:], 1):
                here = places // self.side == k
                found = self._shuffled(found, vector, np.where(here, places % self.side + self.side, lanes))
                # What has been found stays where it is.
                lanes = np.arange(self.side)
            results.append(found)
        return results

    def _shuffled(self, a: str, b: str, lanes: Sequence[int] | np.ndarray) -> str:
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self._made(
            f"shufflevector {self._vector} {a}, {self._vector} {b}, <{self.side} x i32> <{mask}>"
        )

    @property
    def _vector(self) -> str:
        return f"<{self.side} x {self.stored}>"

    def _made(self, operation: str) -> str:
        return self.builder.fresh(self.array.kind, True, operation).text

    def _pointer(self, base: str, place: str) -> str:
        return self.builder.fresh("ptr", False, f"getelementptr {self.stored}, ptr {base}, i64 {place}").text

    def _plus(self, place: str, offset: int) -> str:
        return self.builder.fresh(I64, False, f"add i64 {place}, {offset}").text

    def _times(self, place: Value | str, factor: int) -> str:
        text = place.text if isinstance(place, Value) else place
        return self.builder.fresh(I64, False, f"mul i64 {text}, {factor}").text
