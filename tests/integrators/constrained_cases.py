"""Small systems with constraints, shared by the tests of the methods that impose them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import poinsot as pt
from poinsot.core import AbstractConstrained, Constrained, UserFunction, composed_gradient, discrete_gradient
from quickly import quickly

GRAVITY = 9.81
INERTIA = np.array([1.4, 1.1, 0.6])
EULER_TENSOR = 0.5 * INERTIA.sum() - INERTIA
WEIGHT = 2.0
OMEGA = np.array([0.3, -0.4, 5.0])


def vertical(q, p):
    """Vertical component of the angular momentum of a point."""
    return q[0] * p[1] - q[1] * p[0]


SPHERICAL = Constrained(
    V=lambda q, params: params["g"] * q[2],
    g=lambda q: 0.5 * (jnp.sum(q * q) - 1.0)[None],
    mass=1.5,
    params={"g": 1.5 * GRAVITY},
    invariants={"vertical": vertical},
)
SPHERICAL_START = pt.State(q=[0.8, 0.0, -0.6], p=[0.9, 3.0, 1.2])
"""Point of mass 1.5 on the unit sphere."""


def _double_constraints(q):
    a, b = q[:2], q[2:] - q[:2]
    return 0.5 * jnp.stack([jnp.sum(a * a) - 1.0, jnp.sum(b * b) - 0.64])


DOUBLE_MASSES = np.array([2.0, 2.0, 1.0, 1.0])
DOUBLE = Constrained(
    V=lambda q: GRAVITY * (2.0 * q[1] + q[3]), g=_double_constraints, mass=jnp.asarray(DOUBLE_MASSES)
)


def double_pendulum(angles, rates):
    """Cartesian positions and momenta of angles from the vertical and their rates; arms 1 and 0.8."""
    arms = np.array([1.0, 0.8])
    steps = arms * np.array([np.sin(angles), -np.cos(angles)])
    speeds = arms * rates * np.array([np.cos(angles), np.sin(angles)])
    q, v = np.cumsum(steps, axis=1).T.ravel(), np.cumsum(speeds, axis=1).T.ravel()
    return pt.State(q=q, p=DOUBLE_MASSES * v)


def double_field(t, y):
    """Equations of the double pendulum in its angles, from the Lagrangian by hand."""
    (a, b), (u, v) = y[:2], y[2:]
    m1, m2, l1, l2 = 2.0, 1.0, 1.0, 0.8
    mass = np.array(
        [[(m1 + m2) * l1**2, m2 * l1 * l2 * np.cos(a - b)], [m2 * l1 * l2 * np.cos(a - b), m2 * l2**2]]
    )
    twist = m2 * l1 * l2 * np.sin(a - b)
    force = np.array(
        [
            -twist * v**2 - (m1 + m2) * GRAVITY * l1 * np.sin(a),
            twist * u**2 - m2 * GRAVITY * l2 * np.sin(b),
        ]
    )
    return np.concatenate([y[2:], np.linalg.solve(mass, force)])


def left(q: Array) -> Array:
    """Matrix of the product with a quaternion from the left."""
    a, b, c, d = q
    return jnp.stack(
        [
            jnp.stack([a, -b, -c, -d]),
            jnp.stack([b, a, -d, c]),
            jnp.stack([c, d, a, -b]),
            jnp.stack([d, -c, b, a]),
        ]
    )


def rotation(q: Array) -> Array:
    """Body to space, homogeneous of degree two."""
    a, b, c, d = q
    return jnp.stack(
        [
            jnp.stack([a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)]),
            jnp.stack([2.0 * (b * c + a * d), a * a - b * b + c * c - d * d, 2.0 * (c * d - a * b)]),
            jnp.stack([2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a - b * b - c * c + d * d]),
        ]
    )


START_QUATERNION = jnp.array([np.cos(0.6), np.sin(0.6), 0.0, 0.0])


class QuaternionTop(AbstractConstrained):
    r"""A heavy top in unit quaternions, $M = 4 \sigma I + 4 Q\,\mathrm{diag}(0, J - \sigma) Q^T$.

    With sigma zero the mass is singular across the sphere.
    """

    inertia: Array
    sigma: float = eqx.field(static=True)
    weight: Any
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)

    def __init__(self, sigma, weight=WEIGHT):
        self.inertia, self.sigma, self.weight = jnp.asarray(INERTIA), sigma, weight
        self.params, self.invariants, self.vectorised = None, {}, False

    @property
    def autonomous(self):
        return True

    @property
    def regular(self):
        return self.sigma > 0.0

    @property
    def separable(self):
        return False

    @property
    def conservative(self):
        return True

    @property
    def diagonal(self):
        return jnp.concatenate([jnp.zeros(1), self.inertia - self.sigma])

    def potential(self, t, q):
        return self.weight * (q[0] ** 2 - q[1] ** 2 - q[2] ** 2 + q[3] ** 2)

    def constraint(self, t, q):
        return 0.5 * (jnp.sum(q * q) - 1.0)[None]

    def momentum(self, q, v):
        Q = left(q)
        body = jnp.sum(Q * v[:, None], axis=0)
        return 4.0 * (self.sigma * v + jnp.sum(Q * (self.diagonal * body)[None], axis=1))

    def velocity(self, t, q, p):
        Q = left(q)[:, 1:]
        return 0.25 * jnp.sum(Q * (jnp.sum(Q * p[:, None], axis=0) / self.inertia)[None], axis=1)

    def kinetic(self, q, p):
        body = jnp.sum(left(q) * p[:, None], axis=0)
        square = jnp.sum(q * q)
        inverse = jnp.concatenate([jnp.zeros(1), 1.0 / (self.sigma + square * (self.inertia - self.sigma))])
        across = jnp.sum(q * p) ** 2 / (self.sigma * square)
        return 0.125 * (across + jnp.sum(inverse * body * body) / square)

    def discrete_gradient(self, t, q0, p0, q1, p1):
        raise NotImplementedError("energy-momentum methods are tested on other problems")

    def load(self, t, q, v):
        return jnp.zeros_like(q)

    def turning(self, q=START_QUATERNION, omega=OMEGA):
        q = jnp.asarray(q)
        return pt.State(q=q, p=self.momentum(q, 0.5 * left(q)[:, 1:] @ jnp.asarray(omega)))


def spatial(q, p):
    """Spatial angular momentum from quaternion and momentum."""
    return rotation(q) @ (0.5 * left(q)[:, 1:].T @ p)


def quaternion_top(weight=WEIGHT):
    """The same top through the public class, with the mass as a function of the quaternion."""
    radial = 0.5 * INERTIA.sum()
    inertia = np.concatenate([[radial], INERTIA])
    return Constrained(
        V=lambda q, params: params * (q[0] ** 2 - q[1] ** 2 - q[2] ** 2 + q[3] ** 2),
        g=lambda q: 0.5 * (jnp.sum(q * q) - 1.0)[None],
        mass=lambda q: 4.0 * left(q) @ jnp.diag(jnp.asarray(inertia)) @ left(q).T,
        params=weight,
        invariants={"vertical": lambda q, p: spatial(q, p)[2]},
    )


def quaternion_start(q=START_QUATERNION, omega=OMEGA):
    q = jnp.asarray(q)
    return pt.State(q=q, p=2.0 * left(q)[:, 1:] @ jnp.asarray(INERTIA * omega))


def columns(q):
    """Rotation matrix of nine director components, directors as columns."""
    return q.reshape(3, 3).T


def _orthonormal(q):
    D = q.reshape(3, 3)
    gram = D @ D.T - jnp.eye(3)
    i, j = np.triu_indices(3)
    return jnp.where(i == j, 0.5, 1.0) * gram[i, j]


def director_top(weight=WEIGHT):
    """The same top in directors, with Euler's tensor as constant mass."""
    return Constrained(
        V=lambda q, params: params * q[8],
        g=_orthonormal,
        mass=jnp.asarray(np.repeat(EULER_TENSOR, 3)),
        params=weight,
        invariants={"vertical": lambda q, p: sum(vertical(q[k : k + 3], p[k : k + 3]) for k in (0, 3, 6))},
    )


def director_start(q=START_QUATERNION, omega=OMEGA):
    R = rotation(jnp.asarray(q))
    a, b, c = omega
    skew = jnp.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    rate = (R @ skew).T.ravel()
    return pt.State(q=R.T.ravel(), p=jnp.asarray(np.repeat(EULER_TENSOR, 3)) * rate)


def top_field(t, y):
    """Euler's equations of the top with its quaternion; y is the quaternion, then the body rates."""
    (a, b, c, d), w = y[:4], y[4:]
    torque = WEIGHT * np.array([2.0 * (c * d + a * b), -2.0 * (b * d - a * c), 0.0])
    rate = 0.5 * np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]]) @ w
    return np.concatenate([rate, (torque - np.cross(w, INERTIA * w)) / INERTIA])


POINTS = np.repeat([1.0, 2.0, 1.5], 2)
"""Masses of three points in the plane, joined by two rods; a spring joins the ends."""


def _rods(q):
    a, b = q[2:4] - q[:2], q[4:] - q[2:4]
    return 0.5 * jnp.stack([jnp.sum(a * a) - 1.0, jnp.sum(b * b) - 1.0])


def _ends(q):
    return jnp.sum((q[4:] - q[:2]) ** 2)[None]


def _spring(square):
    return 3.0 * (jnp.sqrt(square[0]) - 1.2) ** 2


CHAIN = {
    "V": lambda q: _spring(_ends(q)),
    "g": _rods,
    "mass": jnp.asarray(POINTS),
    "invariants": {
        "linear": lambda q, p: p[0] + p[2] + p[4],
        "bilinear": lambda q, p: sum(vertical(q[k : k + 2], p[k : k + 2]) for k in (0, 2, 4)),
        "constraint": lambda q, p: jnp.max(jnp.abs(_rods(q))),
        "rate": lambda q, p: jnp.max(jnp.abs(jax.jvp(_rods, (q,), (p / POINTS,))[1])),
    },
}
FREE_CHAIN = Constrained(**CHAIN)


class SymmetricChain(Constrained):
    """The same with a discrete gradient that turns and shifts as the spring does."""

    def __init__(self, **given):
        super().__init__(**given)

    def discrete_gradient(self, t, q0, p0, q1, p1):
        along_p = discrete_gradient(lambda p: self.kinetic(q0, p), p0, p1)
        return composed_gradient(_spring, _ends, q0, q1), along_p


def chain_start():
    """Without total momentum, so that the chain stays where it is."""
    q = np.array([0.0, 0.0, 1.0, 0.0, 1.0 + np.cos(1.1), np.sin(1.1)])
    v = jnp.array([0.3, -0.2, 1.0, 0.7, -0.4, 0.9])
    q = jnp.asarray(q)
    p = FREE_CHAIN.tangent_momentum(0.0, q, jnp.asarray(POINTS) * v)
    drift = jnp.sum(p.reshape(3, 2), axis=0) / POINTS[::2].sum()
    return pt.State(q=q, p=p - POINTS * jnp.tile(drift, 3))


class Index2(Constrained):
    """The same equations with the constraints on velocities alone."""

    def __init__(self, **given):
        super().__init__(**given)

    @property
    def index(self):
        return 2


def surface_symplecticity(problem, integrator, state, h, *, ambient=False):
    r"""Largest entry of $B^T(D^T \Omega D - \Omega)B$ relative to $|DB|^2$; $D$ is the derivative of a step.

    The columns of $B$ span the tangent space of the surface $g(q) = 0$, $p = P(q) p$; all space if `ambient`.
    """
    y = problem.pack(state)
    n, m = y.size // 2, problem.constraint(0.0, state.q).size

    @quickly
    def measure(y):
        def step(y):
            t, size = jnp.asarray(0.0), jnp.asarray(h)
            y1, _, info = integrator.step(problem, t, size, y, integrator.init(problem, t, size, y))
            return y1, info.result

        def off_surface(y):
            q, p = problem.split(y)
            return jnp.concatenate([problem.constraint(0.0, q), p - problem.tangent_momentum(0.0, q, p)])

        D, result = jax.jacfwd(step, has_aux=True)(y)
        _, sizes, axes = jnp.linalg.svd(jax.jacfwd(off_surface)(y))
        B = jnp.eye(2 * n) if ambient else axes[2 * m :].T
        omega = jnp.block([[jnp.zeros((n, n)), jnp.eye(n)], [-jnp.eye(n), jnp.zeros((n, n))]])
        image = D @ B
        defect = jnp.max(jnp.abs(image.T @ omega @ image - B.T @ omega @ B))
        return defect / jnp.linalg.norm(image, 2) ** 2, result, sizes

    defect, result, sizes = measure(y)
    assert int(result) == 0 and sizes[2 * m - 1] > 1e-3 and np.all(sizes[2 * m :] < 1e-12)
    return float(defect)
