"""Coordinates, form and integrator with joints: each runs at its order on Example C, or says why not.

Most combinations are refused, by the form or by the integrator. What is not refused is run with two step
sizes, and its error at the end falls at the declared order. As a program this file prints the counts, and
with two numbers, `first` and `stride`, it runs that share of the combinations, one line for each, and fails
if one of them does. All of them on 16 cores:

    seq 0 15 | xargs -P 16 -I{} python tests/joints/test_every_combination.py {} 16
"""

import faulthandler
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from test_jointed_motion import linkage_by_hand

import poinsot as pt
from poinsot.equations import FORMS, formulate, refusal
from poinsot.integrators import AbstractIntegrator, adaptive_names, by_name, names

LINKAGE = pt.library.two_body_linkage()
COORDINATES = {
    "quaternions": pt.coordinates.Quaternions(),
    "sigma": pt.coordinates.Quaternions(sigma="mean"),
    "directors": pt.coordinates.Directors(),
    "euler-angles": pt.coordinates.EulerAngles("zxz"),
    "group": pt.coordinates.Group(),
    "joint": pt.coordinates.Joint(),
}
END = 0.05
STEPS = {
    1: (800, 1600),
    2: (100, 200),
    3: (50, 100),
    4: (25, 50),
    5: (25, 50),
    6: (32, 64),
    7: (16, 32),
    8: (10, 20),
}
"""Numbers of steps in which the error of an order shows, well above round-off."""
FINER = {"dopri5": 4, "lobatto-iiiab8": 2}
"""How many times finer steps must be for the order of a method to show here."""
LIMIT = 240
"""Seconds of one combination, most of them for its compile."""
REFUSALS = (
    "is one of joint coordinates; take",
    "has no form 'group'; take",
    "has the form 'group' alone",
    "Joint has no form",
    "no loop, drive or coupling holds the joints, so there is no form",
    "has no place in the form 'hamiltonian', which has no inertia",
    "have no place in the form 'hamiltonian' of Directors",
    "needs an ordinary differential equation; here the constraints",
    "needs a problem of kind",
    "needs a separable Hamiltonian",
    "does not hold joints; take",
    "imposes the constraints on positions, but the form of index 2",
    "does not keep the length of quaternions",
    "needs a mass matrix",
    "needs equations with multipliers",
    "has no series of linear equations that are solved with a choice of pivots",
)
"""What refusals say, in part; each was looked at."""


@cache
def exact():
    return linkage_by_hand(END)


@cache
def formulated(coordinates: str, form: str):
    """The problem of coordinates and a form, or why there is none."""
    chosen = COORDINATES[coordinates]
    return refusal(LINKAGE, chosen, form) or formulate(LINKAGE, chosen, form).problem


def reason(coordinates: str, form: str, integrator: str) -> str | None:
    """Why a combination is refused, or None."""
    problem = formulated(coordinates, form)
    return problem if isinstance(problem, str) else by_name(integrator).refusal(problem)


def all_of_them() -> Iterator[tuple[str, str, str]]:
    for coordinates in COORDINATES:
        for form in FORMS:
            for integrator in (*names(), *adaptive_names()):
                yield coordinates, form, integrator


@cache
def sorted_out() -> tuple[list[tuple[str, str, str]], dict[tuple[str, str, str], str]]:
    """Combinations that are possible, and those that are refused with what is said."""
    said = {combination: reason(*combination) for combination in all_of_them()}
    possible = [combination for combination, why in said.items() if why is None]
    return possible, {combination: why for combination, why in said.items() if why is not None}


def error(coordinates: str, form: str, integrator, **options) -> float:
    given: Any = options
    given |= {"coordinates": COORDINATES[coordinates], "form": form, "integrator": integrator}
    run = pt.simulate(LINKAGE, LINKAGE.start, t1=END, progress=False, **given)
    return float(np.max(np.abs(run.position[-1] - exact())))


def check(coordinates: str, form: str, name: str) -> str:
    """Run one combination: at its order with fixed or reversible steps, to its tolerance with other ones."""
    method = by_name(name)
    reversible = isinstance(method, pt.integrators.ReversibleSteps)
    if not isinstance(method, AbstractIntegrator) and not reversible:
        found = error(coordinates, form, method, rtol=1e-10, atol=1e-10)
        assert found < 1e-5, f"error {found:.1e}"
        return f"error {found:.1e}"
    finer = FINER.get(name, 1)
    if form == "hamiltonian" and isinstance(method, pt.integrators.Composition):
        # Verlet's method is implicit there, and part steps of a composition are longer than a step.
        finer = 16
    if reversible:
        # Steps grow up to threefold here, and there is no tolerance: the first of them sets the accuracy.
        finer = 4
    order = method.traits.order
    assert order is not None
    counts = STEPS[min(order, 8)]
    coarse, fine = (error(coordinates, form, method, dt=END / (finer * count)) for count in counts)
    measured = np.log2(coarse / fine)
    said = f"order {measured:.2f} of {order}, errors {coarse:.1e}, {fine:.1e}"
    assert fine < 1e-9 or order - 0.4 < measured < order + 1.2, said
    return said


def test_every_refusal_is_one_line_with_a_true_reason():
    possible, refused = sorted_out()
    assert len(possible) > 200 and len(refused) > 1000
    for combination, why in refused.items():
        assert "\n" not in why and any(part in why for part in REFUSALS), (combination, why)


@pytest.mark.parametrize(
    ("coordinates", "form", "integrator"),
    [("quaternions", "null_space", "rk4"), ("group", "group", "lie-rattle")],
)
def test_some_combinations(coordinates, form, integrator):
    check(coordinates, form, integrator)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_combinations_drawn_at_random(seed):
    possible, _ = sorted_out()
    check(*possible[np.random.default_rng(seed).integers(len(possible))])


class OverdueError(BaseException):
    """A combination takes too long. No exception of the kind that a fallback to other code would take up."""


def overdue(*_):
    raise OverdueError(f"more than {LIMIT} s")


def line(combination: tuple[str, str, str]) -> tuple[bool, str]:
    """Whether a combination is as declared, and what to print of it."""
    began = time.perf_counter()
    # Again every second, since an exception within a callback of the garbage collector is lost.
    signal.setitimer(signal.ITIMER_REAL, LIMIT, 1.0)
    # A compile that does not come to an end hears no alarm: then the program ends, with a failure.
    faulthandler.dump_traceback_later(3 * LIMIT, exit=True)
    try:
        good, said = True, check(*combination)
    except (Exception, OverdueError) as wrong:
        good, said = False, f"{type(wrong).__name__} {str(wrong).splitlines()[0][:150]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        faulthandler.cancel_dump_traceback_later()
    seconds = time.perf_counter() - began
    return good, f"{'ok ' if good else 'NOT'} {' '.join(combination)}: {said} ({seconds:.0f} s)"


def main(first: int, stride: int) -> int:
    """Run a share of the combinations: the number of those that are not as declared, at most one."""
    signal.signal(signal.SIGALRM, overdue)
    bad = 0
    for combination in sorted_out()[0][first::stride]:
        good, text = line(combination)
        bad += not good
        print(text, flush=True)
    return min(bad, 1)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
    possible, refused = sorted_out()
    print(len(possible), "possible,", len(refused), "refused")
    for key in (0, 1):
        print(Counter(combination[key] for combination in possible))
