"""Figure 6: how positions and velocities drift from the constraints, Example A."""

from typing import TYPE_CHECKING

from poinsot.analysis import ConstraintDrift, constraint_drift
from poinsot.integrators import Radau5
from poinsot.library import gyro_top
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._adaptive import COLOURS, legend, names, run
from poinsot.papers.lang2010._formulations import ABSOLUTE, PRINTED
from poinsot.viz._style import QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE, END, QUICK_TOLERANCE = 1e-9, 60.0, 1e-6
WITHIN = 0.3
"""Of the powers of time, which a residual that also oscillates follows on average."""

REMARKS = [
    "The claim of the figure: with the constraint on accelerations, positions drift quadratically and "
    "velocities linearly; in the null space positions drift linearly, and velocities not at all. The powers "
    "of time fitted here agree.",
    "Equation (40) as printed is an exception. Its radial acceleration -|v|^2 p is that of the constraint on "
    "the unit sphere only; off it the length obeys g'' = -2 |v|^2 g, which brings it back: no quadratic "
    "drift. The general form (4), with g'' = 0, is what drifts as the paper says. Both are shown.",
]


def figure_6(quick: bool, progress: bool | None) -> Findings:
    """Drift in all formulations with constraints; in two of them, at a coarser tolerance, if quick."""
    tolerance = QUICK_TOLERANCE if quick else TOLERANCE
    example = gyro_top()
    chosen = [name for name in names(quick) if name != "Euler angles"]
    found = {name: constraint_drift(run(example, name, Radau5(), tolerance, END)) for name in chosen}
    return Findings(
        settings={"solver": "Radau5", "tolerance": tolerance, "t1": END},
        numbers=[number for name, drift in found.items() for number in _powers(name, drift)],
        remarks=REMARKS,
        figures={"": _draw(found, tolerance)},
    )


def _powers(name: str, drift: ConstraintDrift) -> list[Number]:
    """Powers of time, and where the drift has led."""
    ends = [
        Number.shown(f"{name}: residual of positions at the end", drift.position[-1]),
        Number.shown(f"{name}: residual of velocities at the end", drift.velocity[-1]),
    ]
    power = f"{name}: power of time, positions"
    if name == PRINTED:
        return [Number.at_most(power, drift.position_exponent, 1.3), *ends]
    if name not in ABSOLUTE:
        return [Number.between(power, drift.position_exponent, 1.0 - WITHIN, 1.0 + WITHIN, 1.0), *ends]
    rate = f"{name}: power of time, velocities"
    return [
        Number.between(power, drift.position_exponent, 2.0 - WITHIN, 2.0 + WITHIN, 2.0),
        Number.between(rate, drift.velocity_exponent, 1.0 - WITHIN, 1.0 + WITHIN, 1.0),
        *ends,
    ]


@styled
def _draw(found: dict[str, ConstraintDrift], tolerance: float) -> "Figure":
    title = f"Drift from the constraints (Example A, Radau5, tolerance {tolerance:g})"
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
