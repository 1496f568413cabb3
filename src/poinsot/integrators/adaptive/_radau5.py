"""The implicit Runge-Kutta method of order 5 that stiff problems are solved with."""

from poinsot.integrators.adaptive._base import AdaptiveTraits, Engine, Task
from poinsot.integrators.adaptive._options import OneStepSolver
from poinsot.integrators.adaptive._scipy import ScipyEngine

STAGES = 3
"""Stages, each at a time of its own."""


class Radau5(OneStepSolver):
    r"""The Radau IIA method of three stages with step size control, by SciPy.

    $$ Y_i = y + h \sum_{j=1}^3 a_{ij}\, f(t + c_j h, Y_j), \qquad y_1 = Y_3, \qquad
       e = (\gamma_0^{-1} I - h J)^{-1} \big( h f(t, y) + \textstyle\sum_i e_i (Y_i - y) \big) $$

    The stage equations are solved by simplified Newton iterations with one real and one complex matrix, which
    are kept, like the Jacobian $J$, while they do; it is found by automatic differentiation.

    *Properties*: order 5, stiffly accurate and L-stable; dense output of order 3 by the collocation
    polynomial.

    Args:
        first_step: size of the first attempt; by default from the right-hand side and its slope.
        max_step: largest step, or None.
        projection: put positions, velocities or both back onto the constraints after each accepted step:
            "position", "velocity", "both", or True for both.

    Reference:
        Hairer, Wanner: Solving Ordinary Differential Equations II (1996), section IV.8.
    """

    @property
    def traits(self) -> AdaptiveTraits:
        """Implicit and of one step."""
        return AdaptiveTraits(
            name="Radau IIA 5",
            order=5,
            one_step=True,
            stiff=True,
            needs="ode",
            package="scipy",
            extra="adaptive",
            reference="Hairer, Wanner: Solving Ordinary Differential Equations II (1996), IV.8",
        )

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return ScipyEngine(
            task,
            type(self).__name__,
            "Radau",
            attempts=lambda field: field.new_times // STAGES,
            with_jacobian=True,
            first_step=self.first_step,
            max_step=self.max_step,
            projection=self.projection,
        )
