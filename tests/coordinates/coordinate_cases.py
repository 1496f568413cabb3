"""Coordinates under test and a body in motion, with the formulas written out in plain NumPy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from poinsot import coordinates as co
from poinsot import rotation as rn
from quickly import quickly

H = 1e-4
TURN = np.array([0.4, -1.1, 0.7])
J = np.array([0.9, 1.4, 1.9])
FLAT = np.array([0.6, 1.1, 1.7])

QUATERNIONS = [
    co.Quaternions(),
    co.Quaternions(sigma=0),
    co.Quaternions(sigma="mean"),
    co.Quaternions(I0=2.5),
]
DIRECTORS = [
    co.Directors(constraints="rows"),
    co.Directors(),
    co.Directors(sigma=0.0, constraints="rows"),
    co.Directors(sigma="mean"),
]
ANGLES = [co.EulerAngles(sequence) for sequence in ("zxz", "zyx")]
ALL = [*QUATERNIONS, *DIRECTORS, *ANGLES]


def unit_quaternion(seed: int = 1) -> np.ndarray:
    quat = np.random.default_rng(seed).normal(size=4)
    return quat / np.linalg.norm(quat)


def vector(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(100 + seed).normal(size=size)


def hat(a) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def matrix(quat) -> np.ndarray:
    """Rotation matrix by Rodrigues' formula from the axis and the angle of a unit quaternion."""
    length = np.linalg.norm(quat[1:])
    angle, axis = 2.0 * np.arctan2(length, quat[0]), hat(quat[1:] / length)
    return np.eye(3) + np.sin(angle) * axis + (1.0 - np.cos(angle)) * axis @ axis


def vec(R) -> np.ndarray:
    return np.asarray(R).T.reshape(9)


def left_matrix(q) -> np.ndarray:
    a, b, c, d = q
    return np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])


def director_null_space(q) -> np.ndarray:
    d1, d2, d3 = (np.asarray(q[3 * k : 3 * k + 3])[:, None] for k in range(3))
    zero = np.zeros((3, 1))
    return np.block([[zero, -d3, d2], [d3, zero, -d1], [-d2, d1, zero]])


def kinetic_energy(coordinates, q, v, moments):
    return 0.5 * jnp.sum(v * coordinates.momentum(q, v, moments))


@functools.cache
def on_surface(coordinates):
    """A body in motion and everything the coordinates say of it, compiled as one program."""
    size = coordinates.size
    quat, Omega, force, p, moments = map(
        jnp.asarray, (unit_quaternion(), vector(3, 1), vector(size, 2), vector(size, 3), J)
    )

    @quickly
    def facts(quat, Omega, force, p, moments):
        q = coordinates.from_quaternion(quat)
        v = coordinates.velocity(q, Omega)
        a, multipliers = coordinates.acceleration(q, v, moments, force)
        own = coordinates.momentum(q, v, moments)
        torque = coordinates.null_space(q).T @ force
        gyroscopic = jnp.cross(Omega, moments * Omega)

        def second_difference(moment):
            """Of the coordinates along R(t) = R exp(Omega t + Omega' t^2/2)."""
            times = H * jnp.array([-1.0, 0.0, 1.0])[:, None]
            xi = times * Omega[None] + 0.5 * times**2 * (moment / moments)[None]
            path = jax.vmap(lambda x: coordinates.from_quaternion(rn.multiply(quat, rn.quat_exp(x))))(xi)
            return (path[2] - 2.0 * path[1] + path[0]) / H**2

        return dict(
            q=q,
            v=v,
            Omega=Omega,
            force=force,
            p=p,
            R=coordinates.rotation(q),
            R_free=coordinates.free_rotation(q),
            R_rate=jax.jvp(coordinates.rotation, (q,), (v,))[1],
            T=coordinates.null_space(q),
            G=coordinates.constraint_jacobian(q),
            M=coordinates.mass_matrix(q, moments),
            omega=coordinates.omega(q, v),
            momentum=own,
            kinetic=kinetic_energy(coordinates, q, v, moments),
            back=coordinates.tangent_velocity(q, own, moments),
            free_momentum=coordinates.free_momentum(q, p),
            quasi_energy=0.5
            * jnp.sum(coordinates.quasi_momentum(q, p) ** 2 / coordinates.quasi_inertia(moments)),
            constraint=coordinates.constraint(q),
            a=a,
            multipliers=multipliers,
            kkt=coordinates.kkt_acceleration(q, v, moments, force),
            velocity_force=coordinates.velocity_force(q, v, moments),
            Omega_rate=jax.jvp(coordinates.omega, (q, v), (v, a))[1],
            projected=(coordinates.project_position(q), coordinates.project_velocity(q, v)),
            turned=coordinates.rotation(coordinates.turn(q, rn.quat_exp(jnp.asarray(TURN)))),
            curves={sign: second_difference(torque - sign * gyroscopic) for sign in (1, -1)},
        )

    return jax.tree.map(np.asarray, facts(quat, Omega, force, p, moments))


@functools.cache
def off_surface(coordinates):
    """Closed forms beside autodiff at a position and a velocity that keep no constraint."""
    size = coordinates.size
    q = 1.1 * coordinates.from_quaternion(jnp.asarray(unit_quaternion())) + 0.05 * jnp.asarray(
        vector(size, 4)
    )

    @quickly
    def facts(q, v, force, moments):
        kinetic = jax.grad(kinetic_energy, argnums=1)(coordinates, q, v, moments)
        drift = jax.jvp(lambda x: coordinates.momentum(x, v, moments), (q,), (v,))[1]
        return dict(
            q=q,
            v=v,
            force=force,
            R=coordinates.rotation(q),
            R_free=coordinates.free_rotation(q),
            T=coordinates.null_space(q),
            G=coordinates.constraint_jacobian(q),
            G_auto=jax.jacfwd(coordinates.constraint)(q),
            G_force=coordinates.constraint_force(q, jnp.arange(1.0, 1.0 + coordinates.constraints)),
            bend=coordinates.constraint_bend(q, v),
            bend_auto=jax.jvp(lambda x: jax.jvp(coordinates.constraint, (x,), (v,))[1], (q,), (v,))[1],
            M=coordinates.mass_matrix(q, moments),
            velocity_force=coordinates.velocity_force(q, v, moments),
            velocity_force_auto=kinetic - drift,
            acceleration=coordinates.acceleration(q, v, moments, force),
            kkt=coordinates.kkt_acceleration(q, v, moments, force),
        )

    v, force = jnp.asarray(vector(size, 5)), jnp.asarray(vector(size, 6))
    return jax.tree.map(np.asarray, facts(q, v, force, jnp.asarray(J)))
