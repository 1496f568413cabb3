"""Snapshots of a chain of bodies: their particles as solids, their bonds as lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.core import InputError, optional, quoted
from poinsot.simulation import BodyTrajectory
from poinsot.viz._solid import View, faces, patches
from poinsot.viz._style import QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

USUAL = 5
"""Snapshots of a run, unless others are asked for."""
MOST = 60
"""Bodies up to which each is a solid; of more, so many are dots."""
STRETCHED = 2.0
"""Length of a bond, relative to that at the start, beyond which it is not drawn."""
WIDTH = 8.6
"""Of a figure, in inches."""
ALONG, ABOVE = View.towards(-80.0, 18.0), View.towards(-80.0, 50.0)
SEEN = 0.75
"""Part of the bodies that a panel shows at least."""


FREE: dict[str, Any] = {"color": QUIET, "clip_on": False}
"""For guides, which may lie outside the panel."""


@dataclass(frozen=True)
class Window:
    """What part of the paper is shown: half its width and height."""

    across: float
    up: float

    def holding(self, centres: np.ndarray) -> "Window":
        """The same for bodies of which most are inside, else a larger one of the same shape."""
        far = np.max(np.abs(centres[:, :2]) / [self.across, self.up], axis=1)
        zoom = max(1.0, 1.2 * float(np.quantile(far, SEEN)))
        return Window(zoom * self.across, zoom * self.up)

    def outside(self, centres: np.ndarray) -> np.ndarray:
        """Which bodies it does not show."""
        return np.any(np.abs(centres[:, :2]) > [self.across, self.up], axis=1)


@dataclass(frozen=True)
class Snapshots:
    """A chain at some times.

    Args:
        t: the times.
        position: of the mass centres, `(time, body, 3)`.
        rotation: `(time, body, 3, 3)`.
        points: particles in the body frame, `(particle, 3)`.
        ring: whether the last body is bound to the first.
        lengths: of the bonds at the start.
    """

    t: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    points: np.ndarray
    ring: bool
    lengths: np.ndarray

    @classmethod
    def of(cls, run: BodyTrajectory, times: Sequence[float] | None = None) -> "Snapshots":
        """Those of a run at the saved times nearest to these; at five times over the run when left out."""
        about = run.attributes
        if "closure" not in about:
            raise InputError(
                f"chain: {about.get('system', 'this')} is no chain; take plot.axis or plot.orbit"
            )
        wanted = np.linspace(run.t[0], run.t[-1], USUAL) if times is None else np.asarray(times, dtype=float)
        if wanted.ndim != 1 or wanted.size == 0:
            raise InputError(f"chain: times = {quoted(times)}; it must be a list of times")
        places = np.unique(np.argmin(np.abs(run.t[None, :] - wanted[:, None]), axis=1))
        ring, start = about["closure"] == "ring", run.motion["position"][0]
        following = np.roll(start, -1, axis=0) if ring else start[1:]
        return cls(
            t=run.t[places],
            position=run.motion["position"][places],
            rotation=run.motion["rotation"][places],
            points=np.asarray(about["particles"][0]),
            ring=ring,
            lengths=np.linalg.norm(following - start[: len(following)], axis=1),
        )

    @property
    def size(self) -> tuple[float, float]:
        """Of a figure of all of them, in inches."""
        height = WIDTH / self.columns * self.window.up / self.window.across
        return WIDTH, 0.8 + -(-len(self.t) // self.columns) * (max(height, 1.0) + 0.3)

    @property
    def columns(self) -> int:
        """Panels beside each other: one of a long chain, three of one as high as wide."""
        return 1 if self.window.up < 0.4 * self.window.across else 3

    def draw(self, figure: "Figure") -> None:
        """All of them, in the order of time."""
        rows = -(-len(self.t) // self.columns)
        panels = figure.subplots(rows, self.columns, squeeze=False).ravel()
        for place, ax in enumerate(panels):
            ax.set_axis_off()
            if place < len(self.t):
                self._draw(ax, place)

    @property
    def view(self) -> View:
        """A ring is seen from higher up."""
        return ABOVE if self.ring else ALONG

    @property
    def radius(self) -> float:
        """Of the ball around a body."""
        return float(np.max(np.linalg.norm(self.points, axis=1)))

    @cached_property
    def window(self) -> Window:
        """One that shows all of the first snapshot."""
        away = np.abs(self._from_middle())[..., :2]
        first, furthest = np.max(away[0], axis=0), np.max(away, axis=(0, 1))
        room = max(1.15 * self.radius, 0.02 * first[0])
        across = min(furthest[0], 1.2 * first[0] + 2.0 * room) + room
        return Window(across, min(furthest[1], max(first[1], 0.15 * across)) + room)

    def _from_middle(self) -> np.ndarray:
        """Mass centres on paper, from the middle one of each snapshot."""
        centres = self.view(self.position)
        return centres - np.median(centres, axis=1, keepdims=True)

    def _draw(self, ax: "Axes", place: int) -> None:
        """One of the snapshots."""
        centres = self._from_middle()[place]
        window = self.window.holding(centres)
        _bonds(ax, centres, self.lengths, self.ring)
        if len(centres) > MOST:
            _dots(ax, centres)
        else:
            turned = np.einsum("bij,pj->bpi", self.rotation[place], self.points)
            dot = np.clip(8.0 * WIDTH / self.columns * self.radius / window.across, 0.5, 2.6)
            _solids(ax, centres[:, None] + self.view(turned), faces(self.points), dot)
        ax.set(xlim=(-window.across, window.across), ylim=(-window.up, window.up), aspect="equal")
        outside = window.outside(centres)
        note = ""
        if np.any(outside):
            far = float(np.max(np.linalg.norm(centres[outside], axis=1)))
            note = f"   {np.sum(outside)} of {len(centres)} bodies outside, up to {far:.3g} away"
        ax.set_title(f"$t = {self.t[place]:.4g}${note}", fontsize=9, pad=2)
        _scale(ax, window)
        if place == len(self.t) - 1:
            _directions(ax, self.view, window)


def _scale(ax: "Axes", window: Window) -> None:
    """A length to compare with, at the foot of a panel."""
    length = _round_length(0.25 * window.across)
    x, y = -window.across, -window.up
    ax.plot([x, x + length], [y, y], linewidth=1.5, solid_capstyle="butt", **FREE)
    ax.text(x + length, y, f" {length:g}", ha="left", va="center", fontsize=8, **FREE)


def _directions(ax: "Axes", view: View, window: Window) -> None:
    """The axes of space, beside the foot of a panel."""
    arm, root = 0.12 * min(window.across, 2.0 * window.up), np.array([0.85 * window.across, -window.up])
    for direction, name in zip(view.axes[:2].T, "xyz", strict=True):
        end = root + arm * direction
        ax.plot(*np.stack([root, end], axis=1), linewidth=1.0, **FREE)
        x, y = root + 1.45 * arm * direction
        ax.text(x, y, f"${name}$", ha="center", va="center", fontsize=9, **FREE)


def _round_length(wanted: float) -> float:
    """One, two or five times a power of ten, near what is wanted."""
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= wanted))


def _colours(count: int) -> np.ndarray:
    """From one end of the chain to the other."""
    return optional("matplotlib", "plot", "a picture").colormaps["viridis"](np.linspace(0.05, 0.92, count))


def _bonds(ax: "Axes", centres: np.ndarray, lengths: np.ndarray, ring: bool) -> None:
    """Lines between neighbours that are not far apart."""
    following = np.roll(centres, -1, axis=0) if ring else centres[1:]
    pairs = np.stack([centres[: len(following)], following], axis=1)
    near = np.linalg.norm(pairs[:, 1] - pairs[:, 0], axis=1) <= STRETCHED * lengths
    collections = optional("matplotlib.collections", "plot", "a picture")
    ax.add_collection(
        collections.LineCollection(pairs[near][..., :2], colors=QUIET, linewidths=1.0, zorder=1)
    )


def _dots(ax: "Axes", centres: np.ndarray) -> None:
    chosen = np.linspace(0, len(centres) - 1, MOST).round().astype(int)
    ax.scatter(*centres[chosen, :2].T, c=_colours(MOST), s=12, zorder=2)


def _solids(ax: "Axes", corners: np.ndarray, sides: list[np.ndarray], dot: float) -> None:
    """Bodies from the furthest to the nearest, so that what is in front hides what is behind."""
    collections = optional("matplotlib.collections", "plot", "a picture")
    colours = _colours(len(corners))
    for order, body in enumerate(np.argsort(np.mean(corners[:, :, 2], axis=1))):
        seen = patches(corners[body], sides)
        own, level = colours[body, :3], 2.0 + order / len(corners)
        shades = [own * (0.55 + 0.45 * light) + 0.25 * light * (1.0 - own) for _, light in seen]
        outlines = [outline for outline, _ in seen]
        ax.add_collection(
            collections.PolyCollection(
                outlines, facecolors=shades, edgecolors=[0.45 * own], linewidths=0.6, zorder=level
            )
        )
        front = np.unique(np.concatenate(outlines), axis=0) if outlines else corners[body, :, :2]
        ax.plot(*front.T, linestyle="", marker="o", markersize=dot, color=tuple(0.45 * own), zorder=level)
