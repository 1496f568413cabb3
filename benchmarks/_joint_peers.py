"""Other packages on jointed systems, as they were measured once on one thread of a 2-core machine.

Example C at t = 0.5, ten rods on ball joints at t = 1, the crank-rocker at t = 5 and Andrews' squeezer at t = 0.03: error
of the mass centres (of the angles for the squeezer) and milliseconds.
"""  # noqa: E501

from _peers import Measured

PEERS = {
    "Example C": {
        "Exudyn 1.13, generalised-alpha": (Measured("dt 9.8e-7", 9.4e-7, 6713.0),),
        "MuJoCo 4.0, RK4": (Measured("dt 5e-5", 7.3e-7, 72.9), Measured("dt 1e-5", 1.2e-9, 381.0)),
        "Pinocchio 4.1 in C++, DOP853": (
            Measured("tol 1e-10", 1.4e-8, 4.3),
            Measured("tol 1e-12", 8.6e-10, 6.7),
        ),
        "heyoka 7.13, by hand": (Measured("tol 1e-9", 1.3e-8, 3.9), Measured("tol 1e-12", 7.3e-11, 5.5)),
    },
    "ten rods": {
        "Exudyn 1.13, generalised-alpha": (
            Measured("dt 2.5e-4", 5.8e-7, 343.0),
            Measured("dt 1.6e-5", 1.9e-9, 3787.0),
        ),
        "MuJoCo 4.0, RK4": (Measured("dt 0.01", 1.1e-6, 2.2), Measured("dt 0.0025", 3.6e-9, 8.6)),
        "Pinocchio 4.1 in C++, DOP853": (
            Measured("tol 1e-6", 9.3e-8, 1.2),
            Measured("tol 1e-8", 3.2e-10, 2.0),
        ),
        "heyoka 7.13, by hand": (Measured("tol 1e-4", 2.9e-6, 2.2), Measured("tol 1e-6", 3.5e-8, 3.4)),
    },
    "crank-rocker": {
        "Exudyn 1.13, generalised-alpha": (Measured("dt 6.3e-5", 7.0e-7, 1157.0),),
        "MuJoCo 4.0, RK4, soft loop": (Measured("dt 1e-4", 4.2e-8, 553.0),),
        "Pinocchio 4.1 in C++, DOP853, Baumgarte": (Measured("tol 1e-8", 4.0e-10, 4.9),),
    },
    "squeezer": {
        "Exudyn 1.13, trapezoidal": (Measured("dt 3e-6", 5.6e-7, 389.0),),
        "MuJoCo 4.0, RK4, soft loops": (
            Measured("dt 1e-5", 1.2e-6, 53.1),
            Measured("dt 1e-6", 1.7e-8, 536.0),
        ),
        "Pinocchio 4.1 in C++, DOP853, Baumgarte": (
            Measured("tol 1e-6", 2.5e-7, 5.6),
            Measured("tol 1e-8", 3.2e-9, 10.4),
        ),
    },
}
