"""Figure 3.9: the error of the unit quaternion of each body in a chain of discs."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.integrators import GaussLegendre
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._chain import (
    COUNT,
    DISC_STEP,
    HOMOGENEOUS,
    THESIS,
    discs,
    run_chain,
    unit_error,
)
from poinsot.papers.chaurasia2012._chain_timing import SETTINGS
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTICLES, END, QUICK_END, EVERY = 8, 100.0, 10.0, 10
FLOOR = 1e-17
REMARKS = [
    "The claim: quaternions remain unit to a good extent for all bodies. In the homogeneous form they do so "
    "to round-off, for every body and every step.",
    "The thesis' form, with a multiplier and the radial inertia J0 = 1, keeps them as well here: with "
    "epsilon = 1e-6 the discs turn almost freely, and what loses the length is the potential. The tetrahedra "
    "of figure 3.5 show that, see the item open-question.",
    "The thesis gives no spacing, no initial condition and no time. Ours: the spacing where the potential "
    "has its minimum, bodies at rest that turn at random with angular velocities of size 1, t = 100.",
]


def figure_3_9(quick: bool, progress: bool | None) -> Findings:
    """The error over time in both forms."""
    chain, start = discs(PARTICLES, COUNT)
    t1 = QUICK_END if quick else END
    forms = {"homogeneous form": HOMOGENEOUS, "thesis' form": THESIS}
    errors = {}
    for name, coordinates in forms.items():
        run = run_chain(
            chain,
            start,
            GaussLegendre(3),
            t1,
            DISC_STEP,
            coordinates=coordinates,
            save_every=EVERY,
            progress=progress,
        )
        errors[name] = unit_error(run)
    numbers = []
    for body in range(1, COUNT):
        name = f"homogeneous form, body {body}: largest | |q| - 1 |"
        numbers.append(Number.at_most(name, float(np.max(errors["homogeneous form"][:, body])), 1e-13))
    numbers.append(Number.shown("thesis' form: largest | |q| - 1 |", float(np.max(errors["thesis' form"]))))
    settings = SETTINGS | {"bodies": COUNT, "particles": PARTICLES, "t1": t1}
    return Findings(settings, numbers, REMARKS, {"": _draw(errors, t1)})


@styled
def _draw(errors: dict[str, np.ndarray], t1: float) -> "Figure":
    title = f"Error of the unit quaternion, {COUNT} discs, Gauss 6, h = {DISC_STEP:g}"
    figure, axes = canvas(2, 1, (8.0, 6.0), title, sharex=True, sharey=True)
    for ax, (name, error) in zip(axes, errors.items(), strict=True):
        t = np.linspace(0.0, t1, len(error))
        for body in range(1, COUNT):
            seen = np.maximum(error[:, body], FLOOR)
            ax.semilogy(t, seen, linewidth=0.7, color=PALETTE[body % len(PALETTE)], label=f"body {body}")
        ax.set(title=name, ylabel="$|\\,|q| - 1\\,|$", xlim=(0.0, t1))
    axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
    axes[-1].set_xlabel("time [s]")
    return figure
