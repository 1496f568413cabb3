"""Forces in the joints of a chain at once: what a controller does."""

import abc
from typing import TYPE_CHECKING, Any, Self

import equinox as eqx
from jaxtyping import Array, Float

from poinsot.core import InputError

from ._base import AbstractLoad, Rotations, Vectors

if TYPE_CHECKING:
    from .._roster import Roster
    from ..open_chain import OpenChain


class AbstractControl(AbstractLoad):
    r"""Forces $\tau(t, q, v)$ in the joints as a function of all joint coordinates and rates.

    It is a load of the system: a force in a joint acts on its second body and, in the opposite way, on its
    first. In joint coordinates the forces enter as they are; in other coordinates $q$ and $v$ are those of
    the poses of the bodies, with angles between minus and plus pi.
    """

    chain: eqx.AbstractVar["OpenChain"]
    """What the controller knows of the system; masses and potentials may differ from those of the system."""

    def shown_parts(self) -> dict[str, Any]:
        """Its fields, with names of the joints that it acts on for places among the rates."""
        parts = super().shown_parts()
        acted = parts.pop("places", None)
        if acted is None:
            return parts
        joints = [slot.name for slot in self.chain.slots if slot.v[0] in acted]
        return parts | {"joints": joints}

    @abc.abstractmethod
    def efforts(self, t, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        r"""The forces $\tau$ along all rates."""

    @property
    def bodies(self) -> None:
        """All."""
        return None

    def of_bodies(self, roster: "Roster") -> Self:
        """Itself, once it is about these bodies and joints."""
        own = self.chain.system.roster
        for what, ours, theirs in (
            ("bodies", own.names, roster.names),
            ("joints", own.joints, roster.joints),
        ):
            if list(ours) != list(theirs):
                raise InputError(
                    f"is about the {what} {', '.join(ours) or 'none'}, the system has "
                    f"{', '.join(theirs) or 'none'}; make the controller of pt.OpenChain(system)"
                )
        return self

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """What it does to the bodies."""
        efforts = self.efforts(t, *self.chain.of_poses(t, x, R, v, Omega))
        return self.chain.wrenches(x, R, efforts)
