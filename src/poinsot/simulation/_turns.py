"""Angles that go on beyond a turn, of what is known up to whole turns."""

import numpy as np

TURN = 2.0 * np.pi
TRUSTED = np.pi / 2
"""Radians that rates at three saved states may be off by, for turns between them to be counted by these."""


def nearest_turn(angles: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The same angles up to whole turns, next to others."""
    return angles + TURN * np.round((near - angles) / TURN)


def turned_on(times: np.ndarray, angles: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, int | None]:
    r"""Count the turns between saved states by the rates there.

    Over a time $h$ an angle grows by about $\tfrac h2(r_0 + r_1)$, and by that up to less than half a turn if
    states are saved often enough. Whether they are is seen from three states in a row: the growth over both
    intervals must also follow from the first and the last rate alone, where the error of the rule is some
    eight times as large. Of two states the rates must be nearly equal.

    Returns:
        The angles, and the first interval in which this leaves the turns open, or None.
    """
    turned = angles + TURN * np.concatenate([[0.0], np.cumsum(_turns(times, angles, rates))])
    off = _off(times, turned, rates, 1)
    if len(times) > 2:
        beside = _off(times, turned, rates, 2)
        off = np.maximum(2.0 * off, np.maximum(np.append(beside, 0.0), np.append(0.0, beside)))
    else:
        off = 2.0 * off + np.abs(np.diff(times) * np.diff(rates))
    return turned, int(np.argmax(off > TRUSTED)) if np.any(off > TRUSTED) else None


def _turns(times: np.ndarray, angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Turns between states that bring the growth of the angle next to that of the rates."""
    return np.round((_expected(times, rates, 1) - np.diff(angles)) / TURN)


def _off(times: np.ndarray, turned: np.ndarray, rates: np.ndarray, apart: int) -> np.ndarray:
    """What angles of states so far apart grow by beside that of the rates at both."""
    return np.abs(_expected(times, rates, apart) - (turned[apart:] - turned[:-apart]))


def _expected(times: np.ndarray, rates: np.ndarray, apart: int) -> np.ndarray:
    """The trapezoidal rule."""
    return 0.5 * (times[apart:] - times[:-apart]) * (rates[apart:] + rates[:-apart])
