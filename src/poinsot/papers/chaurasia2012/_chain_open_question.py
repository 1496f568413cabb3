"""The open question of section 4.2: a symplectic method of higher order that keeps the unit quaternion."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from poinsot.analysis._symplecticity import step_derivative
from poinsot.coordinates import Quaternions
from poinsot.core import State
from poinsot.equations import formulate
from poinsot.integrators import GaussLegendre
from poinsot.model import Chain
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._chain import (
    HOMOGENEOUS,
    OWN_START,
    SETTINGS,
    THESIS,
    run_chain,
    tetrahedra,
    unit_error,
)
from poinsot.simulation import BodyTrajectory
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LADDERS = {
    3: (0.01, 0.008, 0.00625, 0.005),
    4: (0.0125, 0.01, 0.008, 0.00625),
    6: (0.05, 0.04, 0.03125, 0.025, 0.02),
}
"""Steps for each number of stages at which the error is neither round-off nor out of the asymptotic range."""
EARLY, REFERENCE, QUICK_REFERENCE = 1.0, (6, 0.005), (3, 0.00125)
"""End of the runs whose order is measured, before chaos sets in; stages and step of the reference."""
STEP, END, QUICK_END, EVERY = 0.005, 10.0, 4.0, 10
FLOOR = 1e-17
REMARKS = [
    "The question, from the thesis' future work: a symplectic algorithm that keeps the unit quaternion to "
    "higher order. The homogeneous form answers it: without inertia along the length of the quaternion, and "
    "with a potential that does not depend on it, |q|^2 and q.g are quadratic invariants of each body. Every "
    "symplectic Runge-Kutta method keeps them exactly: Gauss methods of order 6, 8 and 12 to round-off, and "
    "they are symplectic everywhere, not only where |q| = 1.",
    "In the thesis' form, with the multiplier eliminated and J0 = 1, the same methods lose the unit "
    "quaternion: an error, be it round-off, grows exponentially with time.",
    "Orders are measured up to t = 1: the chain is chaotic, and later all motions part.",
    OWN_START,
]


@dataclass(frozen=True)
class Order:
    """Errors of a method over its steps."""

    steps: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def measured(self) -> float:
        """Power of the step that the errors follow."""
        return float(np.polyfit(np.log(self.steps), np.log(self.errors), 1)[0])


def open_question(quick: bool, progress: bool | None) -> Findings:
    """Orders, lengths of the quaternions in both forms, and the symplectic form."""
    chain, start = tetrahedra("c1-c2")
    t1 = QUICK_END if quick else END
    ladders = {3: LADDERS[3]} if quick else LADDERS
    orders = _orders(chain, start, ladders, QUICK_REFERENCE if quick else REFERENCE)
    kept, lost = (
        {stages: _lengths(chain, start, coordinates, stages, t1, progress) for stages in ladders}
        for coordinates in (HOMOGENEOUS, THESIS)
    )
    numbers = []
    for stages in ladders:
        name = f"Gauss {2 * stages}"
        largest = float(np.max(unit_error(kept[stages])))
        other = float(np.max(unit_error(lost[stages])))
        numbers += [
            Number.matches(f"{name}: order", orders[stages].measured, 2 * stages, 0.16 * stages, "declared"),
            Number.at_most(f"{name}: largest | |q| - 1 | of all bodies", largest, 1e-13),
            Number.at_least(f"{name}, thesis' form: the same, over that", other / largest, 10.0),
        ]
    kept_form, lost_form = (symplectic_defect(chain, start, one) for one in (HOMOGENEOUS, THESIS))
    numbers += [
        Number.at_most("Gauss 6: symplectic defect of a step", kept_form, 1e-13),
        Number.at_least("Gauss 6, thesis' form: the same", lost_form, 1e-8),
    ]
    settings = SETTINGS | {
        "ends": "c1-c2",
        "step": STEP,
        "t1": t1,
        "steps of the orders": {f"order {2 * stages}": steps for stages, steps in ladders.items()},
    }
    return Findings(settings, numbers, REMARKS, {"": _draw(orders, kept, lost)})


def _orders(
    chain: Chain, start: State, ladders: dict[int, tuple[float, ...]], reference: tuple[int, float]
) -> dict[int, Order]:
    """Root mean square error of all positions and rotations at an early time, for each method."""

    def end(stages: int, step: float) -> np.ndarray:
        run = run_chain(chain, start, GaussLegendre(stages), EARLY, step, save_every=round(EARLY / step))
        return np.concatenate([run.position[-1].ravel(), run.rotation[-1].ravel()])

    exact = end(*reference)
    return {
        stages: Order(
            steps, tuple(float(np.sqrt(np.mean((end(stages, step) - exact) ** 2))) for step in steps)
        )
        for stages, steps in ladders.items()
    }


def _lengths(
    chain: Chain, start: State, coordinates: Quaternions, stages: int, t1: float, progress: bool | None
) -> BodyTrajectory:
    # Without unit quaternions the forces are wrong, and in the end the equations of a step have no solution.
    options = {"coordinates": coordinates, "save_every": EVERY, "progress": progress, "throw": False}
    return run_chain(chain, start, GaussLegendre(stages), t1, STEP, **options)


def symplectic_defect(chain: Chain, start: State, coordinates: Quaternions) -> float:
    r"""Largest entry of $D^T \Omega D - \Omega$, where D is the derivative of a step of Gauss 6."""
    formulation = formulate(chain, coordinates, "hamiltonian")
    problem: Any = formulation.problem
    y = problem.pack(formulation.start(start))
    D = np.asarray(step_derivative(problem, GaussLegendre(3), jnp.zeros(()), jnp.asarray(STEP), y)[0])
    n = len(y) // 2
    form = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return float(np.max(np.abs(D.T @ form @ D - form)) / np.linalg.norm(D, 2) ** 2)


@styled
def _draw(
    orders: dict[int, Order], kept: dict[int, BodyTrajectory], lost: dict[int, BodyTrajectory]
) -> "Figure":
    figure, (left, right) = canvas(1, 2, (10.0, 4.8), "Eight tetrahedra, c1-c2, Gauss methods in quaternions")
    for colour, (stages, order) in zip(PALETTE, orders.items(), strict=False):
        steps = np.array(order.steps)
        left.loglog(steps, order.errors, "o", color=colour, label=f"order {2 * stages}: {order.measured:.2f}")
        guide = order.errors[-1] * (steps / steps[-1]) ** (2 * stages)
        left.loglog(steps, guide, "--", color=colour, linewidth=0.8)
    left.set(xlabel="h [s]", ylabel=f"error of the motion at t = {EARLY:g}", title="Homogeneous form")
    left.set_xlim(0.0045, 0.055)
    left.set_xticks((0.005, 0.01, 0.02, 0.05), labels=("0.005", "0.01", "0.02", "0.05"))
    left.set_xticks((), minor=True)
    left.legend(loc="lower right")
    _draw_lengths(right, kept, lost)
    return figure


def _draw_lengths(ax: "Axes", kept: dict[int, BodyTrajectory], lost: dict[int, BodyTrajectory]) -> None:
    """The largest error of all bodies over time."""
    for runs, style, form in ((lost, "--", "thesis' form"), (kept, "-", "homogeneous")):
        for colour, (stages, run) in zip(PALETTE, runs.items(), strict=False):
            error = np.maximum(np.max(unit_error(run), axis=1), FLOOR)
            ax.semilogy(run.t, error, style, color=colour, linewidth=0.9, label=f"order {2 * stages}, {form}")
    ax.set(
        xlabel="time [s]",
        ylabel="largest $|\\,|q| - 1\\,|$ of all bodies",
        title=f"h = {STEP:g}",
        ylim=(FLOOR, 10.0),
    )
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.6)
