"""The explicit Runge-Kutta method of order 8 that non-stiff problems are solved with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot.integrators.adaptive._base import AdaptiveTraits, Engine, Task
from poinsot.integrators.adaptive._options import OneStepSolver
from poinsot.integrators.adaptive._scipy import ScipyEngine, Watched

STAGES = 12
"""Evaluations of an attempt: the first stage is the last of the step before, the last one's slope is new."""


class DormandPrince853(OneStepSolver):
    r"""Dormand and Prince's explicit Runge-Kutta method of order 8, by SciPy.

    Twelve stages, and an error estimate made of embedded methods of orders 5 and 3,

    $$ e = |h|\,\frac{\|e_5\|^2}{\sqrt{\|e_5\|^2 + 0.01\,\|e_3\|^2}}, \qquad
       \|e\|^2 = \frac1n \sum_i \Big(\frac{e_i}{\text{atol} + \text{rtol}\,|y_i|}\Big)^2 \le 1 $$

    *Properties*: order 8; twelve evaluations per attempt, one more per step with projection; dense output of
    order 7, which takes three more evaluations in each step that it is asked for.

    Args:
        first_step: size of the first attempt; by default from the right-hand side and its slope.
        max_step: largest step, or None.
        projection: put positions, velocities or both back onto the constraints after each accepted step:
            "position", "velocity", "both", or True for both.

    Reference:
        Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I (1993), section II.5.

    Example:
        >>> import poinsot as pt
        >>> kepler = pt.library.kepler(eccentricity=0.6)
        >>> solver = pt.integrators.DormandPrince853()
        >>> run = pt.simulate(kepler.problem, kepler.start, t1=10.0, rtol=1e-10, integrator=solver)
    """

    @property
    def traits(self) -> AdaptiveTraits:
        """Explicit and of one step."""
        return AdaptiveTraits(
            name="Dormand-Prince 8(5,3)",
            order=8,
            one_step=True,
            stiff=False,
            needs="ode",
            package="scipy",
            extra="adaptive",
            reference="Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I (1993), II.5",
        )

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return ScipyEngine(
            task,
            type(self).__name__,
            "DOP853",
            attempts=lambda field: field.calls // STAGES,
            first_step=self.first_step,
            max_step=self.max_step,
            projection=self.projection,
            dense=_interpolant,
        )


def _interpolant(stepper: Any, field: Watched) -> Callable:
    """Dense output of the step just taken, whose further stages are computed when first asked for."""
    t, h, y, end = stepper.t_old, stepper.t - stepper.t_old, stepper.y_old, stepper.y
    A, C, D = stepper.A_EXTRA, stepper.C_EXTRA, stepper.D
    K = np.empty((len(D[0]), len(y)))
    K[: len(stepper.K)] = stepper.K
    coefficients: list[np.ndarray] = []

    def further_stages() -> None:
        last = len(stepper.K)
        for s, (a, c) in enumerate(zip(A, C, strict=True), start=last):
            K[s] = field(t + c * h, y + h * (a[:s] @ K[:s]))
        slope, change = h * K[0], end - y
        coefficients.extend([change, slope - change, 2.0 * change - h * (K[last - 1] + K[0]), *(h * D @ K)])

    def interpolate(times: np.ndarray) -> np.ndarray:
        if not coefficients:
            further_stages()
        x = ((times - t) / h)[:, None]
        value = np.zeros((len(times), len(y)))
        for i, coefficient in enumerate(reversed(coefficients)):
            value = (value + coefficient) * (x if i % 2 == 0 else 1.0 - x)
        return y + value

    return interpolate
