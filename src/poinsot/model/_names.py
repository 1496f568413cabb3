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

    def __contains__(self, name: object) -> bool:
        number = name.removeprefix(self.prefix) if isinstance(name, str) else ""
        short = number.isdecimal() and len(number) <= len(str(self.total))
        return short and int(number) < self.total and name == f"{self.prefix}{int(number)}"

    def index(self, value: str) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The number in a name."""
        if value not in self:
            raise ValueError(f"{value!r} is none of {self.total} names {self.prefix}0, {self.prefix}1, ...")
        return int(value.removeprefix(self.prefix))
