"""Rows of ordinary arrays, one for each run, put into lanes and back."""

from poinsot.kernels.native._emitter import Emitter
from poinsot.kernels.native._ir import ALIGNED, BYTES, I64, STORED, Value
from poinsot.kernels.native._memory import Memory


def in_lanes(emitter: Emitter, rows: str, tile: Value, target: Memory) -> None:
    """Copy the rows of a tile of runs, so that the runs stand side by side.

    Args:
        emitter: writes the code.
        rows: pointer to the row of the first run of all.
        tile: number of the tile.
        target: where its runs stand side by side.
    """
    builder, stored = emitter.builder, STORED[target.kind]
    vector = f"<{builder.width} x {stored}>"
    first = _first(emitter, rows, tile, target)

    def body(place: Value) -> None:
        lanes = "poison"
        for lane in range(builder.width):
            address = _address(emitter, first, place, lane * target.size, stored)
            one = builder.fresh(target.kind, False, f"load {stored}, ptr {address}, align {_align(target)}")
            lanes = builder.fresh(
                target.kind, True, f"insertelement {vector} {lanes}, {stored} {one.text}, i64 {lane}"
            ).text
        slot = _slot(emitter, target, place, vector)
        builder.effect(f"store {vector} {lanes}, ptr {slot}, align {_wide_align(emitter, target)}")

    emitter.memory.each(target.size, body)


def in_rows(emitter: Emitter, source: Memory, rows: str, tile: Value) -> None:
    """Copy what stands side by side to the rows of a tile of runs; see `in_lanes`."""
    builder, stored = emitter.builder, STORED[source.kind]
    vector = f"<{builder.width} x {stored}>"
    first = _first(emitter, rows, tile, source)

    def body(place: Value) -> None:
        slot = _slot(emitter, source, place, vector)
        align = _wide_align(emitter, source)
        lanes = builder.fresh(source.kind, True, f"load {vector}, ptr {slot}, align {align}")
        for lane in range(builder.width):
            one = builder.fresh(source.kind, False, f"extractelement {vector} {lanes.text}, i64 {lane}")
            address = _address(emitter, first, place, lane * source.size, stored)
            builder.effect(f"store {stored} {one.text}, ptr {address}, align {_align(source)}")

    emitter.memory.each(source.size, body)


def _first(emitter: Emitter, rows: str, tile: Value, array: Memory) -> str:
    """Pointer to the row of the first run of a tile."""
    builder = emitter.builder
    size = array.size * builder.width
    begin = builder.fresh(I64, False, f"mul i64 {tile.text}, {size}")
    return builder.fresh(
        "ptr", False, f"getelementptr {STORED[array.kind]}, ptr {rows}, i64 {begin.text}"
    ).text


def _address(emitter: Emitter, first: str, place: Value, offset: int, stored: str) -> str:
    builder = emitter.builder
    index = builder.fresh(I64, False, f"add i64 {place.text}, {offset}")
    return builder.fresh("ptr", False, f"getelementptr {stored}, ptr {first}, i64 {index.text}").text


def _slot(emitter: Emitter, array: Memory, place: Value, vector: str) -> str:
    return emitter.builder.fresh(
        "ptr", False, f"getelementptr {vector}, ptr {array.pointer}, i64 {place.text}"
    ).text


def _align(array: Memory) -> int:
    return BYTES[array.kind]


def _wide_align(emitter: Emitter, array: Memory) -> int:
    return min(ALIGNED, BYTES[array.kind] * emitter.builder.width)
