"""Table 1: operations of the right-hand sides in five formulations."""

from collections import Counter
from typing import TYPE_CHECKING

import jax.numpy as jnp

from poinsot.coordinates import AbstractCoordinates
from poinsot.equations import formulate
from poinsot.library import gyro_top
from poinsot.model import RigidBody, System, freedom
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._formulations import DIRECTORS, FORMULATIONS, QUATERNIONS
from poinsot.papers.lang2010._operations import count_operations
from poinsot.viz._style import PALETTE, QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = ("+", "−", "×", "/", "²", "sin", "cos", "LU")
INERTIA = (50.0, 42.0, 10.0)
# Equation of the paper and its column of counts.
COLUMNS = {
    "null space, quaternions": ("(42)", (5, 7, 18, 6, 0, 0, 0, 0)),
    "null space, directors": ("(25)", (0, 12, 24, 3, 0, 0, 0, 0)),
    "absolute, quaternions": ("(40)", (17, 4, 24, 3, 4, 0, 0, 0)),
    "absolute, directors": ("(23)", (16, 1, 10, 0, 9, 0, 0, 1)),
    "Euler angles": ("(66)", (2, 5, 14, 5, 0, 2, 2, 0)),
}
UNKNOWNS = {
    "null space, quaternions": 7,
    "null space, directors": 12,
    "absolute, quaternions": 8,
    "absolute, directors": 18,
    "Euler angles": 6,
}
SAME_FORMULAS = ("null space, quaternions", "null space, directors", "absolute, directors", "Euler angles")
"""Columns whose published formula is the one we trace, operation for operation or nearly so."""
REMARKS = [
    "What is counted: the scalar operations of the traced right-hand side at a body without applied moment, "
    "which the published counts leave out too. Numbers of the body alone are constants; an operation that "
    "occurs twice counts once; sums with zero and products with zero and one do not count. Unary minus is "
    "under −, a product of a number with itself under ².",
    "The paper's point is confirmed: in quaternions and in directors the null-space form is the cheaper one, "
    "and neither needs a sine or cosine.",
    "Four columns agree within a quarter. We multiply by 1/2 where the paper divides by 2, and after the "
    "product instead of before it; and we form Omega x J Omega, nine products, where the paper has "
    "(J2 - J3) Omega2 Omega3 and cyclic, six products and three differences of constants.",
    "The column of (40) is not the cost of (40): its numbers are exactly those of Q(p) J^-1 Q(p)^T psi with "
    "all its sums under +, and of four differences and four squares, the generalised force psi being given. "
    "The sum of the squares, its product with p, the factor 1/4 and the velocity force 8 Q(v) J Q(v)^T p, "
    "which is part of psi, are not in it. The whole right-hand side of ours takes far more: it solves the "
    "linear system of index 1 off the unit sphere too.",
    "For directors the paper knows no closed form of (23) and solves 15 equations by LU, which is about 2700 "
    "operations beside the others it counts. There is one, our form 'index0', without LU.",
]


def table_1(quick: bool, progress: bool | None) -> Findings:
    """Counts of the traced right-hand sides beside the published ones."""
    body = System(RigidBody(1.0, INERTIA), freedom=freedom.FixedPoint((0.0, 0.0, 0.0)))
    ours = {name: _counts(body, *formulation) for name, formulation in FORMULATIONS.items()}
    totals = {name: sum(counts.values()) for name, (counts, _) in ours.items()}
    numbers = []
    for name, (equation, published) in COLUMNS.items():
        coordinates, form = FORMULATIONS[name]
        size = coordinates.size + (3 if form == "null_space" else coordinates.size)
        numbers.append(Number.near(f"{name} {equation}: unknowns", size, UNKNOWNS[name], 0))
        numbers += [
            Number.shown(f"{name}: {row}", ours[name][0][row], count)
            for row, count in zip(ROWS, published, strict=True)
            if count or ours[name][0][row]
        ]
        numbers.append(_total(name, totals[name], sum(published)))
    numbers += _conclusions(ours, totals, body)
    return Findings(
        settings={"inertia": INERTIA, "quaternion radial inertia": 0.0, "Euler angles": "zxz"},
        numbers=numbers,
        remarks=REMARKS,
        figures={"": _draw({name: counts for name, (counts, _) in ours.items()})},
    )


def _counts(system: System, coordinates: AbstractCoordinates, form: str) -> tuple[Counter, Counter]:
    """Operations needed and operations traced."""
    problem = formulate(system, coordinates, form).problem
    velocities = 3 if form == "null_space" else coordinates.size
    y = jnp.zeros(coordinates.size + velocities)
    return count_operations(problem.vector_field, 0.0, y)


def _given_force() -> Counter:
    """Operations of the acceleration (40) in quaternions when the generalised force is given."""
    J = jnp.asarray(INERTIA)

    def acceleration(p, v, psi):
        along = QUATERNIONS.velocity(p, QUATERNIONS.free_momentum(p, psi) / J)
        return along - jnp.sum(v * v) * p

    return count_operations(acceleration, *(jnp.zeros(4),) * 3)[0]


def _total(name: str, ours: int, published: int) -> Number:
    if name in SAME_FORMULAS:
        return Number.near(f"{name}: all", ours, published, 0.25 * published)
    return Number.shown(f"{name}: all", ours, published)


def _conclusions(ours: dict, totals: dict[str, int], body: System) -> list[Number]:
    """What the paper says of the table, and what stands beside it."""
    closed, _ = _counts(body, DIRECTORS, "index0")
    given = _given_force()
    # With a linear system counted as one operation the directors' forms of index 1 and 0 cannot be compared.
    absolute = {"quaternions": totals["absolute, quaternions"], "directors": sum(closed.values())}
    published = {name: sum(column[-1]) for name, column in COLUMNS.items()}
    numbers = [
        Number.above(
            f"{kind}: operations without multipliers over those in the null space",
            count / totals[f"null space, {kind}"],
            1.0,
        )
        for kind, count in absolute.items()
    ]
    trigonometric = sum(
        ours[name][0][row] for name in ours if name != "Euler angles" for row in ("sin", "cos")
    )
    return [
        *numbers,
        Number.near("sines and cosines outside the Euler angles", trigonometric, 0, 0),
        Number.shown("absolute, directors, closed form (index 0): all", absolute["directors"]),
        Number.shown(
            "absolute, quaternions, psi given: all", sum(given.values()), published["absolute, quaternions"]
        ),
        *_as_written(ours),
    ]


def _as_written(ours: dict) -> list[Number]:
    """Operations as they stand in the trace, and those with the weight of the gyro top."""
    top = gyro_top()
    numbers = []
    for name, formulation in FORMULATIONS.items():
        weighted, _ = _counts(top, *formulation)
        numbers += [
            Number.shown(f"{name}: all, as traced", sum(ours[name][1].values())),
            Number.shown(f"{name}: all, with the weight of Example A", sum(weighted.values())),
        ]
    return numbers


@styled
def _draw(ours: dict[str, Counter]) -> "Figure":
    figure, ax = canvas(1, 1, (8.0, 4.6), "Operations of a right-hand side, body without applied moment")
    colors = dict(zip(ROWS, (*PALETTE[:6], PALETTE[7], QUIET), strict=True))
    for place, (name, column) in enumerate(COLUMNS.items()):
        bars = ((ours[name], 0.2, "ours"), (dict(zip(ROWS, column[-1], strict=True)), -0.2, "Lang"))
        for counts, offset, who in bars:
            height, left = offset - place, 0
            for row in ROWS:
                ax.barh(height, counts[row], 0.36, left, color=colors[row], label=_once(row, place, who))
                left += counts[row]
            ax.text(left + 2, height, f"{left}  {who}", va="center", fontsize=9, color=QUIET)
    ax.set(xlabel="scalar operations", yticks=[-place for place in range(len(COLUMNS))], xlim=(0, 205))
    ax.set_yticklabels(COLUMNS)
    ax.grid(axis="y", visible=False)
    ax.legend(ncols=2, loc="lower right")
    return figure


def _once(row: str, place: int, who: str) -> str | None:
    """A label for the legend, at the first bar only."""
    return row if place == 0 and who == "ours" else None
