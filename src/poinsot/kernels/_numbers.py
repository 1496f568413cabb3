"""Operations on plain numbers, done by NumPy while a trace is gone through.

Arithmetic is that of IEEE 754, so that the numbers are the same on every machine. Functions such as the sine
are not here: an arithmetic that promises the same bits brings its own.
"""

from collections.abc import Callable

import numpy as np


def _power(x: np.ndarray, y: int) -> np.ndarray:
    """Integer power by repeated squaring, as compiled code does it."""
    if y < 0:
        return np.float64(1.0) / _power(x, -y)
    result, square = None, x
    while y:
        if y & 1:
            result = square if result is None else result * square
        y >>= 1
        if y:
            square = square * square
    return np.ones_like(x) if result is None else np.asarray(result)


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quotient; of integers, rounded toward zero."""
    if np.issubdtype(a.dtype, np.floating):
        return a / b
    return (np.sign(a) * np.sign(b) * (abs(a) // np.maximum(abs(b), 1))).astype(a.dtype)


def _rounded(x: np.ndarray, params: dict) -> np.ndarray:
    if int(params["rounding_method"]) == 1:
        return np.rint(x)
    return np.copysign(np.floor(np.abs(x) + np.where(np.abs(x) == np.nextafter(0.5, 0.0), 0.0, 0.5)), x)


def _selected(params: dict, which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    chosen = cases[0]
    for k, case in enumerate(cases[1:], start=1):
        chosen = np.where(which.astype(int) == k, case, chosen)
    return chosen


def _iota(params: dict) -> np.ndarray:
    axis, shape = params["dimension"], params["shape"]
    line = np.arange(shape[axis], dtype=params["dtype"])
    return np.broadcast_to(line.reshape([-1 if k == axis else 1 for k in range(len(shape))]), shape)


WORKED_OUT: dict[str, Callable] = {
    "add": lambda params, a, b: a + b,
    "add_any": lambda params, a, b: a + b,
    "sub": lambda params, a, b: a - b,
    "mul": lambda params, a, b: a * b,
    "div": lambda params, a, b: _quotient(a, b),
    "rem": lambda params, a, b: np.fmod(a, b),
    "neg": lambda params, a: -a,
    "square": lambda params, a: a * a,
    "integer_pow": lambda params, a: _power(a, params["y"]),
    "sqrt": lambda params, a: np.sqrt(a),
    "rsqrt": lambda params, a: 1.0 / np.sqrt(a),
    "abs": lambda params, a: np.abs(a),
    "sign": lambda params, a: np.sign(a),
    "floor": lambda params, a: np.floor(a),
    "ceil": lambda params, a: np.ceil(a),
    "round": lambda params, a: _rounded(a, params),
    "is_finite": lambda params, a: np.isfinite(a),
    "max": lambda params, a, b: np.maximum(a, b),
    "min": lambda params, a, b: np.minimum(a, b),
    "clamp": lambda params, low, x, high: np.minimum(np.maximum(x, low), high),
    "nextafter": lambda params, a, b: np.nextafter(a, b),
    "lt": lambda params, a, b: a < b,
    "le": lambda params, a, b: a <= b,
    "gt": lambda params, a, b: a > b,
    "ge": lambda params, a, b: a >= b,
    "eq": lambda params, a, b: a == b,
    "ne": lambda params, a, b: a != b,
    "and": lambda params, a, b: a & b,
    "or": lambda params, a, b: a | b,
    "xor": lambda params, a, b: a ^ b,
    "not": lambda params, a: ~a,
    "shift_left": lambda params, a, b: a << b,
    "shift_right_arithmetic": lambda params, a, b: a >> b,
    "shift_right_logical": lambda params, a, b: (a.view(np.uint64) >> b.view(np.uint64)).view(a.dtype),
    "bitcast_convert_type": lambda params, a: a.view(np.dtype(params["new_dtype"])),
    "convert_element_type": lambda params, a: a.astype(np.dtype(params["new_dtype"])),
    "select_n": _selected,
    "iota": _iota,
}
"""Operations on arrays of numbers, by the name of the primitive: of its parameters and operands."""
