"""Terze, Müller and Zlatar (2013), Störmer-Verlet integration scheme in Lie-group setting: the free body.

The paper prints neither step nor length of the run, and its images are not at hand: what is checked is what
the figures are said to show, beside the exact motion, and what the scheme is said to keep. The paper has no
example of a multibody system; `two-bodies` states what its scheme does on one of ours.
"""

from collections.abc import Callable

from poinsot.papers._reproduction import Findings
from poinsot.papers.terze2013._free_body import figure_1, figure_2
from poinsot.papers.terze2013._orthogonality import figure_3
from poinsot.papers.terze2013._two_bodies import two_bodies

ITEMS: dict[str, tuple[str, Callable[[bool, bool | None], Findings]]] = {
    "figure-1": ("Body angular velocity of the free body", figure_1),
    "figure-2": ("Elements of the rotation matrix of the free body", figure_2),
    "figure-3": ("Orthogonality and determinant of the rotation matrix", figure_3),
    "two-bodies": ("The scheme on two bodies with a ball joint, which the paper does not have", two_bodies),
}
