"""What a reproduction hands back: our numbers beside the published ones, judged by a stated rule."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Basis = Literal["paper", "theory", "bound"]
"""Where the rule that judges a number comes from: what the paper prints or states, what is known without it
(theory, an exact motion, an independent code), or a bound of our own."""
PAPER, AGAINST, THEORY, BOUND = (
    "agrees with the paper",
    "agrees with theory, the paper does not",
    "agrees with theory",
    "within our own bound",
)
DIFFERENT = {
    "paper": "DIFFERS from the paper",
    "theory": "DIFFERS from theory",
    "bound": "OUTSIDE our own bound",
}


@dataclass(frozen=True)
class Number:
    """One number of ours, with the published one if there is one, and the rule that judges it.

    Built by `near`, `above` or `below` from what the paper says, by `matches` from theory, by `between`,
    `at_most` or `at_least` from a bound of our own, or by `shown` for one that is not judged.
    """

    name: str
    ours: float
    rule: str
    """What the number must satisfy, in words."""
    basis: Basis | None
    """Where the rule comes from; None for a number that is shown and not judged."""
    agrees: bool | None
    """Whether it satisfies the rule; None for a number that is not judged."""
    published: float | None = None
    paper_agrees: bool | None = None
    """Whether the published number satisfies the rule; None where there is none, or no rule."""

    def __post_init__(self):
        for key in ("ours", "published", "agrees", "paper_agrees"):
            value = getattr(self, key)
            if isinstance(value, np.generic):
                object.__setattr__(self, key, value.item())

    @classmethod
    def near(cls, name: str, ours: float, published: float, within: float) -> "Number":
        """Judged by its distance from the number that the paper prints or claims."""
        return cls._judged(
            name, ours, "paper", f"within {within:g}", lambda n: abs(n - published) <= within, published
        )

    @classmethod
    def above(cls, name: str, ours: float, value: float) -> "Number":
        """Judged by a comparison that the paper states: larger than `value`."""
        return cls._judged(name, ours, "paper", f"above {value:g}", lambda n: n > value)

    @classmethod
    def below(cls, name: str, ours: float, value: float) -> "Number":
        """Judged by a comparison that the paper states: smaller than `value`."""
        return cls._judged(name, ours, "paper", f"below {value:g}", lambda n: n < value)

    @classmethod
    def matches(
        cls, name: str, ours: float, value: float, within: float, source: str, published: float | None = None
    ) -> "Number":
        """Judged by its distance from a value that is known from `source`, whatever the paper says."""
        rule = f"within {within:.3g} of {value:.10g} ({source})"
        return cls._judged(name, ours, "theory", rule, lambda n: abs(n - value) <= within, published)

    @classmethod
    def between(
        cls, name: str, ours: float, low: float, high: float, published: float | None = None
    ) -> "Number":
        """Judged by an interval of our own."""
        rule = f"between {low:g} and {high:g}"
        return cls._judged(name, ours, "bound", rule, lambda n: low <= n <= high, published)

    @classmethod
    def at_most(
        cls,
        name: str,
        ours: float,
        bound: float,
        source: str | None = None,
        published: float | None = None,
    ) -> "Number":
        """Judged by an upper bound, our own or known from `source`."""
        rule, basis = _bound(f"at most {bound:g}", source)
        return cls._judged(name, ours, basis, rule, lambda n: n <= bound, published)

    @classmethod
    def at_least(
        cls,
        name: str,
        ours: float,
        bound: float,
        source: str | None = None,
        published: float | None = None,
    ) -> "Number":
        """Judged by a lower bound, our own or known from `source`."""
        rule, basis = _bound(f"at least {bound:g}", source)
        return cls._judged(name, ours, basis, rule, lambda n: n >= bound, published)

    @classmethod
    def shown(cls, name: str, ours: float, published: float | None = None) -> "Number":
        """Not judged."""
        return cls(name, ours, "for information", None, None, published)

    @classmethod
    def _judged(
        cls,
        name: str,
        ours: float,
        basis: Basis,
        rule: str,
        holds: Callable[[float], bool],
        published: float | None = None,
    ) -> "Number":
        of_paper = None if published is None else holds(published)
        return cls(name, ours, rule, basis, holds(ours), published, of_paper)

    @property
    def outcome(self) -> str:
        """What the judgement means, in words; empty for a number that is not judged."""
        if self.basis is None:
            return ""
        if not self.agrees:
            return DIFFERENT[self.basis]
        if self.basis == "paper" or self.paper_agrees:
            return PAPER
        if self.basis == "bound":
            return BOUND
        return THEORY if self.paper_agrees is None else AGAINST

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        keys = ("name", "ours", "published", "rule", "basis", "agrees", "paper_agrees", "outcome")
        return {key: getattr(self, key) for key in keys}


def _bound(rule: str, source: str | None) -> tuple[str, Basis]:
    """The rule with its source, and what it rests on."""
    return (rule, "bound") if source is None else (f"{rule} ({source})", "theory")


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
        """Whether every judged number satisfies its rule, be it the paper's, of theory or our own."""
        return all(number.agrees is not False for number in self.numbers)

    @property
    def verdict(self) -> str:
        """The outcome in a sentence: how many numbers were judged by what, and which fail."""
        return verdict_of(self.numbers)

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


def verdict_of(numbers: Iterable[Number]) -> str:
    """How many judged numbers have which outcome, in a sentence, and the names of those that fail."""
    judged = [number for number in numbers if number.basis is not None]
    count = Counter(number.outcome for number in judged)
    order = (PAPER, AGAINST, THEORY, BOUND, *DIFFERENT.values())
    parts = "; ".join(f"{outcome}: {count[outcome]}" for outcome in order if count[outcome])
    failing = "; ".join(number.name for number in judged if not number.agrees)
    told = f"judged numbers: {len(judged)}" + (f" ({parts})" if parts else "")
    return f"{told}. Failing: {failing}." if failing else f"{told}."
