"""Rows of one run side by side: a function of each row of some arrays, with the rows in lanes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.extend import core as jex

from poinsot.kernels._components import Components, evaluate, is_number, objects
from poinsot.kernels.native._emitter import Emitter, is_wide, whole
from poinsot.kernels.native._ir import Value, kind_of, literal
from poinsot.kernels.native._memory import Memory
from poinsot.kernels.native._operations import same_bits

ROWS = 8
"""Most rows in a vector; of more, several vectors are made."""


def most_rows(jaxpr: Any) -> int:
    """Lanes for the rows of one run: a power of two that holds the most of them, up to `ROWS`."""
    inner = jaxpr.jaxpr if isinstance(jaxpr, jex.ClosedJaxpr) else jaxpr
    most = 1
    for equation in inner.eqns:
        if equation.primitive.name == "abreast":
            most = max(most, equation.params["count"])
        else:
            most = max(most, *map(most_rows, jex.jaxprs_in_params(equation.params)), 1)
    return min(ROWS, 1 << (most - 1).bit_length())


@whole("abreast")
def _abreast(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """The function of one row, written once for all rows; within another such function, row by row."""
    params, width = equation.params, emitter.builder.width
    if any(isinstance(part, Memory) or is_wide(part) for part in operands):
        return emitter.call(params["jaxpr"], operands, "")
    row, count = params["row"], params["count"]
    begin = next(k for k, atom in enumerate(equation.invars) if atom.aval.shape != row.in_avals[k].shape)
    shared, rows = operands[:begin], operands[begin:]
    blocks = []
    for first in range(0, count, width):
        # Lanes that are left over repeat the last row.
        places = np.minimum(np.arange(first, first + width), count - 1)
        given = [
            objects(
                part.shape[1:], [_packed(emitter, column) for column in part[places].reshape(width, -1).T]
            )
            for part in rows
        ]
        results = map(emitter.apart, evaluate(row, emitter, *shared, *given))
        blocks.append([_unpacked(emitter, part, min(width, count - first)) for part in results])
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _packed(emitter: Emitter, column: Sequence[Any]) -> Any:
    """One component in all lanes."""
    builder, first = emitter.builder, column[0]
    known = all(map(is_number, column))
    if all(one is first or (known and same_bits(one, first)) for one in column):
        return first
    kind = kind_of(np.asarray(first).dtype) if known else next(x.kind for x in column if isinstance(x, Value))
    if known:
        return Value(f"<{', '.join(f'{kind} {literal(one, kind)}' for one in column)}>", kind, True)
    vector = Value("poison", kind, True)
    for lane, one in enumerate(column):
        into = f"{builder.type(kind, True)} {vector.text}, {kind} {builder.text(one, kind, False)}"
        vector = builder.value(kind, True, f"insertelement {into}, i64 {lane}")
    return vector


def _unpacked(emitter: Emitter, part: Components, count: int) -> Components:
    """An array with the values of one lane after the other in front."""
    builder = emitter.builder

    def lane(one: Any, k: int) -> Any:
        if is_number(one) or not one.wide:
            return one
        return builder.value(
            one.kind, False, f"extractelement {builder.type(one.kind, True)} {one.text}, i64 {k}"
        )

    return objects((count, *part.shape), [lane(one, k) for k in range(count) for one in part.flat])
