"""How often the words of a report are wrong, measured where it is known whether they are true.

- *Exact to round-off*: energy and momentum of random tops in Euler angles, one of which grows without bound.
  Round-off is what Gauss' method of order 12 errs by, if that does not fall at half the step. It is none if a
  method of lower order errs by a hundred times as much at the same step.
- *Lost*: vectors that turn, by more than a right angle or by less than thirty degrees.
- *Drifting or lost*: quantities that grow by a factor of four to a billion, or that oscillate.
- *Moves by some percent*: the same, of oscillations by two to fifty percent and by less than half a percent.
- *More than half a turn in a step*: free bodies, beside their exact motion.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.analysis._verdict_families import FAMILIES, FULL, even
from poinsot.coordinates import EulerAngles
from poinsot.core import State
from poinsot.integrators import RK4, AbstractIntegrator, GaussLegendre, LieMidpoint
from poinsot.library import free_body, heavy_top
from poinsot.library._free_body import free_motion
from poinsot.model import AbstractSystem
from poinsot.simulation import Scale, Trajectory, Verdict, simulate
from poinsot.simulation._alarms import HALF_TURN
from poinsot.simulation._pace import Pace
from poinsot.simulation._report import NOTED, Row, row_of

UNIT = Scale(1.0, 1.0, 1.0)
LARGER = 100.0
"""How much larger than round-off an error is that is none."""
TURNS = 50
"""Steps of a free body."""
FALLING = 4.0
"""Factor by which an error falls at half the step, if it is no round-off; of order 12 it would be 4096."""


class Case(NamedTuple):
    """Whether something is so, and whether the report says it."""

    so: bool
    said: bool


@dataclass
class ClaimRates:
    """How often a claim of the report was wrong."""

    claim: str
    so: int = 0
    """Cases in which it is true."""
    not_so: int = 0
    missed: int = 0
    """Cases in which it is true and not said."""
    false: int = 0
    """Cases in which it is said and not true."""

    def count(self, case: Case) -> None:
        """Take in one case."""
        self.so += case.so
        self.not_so += not case.so
        self.missed += case.so and not case.said
        self.false += case.said and not case.so

    @property
    def missed_rate(self) -> float:
        """Share of the cases in which it is true."""
        return self.missed / max(self.so, 1)

    @property
    def false_rate(self) -> float:
        """Share of the cases in which it is not."""
        return self.false / max(self.not_so, 1)

    def to_dict(self) -> dict:
        """As JSON can hold it."""
        return vars(self) | {"missed_rate": self.missed_rate, "false_rate": self.false_rate}


def claim_rates(
    series: int = 2000, *, seed: int = 0, progress: Callable[[str], None] | None = None
) -> list[ClaimRates]:
    """Compare what a report says with what is so, in random cases of each claim.

    Args:
        series: number of cases to draw of each, a fifth of it of runs that are computed; some of them may be
            neither so nor not so.
        seed: of the random numbers.
        progress: told each claim before it is looked at.
    """
    found = []
    for place, (claim, draw) in enumerate(CLAIMS.items()):
        if progress is not None:
            progress(claim)
        rng = np.random.default_rng([seed, place])
        found.append(ClaimRates(claim))
        for _ in range(series // 5 if draw in (_exact, _turns) else series):
            for case in draw(rng):
                found[-1].count(case)
    return found


def _exact(rng: np.random.Generator) -> Iterator[Case]:
    """Energy and momentum of a top in Euler angles."""
    A, mgl, spin = rng.uniform(0.5, 2.0), rng.uniform(0.2, 5.0), rng.uniform(2.0, 20.0)
    top = heavy_top(inertia=(A, A * rng.uniform(0.8, 1.25), A * rng.uniform(0.3, 0.9)), mgl=mgl)
    tilt, wobble = rng.uniform(0.3, 1.2), rng.uniform(-1.0, 1.0, 2)
    start = top.state(
        rotation=(np.cos(tilt / 2), np.sin(tilt / 2), 0.0, 0.0), angular_velocity=(*wobble, spin)
    )
    dt, steps = even(rng, 0.005, 0.3) / spin, int(even(rng, 500.0, 10_000.0))
    lower = (RK4(), GaussLegendre(2), GaussLegendre(3))[rng.integers(3)]
    runs = [
        _top(top, start, method, dt / halved, steps * halved)
        for method, halved in ((lower, 1), (GaussLegendre(6), 1), (GaussLegendre(6), 2))
    ]
    if not all(run.result.ok for run in runs):
        return
    reports = [run.report() for run in runs]
    for name in ("energy", "L_z"):
        crude, fine, finer = (report[name] for report in reports)
        if crude.largest_deviation > LARGER * fine.largest_deviation:
            yield Case(False, crude.verdict is Verdict.exact)
        if fine.largest_deviation < FALLING * finer.largest_deviation:
            yield Case(True, fine.verdict is Verdict.exact)


def _top(top: AbstractSystem, start: State, method: AbstractIntegrator, dt: float, steps: int) -> Trajectory:
    return simulate(
        top,
        start,
        t1=steps * dt,
        dt=dt,
        integrator=method,
        coordinates=EulerAngles("xyz"),
        progress=False,
        throw=False,
    )


def _turned(rng: np.random.Generator) -> Iterator[Case]:
    """A vector of any direction in its plane that turns evenly, and nods."""
    far = bool(rng.integers(2))
    turn = rng.uniform(np.pi / 2, 3.0 * np.pi) if far else rng.uniform(0.0, np.pi / 6)
    x = np.linspace(0.0, 1.0, int(even(rng, 5.0, 3000.0)))
    nod = 1e-3 * np.sin(FULL * even(rng, 3.0, 200.0) * x)
    angle = rng.uniform(0.0, FULL) + turn * x + (nod if not far else 0.0) * (turn > 1e-2)
    vector = 10.0 ** rng.uniform(-3.0, 3.0) * np.column_stack([np.cos(angle), np.sin(angle)])
    row = _judged(x, vector, {"q": np.cos(FULL * 20.0 * x)[:, None]})
    yield Case(far, row.verdict is Verdict.lost)


def _grown(rng: np.random.Generator) -> Iterator[Case]:
    """Exponential growth beside an oscillation of up to a tenth, in the whole run or a part of it."""
    made = _drawn(rng)
    grown = bool(rng.integers(2))
    error = even(rng, 1e-6, 0.1) * made.error / np.ptp(made.error)
    values = 1.0 + error - error[0]
    if grown:
        rate = np.log(even(rng, 4.0, 1e9))
        values = values * np.exp(rate * made.x)
    row = _judged(made.x, values, made.state)
    yield Case(grown, row.verdict in (Verdict.drifting, Verdict.lost))


def _moved(rng: np.random.Generator) -> Iterator[Case]:
    """Oscillations, large and small."""
    made = _drawn(rng)
    large = bool(rng.integers(2))
    error = (even(rng, 2.0, 50.0) if large else even(rng, 1e-6, 0.5)) * NOTED
    error = error * (made.error - made.error[0]) / np.max(np.abs(made.error - made.error[0]))
    row = _judged(made.x, 1.0 + error, made.state)
    words = "moves by" in row.cells[-1] or row.verdict in (Verdict.drifting, Verdict.lost)
    yield Case(large, words)


def _drawn(rng: np.random.Generator):
    """An error of one of the families."""
    return list(FAMILIES.values())[rng.integers(len(FAMILIES))](rng)


def _judged(x: np.ndarray, values: np.ndarray, state: dict[str, np.ndarray]) -> Row:
    """What the report says of such values."""
    scale = Scale(1.0, float(np.max(np.abs(values[0]))), float(np.max(np.abs(values[0]))))
    return row_of("made up", x, values, np.arange(len(x), dtype=float), scale, Pace.of(x, state))


def _turns(rng: np.random.Generator) -> Iterator[Case]:
    """A free body with three different moments."""
    moments = np.sort(rng.uniform(0.5, 1.0, 3))
    body = free_body(inertia=tuple(moments))
    direction = rng.standard_normal(3)
    start = body.state(angular_velocity=direction / np.linalg.norm(direction))
    dt = even(rng, 0.5, 20.0)
    run = simulate(body, start, t1=TURNS * dt, dt=dt, integrator=LieMidpoint(), progress=False, throw=False)
    exact = _exact_spin(dt * np.arange(TURNS), jnp.asarray(moments), start)
    turned = dt * np.max(np.linalg.norm(np.asarray(exact), axis=-1)) > HALF_TURN
    yield Case(bool(turned), any("half a turn" in text for text in run.report().alarms))


@jax.jit
def _exact_spin(t, moments, start: State):
    return free_motion(t, moments, start).angular_velocity


CLAIMS: dict[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    "exact to round-off": _exact,
    "lost": _turned,
    "drifting or lost": _grown,
    "moves by some percent": _moved,
    "more than half a turn in a step": _turns,
}
