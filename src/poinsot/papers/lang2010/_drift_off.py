"""Figure 6: how positions and velocities drift from the constraints, Example A."""

from typing import TYPE_CHECKING

from poinsot.analysis import ConstraintDrift, constraint_drift
from poinsot.integrators import DormandPrince853, Radau5
from poinsot.library import gyro_top
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._adaptive import COLOURS, legend, names, run
from poinsot.papers.lang2010._formulations import ABSOLUTE, GENERAL
from poinsot.viz._style import QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE, END = 1e-9, 60.0
SOLVERS = {"RADAU5": Radau5(), "DOP853": DormandPrince853()}
"""The paper's, and one whose errors are those of its formula alone."""
WITHIN = 0.3
"""Of the powers of time, which a residual that also oscillates follows on average."""

REMARKS = [
    "The claim of the figure: with the constraint on accelerations, positions drift quadratically and "
    "velocities linearly; in the null space positions drift linearly, and velocities not at all. With DOP853 "
    "the powers of time agree, for quaternions and for directors.",
    "With RADAU5, the solver of the figure, they agree but for directors in absolute coordinates: there most "
    "of the residual is what its Newton iterations leave, of either sign, which seems to add up like a "
    "random walk (powers 1.5 and 0.5 in the mean) and is smaller altogether. These two are shown, not "
    "judged.",
    "Equation (40) as printed is an exception. Its radial acceleration -|v|^2 p is that of the constraint on "
    "the unit sphere only; off it the length obeys g'' = -2 |v|^2 g, which brings it back: no quadratic "
    "drift. The general form (4), with g'' = 0, is what drifts as the paper says. Both are shown.",
]


def figure_6(quick: bool, progress: bool | None) -> Findings:
    """Drift in all formulations with constraints by two solvers; in two of them by DOP853 if quick."""
    example = gyro_top()
    chosen = [name for name in names(quick) if name != "Euler angles"]
    found = {
        solver: {name: constraint_drift(run(example, name, method, TOLERANCE, END)) for name in chosen}
        for solver, method in SOLVERS.items()
        if solver == "DOP853" or not quick
    }
    return Findings(
        settings={"solvers": list(found), "tolerance": TOLERANCE, "t1": END},
        numbers=[
            number
            for solver, drifts in found.items()
            for name, drift in drifts.items()
            for number in _powers(solver, name, drift)
        ],
        remarks=REMARKS,
        figures={f"-{solver.lower()}": _draw(solver, drifts) for solver, drifts in found.items()},
    )


def _powers(solver: str, name: str, drift: ConstraintDrift) -> list[Number]:
    """Powers of time, and where the drift has led."""
    title = f"{solver}, {name}"
    ends = [
        Number.shown(f"{title}: residual of positions at the end", drift.position[-1]),
        Number.shown(f"{title}: residual of velocities at the end", drift.velocity[-1]),
    ]
    place, rate = f"{title}: power of time, positions", f"{title}: power of time, velocities"
    powers = drift.position_exponent, drift.velocity_exponent
    if name == "absolute, quaternions":
        return [Number.at_most(place, powers[0], 1.0 + WITHIN, "g'' = -2 |v|^2 g", 2.0), *ends]
    if name not in (*ABSOLUTE, GENERAL):
        return [_near(place, powers[0], 1.0), *ends]
    if (solver, name) == ("RADAU5", "absolute, directors"):
        return [Number.shown(place, powers[0], 2.0), Number.shown(rate, powers[1], 1.0), *ends]
    return [_near(place, powers[0], 2.0), _near(rate, powers[1], 1.0), *ends]


def _near(title: str, power: float, claimed: float) -> Number:
    return Number.near(title, power, claimed, WITHIN)


@styled
def _draw(solver: str, found: dict[str, ConstraintDrift]) -> "Figure":
    title = f"Drift from the constraints (Example A, {solver}, tolerance {TOLERANCE:g})"
    figure, axes = canvas(1, 2, (12.0, 4.6), title, sharex=True)
    for name, drift in found.items():
        late = drift.t > 0.02
        for ax, size in zip(axes, (drift.position, drift.velocity), strict=True):
            ax.loglog(drift.t[late], size[late], color=COLOURS[name], label=name)
    worst = max(drift.position[-1] for drift in found.values())
    t = next(iter(found.values())).t[[-1]]
    for power, style in ((1, "--"), (2, ":")):
        guide = [worst * 3.0 * 0.05**power, worst * 3.0]
        axes[0].loglog([0.05 * t[0], t[0]], guide, style, color=QUIET, linewidth=0.9, label=f"$t^{power}$")
    axes[0].set(xlabel="time [s]", ylabel="largest |g| so far", title="Positions")
    axes[1].set(xlabel="time [s]", ylabel=r"largest |$\dot g$| so far", title="Velocities")
    axes[0].legend(loc="upper left", fontsize=8)
    legend(axes[1])
    return figure
