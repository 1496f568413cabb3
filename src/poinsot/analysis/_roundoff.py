"""How round-off accumulates in the energy over a long run of an ensemble."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from poinsot.core import Hamiltonian, InputError, Packed, Result, State
from poinsot.integrators import AbstractIntegrator
from poinsot.simulate._loop import Marcher
from poinsot.simulate._validate import check_integrator


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


def roundoff_growth(
    problem: Hamiltonian,
    integrator: AbstractIntegrator,
    states: State,
    *,
    dt: float,
    steps: int,
    samples: int = 64,
) -> RoundoffGrowth:
    r"""Follow the energy error of many runs whose truncation error is below round-off.

    By Brouwer's law it then grows like $\sqrt n$ with the number of steps when every round-off is an
    independent random event, and like $n$ when some of it is systematic.

    Args:
        problem: an autonomous Hamiltonian one.
        integrator: a method so accurate at `dt` that its own energy error stays below round-off.
        states: starts, with a leading axis over the ensemble.
        dt: step size.
        steps: number of steps of each run.
        samples: how many step numbers to look at, equally spaced up to `steps`.

    Raises:
        InputError: on wrong input, or when a step fails.
    """
    check_integrator(problem, integrator)
    if not problem.autonomous:
        raise InputError("the energy of a time-dependent Hamiltonian is not conserved; nothing to follow")
    if steps % samples:
        raise InputError(f"steps = {steps} must be a multiple of samples = {samples}")
    marcher = Marcher(problem, integrator, jnp.asarray(0.0), jnp.asarray(dt, dtype=float))
    y = jax.vmap(problem.pack)(states)
    energies, results = _energies(marcher, y, samples, jnp.int64(steps // samples))
    failed = np.flatnonzero(np.asarray(results) != Result.successful)
    if len(failed):
        message = Result(int(results[failed[0]])).message
        raise InputError(f"run {failed[0]} of the ensemble failed: {message}")
    energies = np.asarray(energies)
    error = (energies[:, 1:] - energies[:, :1]) / np.abs(energies[:, :1])
    return RoundoffGrowth(steps // samples * np.arange(1, samples + 1), error)


@eqx.filter_jit
def _energies(marcher: Marcher, y: Packed, samples: int, stride) -> tuple[Array, Array]:
    """Energies at the start and at each sample, for each run; and how the runs ended."""
    problem = marcher.problem
    assert isinstance(problem, Hamiltonian)

    def energy(y):
        return problem.energy(marcher.t0, *problem.split(y))

    def sample(loop, k):
        loop = marcher.march(loop, (k + 1) * stride)
        return loop, energy(loop.y)

    def run(y):
        loop, energies = lax.scan(sample, marcher.start(y), jnp.arange(samples))
        return jnp.concatenate([energy(y)[None], energies]), loop.result

    return jax.vmap(run)(y)
