"""Pictures of a run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poinsot.core import InputError
from poinsot.simulation import Trajectory
from poinsot.viz._drawing import READABLE, SQUARE, WIDE, beginning, curves, path_with_start, symbol, write
from poinsot.viz._style import PALETTE, QUIET, axes, stacked, stacked_size, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Picture = tuple[str, tuple[float, float], Callable[["Figure"], object]]
"""Name, size and drawing of a picture."""
CROWDED = 3000
"""Steps above which their sizes are dots without a line."""


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
        relative = np.isclose(row.reference, np.max(np.abs(energy[0])), rtol=1e-9)
        ax = axes(ax, WIDE)
        curves(ax, self._run.t, (energy - energy[0]) / (row.reference if relative else 1.0))
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
            curves(ax, self._run.t, values - values[0], [f"{i + 1}" for i in range(values[0].size)])
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
        parts = {name: values for name, values in self._run.components.items() if values.size}
        figure, panels = stacked(figure, len(parts))
        end = min(beginning(values, READABLE) for values in parts.values())
        for ax, (name, values) in zip(panels, parts.items(), strict=True):
            names = [symbol(name, i, values) for i in range(values[0].size)]
            curves(ax, self._run.t[:end], values[:end], names)
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
        path_with_start(ax, q[:, i], p[:, i])
        ax.set(xlabel=symbol("q", i, q), ylabel=symbol("p", i, p))
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
        path_with_start(ax, *path.T)
        for i, axis in enumerate("xyz"[: path.shape[1]]):
            ax.set(**{f"{axis}label": symbol(name, i, path)})
        ax.set_aspect("equal", adjustable="box" if spatial else "datalim")
        ax.locator_params(nbins=5 if spatial else 7)
        ax.set_title(f"Orbit{self._method}")
        return ax

    @styled
    def steps(self, ax: "Axes | None" = None) -> "Axes":
        """Size of each step of an adaptive run against time, with those marked that took several attempts."""
        steps = self._run.steps
        if not len(steps):
            raise InputError("steps: this run has not a single step")
        ax = axes(ax, WIDE)
        t, h = steps.t[:-1], np.abs(steps.h)
        line, dot = ("", 1.0) if len(steps) > CROWDED else ("-", 3.0)
        ax.semilogy(t, h, linestyle=line, linewidth=0.6, marker=".", markersize=dot)
        again = steps.rejected > 0
        if np.any(again):
            label = f"{int(np.sum(steps.rejected)):,} rejected attempts"
            ax.semilogy(t[again], h[again], "x", markersize=5, color=PALETTE[1], label=label)
            ax.legend(loc="best")
        ax.set(xlabel="$t$", ylabel="step size")
        ax.set_title(f"{len(steps):,} steps{self._method}")
        return ax

    def save_all(self, folder: str | Path) -> list[Path]:
        """Write the pictures that make sense for this run as PNG files.

        Returns:
            The files written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        return [write(draw, size, folder / f"{name}.png") for name, size, draw in self._pictures()]

    def _pictures(self) -> Iterator[Picture]:
        """Each picture that makes sense."""
        run, positions = self._run, self._positions[1]
        if "energy" in run.conserved:
            yield "energy", WIDE, lambda figure: self.energy(figure.add_subplot())
        if set(run.conserved) - {"energy"}:
            yield "invariants", stacked_size(len(run.conserved)), self.invariants
        yield "components", stacked_size(len(run.components)), self.components
        yield from self._step_picture()
        if "p" in run.components and positions.shape[1:] == (1,):
            yield "phase", SQUARE, lambda figure: self.phase(0, figure.add_subplot())
        if positions.shape[1:] in ((2,), (3,)):
            space = "3d" if positions.shape[1] == 3 else None
            yield "orbit", SQUARE, lambda figure: self.orbit(figure.add_subplot(projection=space))

    def _step_picture(self) -> Iterator[Picture]:
        if self._run.history is not None and len(self._run.steps):
            yield "steps", WIDE, lambda figure: self.steps(figure.add_subplot())

    @property
    def _method(self) -> str:
        """Integrator and step, as a second line of titles."""
        about = self._run.attributes
        led_by = {"dt": "$h$", "rtol": "rtol", "nominal_dt": "$h$ about"}
        for key, sign in led_by.items():
            if {"method", key} <= about.keys():
                return f"\n{about['method']}, {sign} = {about[key]:g}"
        return ""

    @property
    def _positions(self) -> tuple[str, np.ndarray]:
        """Positions of a Hamiltonian problem, else the first component, with its name."""
        name = "q" if "q" in self._run.components else next(iter(self._run.components))
        return name, self._run.components[name]
