r"""What an integrator keeps of a rigid body, in any coordinates and any form of the equations.

Everything is measured on the motion of the body itself, the rotation $R$ and the body angular momentum $m$,
so that numbers of different formulations can be compared. A step is a map of $T^*SO(3)$, and it is symplectic
if it keeps the canonical form, which in the left trivialisation $(\theta, \mu)$, $R \to R\exp\hat\theta$,
$m \to m + \mu$, reads

$$ \omega\big((\theta, \mu), (\theta', \mu')\big)
   = \theta\cdot\mu' - \theta'\cdot\mu - m\cdot(\theta\times\theta') . $$

On the tangent space of the constraints this is what the canonical form of the coordinates restricts to, so
one certificate serves quaternions, directors, angles and the group.
"""

from dataclasses import asdict, dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.analysis._body_standard import T1, standard_body, standard_end, standard_start
from poinsot.analysis._order import fit_slope
from poinsot.analysis._travel import travel
from poinsot.coordinates import AbstractOrientation, as_coordinates
from poinsot.core import Packed, Result, State
from poinsot.equations import FORMS, Formulation, formulate, refusal
from poinsot.integrators import AbstractIntegrator, as_fixed
from poinsot.kernels import once
from poinsot.rotation import hat, multiply, quat_exp, vec, vee
from poinsot.solvers import EPS

LADDER = tuple(sorted({2**k for k in range(3, 15)} | {3 * 2**k for k in range(2, 13)}))
"""Numbers of steps up to `T1` with which the order is measured."""
STEP = 0.05
"""Step of the certificates, and of the long run for a method of order 2; others take it as it is."""
STEPS = 2000
"""Steps of the long run."""
ORDER_TOLERANCE = 0.15
SYMPLECTIC = 1e-12
"""Largest scaled defect of the canonical form that counts as round-off."""


@dataclass(frozen=True)
class BodyCertificate:
    """Measured properties of one combination; None where it is refused."""

    coordinates: str
    form: str
    integrator: str
    refused: str | None
    """Why the combination is not possible."""
    declared_order: int
    claims_symplectic: bool = False
    """Whether the integrator declares it, and the equations have the structure that it keeps."""
    order: float | None = None
    """Slope of the error of rotation and angular velocity."""
    symplectic: float | None = None
    """Scaled defect of the canonical form over one step."""
    energy: float | None = None
    """Largest deviation over the long run, relative to the size of its terms."""
    momentum: float | None = None
    """The same of the vertical angular momentum."""
    position: float | None = None
    """Largest residual of the constraints, or of the unit norm, over the long run."""
    velocity: float | None = None
    """Largest residual of their rates."""
    result: str = Result.successful.name
    """How the long run ended."""

    @property
    def confirmed(self) -> bool:
        """Whether the declared order shows, and symplecticity where it is claimed."""
        if self.refused is not None:
            return True
        assert self.order is not None and self.symplectic is not None
        right_order = abs(self.order - self.declared_order) <= ORDER_TOLERANCE
        return right_order and (self.symplectic <= SYMPLECTIC or not self.claims_symplectic)

    def to_dict(self) -> dict:
        """Plain data, ready for JSON."""
        return {key: _plain(value) for key, value in asdict(self).items()}


def certify_body(
    integrator: AbstractIntegrator | str, coordinates: AbstractOrientation | str, form: str
) -> BodyCertificate:
    """Measure one combination on the standard body.

    Args:
        integrator: the method, or its name.
        coordinates: of the rotation, or their name.
        form: of the equations.
    """
    integrator, coordinates = as_fixed("certify_body", integrator), as_coordinates(coordinates)
    form = FORMS.name_of(form)
    system, start = standard_body(), standard_start()
    about = (str(coordinates), form, integrator.name)
    reason = refusal(system, coordinates, form)
    if reason is None:
        reason = integrator.refusal(formulate(system, coordinates, form).problem)
    if reason is not None:
        return BodyCertificate(*about, reason, integrator.order)
    formulation = formulate(system, coordinates, form)
    watched = formulation.watched(start)
    y = formulation.problem.pack(formulation.start(start))
    run = travel(watched.problem, integrator, y, STEP, STEPS)
    kept = {name: float(np.max(np.asarray(value))) for name, value in run.deviation.items()}
    return BodyCertificate(
        *about,
        None,
        integrator.order,
        claims_symplectic=integrator.claims(formulation.problem).symplectic,
        order=_order(watched, integrator, y),
        symplectic=_symplectic(formulation, integrator, start),
        energy=kept["energy"] / _SCALE["energy"],
        momentum=kept["L_z"] / _SCALE["L_z"],
        position=kept.get("constraint", 0.0),
        velocity=kept.get("constraint rate", 0.0),
        result=Result(int(run.result)).name,
    )


_SCALE = {"energy": 4.0, "L_z": 2.0}
"""Sizes of the terms that make up the conserved quantities of the standard body."""


def _order(formulation: Formulation, integrator: AbstractIntegrator, y: Packed) -> float:
    """Slope of the error at `T1` over a ladder of steps, down to round-off."""
    exact = np.asarray(standard_end())
    h, errors, floors = [], [], []
    for count in LADDER:
        end = travel(formulation.problem, integrator, y, T1 / count, count)
        seen = np.asarray(body_state(formulation, end.y))
        h.append(T1 / count)
        errors.append(float(np.max(np.abs(seen - exact))) if end.ok else np.inf)
        floors.append(500.0 * EPS * np.sqrt(count))
        if errors[-1] < floors[-1]:
            break
    return fit_slope(np.array(h), np.array(errors), np.array(floors))[0]


@once
def body_state(formulation: Formulation, y: Packed) -> Float[Array, "12"]:
    """Rotation, column by column, and angular velocity of a single body."""
    R, Omega = _rotation_and_rate(formulation, y)
    return jnp.concatenate([vec(R), Omega])


def _rotation_and_rate(formulation: Formulation, y: Packed) -> tuple[Array, Array]:
    bodies = formulation.bodies
    q, _, Omega = formulation.rates(0.0, y)
    return bodies.rotation(bodies.split(q)[1])[..., 0], Omega[:, 0]


def _symplectic(formulation: Formulation, integrator: AbstractIntegrator, start: State) -> float:
    """Scaled defect of the canonical form over one step."""
    D, m0, m1, result = _step_derivative(formulation, integrator, jnp.asarray(STEP), start)
    if int(result) != Result.successful:
        return float("inf")
    defect = D.T @ _form(m1) @ D - _form(m0)
    return float(jnp.max(jnp.abs(defect)) / jnp.linalg.norm(D, 2) ** 2)


def _form(m: Float[Array, "3"]) -> Float[Array, "6 6"]:
    """Matrix of the canonical form at body angular momentum `m`."""
    return jnp.block([[-hat(m), jnp.eye(3)], [-jnp.eye(3), jnp.zeros((3, 3))]])


@once
def _step_derivative(formulation: Formulation, integrator: AbstractIntegrator, h, start: State):
    """Derivative of one step in the left trivialisation, body momenta before and after, outcome."""
    J = formulation.bodies.system.inertia[:, 0]
    problem, t = formulation.problem, jnp.zeros(())
    quat0, m0 = start.quaternion[0], J * start.angular_velocity[0]

    def step(tangent):
        quat = multiply(quat0, quat_exp(tangent[:3]))
        moved = State(
            position=start.position,
            quaternion=quat[None],
            velocity=start.velocity,
            angular_velocity=((m0 + tangent[3:]) / J)[None],
        )
        y0 = problem.pack(formulation.start(moved))
        y1, _, info = integrator.step(problem, t, h, y0, integrator.init(problem, t, h, y0))
        R, Omega = _rotation_and_rate(formulation, y1)
        return (R, J * Omega), info.result

    (R1, m1), result = step(jnp.zeros(6))
    dR, dm = jax.jacfwd(lambda tangent: step(tangent)[0])(jnp.zeros(6))
    # R1 need not be orthogonal to the last digit, so its inverse and not its transpose.
    inverse = jnp.linalg.inv(R1)
    turned = jax.vmap(lambda column: vee(inverse @ column), in_axes=2, out_axes=1)(dR)
    return jnp.concatenate([turned, dm]), m0, m1, result


def _plain(value):
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
