"""Lang (2010): null-space coordinates of rigid bodies in quaternions and in directors.

The images of the figures are not at hand: what is checked is the claim that the text makes of each.
"""

from collections.abc import Callable

from poinsot.papers._reproduction import Findings
from poinsot.papers.lang2010._gyro_top import figure_11
from poinsot.papers.lang2010._table_1 import table_1
from poinsot.papers.lang2010._tennis_racket import figure_12

ITEMS: dict[str, tuple[str, Callable[[bool, bool | None], Findings]]] = {
    "figure-11": ("Motion of the gyro top, Example A", figure_11),
    "figure-12": ("Motion of the tennis racket, Example B", figure_12),
    "table-1": ("Operations of the right-hand sides in five formulations", table_1),
}
