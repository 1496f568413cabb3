"""A system with a controller."""

from collections.abc import Callable
from typing import TypeVar

import jax.numpy as jnp

from poinsot.control import Feedback, Held, Sampled
from poinsot.core import AbstractProblem, InputError, quoted
from poinsot.model import AbstractSystem, OpenChain, System
from poinsot.model.loads import AbstractControl

Control = AbstractControl | Sampled | Callable
"""What people give as a controller."""
Controlled = TypeVar("Controlled", bound=AbstractProblem | AbstractSystem)


def controlled(problem: Controlled, control: Control | None) -> Controlled:
    """The system with the forces of a controller among its loads; those of a sampled one are still zero.

    Raises:
        InputError: it is no system with joints, or the controller is that of another one.
    """
    if control is None:
        return problem
    if not isinstance(problem, System):
        raise InputError(
            f"control = {quoted(control)}: {type(problem).__name__} has no joints to control; take pt.System"
        )
    if isinstance(control, Sampled):
        chain = control.law.chain
        control = Held(chain, jnp.zeros((1, chain.v_size)), jnp.zeros(()), control.period)
    if not isinstance(control, AbstractControl):
        if not callable(control):
            raise InputError(
                f"control = {quoted(control)}; it must be one of pt.control, or a function f(q, v) of joint "
                "coordinates and rates"
            )
        control = Feedback(OpenChain(problem), control)
    try:
        return problem.with_terms(loads=[control])
    except InputError as error:
        raise InputError(str(error).replace("loads[0]", "control", 1)) from None
