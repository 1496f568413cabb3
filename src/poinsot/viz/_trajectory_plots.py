"""Pictures of a run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poinsot.core import InputError
from poinsot.simulation import Trajectory
from poinsot.viz._decimate import envelope
from poinsot.viz._style import PALETTE, QUIET, axes, file_figure, stacked, stacked_size, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, SQUARE = (7.0, 4.2), (5.6, 5.4)
LINE_MOST = 50_000
"""States up to which an orbit is a line; a longer one is drawn as this many dots."""
READABLE = 20
"""Oscillations that can be told apart in one panel."""
LEGEND_MOST = 8
"""Curves up to which a panel has a legend."""


class TrajectoryPlots:
    """The pictures of one run, as `run.plot`.

    Each method draws into the axes (or figure) it is given, or into a new figure, and returns them. Nothing
    is shown or written until you ask: `matplotlib.pyplot.show()`, `figure.savefig(...)`, or `save_all`.
    """

    def __init__(self, trajectory: Trajectory):
        self._run = trajectory

    @styled
    def energy(self, ax: "Axes | None" = None) -> "Axes":
        """Error of the energy against time, relative to its start value unless that is zero."""
        energy, row = self._run.energy, self._run.report()["energy"]
        relative = row.reference == np.max(np.abs(energy[0]))
        ax = axes(ax, WIDE)
        _curves(ax, self._run.t, (energy - energy[0]) / (row.reference if relative else 1.0))
        ax.axhline(0.0, color=QUIET, linewidth=0.8, zorder=1)
        ax.set(xlabel="$t$", ylabel=r"$(H - H_0)\,/\,|H_0|$" if relative else "$H - H_0$")
        ax.set_title(f"Energy error: {row.verdict}{self._method}")
        return ax

    @styled
    def invariants(self, figure: "Figure | None" = None) -> "Figure":
        """Change of every conserved quantity against time, with the report's verdict."""
        if not self._run.conserved:
            raise InputError("this run has no conserved quantities; give the problem invariants={...}")
        report = self._run.report()
        figure, panels = stacked(figure, len(self._run.conserved))
        for ax, (name, values) in zip(panels, self._run.conserved.items(), strict=True):
            _curves(ax, self._run.t, values - values[0], [f"{i + 1}" for i in range(values[0].size)])
            ax.axhline(0.0, color=QUIET, linewidth=0.8, zorder=1)
            ax.set_title(f"{name}: {report[name].verdict}")
            ax.set_ylabel("change")
        panels[0].set_title(f"{panels[0].get_title('left')}{self._method}")
        panels[-1].set_xlabel("$t$")
        figure.align_ylabels(panels)
        return figure

    @styled
    def components(self, figure: "Figure | None" = None) -> "Figure":
        """Every component of the state against time, a panel for each kind.

        Of a motion with more than 20 oscillations the first 20 are shown: more would fill the panel.
        """
        figure, panels = stacked(figure, len(self._run.components))
        end = min(_beginning(values, READABLE) for values in self._run.components.values())
        for ax, (name, values) in zip(panels, self._run.components.items(), strict=True):
            names = [_symbol(name, i, values) for i in range(values[0].size)]
            _curves(ax, self._run.t[:end], values[:end], names)
            ax.set_ylabel(f"${name}$")
        part = "" if end == len(self._run) else f", first {READABLE} oscillations"
        panels[0].set_title(f"Components of the state{part}{self._method}")
        panels[-1].set_xlabel("$t$")
        figure.align_ylabels(panels)
        return figure

    @styled
    def phase(self, i: int = 0, ax: "Axes | None" = None) -> "Axes":
        """Momentum `p[i]` against position `q[i]`."""
        if not {"q", "p"} <= self._run.components.keys():
            raise InputError(f"phase: this run has {', '.join(self._run.components)}, but no q and p")
        q, p = (values.reshape(len(values), -1) for values in (self._run.q, self._run.p))
        if not 0 <= i < q.shape[1]:
            raise InputError(f"phase: i = {i}; this run has components 0 to {q.shape[1] - 1}")
        ax = axes(ax, SQUARE)
        _path(ax, q[:, i], p[:, i])
        ax.set(xlabel=_symbol("q", i, q), ylabel=_symbol("p", i, p))
        ax.set_title(f"Phase portrait{self._method}")
        return ax

    @styled
    def orbit(self, ax: "Axes | None" = None) -> "Axes":
        """The path of the positions, in the plane or in space, with its start marked."""
        name, path = self._positions
        if path.shape[1:] not in ((2,), (3,)):
            raise InputError(f"orbit: {name} has shape {path.shape[1:]}; a picture needs 2 or 3 positions")
        spatial = path.shape[1] == 3
        ax = axes(ax, SQUARE, projection="3d" if spatial else None)
        _path(ax, *path.T)
        for i, axis in enumerate("xyz"[: path.shape[1]]):
            ax.set(**{f"{axis}label": _symbol(name, i, path)})
        ax.set_aspect("equal", adjustable="box" if spatial else "datalim")
        ax.locator_params(nbins=5 if spatial else 7)
        ax.set_title(f"Orbit{self._method}")
        return ax

    def save_all(self, folder: str | Path) -> list[Path]:
        """Write the pictures that make sense for this run as PNG files.

        Returns:
            The files written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        return [_write(draw, size, folder / f"{name}.png") for name, size, draw in self._pictures()]

    def _pictures(self) -> Iterator[tuple[str, tuple[float, float], Callable[["Figure"], object]]]:
        """Name, size and drawing of each picture that makes sense."""
        run, positions = self._run, self._positions[1]
        if "energy" in run.conserved:
            yield "energy", WIDE, lambda figure: self.energy(figure.add_subplot())
        if set(run.conserved) - {"energy"}:
            yield "invariants", stacked_size(len(run.conserved)), self.invariants
        yield "components", stacked_size(len(run.components)), self.components
        if "p" in run.components and positions.shape[1:] == (1,):
            yield "phase", SQUARE, lambda figure: self.phase(0, figure.add_subplot())
        if positions.shape[1:] in ((2,), (3,)):
            space = "3d" if positions.shape[1] == 3 else None
            yield "orbit", SQUARE, lambda figure: self.orbit(figure.add_subplot(projection=space))

    @property
    def _method(self) -> str:
        """Integrator and step, as a second line of titles."""
        about = self._run.attributes
        return f"\n{about['method']}, $h$ = {about['dt']:g}" if {"method", "dt"} <= about.keys() else ""

    @property
    def _positions(self) -> tuple[str, np.ndarray]:
        """Positions of a Hamiltonian problem, else the first component, with its name."""
        name = "q" if "q" in self._run.components else next(iter(self._run.components))
        return name, self._run.components[name]


@styled
def _write(draw: Callable[["Figure"], object], size: tuple[float, float], path: Path) -> Path:
    """Draw into a figure of its own and write that."""
    figure = file_figure(size)
    draw(figure)
    figure.savefig(path)
    return path


def _curves(ax: "Axes", t: np.ndarray, values: np.ndarray, names: list[str] | None = None) -> None:
    """A curve for each component of `values`, against time, with a legend if there are a few."""
    columns = values.reshape(len(t), -1).T
    labels = names if names and 1 < len(names) <= LEGEND_MOST else [None] * len(columns)
    for i, (column, label) in enumerate(zip(columns, labels, strict=True)):
        ax.plot(*envelope(t, column), label=label, color=PALETTE[i % len(PALETTE)])
    if labels[0] is not None:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
    if t[0] != t[-1]:
        ax.set_xlim(t[0], t[-1])


def _path(ax: "Axes", *coordinates: np.ndarray) -> None:
    """A path through the plane or through space, its start marked."""
    n = len(coordinates[0])
    if n <= LINE_MOST:
        ax.plot(*coordinates, linewidth=0.8, color=PALETTE[0])
    else:
        # A thinned line would show chords that the motion never took.
        chosen = np.linspace(0, n - 1, LINE_MOST).round().astype(int)
        thinned = (values[chosen] for values in coordinates)
        ax.plot(*thinned, linestyle="", marker=".", markersize=0.8, color=PALETTE[0])
    start = (values[:1] for values in coordinates)
    ax.plot(*start, linestyle="", marker="o", markersize=6, color=PALETTE[1], label="start")
    ax.legend(loc="upper right")


def _beginning(values: np.ndarray, oscillations: int) -> int:
    """Number of states until some component has gone through so many oscillations, or all."""
    rising = np.diff(values.reshape(len(values), -1), axis=0) > 0.0
    turns = np.cumsum(rising[1:] != rising[:-1], axis=0)
    late = np.flatnonzero(np.max(turns, axis=1, initial=0) > 2 * oscillations)
    return int(late[0]) + 2 if len(late) else len(values)


def _symbol(name: str, i: int, values: np.ndarray) -> str:
    """The symbol of a component, numbered from one when there are several."""
    return f"${name}$" if values[0].size == 1 else f"${name}_{{{i + 1}}}$"
