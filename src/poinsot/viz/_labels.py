"""Where names stand beside points so that they cover neither each other nor arrows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SIZE = 9
"""Of letters, in points."""
LETTER, LINE = 5.3, 11.5
"""Width and height of a letter, in points, on average."""
DISTANCES = (9.0, 17.0, 27.0, 40.0)
"""Of names from their points, in points."""
LEADER = 20.0
"""Distance from which on a line leads to the name."""
CLEAR = 0.5
"""Cosine of the angle that names keep from arrows."""
SYMBOL = 4.5
"""Half the size of the symbol at a point, in points."""
ALONG_ARROW, FAR, TURNED = 400.0, 1.5, 0.01
"""Costs in square points: of a name along an arrow, of a point of distance, of an eighth of a turn."""


class Label(NamedTuple):
    """A name, and where it begins or ends."""

    text: str
    offset: tuple[float, float]
    """From its point, in points."""
    ha: str
    va: str

    @property
    def far(self) -> bool:
        """Whether a line should lead to it."""
        return float(np.hypot(*self.offset)) > LEADER

    def box(self, point: np.ndarray) -> np.ndarray:
        """Corners of what it covers: low and high."""
        lines = self.text.split("\n")
        size = np.array([LETTER * max(map(len, lines)), LINE * len(lines)])
        share = np.array([{"left": 0.0, "center": 0.5, "right": 1.0}[self.ha], float(self.va == "top")])
        low = point + self.offset - share * size
        return np.stack([low, low + size])


def labels(
    texts: Sequence[str], points: np.ndarray, away: np.ndarray, arrows: Sequence[Sequence[np.ndarray]]
) -> list[Label]:
    """Find a place for each name in turn, the cheapest beside what is there.

    Args:
        texts: the names.
        points: where they belong, in points of type.
        away: the direction in which each stands if nothing is in its way.
        arrows: directions of the arrows at each point.
    """
    taken = [np.stack([point - SYMBOL, point + SYMBOL]) for point in points]
    found = []
    for k, (text, point) in enumerate(zip(texts, points, strict=True)):
        others = taken[:k] + taken[k + 1 :]
        best = min(
            _candidates(text, away[k], arrows[k]),
            key=lambda one: one[0] + _covered(one[1].box(point), others),
        )
        found.append(best[1])
        taken.append(best[1].box(point))
    return found


def _candidates(text: str, wanted: np.ndarray, arrows: Sequence[np.ndarray]) -> list[tuple[float, Label]]:
    """Places about a point with their costs: in the direction that is wanted, and turned by eighths."""
    found = []
    for distance in DISTANCES:
        for turned, eighth in enumerate((0, 1, -1, 2, -2, 3, -3, 4)):
            cos, sin = np.cos(0.25 * np.pi * eighth), np.sin(0.25 * np.pi * eighth)
            way = np.array([cos * wanted[0] - sin * wanted[1], sin * wanted[0] + cos * wanted[1]])
            nearest = max((float(way @ arrow) for arrow in arrows), default=-1.0)
            cost = FAR * (distance - DISTANCES[0]) + TURNED * turned
            cost += ALONG_ARROW * (1.0 + nearest) if nearest >= CLEAR else 0.0
            right, up = distance * way
            ha = "left" if right > 3.0 else "right" if right < -3.0 else "center"
            offset = float(right), float(up + (2.0 if up >= 0.0 else -2.0))
            found.append((cost, Label(text, offset, ha, "bottom" if up >= 0.0 else "top")))
    return found


def _covered(box: np.ndarray, others: Sequence[np.ndarray]) -> float:
    """Area of a box that others cover, in square points."""
    sides = [np.minimum(box[1], other[1]) - np.maximum(box[0], other[0]) for other in others]
    return float(sum(np.prod(np.maximum(side, 0.0)) for side in sides))
