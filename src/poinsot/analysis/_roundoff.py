"""How round-off accumulates in the energy over a long run of an ensemble."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import Hamiltonian, InputError, Result, State, checked
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import jitted
from poinsot.simulation import ensemble


@dataclass(frozen=True)
class RoundoffGrowth:
    """Relative energy errors of an ensemble of runs."""

    steps: np.ndarray
    """Step numbers of the samples."""
    error: np.ndarray
    """Relative energy error, one row per run, one column per sample."""

    @property
    def rms(self) -> np.ndarray:
        """Root mean square over the ensemble, at each sample."""
        return np.sqrt(np.mean(self.error**2, axis=0))

    @property
    def mean(self) -> np.ndarray:
        """Mean over the ensemble, at each sample."""
        return np.mean(self.error, axis=0)

    @property
    def exponent(self) -> float:
        """Slope of `log rms` against `log steps`: 1/2 for a random walk, 1 for a drift."""
        return float(np.polyfit(np.log(self.steps), np.log(self.rms), 1)[0])

    @property
    def drift(self) -> float:
        """Mean error at the end, in units of its standard deviation over the ensemble.

        For independent random walks it is distributed as Student's t with one degree of freedom less than
        there are runs; a systematic error of all runs makes it large.
        """
        last = self.error[:, -1]
        return float(np.mean(last) / (np.std(last, ddof=1) / np.sqrt(len(last))))


@checked
def roundoff_growth(
    problem: Hamiltonian,
    integrator: AbstractIntegrator | str,
    states: State,
    *,
    dt: float,
    steps: int,
    samples: int = 50,
    progress: bool | None = None,
) -> RoundoffGrowth:
    r"""Follow the energy error of many runs whose truncation error is below round-off.

    By Brouwer's law it then grows like $\sqrt n$ with the number of steps when every round-off is an
    independent random event, and like $n$ when some of it is systematic.

    Args:
        problem: an autonomous Hamiltonian one.
        integrator: a method, or its name, that keeps its own energy error below round-off at `dt`.
        states: starts, with a leading axis over the ensemble.
        dt: step size.
        steps: number of steps of each run.
        samples: how many step numbers to look at, equally spaced up to `steps`.
        progress: show a progress bar; by default on a terminal.

    Raises:
        InputError: on wrong input, or when a step fails.
    """
    if not isinstance(problem, Hamiltonian) or not problem.autonomous:
        raise InputError(
            "round-off is followed in the energy, which only a Hamiltonian without time conserves"
        )
    if samples < 2 or steps % samples:
        raise InputError(
            f"steps = {steps} must be a multiple of samples = {samples}, of which two are needed"
        )
    stride = steps // samples
    runs = ensemble(problem, integrator, states, dt=dt, steps=steps, save_every=stride, progress=progress)
    failed = np.flatnonzero(runs.result != Result.successful)
    if len(failed):
        reason = Result(int(runs.result[failed[0]])).message
        raise InputError(f"states[{failed[0]}] could not be followed over {steps} steps: {reason}")
    energies = np.asarray(_energies(problem, runs.state.q, runs.state.p))
    error = (energies[:, 1:] - energies[:, :1]) / np.abs(energies[:, :1])
    return RoundoffGrowth(stride * np.arange(1, samples + 1), error)


@jitted
def _energies(problem: Hamiltonian, q: Array, p: Array) -> Array:
    """Energies of all saved states of all runs."""
    return jax.vmap(jax.vmap(lambda q, p: problem.energy(jnp.asarray(0.0), q, p)))(q, p)
