"""Example C, two bodies with a ball joint, in the four formulations that the paper compares on it."""

from functools import cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.coordinates import AbstractCoordinates, Quaternions
from poinsot.core import ODE, AbstractConstrained, AbstractProblem, State
from poinsot.equations import Formulation, formulate
from poinsot.integrators import AbstractAdaptive
from poinsot.kernels import once
from poinsot.library import two_body_linkage
from poinsot.model import System
from poinsot.papers.lang2010._formulations import DIRECTORS
from poinsot.simulation import Trajectory, simulate

JOINT_ROWS = 3
"""Of the external constraint (67), the last of all."""
PULLED_BACK = Quaternions(I0=51.6)
"""Quaternions with the radial inertia of the pull-back, (J1 + J2 + J3) / 2 by remark 5.3."""
CHOICES: dict[str, tuple[AbstractCoordinates, str]] = {
    "null space, quaternions": (PULLED_BACK, "null_space"),
    "null space, directors": (DIRECTORS, "null_space"),
    "absolute, quaternions": (PULLED_BACK, "index1"),
    "absolute, directors": (DIRECTORS, "index1"),
}
EQUATIONS = {
    "null space, quaternions": "(61)",
    "null space, directors": "(60)",
    "absolute, quaternions": "(59)",
    "absolute, directors": "(58)",
}
UNKNOWNS = {
    "null space, quaternions": 23,
    "null space, directors": 33,
    "absolute, quaternions": 28,
    "absolute, directors": 48,
}
"""As the paper counts them."""
AT_HALF_A_SECOND = (
    (-0.473182094577544946, -2.607944373719299450, -1.276794205885555522),
    (-3.698791929405230997, 2.027353997849090415, 10.948996788515053292),
    (0.991650875907341168, 0.113853176090919786, 0.060547457471087259),
    (0.104257248328244702, -0.431553089184223970, -0.896042609135623421),
    (-0.075887854648987239, 0.894873949508847409, -0.439820017742725176),
    (0.227120310154932539, 0.472319915197450371, -0.851663232987664422),
    (-0.961357362489178606, -0.030980637830206453, -0.273554787323278255),
    (-0.155590444124880767, 0.880882567535257146, 0.447031895852539021),
    (131.827791939889004597, -62.775580151327514643, -102.168386796025490643),
    (-8.282088505989121169, -248.666753319084856702, 13.149050554228498209),
    (-66.693817627819695422, 79.413879624790388569, -4.287756400059484333),
    (-33.179512331708285493, 59.582487499006572044, -0.950425929206364199),
)
"""Positions, rows of both rotations, velocities and body angular velocities, by equations written by hand and
Gragg's extrapolation of order 16 in extended precision; a test computes them again."""


class Described(NamedTuple):
    """The example in one formulation."""

    formulation: Formulation
    problem: AbstractProblem
    """What is integrated."""
    start: State


class AccelerationLevel(eqx.Module):
    r"""Equation (4), the general one of index 1, solved for the accelerations.

    $$ \begin{pmatrix} M & G^T \\ G & 0 \end{pmatrix} \begin{pmatrix} \dot v \\ \lambda \end{pmatrix} =
       \begin{pmatrix} \partial_q (T - V) - \dot M v \\ -\dot G v \end{pmatrix} $$

    in all coordinates and with all constraints, internal ones and the joint: (58) in directors, (59) in
    quaternions. Our form "index1" solves for the joint in velocities and angular velocities instead, which is
    the same on the constraints and lets the joint drift faster where the coordinates have left theirs.
    """

    constrained: AbstractConstrained
    formulation: Formulation

    def __call__(self, t, y: Array) -> Array:
        bodies = self.formulation.bodies
        q, v = jnp.split(y, 2)

        def gap(q):
            return self.constrained.constraint(t, q)

        def action(q):
            return bodies.kinetic(q, v) - bodies.potential(t, q)

        _, turned = jax.jvp(lambda q: bodies.momentum(q, v), (q,), (v,))
        _, bend = jax.jvp(lambda q: jax.jvp(gap, (q,), (v,))[1], (q,), (v,))
        M, G = jax.jacfwd(lambda v: bodies.momentum(q, v))(v), jax.jacfwd(gap)(q)
        matrix = jnp.block([[M, G.T], [G, jnp.zeros((len(G), len(G)))]])
        solved = jnp.linalg.solve(matrix, jnp.concatenate([jax.grad(action)(q) - turned, -bend]))
        return jnp.concatenate([v, solved[: len(q)]])


@cache
def example() -> System:
    """Example C."""
    return two_body_linkage()


@cache
def constrained(coordinates: AbstractCoordinates) -> AbstractConstrained:
    """The equations of index 3, which have all constraints."""
    problem = formulate(example(), coordinates, "index3").problem
    assert isinstance(problem, AbstractConstrained)
    return problem


@cache
def described(name: str) -> Described:
    """One of the four formulations, by name."""
    coordinates, form = CHOICES[name]
    formulation = formulate(example(), coordinates, form)
    start = formulation.start(example().start)
    if form == "null_space":
        return Described(formulation, formulation.problem, start)
    literal = ODE(AccelerationLevel(constrained(coordinates), formulation))
    return Described(formulation, literal, State(y=formulation.problem.pack(start)))


def run(name: str, solver: AbstractAdaptive, tolerance: float, t1: float, save_every: int = 1) -> Trajectory:
    """The example in one formulation; a run that breaks off is returned as far as it came."""
    _, problem, start = described(name)
    accuracy = {"rtol": tolerance, "atol": tolerance, "save_every": save_every}
    return simulate(problem, start, t1=t1, integrator=solver, progress=False, throw=False, **accuracy)


def packed(run: Trajectory) -> np.ndarray:
    """States of a run as one array, time first."""
    return np.concatenate(list(run.components.values()), axis=1)


@once
def _seen(formulation: Formulation, t, packed: Array) -> Array:
    motion = jax.vmap(formulation.motion)(t, packed)
    parts = motion.position, motion.rotation, motion.velocity, motion.angular_velocity
    return jnp.concatenate([part.reshape(len(t), -1) for part in parts], axis=1)


def error_at_half_a_second(name: str, made: Trajectory) -> float:
    """Norm of the errors of positions, rotations, velocities and angular velocities at the end of a run."""
    seen = _seen(described(name).formulation, jnp.asarray(made.t[-1:]), jnp.asarray(packed(made)[-1:]))
    error = float(np.linalg.norm(np.asarray(seen)[0] - np.ravel(AT_HALF_A_SECOND)))
    return error if np.isfinite(error) and made.result.ok else float("inf")


@once
def _energies(formulation: Formulation, t, packed: Array) -> Array:
    return jax.vmap(formulation.energy)(t, packed)


def energies(name: str, made: Trajectory) -> np.ndarray:
    """Energies at the times of a run."""
    return np.asarray(_energies(described(name).formulation, jnp.asarray(made.t), jnp.asarray(packed(made))))


@once
def _residuals(constrained: AbstractConstrained, formulation: Formulation, t, packed: Array):
    def one(t, y):
        q, rate, _ = formulation.rates(t, y)
        return jax.jvp(lambda q: constrained.constraint(t, q), (q,), (rate,))

    return jax.vmap(one)(t, packed)


def residuals(name: str, made: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """All constraints and their rates at the times of a run; those of the joint are the last three."""
    coordinates, _ = CHOICES[name]
    at = jnp.asarray(made.t), jnp.asarray(packed(made))
    found = _residuals(constrained(coordinates), described(name).formulation, *at)
    return np.asarray(found[0]), np.asarray(found[1])
