"""Xu and Zhong (2016), On the numerical influences of inertia representation for rigid body dynamics.

Figures 1 and 2 are drawings, and the images of the others are not at hand: checked are the claims that the
text makes of them. The fast top has its moments and the cone its condition of regular precession corrected.

Both examples of the paper are one body with a fixed point. It has no example with joints: its constraints are
those of the quaternion and of the directors alone, so there is none to reproduce.
"""

from collections.abc import Callable

from poinsot.papers._reproduction import Findings
from poinsot.papers.xu2016._fast_top import figure_3, figure_4, figure_5
from poinsot.papers.xu2016._precession import figure_6, figure_7

ITEMS: dict[str, tuple[str, Callable[[bool, bool | None], Findings]]] = {
    "figure-3": ("Energy error of the fast top over the step, two inertias, two coordinates", figure_3),
    "figure-4": ("Mass centre of the fast top in quaternions, two inertias", figure_4),
    "figure-5": ("Mass centre of the fast top in directors, two inertias", figure_5),
    "figure-6": ("Regular precession in quaternions: variational and energy-momentum", figure_6),
    "figure-7": ("Regular precession in directors: variational and energy-momentum", figure_7),
}
