"""The scheme on two bodies with a ball joint."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot.coordinates import Group
from poinsot.integrators import LieRattle, TerzeRattle
from poinsot.model import RigidBody, System, joints
from poinsot.papers._bodies import slope
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.terze2013._free_body import OMEGA, J
from poinsot.simulation import BodyTrajectory, simulate
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MASS, ARMS = 1.0, ((0.5, 0.0, 0.5), (-0.5, 0.25, 0.0))
SPINS = (tuple(OMEGA.tolist()), (-0.3, 0.5, 0.9))
STEP, END, QUICK_END = 0.05, 200.0, 50.0
FINE, ORDER_END = (0.00625, 0.003125), 10.0
METHODS = {"Terze": TerzeRattle(), "Lie RATTLE": LieRattle()}
AT_THE_END = (
    (4.005556066192438035, 0.652847500240499715, -2.445012549352941934),
    (3.375593933807562083, 1.493502499759500224, -2.936137450647058467),
    (0.209940300268423939, -0.203413106736757140, -0.956320123353526766),
    (0.942080375351808167, -0.219574334126757511, 0.253518595313612467),
    (-0.261552359385649836, -0.954154190789146878, 0.145533994308230809),
    (-0.808076068209379080, -0.589063253049456874, 0.004189498068088206),
    (0.289944080611364367, -0.391533895522432845, 0.873288977816312064),
    (-0.512782115625829429, 0.706898643769968079, 0.487184574191833588),
    (0.613005767244741355, 0.382702653421123548, -0.583102664928710172),
    (0.025109232755258660, -0.143067653421123561, -0.005012335071289884),
    (0.780705225087138153, -0.529745614075085888, -0.264685976791515942),
    (0.274942244440366168, 0.693707072435051674, 0.772464790155364093),
)
"""Positions, rows of both rotations, velocities and body angular velocities at t = 10, by equations written
by hand and Gragg's extrapolation of order 16 in extended precision; a test computes them again."""

REMARKS = [
    "The title of the paper is of multibody systems, its formulation (1) of k bodies with constraints; "
    "but its only example is the free body, so no multibody result of it can be reproduced. Stated here "
    "is what its scheme does on the smallest such system: two of its bodies with a ball joint, floating "
    "freely.",
    "The paper does not say how joints enter the scheme. In ours their forces are part of the first "
    "kick, such that the joint is closed after the step, and a second set at the end makes its rate "
    "vanish, as in RATTLE.",
    "Joint, rotations and linear momentum are held to round-off, at order 2. Angular momentum is not "
    "kept and the energy drifts, as for the one body of figures 1 and 2; Lie RATTLE keeps the one and "
    "bounds the other.",
    "Masses, points of the joint, the second angular velocity, steps and times are ours.",
]


@dataclass(frozen=True)
class Seen:
    """What a run keeps, at its times."""

    t: np.ndarray
    energy: np.ndarray
    """Relative change."""
    angular: np.ndarray
    """Change of angular momentum, relative."""
    linear: float
    joint: float
    orthogonality: float


def pair() -> System:
    """Two bodies of the paper with a ball joint; they start unturned, the first at rest."""
    first, second = np.array(ARMS)
    system = System(
        [RigidBody(MASS, J, name="one"), RigidBody(MASS, J, name="two")],
        joints=[joints.Spherical("one", "two", at_first=first, at_second=second, name="ball")],
        name="two bodies",
    )
    start = system.state(
        position=[np.zeros(3), first - second],
        rotation=[np.eye(3), np.eye(3)],
        velocity=[np.zeros(3), np.cross(SPINS[0], first) - np.cross(SPINS[1], second)],
        angular_velocity=SPINS,
    )
    return system.recommending(start, STEP)


def two_bodies(quick: bool, progress: bool | None) -> Findings:
    """Order, what is held and what drifts, by the scheme and by Lie RATTLE."""
    t1 = QUICK_END if quick else END
    seen = {name: _seen(_run(name, STEP, t1)) for name in METHODS}
    terze, rattle = seen["Terze"], seen["Lie RATTLE"]
    half = len(terze.t) // 2
    numbers = [
        _order("Terze"),
        _order("Lie RATTLE"),
        Number.near("Terze: change of linear momentum", terze.linear, 0.0, 1e-12),
        Number.at_most("Terze: largest gap of the joint", terze.joint, 1e-12),
        Number.at_most("Terze: largest distance of R^T R from I", terze.orthogonality, 1e-12),
        Number.shown("Terze: largest change of angular momentum, relative", np.max(terze.angular), 0.0),
        _momentum_order(),
        Number.at_most(
            "Lie RATTLE: largest change of angular momentum, relative", np.max(rattle.angular), 1e-12
        ),
        Number.at_most("Lie RATTLE: largest gap of the joint", rattle.joint, 1e-12),
        Number.between(
            "Terze: change of energy, whole run over its first half",
            terze.energy[-1] / terze.energy[half],
            1.5,
            2.5,
        ),
        Number.at_most(
            "largest change of energy, Lie RATTLE over Terze",
            np.max(np.abs(rattle.energy)) / np.max(np.abs(terze.energy)),
            0.25,
        ),
    ]
    settings = {
        "inertia": J.tolist(), "masses": MASS, "points of the joint": ARMS, "angular velocities": SPINS,
        "step": STEP, "t1": t1,
    }  # fmt: skip
    return Findings(settings, numbers, REMARKS, {"": _draw(seen)})


def _run(name: str, dt: float, t1: float) -> BodyTrajectory:
    system = pair()
    made = simulate(
        system,
        system.start,
        t1=t1,
        dt=dt,
        coordinates=Group("matrix"),
        integrator=METHODS[name],
        progress=False,
    )
    assert isinstance(made, BodyTrajectory)
    return made


def _seen(made: BodyTrajectory) -> Seen:
    linear, angular, R = made.linear_momentum, made.angular_momentum, made.rotation
    off = np.swapaxes(R, -1, -2) @ R - np.eye(3)
    return Seen(
        t=made.t,
        energy=made.energy / made.energy[0] - 1.0,
        angular=np.linalg.norm(angular - angular[0], axis=1) / np.linalg.norm(angular[0]),
        linear=float(np.max(np.abs(linear - linear[0]))),
        joint=float(np.max(np.abs(made.conserved["joints"]))),
        orthogonality=float(np.max(np.abs(off))),
    )


def error(made: BodyTrajectory) -> float:
    """Largest error of a position or an element of a rotation at t = 10."""
    exact = np.ravel(AT_THE_END)
    seen = np.concatenate([np.ravel(made.position[-1]), np.ravel(made.rotation[-1])])
    return float(np.max(np.abs(seen - exact[: len(seen)])))


def _order(name: str) -> Number:
    coarse, fine = (error(_run(name, h, ORDER_END)) for h in FINE)
    title, measured = (
        f"{name}: order of the error at t = {ORDER_END:g}",
        slope(coarse, fine, FINE[0] / FINE[1]),
    )
    if name == "Terze":
        return Number.near(title, measured, 2.0, 0.1)
    return Number.matches(title, measured, 2.0, 0.1, "order of the method")


def _momentum_order() -> Number:
    """Power of the step by which angular momentum changes; none where it is kept."""
    coarse, fine = (_seen(_run("Terze", h, ORDER_END)).angular[-1] for h in FINE)
    title = f"Terze: order of the change of angular momentum at t = {ORDER_END:g}"
    return Number.matches(title, slope(coarse, fine, FINE[0] / FINE[1]), 2.0, 0.2, "expansion of a step")


@styled
def _draw(seen: dict[str, Seen]) -> "Figure":
    figure, (left, right) = canvas(
        1, 2, (11.0, 4.4), f"Two bodies with a ball joint, h = {STEP:g}", sharex=True
    )
    for (name, one), color in zip(seen.items(), PALETTE, strict=False):
        left.plot(one.t, one.energy, color=color, linewidth=0.9, label=name)
        right.semilogy(one.t[1:], np.maximum(one.angular[1:], 1e-17), color=color, linewidth=0.9, label=name)
    left.set(xlabel="time [s]", ylabel="relative change of energy")
    right.set(xlabel="time [s]", ylabel="relative change of angular momentum")
    left.legend()
    return figure
