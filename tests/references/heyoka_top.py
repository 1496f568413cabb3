"""An independent reference: a body with a fixed point by Taylor series of heyoka, up to quadruple precision.

Nothing of Poinsot is used here. The unknowns are the directors and the angular momentum in space, which none
of its formulations has:

    d1' = Omega3 d2 - Omega2 d3 (and cyclic),  L' = -mgl d3 x e3,  Omega_k = (d_k . L) / J_k

`python tests/references/heyoka_top.py` computes the motions of `CASES` in quadruple precision and writes them
to lang2010.json, with what extended precision makes of the same motion.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import heyoka as hy
import numpy as np

STORE = Path(__file__).with_name("lang2010.json")
TOLERANCE = {"double": "1e-16", "extended": "1e-19", "quadruple": "1e-33"}
NUMBER: dict[str, Any] = {"double": float, "extended": np.longdouble, "quadruple": hy.real128}


class Case(NamedTuple):
    """A body about its fixed point, its start as 3-1-3 Euler angles in units of pi, and times to look at."""

    inertia: tuple[float, float, float]
    mgl: float
    angles: tuple[float, float, float]
    Omega: tuple[float, float, float]
    times: tuple[float, ...]


class Motion(NamedTuple):
    """Rotations (time, 3, 3) from body to space and body angular velocities (time, 3)."""

    R: np.ndarray
    Omega: np.ndarray


RACKET = Case((41.6, 11.6, 50.0), 0.0, (1 / 3, 1 / 4, 1 / 2), (50.0, 0.0, 0.0), ())
CASES = {
    "example A": Case((50.0, 42.0, 10.0), 11.09 * 9.81, (0.0, 1 / 3, 0.0), (0.0, 0.0, 20.0), (10.0, 60.0)),
    "example B, 1e-1": RACKET._replace(Omega=(50.0, 1e-1, 1e-1), times=(0.4,)),
    "example B, 1e-5": RACKET._replace(Omega=(50.0, 1e-5, 1e-5), times=(1.0,)),
    "example B, 1e-3": RACKET._replace(Omega=(50.0, 1e-3, 1e-3), times=(1.2,)),
}


@cache
def _taylor(precision: str):
    """The compiled integrator; moments and mgl are its parameters, so that one serves every body."""
    number = NUMBER[precision]
    d = [[hy.make_vars(f"d{k}{i}") for i in range(3)] for k in range(3)]
    L = [hy.make_vars(f"L{i}") for i in range(3)]
    Omega = [sum(d[k][i] * L[i] for i in range(3)) / hy.par[k] for k in range(3)]
    equations = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        equations += [(d[k][n], Omega[j] * d[i][n] - Omega[i] * d[j][n]) for n in range(3)]
    equations += [(L[0], -hy.par[3] * d[2][1]), (L[1], hy.par[3] * d[2][0]), (L[2], number(0) * L[2])]
    start = np.array([number(0)] * 12, dtype=number)
    return hy.taylor_adaptive(equations, start, tol=number(TOLERANCE[precision]), fp_type=number)


def _turn(axis: int, angle, number) -> np.ndarray:
    """Rotation about a coordinate axis, in the given arithmetic."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.array([[number(row == column) for column in range(3)] for row in range(3)], dtype=number)
    cosine, sine = np.cos(angle), np.sin(angle)
    R[i, i], R[i, j], R[j, i], R[j, j] = cosine, -sine, sine, cosine
    return R


def motion(case: Case, precision: str = "extended") -> Motion:
    """The motion of a case at its times, computed in the given precision and rounded to double."""
    number = NUMBER[precision]
    pi = np.arctan(number(1)) * number(4)
    # thirds and quarters of pi are meant exactly
    angles = [pi * number(round(12 * part)) / number(12) for part in case.angles]
    factors = [_turn(axis, angle, number) for axis, angle in zip((2, 0, 2), angles, strict=True)]
    R = _product(_product(factors[0], factors[1]), factors[2])
    J = np.array([number(value) for value in case.inertia], dtype=number)
    m = J * np.array([number(value) for value in case.Omega], dtype=number)
    taylor = _taylor(precision)
    taylor.time = number(0)
    taylor.pars[:] = np.array([*J, number(case.mgl)], dtype=number)
    taylor.state[:] = np.concatenate([R.T.reshape(-1), (R * m[None, :]).sum(axis=1)])
    states = []
    for t in case.times:
        taylor.propagate_until(number(t))
        states.append(taylor.state.copy())
    directors = np.array(states)[:, :9].reshape(-1, 3, 3)
    Omega = (directors * np.array(states)[:, None, 9:]).sum(axis=2) / J[None, :]
    return Motion(np.swapaxes(directors, 1, 2).astype(float), Omega.astype(float))


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return (A[:, :, None] * B[None, :, :]).sum(axis=1)


@cache
def stored(name: str) -> Motion:
    """The motion of a case of `CASES`, as it was computed in quadruple precision."""
    entry = json.loads(STORE.read_text())[name]
    return Motion(np.array(entry["R"]), np.array(entry["Omega"]))


def main() -> None:
    """Write the store and say how far extended precision is from it."""
    entries = {}
    for name, case in CASES.items():
        best, other = motion(case, "quadruple"), motion(case, "extended")
        difference = [float(np.max(np.abs(a - b))) for a, b in zip(best, other, strict=True)]
        print(f"{name}: extended precision differs by {difference[0]:.1e} in R, {difference[1]:.1e} in Omega")
        entries[name] = {"times": case.times, "R": best.R.tolist(), "Omega": best.Omega.tolist()}
    STORE.write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    main()
