"""Springs too stiff for the steps of an explicit method: found before a run."""

import math
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array

from poinsot.core import Group, InputError, Packed, State, concrete
from poinsot.core.types import Scalar
from poinsot.equations import Formulation, formulate
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import once
from poinsot.model import System
from poinsot.model.joints import angular
from poinsot.model.potentials import JointSpring, Spring


def check_springs(system: Any, integrator: AbstractIntegrator, t0: float, state: State, dt: float) -> None:
    r"""Refuse steps in which a spring turns over so often that they are unstable, however it is damped.

    With the force $-k\,c$ along a coordinate $c$ it makes oscillations of at least
    $\omega^2 = k\,c_u M^{-1} c_u^T$, among the motions that the joints allow; further springs make them
    faster. A damper leaves $|\lambda| = \omega$, or makes one of two larger.

    Raises:
        InputError: it names the spring, its frequency and the step.
    """
    reach = integrator.reach
    if reach is None or not isinstance(system, System) or system.light or not concrete(system, state, t0):
        return
    for term in system.potentials:
        if not isinstance(term, (Spring, JointSpring)) or not float(term.stiffness) > 0.0:
            continue
        if dt * dt * _largest(system, term) <= reach * reach:
            continue
        omega = frequency(system, term, t0, state)
        if abs(dt) * omega > reach:
            raise InputError(
                f"{_label(system, term)} makes oscillations of angular frequency {omega:.3g}; in a step of "
                f"dt = {dt:g} these are {abs(dt) * omega:.3g} radians, and {integrator.name} is unstable "
                f"beyond {reach:.3g}: take dt below {_rounded_down(reach / omega):g}, or an implicit method, "
                "whose step may be somewhat longer"
            )


def frequency(system: System, term: Spring | JointSpring, t0: float, state: State) -> float:
    """Angular frequency that a spring alone gives a system at a state, as its joints let it move."""
    stretched = []
    for more in (0.0, 1.0):
        moved = eqx.tree_at(_rest, term, _rest(term) + more)
        alone = eqx.tree_at(lambda one: one.potentials, system, (moved,))
        formulation = formulate(alone, "group", "group")
        y = formulation.problem.pack(formulation.start(state, t0))
        energy, response = _response(formulation, t0, y)
        stretched.append((float(energy), float(response)))
    energy, response = max(stretched)
    return math.sqrt(max(0.0, 0.5 * response / energy)) if energy > 0.0 else 0.0


def _rest(term: Any) -> Array:
    """Where a spring has no force."""
    return term.rest_length if isinstance(term, Spring) else term.rest


@once
def _response(formulation: Formulation, t, y: Packed) -> tuple[Scalar, Array]:
    r"""Energy $V$ of a spring, and the product $f M^{-1} f$ of its force along the joints."""
    problem = formulation.problem
    assert isinstance(problem, Group)
    x, p, g, m = problem.split(y)
    force, torque = problem.wrench(t, x, g)
    push, turn = force, torque
    if problem.joints is not None:
        # Less what drives ask for.
        driven = problem.along_joints(t, x, g, 0.0 * p, 0.0 * m)
        moved = problem.along_joints(t, x, g, force, torque)
        push, turn = (one - other for one, other in zip(moved, driven, strict=True))
    response = (force * problem.velocity(push)).sum() + (torque * problem.omega(turn)).sum()
    return problem.energy(t, problem.join(type(problem.split(y))(x, 0.0 * p, g, 0.0 * m))), response


def _largest(system: System, term: Spring | JointSpring) -> float:
    """A bound of the square of the frequency, from masses and moments alone; infinite where there is none."""
    if isinstance(term, JointSpring):
        target = term.target
        assert target is not None
        names = target.joint.freedoms or ()
        if sum(angular(name) for name in names) != 1 or not angular(names[target.place]):
            return math.inf
        ends = [(body, 0.0, 1.0) for body in term.bodies]
    else:
        ends = [
            (end.body, 1.0, float(np.sum(np.square(end.point))))
            for end in (term.first, term.second)
            if end.body is not None
        ]
    total = 0.0
    for body, moves, turns in ends:
        mass, least = float(system.bodies[body].mass), float(np.min(np.asarray(system.bodies[body].moments)))
        if not (mass > 0.0 and least > 0.0):
            return math.inf
        total += moves / mass + turns / least
    return float(term.stiffness) * total


def _label(system: System, term: Spring | JointSpring) -> str:
    if isinstance(term, JointSpring):
        return f"JointSpring in {term.target.joint.label}" if term.target else "JointSpring"
    between = [
        system.names[end.body] if end.body is not None else "the ground" for end in (term.first, term.second)
    ]
    return f"Spring between {' and '.join(between)}"


def _rounded_down(number: float) -> float:
    """With two digits."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return math.floor(number / unit) * unit
