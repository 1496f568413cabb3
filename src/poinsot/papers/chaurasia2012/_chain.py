"""The chains of chapter 3: tetrahedra and discs made of particles, with the data that the thesis gives."""

import jax.numpy as jnp
import numpy as np

from poinsot.coordinates import Quaternions
from poinsot.core import State
from poinsot.integrators import AbstractIntegrator
from poinsot.library import particle_chain
from poinsot.model import Chain, ends, potentials, shapes
from poinsot.simulation import BodyTrajectory, simulate

COUNT, SPACING, EPSILON, SIGMA, PULL = 8, 2.0, 5.0, 1.0, (3.0, 0.0, 0.0)
VELOCITY, SEED = 0.05, 0
ENDS = {"c1-c2": ("clamped", ends.force(PULL)), "c1-c1": ("clamped", "clamped")}
SETTINGS = {
    "bodies": COUNT,
    "spacing": SPACING,
    "epsilon": EPSILON,
    "sigma": SIGMA,
    "standard deviation of each start velocity": VELOCITY,
    "seed": SEED,
}
OWN_START = (
    "The thesis starts from 'a typical initial velocity' that it does not give, and prints neither step nor "
    f"time. Ours: components of velocity and angular velocity drawn from a normal distribution of width "
    f"{VELOCITY} (seed {SEED}), all bodies unturned, the first at x = 0 where the thesis has it at x = 2."
)
RADIUS, THICKNESS, DISC_EPSILON, DISC_PULL, DISC_STEP = 0.05, 0.005, 1e-6, (0.03, 0.0, 0.0), 0.01
DISC_SPACING = 2.0 ** (1.0 / 6.0)
"""Where the Lennard-Jones potential with sigma = 1 has its minimum."""
HOMOGENEOUS, THESIS = Quaternions(), Quaternions(I0=1.0)
"""Our form of the canonical equations in quaternions, and that of the thesis with a multiplier and J0 = 1."""


def tetrahedra(condition: str) -> tuple[Chain, State]:
    """Eight tetrahedra under an end condition of section 3.2.4, and where they start."""
    pair = potentials.LennardJones(EPSILON, SIGMA)
    body = shapes.tetrahedron(a=1.0, particle_mass=1.0)
    chain = particle_chain(body, COUNT, SPACING, pair, ENDS[condition])
    return chain, chain.straight_state(VELOCITY, SEED)


def discs(particles: int, count: int) -> tuple[Chain, State]:
    """Discs with particles on both rims, pulled at the last, and their start: at rest, turning at random."""
    body = shapes.two_rim_disc(RADIUS, THICKNESS, particles, particle_mass=1.0, axis=0)
    pair = potentials.LennardJones(DISC_EPSILON, SIGMA)
    chain = particle_chain(body, count, DISC_SPACING, pair, ("clamped", ends.force(DISC_PULL)))
    turning = np.random.default_rng(SEED).standard_normal((count, 3))
    turning[0] = 0.0
    return chain, chain.state(angular_velocity=jnp.asarray(turning))


def run_chain(
    chain: Chain,
    start: State,
    integrator: AbstractIntegrator,
    t1: float,
    dt: float,
    *,
    coordinates: Quaternions = HOMOGENEOUS,
    save_every: int = 1,
    progress: bool | None = False,
    throw: bool = True,
) -> BodyTrajectory:
    """A run in quaternions, form 'hamiltonian'; up to the step that fails, if it is not to throw."""
    run = simulate(
        chain,
        start,
        t1=t1,
        dt=dt,
        coordinates=coordinates,
        form="hamiltonian",
        integrator=integrator,
        save_every=save_every,
        progress=progress,
        throw=throw,
    )
    assert isinstance(run, BodyTrajectory)
    return run


def unit_error(run: BodyTrajectory) -> np.ndarray:
    """Error of the length of each body's quaternion, `(time, body)`."""
    # The constraint is half the change of the squared length.
    return np.abs(np.sqrt(1.0 + 2.0 * run.constraint[:, :, 0]) - 1.0)
