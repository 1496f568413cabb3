"""What must hold between the bodies of one or more joints: the joints themselves, drives and couplings."""

import abc
import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from jaxtyping import Array, Float

from poinsot.core import Checked, Printable, Use

from ._frames import Frames

if TYPE_CHECKING:
    from ._base import AbstractJoint


Module = TypeVar("Module")


def with_static(module: Module, **fields: Any) -> Module:
    """A copy with other values of static fields, which `eqx.tree_at` does not reach."""
    copied = copy.copy(module)
    for name, value in fields.items():
        object.__setattr__(copied, name, value)
    return copied


class AbstractCondition(Printable, Checked):
    """Conditions on the markers of one or more joints, and on time."""

    rows: ClassVar[int]
    """Number of conditions."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """What reports call it."""

    @property
    @abc.abstractmethod
    def label(self) -> str:
        """What messages call it."""

    def label_in(self, joints: Sequence["AbstractJoint"]) -> str:
        """Its label with those of the joints that it is about."""
        return f"{self.label} in {' and '.join(joint.label for joint in joints)}"

    @property
    @abc.abstractmethod
    def joined(self) -> tuple[str, ...]:
        """Names of the joints whose markers it looks at."""

    @property
    def takes_time(self) -> bool:
        """Whether time enters."""
        return False

    def check(self, joints: Mapping[str, "AbstractJoint"]) -> None:  # noqa: B027
        """Refuse joints that it cannot be about; `joints` are all of the system by name."""

    def unnamed(self) -> Self:
        """Itself without what it is called: conditions that differ in that have the same equations."""
        return self

    def uses(self, joints: Mapping[str, "AbstractJoint"]) -> Sequence[Use]:
        """Calls of its functions, to be tried once."""
        return ()

    @abc.abstractmethod
    def gap(self, t, joints: Sequence["AbstractJoint"], frames: Sequence[Frames]) -> Float[Array, " rows"]:
        """What must vanish.

        Args:
            t: time.
            joints: those of `joined`.
            frames: the markers of each of them.
        """
