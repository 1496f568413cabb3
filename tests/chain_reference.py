"""A chain written down a second time, in NumPy alone, from Newton's and Euler's equations.

It shares no line with the package: rotations are quaternions turned by hand, forces are those between
particles, torques their moments. It works in any precision that NumPy has; with 80-bit numbers and
extrapolation its motion is good to about 1e-16 where the motion itself does not amplify errors.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

CORNERS = ((-1, -1, -1), (1, -1, -1), (0, 2, -1), (0, 0, 3))
DIVISORS = (2, 3, 4)
"""Coordinates of the particles of the tetrahedron, and what to divide them by."""


def tetrahedron(kind: type = np.longdouble) -> np.ndarray:
    """Particles of the tetrahedron of unit size, about its mass centre."""
    return np.array(CORNERS, dtype=kind) / np.array(DIVISORS, dtype=kind)


@dataclass
class Chain:
    """Tetrahedra of unit masses in a row, with Lennard-Jones potentials between particles of neighbours.

    A state is one vector: positions, quaternions, velocities, body angular velocities of all bodies.
    """

    count: int = 8
    epsilon: float = 5.0
    sigma: float = 1.0
    still: tuple[int, ...] = ()
    """Bodies that neither move nor turn."""
    pinned: dict[int, Callable] = field(default_factory=dict)
    """Velocities, as functions of time, of mass centres that are led; the bodies turn."""
    forces: dict[int, tuple[float, ...]] = field(default_factory=dict)
    """Constant forces on bodies."""
    kind: type = np.longdouble

    def split(self, y: np.ndarray) -> list[np.ndarray]:
        """Positions, quaternions, velocities, angular velocities, bodies first."""
        cuts = self.count * np.cumsum([3, 4, 3])
        return [part.reshape(self.count, -1) for part in np.split(y, cuts)]

    def join(self, *parts: np.ndarray) -> np.ndarray:
        """One vector of the four parts."""
        return np.concatenate([np.asarray(part, dtype=self.kind).reshape(-1) for part in parts])

    def interactions(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Energy, forces on all bodies, and torques on them in space."""
        arms = np.einsum("nij,kj->nki", R, tetrahedron(self.kind))
        places = x[:, None] + arms
        apart = places[1:, None] - places[:-1, :, None]
        r2 = np.sum(apart**2, axis=-1)
        u6 = (self.kind(self.sigma) ** 2 / r2) ** 3
        energy = 4 * self.kind(self.epsilon) * np.sum(u6**2 - u6)
        push = 24 * self.kind(self.epsilon) * ((2 * u6**2 - u6) / r2)[..., None] * apart
        on_particles = np.zeros_like(places)
        on_particles[1:] += np.sum(push, axis=1)
        on_particles[:-1] -= np.sum(push, axis=2)
        return energy, np.sum(on_particles, axis=1), np.sum(np.cross(arms, on_particles), axis=1)

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        """The rate of a state."""
        x, q, v, Omega = self.split(y)
        R = rotations(q)
        _, force, torque = self.interactions(x, R)
        force = np.array(force)
        for body, push in self.forces.items():
            force[body] += np.array(push, dtype=self.kind)
        points = tetrahedron(self.kind)
        J = np.sum(points**2) - np.sum(points**2, axis=0)
        own = np.einsum("nji,nj->ni", R, torque)
        spin = (own - np.cross(Omega, J * Omega)) / J
        acceleration = force / self.kind(len(points))
        rate = np.array(v)
        for body, velocity in self.pinned.items():
            rate[body], acceleration[body] = velocity(t), 0
        still = list(self.still)
        rate[still] = acceleration[still] = spin[still] = 0
        return self.join(rate, turning(q, Omega), acceleration, spin)

    def energy(self, y: np.ndarray) -> float:
        """Kinetic and potential energy, with that of the constant forces."""
        x, q, v, Omega = self.split(y)
        points = tetrahedron(self.kind)
        J = np.sum(points**2) - np.sum(points**2, axis=0)
        kinetic = np.sum(len(points) * v**2) / 2 + np.sum(J * Omega**2) / 2
        work = sum(np.sum(np.array(push) * x[body]) for body, push in self.forces.items())
        return float(kinetic + self.interactions(x, rotations(q))[0] - work)

    def at_rest(self, y: np.ndarray, steps: int = 2000, h: float = 0.02) -> np.ndarray:
        """A state next to an equilibrium: velocities are stopped whenever they go against the forces (FIRE).

        Args:
            y: where to start.
            steps: of the descent.
            h: their length.
        """
        x, q, v, Omega = (np.array(part) for part in self.split(y))
        v, Omega = 0 * v, 0 * Omega
        for _ in range(steps):
            _, _, push, spin = self.split(self.slope(0.0, self.join(x, q, v, Omega)))
            if np.sum(v * push) + np.sum(Omega * spin) < 0:
                v, Omega = 0 * v, 0 * Omega
            v, Omega = v + h * push, Omega + h * spin
            x, q = x + h * v, q + h * turning(q, Omega)
            q = q / np.linalg.norm(q.astype(float), axis=1, keepdims=True)
        return self.join(x, q, 0 * v, 0 * Omega)


def rotations(q: np.ndarray) -> np.ndarray:
    """Rotation matrices of quaternions, scalar first, from their action on the axes."""
    w, u = q[:, :1], q[:, 1:]
    axes = np.eye(3, dtype=q.dtype)
    columns = [
        (w**2 - np.sum(u**2, axis=1, keepdims=True)) * e
        + 2 * np.sum(u * e, axis=1, keepdims=True) * u
        + 2 * w * np.cross(u, e)
        for e in axes
    ]
    return np.stack(columns, axis=2)


def turning(q: np.ndarray, Omega: np.ndarray) -> np.ndarray:
    """Rates of quaternions at body angular velocities, half the product of the two."""
    w, u = q[:, :1], q[:, 1:]
    return np.hstack([-np.sum(u * Omega, axis=1, keepdims=True), w * Omega + np.cross(u, Omega)]) / 2


def extrapolated(slope: Callable, y: np.ndarray, t1: float, steps: int, columns: int = 9) -> np.ndarray:
    """The state at `t1` by the modified midpoint rule and Richardson extrapolation (Gragg, Bulirsch, Stoer).

    Args:
        slope: rate of the state.
        y: state at time zero.
        t1: end.
        steps: number of basic steps.
        columns: of the extrapolation table; the order is twice as many.
    """
    big = y.dtype.type(t1) / steps
    for n in range(steps):
        table: list[np.ndarray] = []
        for column in range(columns):
            parts = 2 * (column + 1)
            row = [_midpoint(slope, y, n * big, big, parts)]
            for k in range(column):
                ratio = y.dtype.type(parts) ** 2 / y.dtype.type(2 * (column - k)) ** 2
                row.append(row[k] + (row[k] - table[k]) / (ratio - 1))
            table = row
        y = table[-1]
    return y


def _midpoint(slope: Callable, y: np.ndarray, t, big, parts: int) -> np.ndarray:
    """Gragg's rule: an even expansion of its error in the step."""
    h = big / parts
    before, now = y, y + h * slope(t, y)
    for k in range(1, parts):
        before, now = now, before + 2 * h * slope(t + k * h, now)
    return (before + now + h * slope(t + big, now)) / 2
