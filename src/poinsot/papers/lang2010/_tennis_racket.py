"""Figure 12: the tennis racket that turns over, Example B."""

import math
from typing import TYPE_CHECKING

import numpy as np

from poinsot.library import tennis_racket
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._formulations import ABSOLUTE, FORMULATIONS, NULL_SPACE, Run, panels, run
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP, END, SAVE_EVERY = 5e-4, 2.4, 4
INERTIA, SPIN, DISTURBANCE = (41.6, 11.6, 50.0), 50.0, 1e-3
LATE = 1.6
"""A time between two turns, after the second one."""

REMARKS = [
    "The claims of the figure: the rotation seems stable, turns over at about 0.4 s and again at about "
    "1.2 s, and so on, almost periodically; d1 snaps to its antipode. The times here are those of the zeros "
    "of Omega_1, in the middle of a turn; from one to the next it takes the time that the exact solution in "
    "elliptic functions takes.",
    "The paper names no method for the figure; ours is DoPri5 with a fixed step, in the formulations it "
    "compares, beside the exact motion.",
    "Its claim that the forms in absolute coordinates fail here is confirmed. Between turns an error of "
    "Omega_2 or Omega_3 grows by e^33 per second. In absolute coordinates every velocity has its share of "
    "the fast rotation and of its error; in the null space Euler's equations stand alone, and while two "
    "components are small, so are their errors.",
]


def figure_12(quick: bool, progress: bool | None) -> Findings:
    """Directors and angular velocity in five formulations; in two of them if quick."""
    names = ("null space, quaternions", "absolute, quaternions") if quick else tuple(FORMULATIONS)
    example = tennis_racket(INERTIA, SPIN, DISTURBANCE)
    runs = {name: run(example, name, STEP, END, SAVE_EVERY) for name in names}
    racket = runs["null space, quaternions"]
    assert example.exact is not None
    exact = np.asarray(example.exact(racket.t).angular_velocity)[:, 0]
    errors = {name: np.max(np.abs(made.Omega - exact), axis=1) for name, made in runs.items()}
    return Findings(
        settings={
            "inertia": INERTIA,
            "spin": SPIN,
            "disturbance": DISTURBANCE,
            "step": STEP,
            "t1": END,
        },
        numbers=[*_claims(racket), *_comparison(racket.t, errors)],
        remarks=REMARKS,
        figures={"": _draw(racket, errors)},
    )


def _claims(racket: Run) -> list[Number]:
    """When the body turns over, and how far."""
    turns = _sign_changes(racket.t, racket.Omega[:, 0])
    momentum = racket.rotation[0] @ (np.array(INERTIA) * racket.Omega[0])
    along = racket.rotation[:, :, 0] @ (momentum / np.linalg.norm(momentum))
    middle = np.searchsorted(racket.t, 0.5 * (turns[0] + turns[1]))
    return [
        Number.near("first turn [s]", turns[0], 0.4, 0.1),
        Number.near("second turn [s]", turns[1], 1.2, 0.1),
        Number.matches("from turn to turn [s]", turns[1] - turns[0], half_period(), 1e-6, "theory"),
        Number.matches("from turn to turn [s], the next", turns[2] - turns[1], half_period(), 1e-6, "theory"),
        Number.near("cosine of d1 with its first direction, after the turn", along[middle], -1.0, 1e-6),
    ]


def _sign_changes(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Times of the zeros, from a cubic through the four values around each."""
    zeros = []
    for k in np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1])):
        near = slice(k - 1, k + 3)
        # Time as a polynomial in the value, which is monotone during a turn.
        zeros.append(np.polynomial.Polynomial.fit(values[near], t[near], 3)(0.0))
    return np.array(zeros)


def half_period() -> float:
    r"""Time from turn to turn, $2 K(k)/\lambda$, from energy and momentum alone.

    With the moments $a > b > c$ and $2 T$, $L^2$ those of the start, near to the separatrix,

    $$ \lambda^2 = \frac{(a - b)(L^2 - 2 T c)}{a b c}, \qquad
       1 - k^2 = \frac{(a - c)(L^2 - 2 T b)}{(a - b)(L^2 - 2 T c)} $$

    when $L^2 > 2 T b$; otherwise the outer moments change places. $K$ is $\pi/2$ over the mean of Gauss.
    """
    J, Omega = np.array(INERTIA), np.array([SPIN, DISTURBANCE, DISTURBANCE])
    a, b, c = np.sort(J)[::-1]
    # L^2 - 2 T b without the two large numbers that cancel.
    excess = float(np.sum(J * (J - b) * Omega**2))
    if excess < 0.0:
        a, c = c, a
    twice, square = float(np.sum(J * Omega**2)), float(np.sum((J * Omega) ** 2))
    rate = math.sqrt((a - b) * (square - twice * c) / (a * b * c))
    mean, other = 1.0, math.sqrt((a - c) * excess / ((a - b) * (square - twice * c)))
    while abs(mean - other) > 1e-15 * mean:
        mean, other = 0.5 * (mean + other), math.sqrt(mean * other)
    return math.pi / (mean * rate)


def _comparison(t: np.ndarray, errors: dict[str, np.ndarray]) -> list[Number]:
    late = int(np.searchsorted(t, LATE))
    numbers = [
        Number.at_most(f"{name}: error of Omega [1/s] at t = {LATE}", errors[name][late], 1e-5)
        for name in NULL_SPACE
        if name in errors
    ]
    for name in ABSOLUTE:
        if name in errors:
            partner = errors[name.replace("absolute", "null space")]
            numbers += [
                Number.shown(f"{name}: error of Omega [1/s] at t = {LATE}", errors[name][late]),
                Number.at_least(
                    f"{name}: error over that in the null space", errors[name][late] / partner[late], 1e3
                ),
            ]
    return numbers


@styled
def _draw(racket: Run, errors: dict[str, np.ndarray]) -> "Figure":
    title = f"Tennis racket (Example B), disturbance {DISTURBANCE:g}: directors and angular velocity"
    figure, side = panels(racket, title, END, (0, 0.0))
    for place, (name, values) in enumerate(errors.items()):
        side.semilogy(racket.t[1:], values[1:], color=PALETTE[place], linewidth=1.0, label=name)
    side.set(xlabel="time [s]", ylabel="error of Ω [1/s]", title=f"Beside the exact motion, h = {STEP:g}")
    side.legend(loc="lower right")
    return figure
