"""Controllers that look at their system once in a period."""

from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Checked, InputError, Printable, as_number, checked, quoted
from poinsot.core.types import Scalar
from poinsot.model import OpenChain
from poinsot.model.loads import AbstractControl

Tree = TypeVar("Tree")

EARLY = 1e-9
"""Fraction of a period by which a time may be before a sample and count as that of the sample."""


class Sampled(Printable, Checked):
    r"""A controller that is evaluated once in a period, and held until the next: a zero-order hold.

    $$ \tau(t) = \tau_{\rm law}(t_k, q(t_k), v(t_k)), \qquad t_k = t_0 + k\,T \le t < t_{k+1} $$

    It is for `pt.simulate(..., control=Sampled(law, period))` and `pt.solve` with fixed steps, of which the
    period is a whole number. Samples are counted from the start of the run.

    Args:
        law: any controller of `pt.control`.
        period: the time $T$ between two samples.
    """

    law: AbstractControl
    period: float = eqx.field(static=True)

    def __init__(self, law: AbstractControl, period: Any):
        if not isinstance(law, AbstractControl):
            raise InputError(f"law of Sampled = {quoted(law)}; it must be one of pt.control")
        self.law, self.period = law, as_number(period, "period of Sampled")
        if not self.period > 0.0:
            raise InputError(f"period of Sampled = {quoted(period)}; it must be positive")


class Held(AbstractControl):
    """Forces that are constant between samples: in a run those of the present one, after it those of all."""

    shown_as: ClassVar[str] = "Sampled"
    chain: OpenChain
    forces: Float[Array, "samples nv"]
    begin: Scalar
    """Time of the first."""
    period: float = eqx.field(static=True)

    @property
    def takes_time(self) -> bool:
        """Held forces do not depend on time between samples."""
        return False

    def efforts(self, t, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """Those of the last sample before a time."""
        if len(self.forces) == 1:
            return self.forces[0]
        place = jnp.floor((t - self.begin) / self.period + EARLY).astype(int)
        return self.forces[jnp.clip(place, 0, len(self.forces) - 1)]


@checked
def holding(tree: Tree, forces: Float[Array, "samples nv"], begin: Any = 0.0) -> Tree:
    """Anything with a `Held` in it, holding these forces."""

    def exchanged(node: Any) -> Any:
        if not isinstance(node, Held):
            return node
        return Held(node.chain, forces, jnp.asarray(begin, dtype=float), node.period)

    return jax.tree.map(exchanged, tree, is_leaf=lambda node: isinstance(node, Held))
