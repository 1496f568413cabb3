r"""Whether a step of bodies is symplectic: the canonical form on positions, rotations and momenta.

A step is a map of the cotangent bundle of all positions and rotations, and it is symplectic if it keeps the
canonical form, which in the left trivialisation $R \to R\exp\hat\theta$, $m \to m + \mu$ reads

$$ \omega = \sum \delta x\cdot\delta p' - \delta x'\cdot\delta p
   + \sum \theta\cdot\mu' - \theta'\cdot\mu - m\cdot(\theta\times\theta') . $$

On the tangent space of the constraints this is what the canonical form of the coordinates restricts to, so
one certificate serves quaternions, directors, angles and the group. With joints $g(t, x, R) = 0$ it is taken
on the tangent space of closed joints that stay closed, $\{g = 0,\ G u = 0\}$, which a step must map into
itself.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.analysis._specimen import live_motion
from poinsot.core import Packed, Result, State, each_body
from poinsot.equations import Formulation
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import once
from poinsot.model import AbstractSystem
from poinsot.rotation import exp, hat, multiply, quat_exp, to_matrix, vee

RANK = 1e-9
"""Singular values of the conditions on tangent vectors, relative to the largest, that count as zero."""

LARGEST = 1e8
"""Size of the derivative of a step beyond which nothing is measured: its equations have no solution there."""


def symplectic_defect(
    formulation: Formulation, integrator: AbstractIntegrator, start: State, h: float
) -> float:
    r"""Largest change of the canonical form over a step, relative to the size of the tangent vectors.

    $$ \max\,\lvert D^T\Omega_1 D - N^T\Omega_0 N\rvert \,/\, \lVert D\rVert^2 $$

    with tangent vectors $N$ as orthonormal columns, and what the derivative of the step makes of them, $D$.

    Args:
        formulation: system, coordinates and form.
        integrator: the method.
        start: where the step begins; its joints are closed and stay closed.
        h: size of the step.
    """
    system, model = formulation.bodies.system, (formulation, integrator)
    N = tangents(system, start)
    images = [_changed(model, jnp.asarray(h), start, jnp.asarray(column)) for column in N.T]
    _, before, after, result = images[0]
    if int(result) != Result.successful:
        return float("inf")
    moving, D = system.masses.shape[0], np.stack([np.asarray(image[0]) for image in images], axis=1)
    size = np.linalg.norm(D, 2)
    if not size < LARGEST:
        return float("inf")
    defect = D.T @ _form(moving, after) @ D - N.T @ _form(moving, before) @ N
    return float(np.max(np.abs(defect)) / size**2)


def tangents(system: AbstractSystem, start: State) -> Float[np.ndarray, "n k"]:
    r"""Orthonormal columns $(\delta x, \theta, \delta p, \mu)$ along which joints stay closed.

    Gaps and their rates do not change along them. They are all directions where there are no joints.
    """
    if system.linkage is None:
        return np.eye(_size(system))
    _, values, rows = np.linalg.svd(np.asarray(_conditions(system, start)))
    return rows[np.count_nonzero(values > RANK * values[0]) :].T


@once
def _conditions(system: AbstractSystem, start: State) -> Float[Array, "m n"]:
    """Derivatives of all gaps and their rates along displacements and changes of momentum."""
    linkage, t = system.linkage, jnp.zeros(())
    assert linkage is not None

    def opening(tangent):
        x, R, v, Omega = _displaced(system, start, tangent)
        twist = jnp.concatenate([v.reshape(-1), Omega.reshape(-1)])
        return jnp.concatenate([*linkage.gaps(t, x, R), *linkage.rates(t, x, R, twist)])

    return jax.jacfwd(opening)(jnp.zeros(_size(system)))


def _size(system: AbstractSystem) -> int:
    """Number of displacements and momenta."""
    return 2 * (3 * system.masses.shape[0] + 3 * system.inertia.shape[1])


def _split(system: AbstractSystem, tangent: Array) -> list[Array]:
    """Displacements, turns and changes of the two momenta, body axis last."""
    Nx, Nr = system.masses.shape[0], system.inertia.shape[1]
    cuts = np.cumsum([3 * Nx, 3 * Nr, 3 * Nx])
    return [part.reshape(3, -1) for part in jnp.split(tangent, cuts)]


def _displaced(system: AbstractSystem, start: State, tangent: Array) -> tuple[Array, Array, Array, Array]:
    """Live positions, rotations and velocities at a displacement from the start."""
    x, quat, v, Omega = system.live(0.0, start)
    dx, theta, dp, mu = _split(system, tangent)
    R = jnp.moveaxis(to_matrix(quat.T) @ exp(theta.T), 0, -1)
    return x + dx, R, v + dp / system.masses[None], Omega + mu / system.inertia


@once
def _changed(model, h, start: State, tangent: Array) -> tuple[Array, Array, Array, Array]:
    """What a step makes of a tangent vector, body momenta before and after, and the outcome.

    One vector at a time: all of them in one program would take minutes to compile.
    """
    formulation, integrator = model
    system, problem, t = formulation.bodies.system, formulation.problem, jnp.zeros(())
    J, mass = system.inertia, system.masses
    x0, quat0, v0, Omega0 = system.live(t, start)

    def step(tangent) -> tuple[tuple[Array, ...], Array]:
        dx, theta, dp, mu = _split(system, tangent)
        quat = multiply(quat0.T, quat_exp(theta.T)).T
        moved = system.from_live(t, x0 + dx, quat, v0 + dp / mass[None], Omega0 + mu / J)
        y0: Packed = problem.pack(formulation.start(moved))
        y1, _, info = integrator.step(problem, t, h, y0, integrator.init(problem, t, h, y0))
        x, R, v, Omega = live_motion(formulation, y1)
        return (x, R, mass[None] * v, J * Omega), info.result

    ((_, R1, _, m1), result), ((dx, dR, dp, dm), _) = jax.jvp(step, (jnp.zeros_like(tangent),), (tangent,))
    turned = each_body(_turn_of)(R1, dR)
    image = jnp.concatenate([part.reshape(-1) for part in (dx, turned, dp, dm)])
    return image, J * Omega0, m1, result


def _turn_of(R: Float[Array, "3 3"], change: Float[Array, "3 3"]) -> Float[Array, "3"]:
    r"""Turn in the body frame of a change of rotation, $\operatorname{vee}(R^{-1}\,\delta R)$.

    `R` need not be orthogonal to the last digit, so by its inverse and not by its transpose.
    """
    columns = jnp.stack([jnp.cross(R[:, (k + 1) % 3], R[:, (k + 2) % 3]) for k in range(3)])
    return vee((columns @ change) / (columns[0] @ R[:, 0]))


def _form(moving: int, m: Float[Array, "3 turning"]) -> np.ndarray:
    """Matrix of the canonical form at body angular momenta `m`."""
    turning = m.shape[1]
    half = 3 * (moving + turning)
    form = np.zeros((2 * half, 2 * half))
    form[:half, half:], form[half:, :half] = np.eye(half), -np.eye(half)
    for body in range(turning):
        places = 3 * moving + body + turning * np.arange(3)
        form[np.ix_(places, places)] -= np.asarray(hat(m[:, body]))
    return form
