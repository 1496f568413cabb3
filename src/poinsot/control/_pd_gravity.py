"""PD control with gravity compensation."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from poinsot.control._actuation import Places, acted_on, as_chain, as_gains, deviation, spread
from poinsot.control._reference import Reference, as_reference
from poinsot.model import OpenChain
from poinsot.model.loads import AbstractControl


class PDGravity(AbstractControl):
    r"""Springs and dampers in the joints, and the forces that carry all potentials.

    $$ \tau = k_p\,e + k_d\,(\dot q_r - v) + g(q) $$

    with the error $e = q_r - q$, of angles the nearer way round. To a reference at rest the motion comes to
    rest there, whatever the masses, where every joint is acted on.

    Args:
        chain: `pt.OpenChain(system)`, what the controller knows of the system.
        kp: stiffness $k_p$; a number, or one for each rate that it acts on.
        kd: damping $k_d$; likewise.
        reference: coordinates to hold, or a function of time that returns coordinates, rates and
            accelerations, such as `quintic(...)`.
        joints: those it acts on, by name; all joints when left out.

    Raises:
        InputError: there is no such joint, or sizes differ.
    """

    chain: OpenChain
    kp: Float[Array, " n"]
    kd: Float[Array, " n"]
    reference: Reference
    places: Places = eqx.field(static=True)

    def __init__(self, chain: Any, kp: Any, kd: Any, reference: Any, joints: Sequence[str] | None = None):
        self.chain = as_chain(chain, "PDGravity")
        self.places = acted_on(self.chain, joints, "PDGravity")
        self.kp = as_gains(kp, len(self.places), "kp of PDGravity")
        self.kd = as_gains(kd, len(self.places), "kd of PDGravity")
        self.reference = as_reference(reference, self.chain, "PDGravity")

    @property
    def takes_time(self) -> bool:
        """Whether the reference moves, or time enters the potentials."""
        return self.reference.takes_time or not self.chain.system.autonomous

    def efforts(self, t, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """Springs, dampers and the slopes of the potentials."""
        place, rate, _ = self.reference(t)
        own = np.array(self.places)
        forces = self.kp * deviation(self.chain, q, place)[own] + self.kd * (rate - v)[own]
        return spread(self.chain, self.places, forces + self.chain.gravity(q, t)[own])
