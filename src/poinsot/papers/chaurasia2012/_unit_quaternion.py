"""Figure 3.3: the error of the unit quaternion over the step, in the thesis' form and in ours."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.coordinates import Quaternions
from poinsot.equations import formulate
from poinsot.kernels import once
from poinsot.papers._pictures import EXACT, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._bodies import THETA, top
from poinsot.papers.chaurasia2012._top import GRAVITY, LENGTH, MASS, OWN, SETTINGS
from poinsot.rotation import to_matrix
from poinsot.simulation import solve
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RADIAL = 1.0
THESIS, HOMOGENEOUS = Quaternions(I0=RADIAL), Quaternions()
METHODS = {"gauss6": ("Gauss 6", 6), "sun-geng5": ("Sun Geng", 5), "midpoint": ("implicit midpoint", 2)}
STEPS = (0.005, 0.004, 0.0025, 0.002, 0.00125, 0.001)
ERROR, LIMITS = "$|\\,|q|^2 - 1\\,|$", (3e-17, 1.0)
CLAIMED = 2.0
"""Order at which the thesis says that every method keeps the unit quaternion."""
COUNT, END = 800, 0.3
STRETCH, GROWTH_STEP, GROWTH_END = 1e-6, 0.0025, 1.5
REMARKS = [
    "The claim of the figure: all symplectic methods respect the unit quaternion up to second order only. It "
    "does not hold: with the multiplier eliminated the error of the constraint falls with the order of the "
    "method. The argument of section 3.4.1 bounds one step of a method of first order.",
    "The figure has Störmer-Verlet too. With the multiplier the equations are not those of a Hamiltonian, so "
    "that no partitioned method is symplectic on them; we leave it out.",
    "The thesis' form does not hold the unit quaternion: e = |q|^2 - 1 obeys e'' = (q.V_q) e / (2 J0), so "
    "that it grows where q.V_q = 2 V > 0, for a standing top, and only swings for a hanging one. Both are "
    "measured on a quaternion stretched a little at the start, beside the solution of this equation.",
    "In the homogeneous form, our form 'hamiltonian' without radial inertia, |q|^2 is a quadratic invariant "
    "and stays at round-off with every step and every Gauss method.",
    "The thesis prints neither top nor time for the figure; ours is the top of section 2.5 up to t = 0.3.",
    OWN,
]


@dataclass(frozen=True)
class Lane:
    """Runs from several starts with several steps: first axis the run, second the time."""

    t: np.ndarray
    e: np.ndarray
    """Error of the unit quaternion, |q|^2 - 1."""
    height: np.ndarray
    """Cosine of the angle between axis and vertical."""

    def largest(self, place: int) -> float:
        """Largest error of a run up to `END`."""
        return float(np.max(np.abs(self.e[place, self.t[place] <= END * (1.0 + 1e-9)])))


def figure_3_3(quick: bool, progress: bool | None) -> Findings:
    """Orders of the constraint, its growth in the thesis' form, and the form that keeps it."""
    runs = {name: _runs(THESIS, name) for name in METHODS}
    kept = _runs(HOMOGENEOUS, "midpoint")
    numbers = [*_orders(runs), *_growth(runs["gauss6"])]
    worst = max(kept.largest(place) for place in range(len(STEPS)))
    numbers.append(Number.at_most("homogeneous form, implicit midpoint: largest | |q|^2 - 1 |", worst, 1e-13))
    settings = {key: value for key, value in SETTINGS.items() if key != "step"}
    settings |= {"radial inertia J0": RADIAL, "steps": STEPS, "t1": END}
    return Findings(settings, numbers, REMARKS, {"": _draw(runs, kept)})


def _runs(coordinates: Quaternions, integrator: str) -> Lane:
    """All steps from the unit quaternion, then a standing and a hanging top with a stretched one."""
    system, start = top()
    formulation = formulate(system, coordinates, "hamiltonian")
    problem = formulation.problem
    unit, hanging = (problem.pack(formulation.start(state)) for state in (start, top(math.pi - THETA)[1]))
    stretch = jnp.where(jnp.arange(8) < 4, 1.0 + STRETCH, 1.0)
    starts = jnp.stack([unit] * len(STEPS) + [stretch * unit, stretch * hanging])

    def run(h, y):
        solution = solve(problem, integrator, problem.unpack(y), dt=h, steps=COUNT)
        q = solution.state.q
        return solution.t, jnp.sum(q * q, axis=1) - 1.0, jax.vmap(to_matrix)(q)[:, 2, 2]

    lanes = once(jax.vmap(run))(jnp.asarray([*STEPS, GROWTH_STEP, GROWTH_STEP]), starts)
    return Lane(*map(np.asarray, lanes))


def _orders(runs: dict[str, Lane]) -> list[Number]:
    """Orders between the two smallest steps at which round-off plays no part."""
    numbers = []
    for name, (label, order) in METHODS.items():
        coarse, fine = (runs[name].largest(STEPS.index(h)) for h in (0.002, 0.001))
        measured = math.log2(coarse / fine)
        numbers += [
            Number.matches(
                f"{label}: order of | |q|^2 - 1 |", measured, order, 0.1, "order of the method", CLAIMED
            ),
            Number.shown(f"{label}: largest | |q|^2 - 1 |, h = 0.005", runs[name].largest(0)),
        ]
    return numbers


def _growth(lane: Lane) -> list[Number]:
    """Growth of a stretched quaternion, beside the equation it should obey."""
    place = len(STEPS)
    last = round(GROWTH_END / GROWTH_STEP)
    grown = lane.e[place, last] / lane.e[place, 0]
    predicted = predicted_growth(lane.t[place], lane.height[place])[last]
    swing = np.max(np.abs(lane.e[place + 1, : last + 1])) / lane.e[place + 1, 0]
    name = f"of e from t = 0 to {GROWTH_END}"
    return [
        Number.matches(f"standing top: growth {name}", grown, predicted, 0.01 * predicted, "e'' = V e / J0"),
        Number.matches(
            "standing top: rate [1/s]",
            math.acosh(grown) / GROWTH_END,
            math.acosh(predicted) / GROWTH_END,
            0.01,
            "the same",
        ),
        Number.at_most(f"hanging top: largest growth {name}", float(swing), 1.2),
    ]


def predicted_growth(t: np.ndarray, height: np.ndarray) -> np.ndarray:
    r"""Solution of $\ddot e = (V(t)/J_0)\, e$ with $e = 1$, $\dot e = 0$ at the start.

    $V = m g l \cos\theta$ is taken as constant within a step, at the mean of its values at both ends.
    """
    weight = MASS * GRAVITY * LENGTH / RADIAL
    e, rate, solution = 1.0, 0.0, [1.0]
    for h, square in zip(np.diff(t), 0.5 * weight * (height[1:] + height[:-1]), strict=True):
        root = np.emath.sqrt(square)
        c, s = np.cosh(root * h), np.sinh(root * h)
        e, rate = float(np.real(c * e + s * rate / root)), float(np.real(root * s * e + c * rate))
        solution.append(e)
    return np.array(solution)


@styled
def _draw(runs: dict[str, Lane], kept: Lane) -> "Figure":
    title = "Error of the unit quaternion, symmetric top"
    figure, (orders, growth) = canvas(1, 2, (10.0, 5.4), title)
    h = np.array(STEPS)
    for (name, (label, order)), color, marker in zip(METHODS.items(), PALETTE, "osD", strict=False):
        errors = [runs[name].largest(place) for place in range(len(STEPS))]
        orders.loglog(h, errors, marker, color=color, label=f"{label}, thesis' form")
        orders.loglog(h, errors[-1] * (h / h[-1]) ** order, "--", color=color, linewidth=0.8)
        orders.text(h[-1] * 0.93, errors[-1], f"$h^{order}$", ha="right", va="center", color=color)
    errors = [kept.largest(place) for place in range(len(STEPS))]
    orders.loglog(h, errors, "^", color=PALETTE[3], label="midpoint, homogeneous form")
    orders.set(xlabel="h [s]", ylabel=f"largest {ERROR} up to t = {END} s", ylim=LIMITS, xlim=(7e-4, 6e-3))
    orders.set_xticks((0.001, 0.002, 0.005), labels=("0.001", "0.002", "0.005"))
    orders.set_xticks((), minor=True)
    _draw_growth(growth, runs["gauss6"], kept)
    for ax in (orders, growth):
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize=9)
    return figure


def _draw_growth(ax: "Axes", lane: Lane, kept: Lane) -> None:
    """Error over time: stretched at the start, and from a unit quaternion."""
    stretched, floor = len(STEPS), np.finfo(float).eps
    shown = lane.t[stretched] <= GROWTH_END
    t, e = lane.t[stretched, shown], lane.e[:, shown]
    predicted = predicted_growth(t, lane.height[stretched, shown]) * e[stretched, 0]
    ax.semilogy(t, e[stretched], color=PALETTE[0], linewidth=3.0, label="standing top, stretched")
    ax.semilogy(t, predicted, "--", color="black", linewidth=1.0, label=r"$\ddot e = (V/J_0)\,e$")
    ax.semilogy(t, np.abs(e[stretched + 1]), color=PALETTE[5], label="hanging top, stretched")
    unit = lane.t[0] <= GROWTH_END
    for runs, color, label in (
        (lane, PALETTE[1], "unit start, h = 0.005"),
        (kept, EXACT, "midpoint, homogeneous form"),
    ):
        values = np.maximum(np.abs(runs.e[0, unit]), floor)
        ax.semilogy(runs.t[0, unit], values, color=color, linewidth=1.0, label=label)
    ax.set(xlabel="time [s]", ylabel=ERROR, ylim=LIMITS, xlim=(0.0, GROWTH_END))
    ax.set_title("Over time, Gauss 6 in the thesis' form")
