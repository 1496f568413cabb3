"""Figure 6 for two bodies with a joint: how both kinds of constraints drift, Example C."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot.analysis import drift_exponent
from poinsot.analysis._drift import envelope
from poinsot.integrators import DormandPrince5
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._adaptive import COLOURS, legend
from poinsot.papers.lang2010._linkage import CHOICES, JOINT_ROWS, residuals, run
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE, END = 1e-9, 4.0
QUICK = ("null space, quaternions", "null space, directors")
WITHIN = 0.3
"""Of the powers of time, which a residual that also oscillates follows on average."""
ROUND_OFF = 1e-10
"""Of rates up to 250 m/s after some thousand steps."""

REMARKS = [
    "The paper draws figure 6 for Example A; here is the same for its jointed system, by DoPri5, whose "
    "errors are those of its formula alone. The claim is a general one: with the constraints on "
    "accelerations positions drift quadratically and velocities linearly, in the null space positions "
    "drift linearly and velocities not at all.",
    "For the constraints of the coordinates the powers agree. In the null space the rates of all "
    "constraints, the joint's too, vanish to round-off whatever has drifted: G T = 0 holds for any "
    "coordinates.",
    "The joint drifts less than the claim allows. In directors its gap is a linear function of the "
    "coordinates, which every Runge-Kutta method keeps: it stays closed to round-off in both forms. In "
    "quaternions it is quadratic, and in absolute coordinates its power of time is nearer to one than to "
    "two; that one is shown and not judged.",
]


@dataclass(frozen=True)
class Drift:
    """Largest residuals so far: of coordinates and of the joint, of positions and of velocities."""

    t: np.ndarray
    sizes: dict[tuple[str, str], np.ndarray]

    def power(self, *kind: str) -> float:
        """Of time, by which one of them grows."""
        return drift_exponent(self.t, self.sizes[kind[0], kind[1]])


def figure_6_linkage(quick: bool, progress: bool | None) -> Findings:
    """Drift in the four formulations; in the null space only if quick."""
    found = {name: _drift(name) for name in (QUICK if quick else CHOICES)}
    return Findings(
        settings={"solver": "DormandPrince5", "tolerance": TOLERANCE, "t1": END},
        numbers=[number for name, drift in found.items() for number in _numbers(name, drift)],
        remarks=REMARKS,
        figures={"": _draw(found)},
    )


def _drift(name: str) -> Drift:
    made = run(name, DormandPrince5(), TOLERANCE, END, save_every=4)
    sizes = {}
    for level, values in zip(("positions", "velocities"), residuals(name, made), strict=True):
        sizes["coordinates", level] = envelope(values[:, :-JOINT_ROWS])
        sizes["joint", level] = envelope(values[:, -JOINT_ROWS:])
    return Drift(np.asarray(made.t), sizes)


def _numbers(name: str, drift: Drift) -> list[Number]:
    """Powers of time where something drifts, sizes where nothing does."""
    numbers = [
        Number.shown(f"{name}: residual of the {part}, {level}, at the end", size[-1])
        for (part, level), size in drift.sizes.items()
    ]
    absolute, directors = name.startswith("absolute"), name.endswith("directors")
    title = f"{name}: power of time, coordinates"
    power = drift.power("coordinates", "positions")
    numbers.append(Number.near(f"{title}, positions", power, 2.0 if absolute else 1.0, WITHIN))
    if absolute:
        rate = drift.power("coordinates", "velocities")
        numbers.append(Number.near(f"{title}, velocities", rate, 1.0, WITHIN))
        numbers.append(
            Number.shown(f"{name}: power of time, joint, positions", drift.power("joint", "positions"))
        )
    else:
        worst = max(size[-1] for (_, level), size in drift.sizes.items() if level == "velocities")
        numbers.append(Number.at_most(f"{name}: largest rate of any constraint", worst, ROUND_OFF, "G T = 0"))
    if directors:
        gap = drift.sizes["joint", "positions"][-1]
        source = "a linear function of the coordinates"
        numbers.append(Number.at_most(f"{name}: largest gap of the joint [m]", gap, ROUND_OFF, source))
    elif not absolute:
        power = drift.power("joint", "positions")
        numbers.append(Number.near(f"{name}: power of time, joint, positions", power, 1.0, WITHIN))
    return numbers


@styled
def _draw(found: dict[str, Drift]) -> "Figure":
    title = f"Drift from the constraints (Example C, DoPri5, tolerance {TOLERANCE:g})"
    figure, axes = canvas(1, 2, (12.0, 4.6), title, sharex=True)
    for ax, level, symbol in zip(axes, ("positions", "velocities"), ("|g|", r"|$\dot g$|"), strict=True):
        for name, drift in found.items():
            late = drift.t > 0.01
            for part, style in (("coordinates", "-"), ("joint", "--")):
                size = np.maximum(drift.sizes[part, level][late], 1e-17)
                ax.loglog(drift.t[late], size, style, color=COLOURS[name], label=f"{name}: {part}")
        ax.set(xlabel="time [s]", ylabel=f"largest {symbol} so far", title=level.capitalize())
    legend(axes[1])
    return figure
