"""Zoric, Lazarevic and Simonovic (2010), multi-body kinematics and dynamics in terms of quaternions.

The paper derives formulas and computes no example. Here each of its quantities stands beside the same
quantity from the places of particles, for a chain of six joints of both kinds; the tests put Pinocchio beside
them too.
"""

from collections.abc import Callable

from poinsot.papers._reproduction import Findings
from poinsot.papers.zoric2010._quantities import quantities

ITEMS: dict[str, tuple[str, Callable[[bool, bool | None], Findings]]] = {
    "quantities": ("Every quantity of the paper for six joints of both kinds, beside particles", quantities),
}
