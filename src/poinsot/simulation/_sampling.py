"""Samples of a controller along a run of fixed steps."""

from typing import Any

import equinox as eqx
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from poinsot.control import Sampled, holding
from poinsot.core import AbstractProblem, InputError, Packed
from poinsot.equations import Formulation
from poinsot.model.loads import AbstractControl
from poinsot.simulation._evaluation import at_states
from poinsot.simulation._schedule import Stretch
from poinsot.simulation._validate import WHOLE

Forces = Float[Array, " nv"]


class Sampler(eqx.Module):
    """A controller, the system that holds its forces, and how many steps there are between two samples."""

    formulation: Formulation
    law: AbstractControl
    every: int = eqx.field(static=True)

    def forces(self, t, y: Packed) -> Forces:
        """The forces of the controller at a packed state."""
        return self.law.efforts(t, *self.formulation.joint_coordinates(t, y, self.law.chain))

    def holding(self, problem: AbstractProblem, forces: Forces) -> AbstractProblem:
        """The problem with these forces held."""
        return holding(problem, forces[None])


def sampler_of(formulation: Formulation | None, control: Sampled, dt: Any) -> Sampler:
    """The sampler of a run with these steps.

    Raises:
        InputError: the period is no whole number of steps.
    """
    assert formulation is not None, "a controlled system is one of bodies"
    if dt is None:
        raise InputError(
            "control is sampled, which takes fixed steps; give dt, and an integrator that takes it"
        )
    if isinstance(dt, Tracer):
        raise InputError("dt is traced; with a sampled controller the step must be a number")
    steps = control.period / float(dt)
    every = round(steps)
    if every < 1 or abs(steps - every) > WHOLE * every:
        near = max(1, every) if steps > 0.0 else None
        remedy = "run forward" if near is None else f"take dt = {control.period / near:.12g}"
        raise InputError(
            f"period = {control.period:g} of Sampled is {steps:.9g} steps of dt = {float(dt)!r}; it must be "
            f"a whole number of them: {remedy}"
        )
    return Sampler(formulation, control.law, every)


class SampledWork:
    r"""The work along fixed steps while forces are held, from the power $P$ and its rate at both ends.

    $$ \int_{t_n}^{t_{n+1}} P\,dt = \tfrac h2\,(P_n + P_{n+1}) + \tfrac{h^2}{12}\,(\dot P_n - \dot P_{n+1}) $$

    with the forces of that step at both ends, since they jump from sample to sample. The samples are found
    anew from the states at which they were taken, and are kept.

    Args:
        sampler: of the run.
        t0: start of the run.
        dt: step.
        y: packed start.
        steps: of the run.
    """

    def __init__(self, sampler: Sampler, t0: float, dt: float, y: np.ndarray, steps: int):
        self._sampler, self._t0, self._h, self._steps = sampler, t0, dt, steps
        self._end, self._n = y, 0
        """The last end of a step, and its number."""
        self._done = 0.0
        """The work until there."""
        self.samples = self._sampled(np.array([t0]), y[None])
        self._kept = [np.zeros(1)]

    def enter(self, times: np.ndarray, states: np.ndarray, stretch: Stretch) -> None:
        """Take in the next states of a run: the ends of all steps, and states within steps to be saved."""
        first, ends = self._n, stretch.ends
        reached = np.concatenate([self._end[None], states[ends]])
        numbers = first + np.arange(len(reached))
        due = (numbers % self._sampler.every == 0) & (numbers > first)
        if np.any(due):
            fresh = self._sampled(self._t0 + numbers[due] * self._h, reached[due])
            self.samples = np.concatenate([self.samples, fresh])
        pieces = self._over(numbers[:-1], reached[:-1], reached[1:], 1.0)
        work = np.cumsum(np.append(self._done, pieces))
        place = np.cumsum(ends)
        found = work[place]
        within = ~ends & (stretch.beyond > 0.0)
        if np.any(within):
            begins = place[within]
            beyond = stretch.beyond[within]
            found[within] += self._over(numbers[begins], reached[begins], states[within], beyond)
        self._kept.append(found[stretch.kept])
        self._end, self._n, self._done = reached[-1], int(numbers[-1]), float(work[-1])

    def close(self) -> np.ndarray:
        """The work at all states that were saved, the start included."""
        return np.concatenate(self._kept)

    def _over(self, steps: np.ndarray, begins: np.ndarray, ends: np.ndarray, part: Any) -> np.ndarray:
        """Work over parts of steps."""
        if not len(steps):
            return np.zeros(0)
        forces, h = self.samples[steps // self._sampler.every], part * self._h
        times = self._t0 + steps * self._h
        power, rate = self._power(times, begins, forces)
        later, later_rate = self._power(times + h, ends, forces)
        return 0.5 * h * (power + later) + h**2 / 12.0 * (rate - later_rate)

    def _power(self, times: np.ndarray, states: np.ndarray, forces: np.ndarray) -> tuple:
        packed = np.concatenate([states, forces], axis=1)
        return at_states(_held_power, self._sampler, times, packed, self._steps)

    def _sampled(self, times: np.ndarray, states: np.ndarray) -> np.ndarray:
        return np.asarray(at_states(_sample, self._sampler, times, states, self._steps))


def _held_power(sampler: Sampler, grid, at):
    t, packed = at
    size = packed.shape[0] - sampler.law.chain.v_size
    return holding(sampler.formulation, packed[size:][None]).power_and_rate(t, packed[:size])


def _sample(sampler: Sampler, grid, at):
    return sampler.forces(*at)
