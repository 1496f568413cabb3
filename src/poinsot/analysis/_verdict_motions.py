r"""Errors of the energy along motions that were computed: by symplectic methods, so that none of them drifts.

These are the motions of which a run sees least: slow parts hidden behind fast ones, and short bursts.

- *Fast and slow oscillator*: a fast oscillator whose stiffness follows a slow pendulum,

    $$ H = \tfrac12 (p_1^2 + p_2^2) + \tfrac12 (1 + \tfrac9{10} \sin q_1)\,q_2^2 - 10^{-5} \cos q_1, $$

    by Störmer-Verlet. The pendulum swings once in a time of 2000 or more; runs end at 40 to 4000.
- *Kepler orbits* of eccentricity 0.85 to 0.93 by Störmer-Verlet, 2 to 3 times around from anywhere.
- *Fast spin*: a slender heavy top that turns about twenty-five times in each slow nutation, by a splitting on
  the rotation group; a twentieth to three nutations are seen.
"""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.analysis._verdict_families import FULL, Made, even
from poinsot.coordinates import Group
from poinsot.core import AbstractProblem, Hamiltonian, State
from poinsot.equations import formulate
from poinsot.integrators import AbstractIntegrator, LieSplitting, StormerVerlet
from poinsot.kernels import once
from poinsot.library import heavy_top, kepler
from poinsot.simulation import ensemble

AT_ONCE = 250
"""Motions that are computed together, with one step size."""
STATES = 1000
"""States that are saved of each."""


def slow_pendulum(rng: np.random.Generator, count: int) -> Iterator[Made]:
    """Fast and slow oscillators, to at most T = 4000."""
    problem = Hamiltonian(_fast_and_slow)
    for runs in _groups(count):
        q = np.column_stack([rng.uniform(0.0, FULL, runs), np.zeros(runs)])
        p = np.column_stack([_even(rng, 1e-4, 1e-2, runs), rng.uniform(0.3, 1.0, runs)])
        dt = rng.uniform(0.05, 0.2)
        steps = STATES * round(4000.0 / dt / STATES)
        yield from _cut(rng, problem, StormerVerlet(), State(q=q, p=p), dt, steps, (0.01, 1.0))


def eccentric_orbits(rng: np.random.Generator, count: int) -> Iterator[Made]:
    """Kepler orbits, two to three times around."""
    for runs in _groups(count):
        e, anomaly = rng.uniform(0.85, 0.93, runs), rng.uniform(0.0, FULL, runs)
        r, b = 1.0 - e * np.cos(anomaly), np.sqrt(1.0 - e * e)
        q = np.column_stack([np.cos(anomaly) - e, b * np.sin(anomaly)])
        p = np.column_stack([-np.sin(anomaly) / r, b * np.cos(anomaly) / r])
        steps = STATES * int(rng.integers(4, 20))
        dt = 3.0 * FULL / steps
        yield from _cut(rng, kepler(), StormerVerlet(), State(q=q, p=p), dt, steps, (2.0 / 3.0, 1.0))


def slender_tops(rng: np.random.Generator, count: int) -> Iterator[Made]:
    """Heavy tops that spin fast and nutate slowly."""
    top = heavy_top(inertia=(1.0, 0.97, 0.04), mgl=0.05)
    formulation = formulate(top, Group(), "group")
    for runs in _groups(count):
        spin = jnp.asarray(rng.uniform(15.0, 30.0, runs))
        tilt, wobble = (
            jnp.asarray(rng.uniform(0.2, 2.0, runs)),
            jnp.asarray(rng.uniform(-0.2, 0.2, (runs, 2))),
        )

        def start(tilt, wobble, spin):
            quat = jnp.stack([jnp.cos(tilt / 2), jnp.sin(tilt / 2), jnp.zeros(()), jnp.zeros(())])
            state = top.state(rotation=quat, angular_velocity=jnp.append(wobble, spin))
            return formulation.start(state)

        states = jax.vmap(start)(tilt, wobble, spin)
        dt = rng.uniform(0.005, 0.02)
        # The axis nutates about 0.04 times as fast as the body spins.
        steps = STATES * max(1, round(3.0 * FULL / (0.04 * 20.0) / dt / STATES))
        yield from _cut(rng, formulation.problem, LieSplitting(), states, dt, steps, (0.02, 1.0))


MOTIONS = {
    "fast and slow oscillator, T to 4000": slow_pendulum,
    "Kepler, e = 0.9, 2 to 3 orbits": eccentric_orbits,
    "fast spin, slow nutation": slender_tops,
}


def _fast_and_slow(q, p):
    kinetic = 0.5 * (p[0] ** 2 + p[1] ** 2)
    return kinetic + 0.5 * (1.0 + 0.9 * jnp.sin(q[0])) * q[1] ** 2 - 1e-5 * jnp.cos(q[0])


def _groups(count: int) -> Iterator[int]:
    for first in range(0, count, AT_ONCE):
        yield min(AT_ONCE, count - first)


def _even(rng: np.random.Generator, low: float, high: float, count: int) -> np.ndarray:
    return np.exp(rng.uniform(np.log(low), np.log(high), count))


def _cut(
    rng: np.random.Generator,
    problem: AbstractProblem,
    integrator: AbstractIntegrator,
    starts: State,
    dt: float,
    steps: int,
    shares: tuple[float, float],
) -> Iterator[Made]:
    """The energy along each motion, over a share of it that is drawn evenly in its logarithm."""
    runs = ensemble(
        problem, integrator, starts, dt=dt, steps=steps, save_every=steps // STATES, progress=False
    )
    parts = {label: np.asarray(part) for label, part in runs.state.items()}
    for place in range(len(runs.result)):
        length = max(40, int(even(rng, *shares) * (STATES + 1)))
        state = {label: part[place, :length].reshape(length, -1) for label, part in parts.items()}
        whole = State(**{label: part[place] for label, part in parts.items()})
        energy = np.asarray(_energies(problem, whole))[:length]
        yield Made(np.linspace(0.0, 1.0, length), energy, state)


@once
def _energies(problem: AbstractProblem, states: State):
    times = jnp.zeros(STATES + 1)
    return jax.vmap(lambda t, state: problem.conserved(t, problem.pack(state))["energy"])(times, states)
