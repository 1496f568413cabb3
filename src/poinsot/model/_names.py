"""Names of bodies that are only numbered, without a list of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True)
class Numbered(Sequence[str]):
    """The names `body0`, `body1`, ... of so many bodies; compared and hashed at once, however many."""

    prefix: str
    total: int

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place):
        if isinstance(place, slice):
            return tuple(f"{self.prefix}{i}" for i in range(self.total)[place])
        return f"{self.prefix}{range(self.total)[place]}"
