"""A control law that people write themselves."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.control._actuation import Places, acted_on, as_chain, spread
from poinsot.core import InputError, tried
from poinsot.model import OpenChain, Parametrised, filled
from poinsot.model.loads import AbstractControl


class Feedback(AbstractControl):
    r"""Any JAX function of joint coordinates and rates as a controller.

    Args:
        chain: `pt.OpenChain(system)`.
        law: `f(q, v)` with `t` before and `params` behind these where it takes them; returns a force for each
            rate that it acts on. In coordinates of the bodies, angles in `q` lie between minus and plus pi.
        joints: those it acts on, by name; all joints when left out.
        params: of the function, any pytree of numbers; those of the system when left out.

    Raises:
        InputError: there is no such joint, or the function returns something else.
    """

    chain: OpenChain
    law: Parametrised
    places: Places = eqx.field(static=True)

    def __init__(self, chain: Any, law: Callable, joints: Sequence[str] | None = None, *, params: Any = None):
        self.chain = as_chain(chain, "Feedback")
        self.places = acted_on(self.chain, joints, "Feedback")
        whole = Parametrised(law, ("q", "v"), "law of Feedback", params)
        self.law = filled(whole, self.chain.system.params)
        sizes = [jax.ShapeDtypeStruct((n,), jnp.zeros(()).dtype) for n in (chain.q_size, chain.v_size)]
        found = tried("law of Feedback", self.law, jnp.zeros(()), *sizes)
        if found.shape != (len(self.places),):
            names = ", ".join(chain.v_labels[place] for place in self.places)
            raise InputError(
                f"law of Feedback returns numbers of shape {found.shape}; it must return a force for each of "
                f"{names}"
            )

    @property
    def takes_time(self) -> bool:
        """Whether the law takes `t`."""
        return self.law.takes_time

    def efforts(self, t, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """What the law returns."""
        return spread(self.chain, self.places, self.law(t, q, v))
