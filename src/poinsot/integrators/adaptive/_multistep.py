"""Multistep methods of variable order: backward differentiation, and Adams with it."""

from poinsot.integrators.adaptive._base import AdaptiveTraits, Engine, Task
from poinsot.integrators.adaptive._options import SteppedSolver
from poinsot.integrators.adaptive._scipy import ScipyEngine


class Bdf(SteppedSolver):
    r"""Backward differentiation formulas of orders 1 to 5 in Shampine and Reichelt's form, by SciPy.

    $$ \sum_{m=1}^k \frac1m \nabla^m y_{n+1} = h f(t_{n+1}, y_{n+1})
       + \kappa \gamma_k \big( y_{n+1} - y_{n+1}^{(0)} \big) $$

    with $\gamma_k = \sum_{m \le k} 1/m$ and the predictor $y^{(0)}$. Order and step follow the error; the
    backward differences are interpolated anew where the step changes. The Jacobian is found by automatic
    differentiation.

    *Properties*: order 1 to 5, for stiff problems. A step rests on several before it, so there is no
    projection.

    Args:
        first_step: size of the first attempt; by default from the right-hand side and its slope.
        max_step: largest step, or None.

    Reference:
        Shampine, Reichelt: The MATLAB ODE suite, SIAM J. Sci. Comput. 18 (1997) 1-22.
    """

    @property
    def traits(self) -> AdaptiveTraits:
        """Implicit and of several steps."""
        return AdaptiveTraits(
            name="BDF",
            order=None,
            one_step=False,
            stiff=True,
            needs="ode",
            package="scipy",
            extra="adaptive",
            reference="Shampine, Reichelt: The MATLAB ODE suite, SIAM J. Sci. Comput. 18 (1997) 1-22",
        )

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return _multistep(task, "Bdf", "BDF", self.first_step, self.max_step)


class Lsoda(SteppedSolver):
    r"""Adams methods of orders 1 to 12 and backward differentiation of orders 1 to 5, by ODEPACK in SciPy.

    It begins with Adams methods and changes between the two families by what their stability lets the step
    be. Both are kept as Nordsieck's scaled derivatives
    $z = (y, h\dot y, \tfrac{h^2}2 \ddot y, \dots)$.

    *Properties*: order 1 to 12, for problems that are stiff at times. A step rests on several before it, so
    there is no projection.

    Args:
        first_step: size of the first attempt; by default chosen.
        max_step: largest step, or None.

    Reference:
        Petzold: Automatic selection of methods for solving stiff and nonstiff systems of ordinary
        differential equations, SIAM J. Sci. Stat. Comput. 4 (1983) 136-148.
    """

    @property
    def traits(self) -> AdaptiveTraits:
        """Implicit and of several steps."""
        return AdaptiveTraits(
            name="LSODA",
            order=None,
            one_step=False,
            stiff=True,
            needs="ode",
            package="scipy",
            extra="adaptive",
            reference="Petzold, SIAM J. Sci. Stat. Comput. 4 (1983) 136-148",
        )

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return _multistep(task, "Lsoda", "LSODA", self.first_step, self.max_step)


def _multistep(
    task: Task, solver: str, kind: str, first_step: float | None, max_step: float | None
) -> ScipyEngine:
    """A run of either: every attempt looks at the end of its step alone."""
    return ScipyEngine(
        task,
        solver,
        kind,
        attempts=lambda field: field.new_times,
        with_jacobian=True,
        first_step=first_step,
        max_step=max_step,
    )
