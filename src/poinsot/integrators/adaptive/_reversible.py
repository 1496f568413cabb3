r"""Steps of varying size that leave a symmetric map reversible."""

from collections.abc import Callable
from typing import Literal

import jax.numpy as jnp

from poinsot.core import AbstractProblem, InputError, UserFunction
from poinsot.integrators._base import AbstractIntegrator
from poinsot.integrators.adaptive._base import AbstractAdaptive, AdaptiveTraits, Engine, Task
from poinsot.integrators.adaptive._monitor import GivenMonitor
from poinsot.integrators.adaptive._reversible_engine import ReversibleEngine


class ReversibleSteps(AbstractAdaptive):
    r"""Adaptive steps of any symmetric map, by an integrating controller that is reversible itself.

    The density of the steps, the inverse of their size, follows a monitor function $\rho(y)$ by its rate of
    change along the motion, taken at the state between two steps:

    $$ \frac1{h_{n+1/2}} = \frac1{h_{n-1/2}} + \frac{\dot\rho}{\rho}(y_n), \qquad
       y_{n+1} = \Phi_{h_{n+1/2}}(y_n), \qquad t_{n+1} = t_n + h_{n+1/2} $$

    Both equations stay as they are when time runs backward, so that steps and states are retraced. For a
    reversible system the error of the energy then stays bounded, as with constant steps; a rule that takes
    $h_n$ from $y_n$ makes it drift. The size is never corrected towards the monitor: its error too is
    bounded, for the same reason.

    `dt` of `simulate` is the first step and sets the accuracy. A run backward from the end of a step, with
    that step as its first and with the same monitor, retraces the run.

    Args:
        integrator: the map, symmetric.
        monitor: density of steps, a positive function of the state with the signatures of the problem's other
            functions, e.g. `m(q, p)`; of a system, of the `Motion`. Its scale does not matter. By default a
            frequency of the motion, from the sizes of $\dot y$, $\ddot y$ and $\dddot y$.

    Raises:
        InputError: when the integrator is not symmetric.

    Example:
        A planet on a long ellipse, with steps far shorter near the centre:

        >>> import poinsot as pt
        >>> planet = pt.library.kepler(eccentricity=0.9)
        >>> method = pt.integrators.ReversibleSteps(pt.integrators.StormerVerlet())
        >>> run = pt.simulate(planet.problem, planet.start, t1=100.0, dt=0.0005, integrator=method)
        >>> bool(run.steps.h.max() > 20 * run.steps.h.min())
        True
    """

    integrator: AbstractIntegrator
    monitor: Callable | None = None

    def __check_init__(self):
        if not self.integrator.symmetric:
            raise InputError(
                f"ReversibleSteps: {self.integrator.name} is not symmetric, so no steps can make it "
                "reversible; take a symmetric map such as StormerVerlet(), GaussLegendre(2) or LieSplitting()"
            )

    @property
    def traits(self) -> AdaptiveTraits:
        """Those of the map, in steps that depend on the one before."""
        return AdaptiveTraits(
            name=f"reversible steps of {self.integrator.name}",
            order=self.integrator.order,
            one_step=False,
            stiff=False,
            needs="dae" if self.integrator.needs == "constrained" else "ode",
            package=None,
            extra=None,
            reference="Hairer, Söderlind, SIAM J. Sci. Comput. 26 (2005) 1838",
        )

    @property
    def remedy(self) -> str | None:
        """That of the map."""
        return None if self.integrator.remedy is None else f"{self.integrator.remedy} in the map"

    @property
    def control(self) -> Literal["tolerance", "dt"]:
        """A nominal step."""
        return "dt"

    def refusal(self, problem: AbstractProblem) -> str | None:
        """What the map itself says."""
        return self.integrator.refusal(problem)

    def observing(self, observed: Callable[[Callable], UserFunction]) -> "ReversibleSteps":
        """The same with a monitor of the problem's state, in place of one of what can be seen of bodies."""
        return self if self.monitor is None else ReversibleSteps(self.integrator, observed(self.monitor))

    def start(self, task: Task) -> Engine:
        """Begin a run with the step `task.dt`."""
        reason = self.refusal(task.problem)
        if reason is not None:
            raise InputError(f"{self.integrator.name} {reason}")
        if task.dt is None:
            raise InputError(f"{self.name} needs its first step; give dt=...")
        given = None
        if self.monitor is not None:
            given = GivenMonitor.checked(task.problem, self.monitor, task.t0, jnp.asarray(task.y))
        return ReversibleEngine(self.integrator, given, task, task.dt)
