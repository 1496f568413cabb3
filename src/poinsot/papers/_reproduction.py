"""What a reproduction hands back: our numbers beside the published ones, judged by a stated rule."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Number:
    """One number of ours, with the published one if there is one, and the rule that judges it.

    Built by `near`, `matches`, `between`, `at_most`, `at_least`, or by `shown` for one that is not judged.
    """

    name: str
    ours: float
    rule: str
    """What the number must satisfy, in words."""
    agrees: bool | None
    """Whether it does; None for a number that is shown and not judged."""
    published: float | None = None

    def __post_init__(self):
        for key in ("ours", "published", "agrees"):
            value = getattr(self, key)
            if isinstance(value, np.generic):
                object.__setattr__(self, key, value.item())

    @classmethod
    def near(cls, name: str, ours: float, published: float, within: float) -> "Number":
        """Judged by its distance from the published number."""
        return cls(name, ours, f"within {within:g}", abs(ours - published) <= within, published)

    @classmethod
    def matches(cls, name: str, ours: float, value: float, within: float, source: str) -> "Number":
        """Judged by its distance from a value that is not in the paper but known from `source`."""
        rule = f"within {within:g} of {value:.10g} ({source})"
        return cls(name, ours, rule, abs(ours - value) <= within)

    @classmethod
    def between(
        cls, name: str, ours: float, low: float, high: float, published: float | None = None
    ) -> "Number":
        """Judged by an interval."""
        return cls(name, ours, f"between {low:g} and {high:g}", low <= ours <= high, published)

    @classmethod
    def at_most(cls, name: str, ours: float, bound: float) -> "Number":
        """Judged by an upper bound."""
        return cls(name, ours, f"at most {bound:g}", ours <= bound)

    @classmethod
    def at_least(cls, name: str, ours: float, bound: float) -> "Number":
        """Judged by a lower bound."""
        return cls(name, ours, f"at least {bound:g}", ours >= bound)

    @classmethod
    def shown(cls, name: str, ours: float, published: float | None = None) -> "Number":
        """Not judged."""
        return cls(name, ours, "for information", None, published)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        keys = ("name", "ours", "published", "rule", "agrees")
        return {key: getattr(self, key) for key in keys}


@dataclass(frozen=True)
class Findings:
    """What the code of one table or figure computes; `reproduce` makes a `Reproduction` of it."""

    settings: dict[str, Any]
    """Parameters of the runs: the paper's, and ours where it prints none."""
    numbers: list[Number]
    remarks: list[str]
    """Sentences: what the paper claims, what agrees, what differs and why."""
    figures: "dict[str, Figure]" = field(default_factory=dict)
    """Pictures by a suffix of their file name, empty for the only one."""


@dataclass(frozen=True)
class Reproduction:
    """A table or figure of a paper, computed again."""

    id: str
    title: str
    quick: bool
    settings: dict[str, Any]
    numbers: tuple[Number, ...]
    remarks: tuple[str, ...]
    files: tuple[Path, ...]
    """Pictures and the JSON record that were written."""
    seconds: float
    """Time taken, compilation included."""

    @property
    def agrees(self) -> bool:
        """Whether every judged number satisfies its rule."""
        return all(number.agrees is not False for number in self.numbers)

    @property
    def verdict(self) -> str:
        """The outcome in a sentence."""
        judged = [number for number in self.numbers if number.agrees is not None]
        wrong = [number.name for number in judged if not number.agrees]
        if wrong:
            return f"{len(wrong)} of {len(judged)} judged numbers do not agree: {'; '.join(wrong)}."
        return f"All {len(judged)} judged numbers agree."

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "quick": self.quick,
            "agrees": self.agrees,
            "verdict": self.verdict,
            "settings": self.settings,
            "numbers": [number.to_dict() for number in self.numbers],
            "remarks": list(self.remarks),
            "files": [str(path) for path in self.files],
            "seconds": self.seconds,
        }
