"""Mechanisms on paper: bodies, joints as symbols, the ground hatched, reactions as arrows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.core import InputError, optional, quoted
from poinsot.simulation import BodyTrajectory
from poinsot.viz._joint_plots import joint_names, without_round_off
from poinsot.viz._labels import SIZE, Label, labels
from poinsot.viz._shapes import Solid, draw_solids, solids_of
from poinsot.viz._solid import View
from poinsot.viz._style import PALETTE, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

USUAL = 3
"""Snapshots of a run, unless others are asked for."""
WIDTH, TALLEST = 9.6, 6.0
"""Of a figure, and of a row of panels, in inches."""
COLUMNS = 3
"""Panels beside each other, at most."""
PLANES = {
    2: np.eye(3),
    1: np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    0: np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
}
"""Axes of the paper for a motion across z, y or x."""
ASLANT = View.towards(-55.0, 22.0)
MARGIN = 1.3
"""How much larger a panel is than what moves in it."""
FORCE = "#B00020"
SMALL = 0.05
"""Size of symbols of the ground, relative to the picture."""
LONGEST = 0.3
"""Length of the longest arrow, likewise."""
LEGEND = 6
"""Bodies beside each other in the legend, at most."""
LETTERS = 100
"""Width of a figure in letters of the legend, and of the mark beside a name."""
MARK = 7
NEAR = 0.2
"""Distance, relative to the picture, of joints whose names stand together."""
LONG = 16
"""Letters of names beside each other; more stand below each other."""
SYMBOLS = {
    "Revolute": "o", "Spherical": "o.", "Universal": "ox", "Prismatic": "s", "Cylindrical": "s.",
    "Screw": "D",
    "Planar": "p", "Fixed": "X", "Distance": ".", "PointOnLine": "^", "PointOnPlane": "v",
}  # fmt: skip
"""Markers of Matplotlib: a white one, and a black one within it."""


@dataclass(frozen=True)
class Body:
    """A body as it is drawn: points where joints are, or an ellipsoid."""

    name: str
    points: np.ndarray
    """In the body frame, relative to the mass centre; those of joints."""
    radii: np.ndarray
    """Semi-axes of the ellipsoid with its mass and inertia, as columns in the body frame."""
    solids: tuple[Solid, ...] = ()
    """Its shapes in the body frame; none where it has none that can be drawn."""

    @property
    def slender(self) -> bool:
        """Whether lines between its joints, or from its only joint through its mass centre, show it."""
        size = float(np.linalg.norm(self.radii, axis=0).max())
        if len(self.points) < 2:
            reach = float(np.linalg.norm(self.points))
            along = float(np.linalg.norm(self.points @ self.radii))
            return reach > 0.6 * size and along > 0.6 * reach**2
        return float(np.linalg.norm(np.ptp(self.points, axis=0))) > 0.96 * size

    @property
    def corners(self) -> np.ndarray:
        """Points that outline a slender body; beyond its mass centre the end of a rod of its inertia."""
        if len(self.points) != 1:
            return self.points
        half = np.sqrt(0.6) * np.linalg.norm(self.radii, axis=0).max()
        return np.concatenate([self.points, -half * self.points / np.linalg.norm(self.points)])

    @property
    def arms(self) -> np.ndarray:
        """Points of joints outside the ellipsoid, where it is drawn: they are held to it by lines."""
        if self.slender or self.solids:
            return np.zeros((0, 3))
        squares = np.maximum(np.sum(self.radii**2, axis=0), 1e-300)
        return self.points[np.linalg.norm(self.points @ self.radii / squares, axis=1) > 1.0]


@dataclass(frozen=True)
class Mechanism:
    """A mechanism at some times.

    Args:
        t: the times.
        position: of the mass centres, `(time, body, 3)`.
        rotation: `(time, body, 3, 3)`.
        bodies: what is drawn of them.
        joints: with name, kind, bodies, points and axes each.
        forces: of the joints on their second bodies `(time, joint, 3)`; None where they are not shown.
        ground: shapes that stand still.
    """

    t: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    bodies: list[Body]
    joints: list[dict[str, Any]]
    forces: np.ndarray | None
    ground: tuple[Solid, ...] = ()

    @classmethod
    def of(cls, run: BodyTrajectory, times: Sequence[float] | None, reactions: bool) -> "Mechanism":
        """That of a run at the saved times nearest to these; at three times when left out."""
        names = joint_names(run)
        usual = np.linspace(run.t[0], run.t[-1], USUAL, endpoint=False)
        wanted = usual if times is None else _times(times, float(run.t[0]), float(run.t[-1]))
        places = np.unique(np.argmin(np.abs(run.t[None, :] - wanted[:, None]), axis=1))
        forces = None
        if reactions:
            own: list[Any] = [run.reaction(name) for name in names]
            forces, torques = (
                np.stack([-getattr(one, what)[places] for one in own], axis=1) for what in ("force", "torque")
            )
            forces, _ = without_round_off(run, forces, torques)
        joints, solids = run.attributes["joints"], solids_of(run.attributes.get("shapes", []))
        return cls(
            run.t[places],
            run.motion["position"][places],
            run.motion["rotation"][places],
            _bodies(run, joints, solids),
            joints,
            forces,
            solids.get("ground", ()),
        )

    @cached_property
    def view(self) -> View:
        """Across a plane where the whole mechanism moves in one, else aslant."""
        for axis, paper in PLANES.items():
            along = self.rotation[:, :, axis, axis]
            if np.all(np.abs(along - 1.0) < 1e-6) and np.ptp(self.position[:, :, axis]) < 1e-6:
                return View(paper)
        return ASLANT

    def place(self, time: int, joint: dict[str, Any], end: int) -> np.ndarray:
        """Where the point of a joint in one of its bodies is, in space."""
        point, name = np.asarray(joint["points"][end]), joint["bodies"][end]
        if name == "ground":
            return point
        body = next(k for k, one in enumerate(self.bodies) if one.name == name)
        return self.position[time, body] + self.rotation[time, body] @ point

    @cached_property
    def outlines(self) -> list[list[np.ndarray]]:
        """Outline of each body on the paper at each time: two ends, a polygon, or corners of its shapes."""
        return [
            [self._outline(body, *pose) for body, *pose in zip(self.bodies, x, R, strict=True)]
            for x, R in zip(self.position, self.rotation, strict=True)
        ]

    def _outline(self, body: Body, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        if body.solids:
            corners = np.concatenate([solid.points for solid in body.solids])
            return self.view(x + corners @ R.T)[:, :2]
        if not body.slender:
            angles = np.linspace(0.0, 2.0 * np.pi, 61)
            shape = (self.view.axes @ R @ body.radii)[:2]
            left, sizes, _ = np.linalg.svd(shape)
            ring = left @ (sizes[:, None] * np.stack([np.cos(angles), np.sin(angles)]))
            return self.view(x)[:2] + ring.T
        return _hull(self.view(x + body.corners @ R.T)[:, :2])

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Middle of all that is shown, and half its sides."""
        points = np.concatenate([outline for at_time in self.outlines for outline in at_time])
        ends = [
            self.view(self.place(time, joint, end))[None, :2]
            for time in range(len(self.t)) for joint in self.joints for end in (0, 1)
        ]  # fmt: skip
        every = np.concatenate([points, *ends])
        low, high = every.min(axis=0), every.max(axis=0)
        return 0.5 * (low + high), 0.5 * np.maximum(high - low, 0.3 * np.max(high - low))

    @cached_property
    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        """Middle of a panel and half its sides: all that is shown with room about it, and its arrows."""
        (middle, half), tips = self.box, [np.zeros((0, 2))]
        if self.forces is not None:
            tips = [np.stack(ends) for time in range(len(self.t)) for ends in self._drawn_forces(time)]
        every = np.concatenate([(middle - MARGIN * half)[None], (middle + MARGIN * half)[None], *tips])
        low, high = every.min(axis=0), every.max(axis=0)
        return 0.5 * (low + high), 0.5 * (high - low)

    @property
    def size(self) -> tuple[float, float]:
        """Of a figure of all of them, in inches."""
        half = self.frame[1]
        columns = min(len(self.t), COLUMNS)
        rows = -(-len(self.t) // columns)
        return WIDTH, 1.0 + rows * (min(WIDTH / columns * half[1] / half[0], TALLEST) + 0.3)

    def draw(self, figure: "Figure") -> None:
        """All of them, in the order of time."""
        columns = min(len(self.t), COLUMNS)
        rows = -(-len(self.t) // columns)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for time, ax in enumerate(panels):
            ax.set_axis_off()
            if time < len(self.t):
                self._draw(ax, time)
        handles, names = panels[0].get_legend_handles_labels()
        columns = LETTERS // (MARK + max(map(len, names), default=0))
        figure.legend(handles, names, loc="outside lower center", ncols=min(max(columns, 1), LEGEND))

    def _draw(self, ax: "Axes", time: int) -> None:
        (middle, half), scale = self.frame, float(np.max(self.box[1]))
        self._draw_solids(ax, time)
        for k, outline in enumerate(self.outlines[time]):
            colour, name = PALETTE[k % len(PALETTE)], self.bodies[k].name if time == 0 else None
            if not self.bodies[k].solids:
                _draw_body(ax, outline, colour, name)
                self._draw_arms(ax, time, k)
            else:
                ax.plot([], [], marker="s", linestyle="", color=colour, label=name)
        for joint in self.joints:
            self._draw_joint(ax, time, joint, scale)
        if time == 0:
            self._draw_names(ax, scale)
        if self.forces is not None:
            self._draw_forces(ax, time)
        ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
        ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
        ax.set_aspect("equal")
        ax.set_title(f"$t$ = {self.t[time]:.3g}", loc="center")

    def _draw_arms(self, ax: "Axes", time: int, k: int) -> None:
        """Thin lines from the mass centre of a body to its joints outside of what is drawn."""
        x, R = self.position[time, k], self.rotation[time, k]
        for point in self.bodies[k].arms:
            ends = self.view(np.stack([x, x + R @ point]))[:, :2]
            ax.plot(*ends.T, color=PALETTE[k % len(PALETTE)], linewidth=1.6, zorder=3)

    def _draw_solids(self, ax: "Axes", time: int) -> None:
        """Shapes of all bodies and of the ground, the farthest first."""
        placed = [(solid, np.zeros(3), np.eye(3), QUIET) for solid in self.ground]
        for k, body in enumerate(self.bodies):
            pose = self.position[time, k], self.rotation[time, k]
            placed += [(solid, *pose, PALETTE[k % len(PALETTE)]) for solid in body.solids]
        if placed:
            draw_solids(ax, self.view, placed)

    def _draw_joint(self, ax: "Axes", time: int, joint: dict[str, Any], scale: float) -> None:
        first, second = (self.view(self.place(time, joint, end))[:2] for end in (0, 1))
        between: Any = {"Distance": ("black", "--")}.get(joint["kind"], (QUIET, "-."))
        ax.plot(*np.stack([first, second]).T, color=between[0], linestyle=between[1], linewidth=1.0, zorder=4)
        if "ground" in joint["bodies"]:
            fixed = first if joint["bodies"][0] == "ground" else second
            _draw_ground(ax, fixed, self._rail(joint), SMALL * scale)
        outer, *inner = SYMBOLS.get(joint["kind"], "o")
        style: Any = {"linestyle": "", "color": "black", "zorder": 5}
        ax.plot(*second, marker=outer, markersize=7.5, markerfacecolor="white", markeredgewidth=1.1, **style)
        for marker in inner:
            ax.plot(*second, marker=marker, markersize=4.5, **style)

    def _draw_names(self, ax: "Axes", scale: float) -> None:
        """Names of the joints at the first time; those at one place together."""
        groups: list[tuple[np.ndarray, list[str]]] = []
        for joint in self.joints:
            place = self.view(self.place(0, joint, 1))[:2]
            near = [names for where, names in groups if np.linalg.norm(where - place) < NEAR * scale]
            if near:
                near[0].append(joint["name"])
            else:
                groups.append((place, [joint["name"]]))
        beside = [", ".join(names) for _, names in groups]
        texts = [
            text if len(text) <= LONG else ",\n".join(names)
            for text, (_, names) in zip(beside, groups, strict=True)
        ]
        places = np.stack([place for place, _ in groups])
        away = places - self.box[0]
        away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300)
        arrows = [self._arrows(0, names) for _, names in groups]
        for place, label in zip(places, labels(texts, self._points * places, away, arrows), strict=True):
            _draw_name(ax, label, place)

    @property
    def _points(self) -> float:
        """Points of type to a unit of length, nearly."""
        (_, half), columns = self.frame, min(len(self.t), COLUMNS)
        return 72.0 * min(WIDTH / columns / (2.0 * half[0]), TALLEST / (2.0 * half[1]))

    def _arrows(self, time: int, names: Sequence[str]) -> list[np.ndarray]:
        """Find the directions on paper of the forces of some joints."""
        if self.forces is None:
            return []
        of_joints = zip(self.joints, self.forces[time], strict=True)
        drawn = [self.view(force)[:2] for joint, force in of_joints if joint["name"] in names]
        return [arrow / np.linalg.norm(arrow) for arrow in drawn if np.linalg.norm(arrow) > 0.0]

    def _rail(self, joint: dict[str, Any]) -> np.ndarray:
        """Direction of the ground at a joint: along a slide, else level."""
        if joint["kind"] in ("Prismatic", "Cylindrical", "PointOnLine"):
            end = joint["bodies"].index("ground")
            along = self.view(np.asarray(joint["axes"][end]))[:2]
            if np.linalg.norm(along) > 0.1:
                return along / np.linalg.norm(along)
        return np.array([1.0, 0.0])

    def _draw_forces(self, ax: "Axes", time: int) -> None:
        for tail, tip in self._drawn_forces(time):
            ax.annotate("", tuple(tip), tuple(tail), zorder=7, annotation_clip=False,
                        arrowprops={"arrowstyle": "-|>", "color": FORCE, "linewidth": 1.4,
                                    "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0})  # fmt: skip

    def _drawn_forces(self, time: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Tail and tip on the paper of each force that is large enough to be seen."""
        scale, arrows = float(np.max(self.box[1])), []
        if self.forces is None or self.longest == 0.0:
            return []
        for joint, force in zip(self.joints, self.forces[time], strict=True):
            tail = self.view(self.place(time, joint, 1))[:2]
            arrow = self.view(force)[:2] * LONGEST * 2.0 * scale / self.longest
            if np.linalg.norm(arrow) > 0.02 * scale:
                arrows.append((tail, tail + arrow))
        return arrows

    @property
    def longest(self) -> float:
        """Size of the largest reaction that is shown."""
        return 0.0 if self.forces is None else float(np.max(np.linalg.norm(self.forces, axis=2)))


def _bodies(
    run: BodyTrajectory, joints: list[dict[str, Any]], solids: dict[str, tuple[Solid, ...]]
) -> list[Body]:
    """What is drawn of each body, from its joints and its inertia."""
    about, bodies = run.attributes, []
    inertias = np.asarray(about["inertia"])
    for k, name in enumerate(about["bodies"]):
        points = [
            p for one in joints for p, body in zip(one["points"], one["bodies"], strict=True) if body == name
        ]
        mass = float(np.sum(about["particle_masses"][k]))
        moments, axes = np.linalg.eigh(inertias[k % len(inertias)])
        squares = 5.0 * (0.5 * np.sum(moments) - moments) / mass if mass > 0.0 else np.zeros(3)
        radii = axes * np.sqrt(np.maximum(squares, 0.0))[None]
        bodies.append(Body(name, np.unique(np.reshape(points, (-1, 3)), axis=0), radii, solids.get(name, ())))
    return bodies


def _times(times: Sequence[float], begin: float, end: float) -> np.ndarray:
    """Check the times of a picture: some numbers within the run."""
    try:
        wanted = np.asarray(times, dtype=float)
    except (TypeError, ValueError):
        wanted = np.zeros(0)
    if wanted.ndim != 1 or wanted.size == 0:
        raise InputError(f"mechanism: times = {quoted(times)}; it must be a list of times")
    low, high = min(begin, end), max(begin, end)
    slack = 1e-9 * (high - low)
    if not np.all((wanted >= low - slack) & (wanted <= high + slack)):
        raise InputError(f"mechanism: times = {quoted(times)}; the run goes from {begin:g} to {end:g}")
    return wanted


def _draw_name(ax: "Axes", label: Label, place: np.ndarray) -> None:
    """Write a name beside its joint, with a halo that keeps it readable on bodies."""
    effects = optional("matplotlib.patheffects", "plot", "a picture")
    leader = {"arrowstyle": "-", "color": QUIET, "linewidth": 0.6, "shrinkA": 0.0, "shrinkB": 4.0}
    ax.annotate(
        label.text,
        tuple(place),
        xytext=label.offset,
        textcoords="offset points",
        fontsize=SIZE,
        zorder=8,
        ha=label.ha,
        va=label.va,
        arrowprops=leader if label.far else None,
        path_effects=[effects.withStroke(linewidth=2.5, foreground="white")],
    )


def _hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull of points on paper, in order; the two ends of points on a line."""
    centred = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    if len(points) < 3 or sizes[1] < 1e-6 * max(sizes[0], 1e-300):
        along = centred @ axes[0]
        return points[[int(np.argmin(along)), int(np.argmax(along))]]
    return points[optional("scipy.spatial", "adaptive", "the outline of a body").ConvexHull(points).vertices]


def _draw_body(ax: "Axes", outline: np.ndarray, colour: str, name: str | None) -> None:
    if len(outline) == 2:
        ax.plot(
            *outline.T, color=colour, linewidth=4.5, solid_capstyle="round", alpha=0.85, zorder=3, label=name
        )
    else:
        ax.fill(
            *outline.T, facecolor=colour, edgecolor=colour, linewidth=1.6, alpha=0.35, zorder=2, label=name
        )


def _draw_ground(ax: "Axes", place: np.ndarray, along: np.ndarray, size: float) -> None:
    """A short line below the joint, hatched on its lower side."""
    across = np.array([along[1], -along[0]])
    across = across if across[1] <= 1e-9 else -across
    base = place + 0.9 * size * across
    ends = np.stack([base - 1.5 * size * along, base + 1.5 * size * along])
    ax.plot(*ends.T, color=QUIET, linewidth=1.2, zorder=1)
    for shift in np.linspace(-1.3, 1.3, 6):
        tick = np.stack(
            [base + shift * size * along, base + (shift - 0.5) * size * along + 0.6 * size * across]
        )
        ax.plot(*tick.T, color=QUIET, linewidth=0.8, zorder=1)
    triangle = np.stack([place, base - 0.7 * size * along, base + 0.7 * size * along, place])
    ax.plot(*triangle.T, color=QUIET, linewidth=1.0, zorder=1)
