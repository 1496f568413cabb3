"""Operations on plain numbers, done by NumPy while a trace is gone through.

Arithmetic is that of IEEE 754, so that the numbers are the same on every machine. What that leaves open is as
in XLA: whole numbers wrap, a conversion takes the nearest whole number there is. Functions such as the sine
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
    """Quotient; of integers, rounded toward zero, and with all bits set where the divisor is zero."""
    if np.issubdtype(a.dtype, np.floating):
        return a / b
    divisor = np.where(b == 0, 1, b).astype(b.dtype)
    floor, rest = a // divisor, a % divisor
    toward_zero = floor + ((rest != 0) & ((a < 0) != (b < 0))).astype(a.dtype)
    return np.where(b == 0, ~np.zeros_like(a), toward_zero)


def _remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Remainder with the sign of the dividend; of integers, the dividend itself where the divisor is zero."""
    if np.issubdtype(a.dtype, np.floating):
        return np.fmod(a, b)
    return np.where(b == 0, a, np.fmod(a, np.where(b == 0, 1, b).astype(b.dtype)))


def _rounded(x: np.ndarray, params: dict) -> np.ndarray:
    """The nearest whole number; halves go to the even one, or away from zero."""
    if int(params["rounding_method"]) == 1:
        return np.rint(x)
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole), x)


def _maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The larger number; of zeros of both signs the positive one, which is their sum."""
    larger = np.maximum(a, b)
    return np.where((a == 0) & (b == 0), a + b, larger) if larger.dtype.kind == "f" else larger


def _minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return -_maximum(-a, -b) if np.issubdtype(a.dtype, np.floating) else np.minimum(a, b)


def _shifted(shift: Callable, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A shift of numbers without sign: one by all bits or more leaves nothing."""
    inside = b < 8 * a.dtype.itemsize
    return np.where(inside, shift(a, np.where(inside, b, 0)), 0)


def _shifted_down(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A shift of numbers with a sign, which fills the places that become free."""
    most = 8 * a.dtype.itemsize - 1
    return a >> np.minimum(_unsigned(b), most).astype(a.dtype)


def _unsigned(a: np.ndarray) -> np.ndarray:
    """The same bits as numbers without sign: negative ones are large."""
    return np.asarray(a).view(f"u{a.dtype.itemsize}")


def _converted(a: np.ndarray, params: dict) -> np.ndarray:
    """Numbers of another type; of real numbers the nearest whole one toward zero, and zero for NaN."""
    dtype = np.dtype(params["new_dtype"])
    if a.dtype.kind != "f" or dtype.kind not in "iu":
        return a.astype(dtype)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    below, above = a <= float(least), a >= float(most)
    whole = np.where(below | above | np.isnan(a), 0.0, a).astype(dtype)
    return np.where(below, dtype.type(least), np.where(above, dtype.type(most), whole))


def _bits(a: np.ndarray, params: dict) -> np.ndarray:
    """The same bits as numbers of another type; those of a shorter one stand along a further axis."""
    dtype = np.dtype(params["new_dtype"])
    if dtype.itemsize < a.dtype.itemsize:
        return np.ascontiguousarray(a).reshape(*a.shape, 1).view(dtype)
    bits = np.ascontiguousarray(a).view(dtype)
    return bits.reshape(a.shape if dtype.itemsize == a.dtype.itemsize else a.shape[:-1])


def _selected(params: dict, which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    """One of several cases; a number below takes the first, one above the last."""
    chosen = cases[0]
    for k, case in enumerate(cases[1:], start=1):
        chosen = np.where(which.astype(int) >= k, case, chosen)
    return chosen


def _iota(params: dict) -> np.ndarray:
    axis, shape = params["dimension"], params["shape"]
    line = np.arange(shape[axis], dtype=params["dtype"])
    return np.broadcast_to(line.reshape([-1 if k == axis else 1 for k in range(len(shape))]), shape)


def _platform(params: dict) -> np.ndarray:
    """The first of some ways to compute that is one of a CPU, or of everything."""
    fit = [names is None or "cpu" in names for names in params["platforms"]]
    return np.asarray(fit.index(True), dtype=np.int32)


WORKED_OUT: dict[str, Callable] = {
    "platform_index": _platform,
    "add": lambda params, a, b: a + b,
    "add_any": lambda params, a, b: a + b,
    "sub": lambda params, a, b: a - b,
    "mul": lambda params, a, b: a * b,
    "div": lambda params, a, b: _quotient(a, b),
    "rem": lambda params, a, b: _remainder(a, b),
    "neg": lambda params, a: -a,
    "square": lambda params, a: a * a,
    "integer_pow": lambda params, a: _power(a, params["y"]),
    "sqrt": lambda params, a: np.sqrt(a),
    "rsqrt": lambda params, a: 1.0 / np.sqrt(a),
    "abs": lambda params, a: np.abs(a),
    "sign": lambda params, a: np.where(a == 0, a, np.sign(a)),
    "floor": lambda params, a: np.floor(a),
    "ceil": lambda params, a: np.ceil(a),
    "round": lambda params, a: _rounded(a, params),
    "is_finite": lambda params, a: np.isfinite(a),
    "max": lambda params, a, b: _maximum(a, b),
    "min": lambda params, a, b: _minimum(a, b),
    "clamp": lambda params, low, x, high: _minimum(_maximum(x, low), high),
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
    "shift_left": lambda params, a, b: _shifted(np.left_shift, *map(_unsigned, (a, b))).astype(a.dtype),
    "shift_right_arithmetic": lambda params, a, b: _shifted_down(a, b),
    "shift_right_logical": lambda params, a, b: _shifted(np.right_shift, *map(_unsigned, (a, b))).astype(
        a.dtype
    ),
    "bitcast_convert_type": lambda params, a: _bits(a, params),
    "convert_element_type": lambda params, a: _converted(a, params),
    "select_n": _selected,
    "argmax": lambda params, a: np.argmax(a, axis=params["axes"][0]).astype(params["index_dtype"]),
    "argmin": lambda params, a: np.argmin(a, axis=params["axes"][0]).astype(params["index_dtype"]),
    "iota": _iota,
}
"""Operations on arrays of numbers, by the name of the primitive: of its parameters and operands."""
