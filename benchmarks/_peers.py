"""Other packages on the gyro top of Lang's Example A, to T = 60 s, as they were measured once.

Errors are sqrt(|R - R*|_F^2 + |Omega - Omega*|^2) at the end. All were measured on one machine, with SciPy's
DOP853 and heyoka among them: their time here, over their time there, carries the others over to the machine
at hand.
"""

from typing import NamedTuple

MACHINE = "virtual machine with 2 cores of an AMD EPYC, Python 3.11, one thread"


class Measured(NamedTuple):
    """One run: what was asked of the package, the error it reached, and milliseconds of wall time."""

    setting: str
    error: float
    milliseconds: float


PUBLISHED = {
    "heyoka 7.13": (
        Measured("tol 1e-6", 3.4e-4, 0.34),
        Measured("tol 1e-8", 9.2e-7, 0.62),
        Measured("tol 1e-9", 7.4e-9, 0.71),
        Measured("tol 1e-12", 3.1e-11, 1.18),
        Measured("tol 1e-14", 1.1e-12, 1.64),
    ),
    "diffrax 0.7 Dopri8": (
        Measured("tol 1e-6", 3.9e-3, 5.3),
        Measured("tol 1e-8", 2.0e-5, 9.6),
        Measured("tol 1e-10", 8.5e-8, 16.2),
        Measured("tol 1e-12", 7.2e-10, 28.0),
        Measured("tol 1e-13", 7.1e-11, 36.0),
    ),
    "SciPy 1.17 LSODA, Numba": (
        Measured("tol 1e-8", 7.9e-5, 40.3),
        Measured("tol 1e-10", 9.6e-7, 55.1),
        Measured("tol 1e-12", 2.8e-8, 76.7),
    ),
    "Exudyn 1.13 RK67": (
        Measured("dt 0.01", 1.4e-5, 36.0),
        Measured("dt 0.005", 1.4e-7, 71.0),
        Measured("dt 0.002", 4.4e-10, 176.0),
        Measured("dt 0.001", 1.7e-11, 356.0),
    ),
    "CVODE 7.9 Adams, Numba": (
        Measured("tol 1e-8", 2.5e-4, 62.6),
        Measured("tol 1e-12", 3.5e-8, 127.0),
        Measured("tol 1e-13", 1.4e-9, 131.0),
    ),
    "SciPy 1.17 DOP853, Numba": (
        Measured("tol 1e-8", 8.7e-6, 86.0),
        Measured("tol 1e-10", 5.2e-8, 152.0),
        Measured("tol 1e-12", 3.2e-10, 271.0),
        Measured("tol 1e-13", 2.6e-11, 359.0),
    ),
    "MuJoCo 4.0 RK4": (
        Measured("dt 0.002", 5.5e-6, 142.0),
        Measured("dt 0.001", 3.3e-7, 277.0),
        Measured("dt 0.0002", 5.0e-10, 1402.0),
    ),
    "Drake 1.51 RK5": (
        Measured("dt 0.01", 7.6e-6, 144.0),
        Measured("dt 0.003", 2.7e-9, 391.0),
        Measured("dt 0.001", 1.3e-11, 1189.0),
    ),
}
SCIPY, HEYOKA = "SciPy 1.17 DOP853, Numba", "heyoka 7.13"
"""The peers that are measured again in every run, to compare the machines by."""
