"""Lang (2010): null-space coordinates of rigid bodies in quaternions and in directors.

The images of the figures are not at hand: what is checked is the claim that the text makes of each.
"""

from collections.abc import Callable

from poinsot.papers._reproduction import Findings
from poinsot.papers.lang2010._accuracy_plots import figure_13, figure_14, figure_15
from poinsot.papers.lang2010._drift_off import figure_6
from poinsot.papers.lang2010._energy import figure_10
from poinsot.papers.lang2010._gyro_top import figure_11
from poinsot.papers.lang2010._linkage_accuracy import figure_16
from poinsot.papers.lang2010._linkage_drift import figure_6_linkage
from poinsot.papers.lang2010._statements import section_7
from poinsot.papers.lang2010._step_sizes import figure_8, figure_9
from poinsot.papers.lang2010._table_1 import table_1
from poinsot.papers.lang2010._table_2 import table_2
from poinsot.papers.lang2010._tennis_racket import figure_12

ITEMS: dict[str, tuple[str, Callable[[bool, bool | None], Findings]]] = {
    "figure-6": ("Drift from the constraints, Example A", figure_6),
    "figure-6-linkage": ("Drift from the constraints of coordinates and joint, Example C", figure_6_linkage),
    "figure-8": ("Steps of DoPri5, Example A", figure_8),
    "figure-9": ("Steps of DoPri5, Example B", figure_9),
    "figure-10": ("Energy of a fast gyro top, Example A", figure_10),
    "figure-11": ("Motion of the gyro top, Example A", figure_11),
    "figure-12": ("Motion of the tennis racket, Example B", figure_12),
    "figure-13": ("Accuracy with explicit solvers, Example A", figure_13),
    "figure-14": ("Accuracy with implicit solvers, Example A", figure_14),
    "figure-15": ("Accuracy on the tennis racket, Example B", figure_15),
    "figure-16": ("Accuracy on two bodies with a joint, Example C", figure_16),
    "section-7": ("General statements over all solvers, Examples A and B", section_7),
    "table-1": ("Operations of the right-hand sides in five formulations", table_1),
    "table-2": ("Constraints and degrees of freedom of the lower kinematic pairs", table_2),
}
