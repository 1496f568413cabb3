"""Chaurasia (2012), a thesis on symplectic simulation of chains of rigid bodies: chapters 2 and 3.

Figures 2.12, 3.1, 3.2 and 3.4 are drawings. Most figures are printed without step size or length of the run,
and their images are not at hand: what is checked is the claim that the text makes of each, as a number. The
item `open-question` answers one that the thesis leaves to future work.
"""

from collections.abc import Callable

from poinsot.papers._reproduction import Findings
from poinsot.papers.chaurasia2012._chain_energy import figure_3_5, figure_3_6
from poinsot.papers.chaurasia2012._chain_open_question import open_question
from poinsot.papers.chaurasia2012._chain_timing import figure_3_7, figure_3_8
from poinsot.papers.chaurasia2012._chain_unit import figure_3_9
from poinsot.papers.chaurasia2012._energy_momentum_top import figure_2_15, figure_2_16, figure_2_17
from poinsot.papers.chaurasia2012._galactic_energy import figure_2_11
from poinsot.papers.chaurasia2012._galactic_section import figure_2_10
from poinsot.papers.chaurasia2012._galactic_table import table_2_1
from poinsot.papers.chaurasia2012._kepler import figure_2_6, figure_2_7, figure_2_8, figure_2_9
from poinsot.papers.chaurasia2012._oscillator import figure_2_1
from poinsot.papers.chaurasia2012._pendulum import figure_2_2, figure_2_3, figure_2_4, figure_2_5
from poinsot.papers.chaurasia2012._rattle_top import figure_2_18, figure_2_19
from poinsot.papers.chaurasia2012._top import figure_2_13, figure_2_14
from poinsot.papers.chaurasia2012._unit_quaternion import figure_3_3

ITEMS: dict[str, tuple[str, Callable[[bool, bool | None], Findings]]] = {
    "figure-2.1": ("Energy of the harmonic oscillator under six methods", figure_2_1),
    "figure-2.2": ("Phase portrait of the nonlinear pendulum, Radau IIA", figure_2_2),
    "figure-2.3": ("Phase portrait of the nonlinear pendulum, implicit midpoint", figure_2_3),
    "figure-2.4": ("Energy of the nonlinear pendulum, Radau IIA", figure_2_4),
    "figure-2.5": ("Energy of the nonlinear pendulum, implicit midpoint", figure_2_5),
    "figure-2.6": ("Kepler orbit by explicit Euler", figure_2_6),
    "figure-2.7": ("Kepler orbit by symplectic Euler, a step 100 times as long", figure_2_7),
    "figure-2.8": ("Kepler orbit by Störmer-Verlet", figure_2_8),
    "figure-2.9": ("Kepler orbit by Gauss of order 6", figure_2_9),
    "figure-2.10": ("Poincaré section of the galactic orbit", figure_2_10),
    "figure-2.11": ("Energy of the galactic orbit, RK4 and Gauss of order 6", figure_2_11),
    "figure-2.13": ("Mass centre of the symmetric top over time", figure_2_13),
    "figure-2.14": ("Mass centre of the symmetric top from above", figure_2_14),
    "figure-2.15": ("Mass centre of the symmetric top, energy-momentum method", figure_2_15),
    "figure-2.16": ("Angular momentum of the symmetric top, energy-momentum method", figure_2_16),
    "figure-2.17": ("Energy of the symmetric top, energy-momentum method", figure_2_17),
    "figure-2.18": ("Height of the symmetric top's mass centre, Rattle", figure_2_18),
    "figure-2.19": ("Energy of the symmetric top, Rattle", figure_2_19),
    "figure-3.3": ("Error of the unit quaternion over the step", figure_3_3),
    "figure-3.5": ("Energy of eight tetrahedra, clamped and pulled (c1-c2)", figure_3_5),
    "figure-3.6": ("Energy of eight tetrahedra, clamped at both ends (c1-c1)", figure_3_6),
    "figure-3.7": ("Time of a step over the number of particles in a body", figure_3_7),
    "figure-3.8": ("Time of a step over the number of bodies", figure_3_8),
    "figure-3.9": ("Error of the unit quaternion of each body in a chain", figure_3_9),
    "open-question": ("Symplectic methods of order 6, 8 and 12 that keep the unit quaternion", open_question),
    "table-2.1": ("Points of the galactic orbit's Poincaré section for six methods", table_2_1),
}
