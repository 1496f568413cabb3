"""Computed torque: the inverse dynamics of the reference, with its error made to decay."""

from typing import Any

from jaxtyping import Array, Float

from poinsot.control._actuation import as_chain, as_gains, check_all_acted_on, deviation
from poinsot.control._reference import Reference, as_reference
from poinsot.model import OpenChain
from poinsot.model.loads import AbstractControl


class ComputedTorque(AbstractControl):
    r"""Forces that give the error of a reference the motion of damped oscillators.

    $$ \tau = a(q)\,\bigl(\ddot q_r + k_d\,(\dot q_r - v) + k_p\,e\bigr) + \Gamma(q)\,v\,v + g(q),
       \qquad \ddot e + k_d\,\dot e + k_p\,e = 0 $$

    with the error $e = q_r - q$, of angles the nearer way round, of quaternions the rotation vector. Where
    the chain has the masses and potentials of the system itself, the motion on the reference is an exact
    solution.

    Args:
        chain: `pt.OpenChain(system)`, what the controller knows of the system.
        kp: stiffness over mass, $k_p$; a number or one for each rate.
        kd: damping over mass, $k_d$; likewise. $2\sqrt{k_p}$ is critical.
        reference: coordinates to hold, or a function of time that returns coordinates, rates and
            accelerations, such as `quintic(...)`.

    Raises:
        InputError: the chain has a body that no joint carries, or sizes differ.
    """

    chain: OpenChain
    kp: Float[Array, " nv"]
    kd: Float[Array, " nv"]
    reference: Reference

    def __init__(self, chain: Any, kp: Any, kd: Any, reference: Any):
        self.chain = as_chain(chain, "ComputedTorque")
        check_all_acted_on(self.chain, "ComputedTorque")
        self.kp = as_gains(kp, self.chain.v_size, "kp of ComputedTorque")
        self.kd = as_gains(kd, self.chain.v_size, "kd of ComputedTorque")
        self.reference = as_reference(reference, self.chain, "ComputedTorque")

    @property
    def takes_time(self) -> bool:
        """Whether the reference moves, or time enters the model."""
        return self.reference.takes_time or not self.chain.system.autonomous

    def efforts(self, t, q: Float[Array, " nq"], v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """The inverse dynamics of the wanted acceleration."""
        place, rate, acceleration = self.reference(t)
        wanted = acceleration + self.kd * (rate - v) + self.kp * deviation(self.chain, q, place)
        return self.chain.inverse_dynamics(q, v, wanted, t)
