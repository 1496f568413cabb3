"""Pictures of a run of bodies."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poinsot.core import InputError, quoted
from poinsot.simulation import BodyTrajectory
from poinsot.viz._chain_drawing import Snapshots
from poinsot.viz._decimate import envelope
from poinsot.viz._drawing import READABLE, SQUARE, WIDE, beginning, curves, path_with_start
from poinsot.viz._joint_plots import coordinates, reactions
from poinsot.viz._joint_plots import draw as draw_joints
from poinsot.viz._mechanism import Mechanism
from poinsot.viz._norm_map import draw_norms
from poinsot.viz._style import PALETTE, QUIET, axes, new_figure, stacked, stacked_size, styled
from poinsot.viz._surface import draw_on_ellipsoid
from poinsot.viz._trajectory_plots import Picture, TrajectoryPlots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAIR = (9.6, 5.0)
LOOPS = 60
"""Oscillations of an axis that can be told apart on the sphere."""
STEADY = 1e-3
"""Relative change of a vector that a picture does not show."""


class BodyPlots(TrajectoryPlots):
    """The pictures of a run of bodies, as `run.plot`.

    Beside those of any run there are pictures of one body, the first one unless `body` gives another by name
    or by number.
    """

    def __init__(self, trajectory: BodyTrajectory):
        self._run = trajectory
        self._motion = trajectory.motion

    @styled
    def axis(self, i: int = 2, body: int | str = 0, ax: "Axes | None" = None) -> "Axes":
        """Path of the end of a body axis on the unit sphere in space.

        Of a motion with more than 60 oscillations the first 60 are shown: more would fill a band.

        Args:
            i: which axis of the body, 0, 1 or 2.
            body: which body.
            ax: where to draw, axes in space.
        """
        if i not in (0, 1, 2):
            raise InputError(f"axis: i = {i}; a body has the axes 0, 1 and 2")
        path = self._motion["rotation"][:, self._place(body), :, i]
        end = beginning(path, LOOPS)
        part = "" if end == len(path) else f", first {LOOPS} oscillations"
        ax = axes(ax, SQUARE, projection="3d")
        draw_on_ellipsoid(ax, np.eye(3), path[:end], ("$x$", "$y$", "$z$"))
        ax.set_title(f"Path of axis {i + 1} of {self._name(body)}{part}{self._method}")
        return ax

    @styled
    def polhode(self, body: int | str = 0, figure: "Figure | None" = None) -> "Figure":
        r"""Path of the pole on the ellipsoid of inertia, and a close-up of it.

        The pole is where the axis of rotation pierces the ellipsoid $\rho\cdot J\rho = 1$, in the body:
        $\rho = \Omega / \sqrt{\Omega\cdot J\,\Omega}$. Of a body without torque it runs along a polhode,
        where the angular momentum has one length. The ellipsoid belongs to the inertia about the fixed point,
        or about the mass centre.
        """
        pole, inertia = self._pole(body)
        figure = new_figure(PAIR) if figure is None else figure
        whole, close = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
        draw_on_ellipsoid(whole, inertia, pole, ("$e_1$", "$e_2$", "$e_3$"))
        whole.set_title(f"Polhode of {self._name(body)}{self._method}", pad=16)
        middle = int(np.argmax(np.abs(np.nanmean(pole, axis=0))))
        first, second = ((middle + 1) % 3, (middle + 2) % 3)
        end = beginning(pole, READABLE)
        part = "" if end == len(pole) else f", first {READABLE} oscillations"
        path_with_start(close, pole[:end, first], pole[:end, second])
        close.set(xlabel=rf"$\rho_{first + 1}$", ylabel=rf"$\rho_{second + 1}$")
        close.set_title(f"Seen along axis {middle + 1}{part}")
        close.set_aspect("equal", adjustable="datalim")
        close.locator_params(nbins=6)
        return figure

    @styled
    def herpolhode(self, body: int | str = 0, ax: "Axes | None" = None) -> "Axes":
        r"""Path of the pole in space, on the plane that the ellipsoid of inertia rolls on.

        That plane is perpendicular to the angular momentum about the mass centre or the fixed point, so only
        a body without torque has one.
        """
        pole, inertia = self._pole(body)
        place = self._place(body)
        R, Omega = self._motion["rotation"][:, place], self._motion["angular_velocity"][:, place]
        momentum = np.einsum("tij,jk,tk->ti", R, inertia, Omega)
        length = np.linalg.norm(momentum[0])
        if np.max(np.linalg.norm(momentum - momentum[0], axis=1)) > STEADY * length:
            raise InputError(
                f"herpolhode: the angular momentum of {self._name(body)} changes; only a body without torque "
                "has an invariable plane"
            )
        across = np.linalg.svd(momentum[:1] / length)[2][1:]
        ax = axes(ax, SQUARE)
        path_with_start(ax, *np.einsum("ai,tij,tj->at", across, R, pole))
        ax.set(xlabel="along the invariable plane", ylabel="across")
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_title(f"Herpolhode of {self._name(body)}{self._method}")
        return ax

    @styled
    def energy(self, ax: "Axes | None" = None) -> "Axes":
        """Error of the energy against time; with loads, the energy beside the work done."""
        if "work" not in self._motion:
            return TrajectoryPlots.energy(self, ax)
        ax = axes(ax, WIDE)
        change = self._motion["energy"] - self._motion["energy"][0]
        curves(ax, self._run.t, change)
        ax.get_lines()[0].set_label("energy")
        ax.plot(*envelope(self._run.t, self._motion["work"]), "--", color=PALETTE[1], label="work done")
        ax.legend(loc="best")
        gap = np.max(np.abs(change - self._motion["work"]))
        ax.set(xlabel="$t$", ylabel="change since the start")
        ax.set_title(f"Energy and work: apart by {gap:.2g} at most{self._method}")
        return ax

    @styled
    def momentum(self, figure: "Figure | None" = None) -> "Figure":
        """Linear and angular momentum in space, about the origin, against time."""
        figure, panels = stacked(figure, 2)
        for ax, name, letter in zip(panels, ("linear", "angular"), "pL", strict=True):
            values = self._motion[f"{name}_momentum"]
            curves(ax, self._run.t, values, [f"${letter}_{axis}$" for axis in "xyz"])
            ax.set_ylabel(f"{name} momentum")
        panels[0].set_title(f"Momentum{self._method}")
        panels[-1].set_xlabel("$t$")
        figure.align_ylabels(panels)
        return figure

    @styled
    def constraint(self, ax: "Axes | None" = None) -> "Axes":
        """Largest residual of the constraints of the coordinates, and of their rates, against time."""
        if self._motion["constraint"].size == 0:
            raise InputError(f"constraint: {self._run.attributes['coordinates']} has no constraints")
        ax = axes(ax, WIDE)
        for name, label, colour in (
            ("constraint_rate", "velocity", PALETTE[1]),
            ("constraint", "position", PALETTE[0]),
        ):
            residual = np.max(np.abs(self._motion[name]).reshape(len(self._run), -1), axis=1)
            seen = np.where(residual > 0.0, residual, np.nan)
            ax.semilogy(self._run.t, seen, ".", markersize=2, color=colour, label=label)
        ax.axhline(np.finfo(float).eps, color=QUIET, linewidth=0.8, linestyle=":", label="round-off of 1")
        ax.set(xlabel="$t$", ylabel="largest residual")
        ax.set_title(f"Constraints{self._method}")
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=4)
        return ax

    @styled
    def unit_norm(self, ax: "Axes | None" = None) -> "Axes":
        """Error of the length of each body's quaternion: curves of a few bodies, a map of many.

        In other coordinates the largest residual of their constraints takes its place.
        """
        ax = axes(ax, WIDE)
        ax.set_title(f"{draw_norms(ax, self._run)}{self._method}")
        return ax

    @styled
    def chain(self, times: Sequence[float] | None = None, figure: "Figure | None" = None) -> "Figure":
        """The bodies of a chain in space at a few times, their bonds as lines from centre to centre.

        Bodies are coloured from the first to the last. Each panel is centred on the middle of the bodies and
        shows most of them; how far others have flown off is told. A bond of more than twice its length at the
        start is not drawn. Of more than 60 bodies so many are shown, as dots.

        Args:
            times: when to look, the nearest saved time is taken; five times over the run when left out.
            figure: where to draw.
        """
        snapshots = Snapshots.of(self._run, times)
        figure = new_figure(snapshots.size) if figure is None else figure
        snapshots.draw(figure)
        figure.suptitle(f"The chain{self._method}", x=0.02, ha="left")
        return figure

    @styled
    def mechanism(
        self,
        times: Sequence[float] | None = None,
        reactions: bool | None = None,
        figure: "Figure | None" = None,
    ) -> "Figure":
        """Bodies and joints at a few times, with the reactions of the joints as arrows.

        Bodies have the shapes of their file, if it has any to draw. Others are lines or polygons between
        their joints, or else the ellipsoids with their mass and inertia, on a line to joints outside. A
        motion in a plane is seen across it, any other one aslant. An arrow is the force of a joint on its
        second body; all have one scale.

        Args:
            times: when to look, the nearest saved time is taken; three times over the run when left out.
            reactions: whether to draw the arrows; where they can be computed when left out.
            figure: where to draw.
        """
        arrows = self._has_reactions if reactions is None else reactions
        shown = Mechanism.of(self._run, times, arrows)
        figure = new_figure(shown.size) if figure is None else figure
        shown.draw(figure)
        scale = "" if shown.longest == 0.0 else f"; longest arrow: a force of {shown.longest:.3g}"
        figure.suptitle(f"{self._run.attributes['system']}{scale}{self._method}", x=0.02, ha="left")
        return figure

    @styled
    def joints(self, names: Sequence[str] | None = None, figure: "Figure | None" = None) -> "Figure":
        """Coordinates of the joints against time: angles, which go on beyond a turn, and ways.

        Of a motion with more than 20 oscillations the first 20 are shown: more would fill the panels.

        Args:
            names: which joints; all when left out.
            figure: where to draw.
        """
        panels = coordinates(self._run, names)
        return draw_joints(self._run, panels, figure, f"Coordinates of joints{self._method}")

    @styled
    def reactions(self, names: Sequence[str] | None = None, figure: "Figure | None" = None) -> "Figure":
        """Sizes of the forces and torques of the joints against time, and what the drives do.

        Args:
            names: which joints; all, and the drives, when left out.
            figure: where to draw.
        """
        panels = reactions(self._run, names)
        return draw_joints(self._run, panels, figure, f"Reactions of joints{self._method}")

    @styled
    def orientation(self, body: int | str = 0, figure: "Figure | None" = None) -> "Figure":
        """Quaternion and angular velocity, in the body frame, against time.

        Of a motion with more than 20 oscillations the first 20 are shown: more would fill the panels.
        """
        figure, panels = stacked(figure, 2)
        place = self._place(body)
        quat, Omega = (self._motion[name][:, place] for name in ("quaternion", "angular_velocity"))
        end = min(beginning(values, READABLE) for values in (quat, Omega))
        part = "" if end == len(self._run) else f", first {READABLE} oscillations"
        curves(panels[0], self._run.t[:end], quat[:end], ["$w$", "$x$", "$y$", "$z$"])
        curves(panels[1], self._run.t[:end], Omega[:end], [rf"$\Omega_{k}$" for k in (1, 2, 3)])
        panels[0].set(ylabel="quaternion", title=f"Orientation of {self._name(body)}{part}{self._method}")
        panels[1].set(ylabel="angular velocity", xlabel="$t$")
        figure.align_ylabels(panels)
        return figure

    def _pictures(self) -> Iterator[Picture]:
        """Each picture that makes sense, those of one body for the first; of a chain those of all bodies."""
        if "closure" in self._run.attributes:
            yield from self._chain_pictures()
            return
        if "joints" in self._run.attributes:
            yield from self._joint_pictures()
            return
        yield "axis", SQUARE, lambda figure: self.axis(ax=figure.add_subplot(projection="3d"))
        if np.any(self._motion["angular_velocity"][:, 0]):
            yield "polhode", PAIR, lambda figure: self.polhode(figure=figure)
        yield "energy", WIDE, lambda figure: self.energy(figure.add_subplot())
        if self._motion["constraint"].size:
            yield "constraint", WIDE, lambda figure: self.constraint(figure.add_subplot())
        yield "momentum", stacked_size(2), self.momentum
        yield "orientation", stacked_size(2), lambda figure: self.orientation(figure=figure)
        yield from self._step_picture()

    @property
    def _has_reactions(self) -> bool:
        """Whether the run knows its forces, and they can be found."""
        return self._run.seen is not None and self._run.seen.joints.no_reactions is None

    def _joint_pictures(self) -> Iterator[Picture]:
        size = Mechanism.of(self._run, None, False).size
        yield "mechanism", size, lambda figure: self.mechanism(figure=figure)
        if self._run.seen is not None:
            kinds = [(self.joints, coordinates)] + [(self.reactions, reactions)] * self._has_reactions
            for draw, panels in kinds:
                rows = sum(bool(curves) for curves in panels(self._run, None).values())
                if rows:
                    yield draw.__name__, stacked_size(rows), lambda figure, draw=draw: draw(figure=figure)
        yield "energy", WIDE, lambda figure: self.energy(figure.add_subplot())
        yield from self._step_picture()

    def _chain_pictures(self) -> Iterator[Picture]:
        yield "chain", Snapshots.of(self._run).size, lambda figure: self.chain(figure=figure)
        yield "energy", WIDE, lambda figure: self.energy(figure.add_subplot())
        if self._motion["constraint"].size:
            yield "unit_norm", WIDE, lambda figure: self.unit_norm(figure.add_subplot())
        yield "momentum", stacked_size(2), self.momentum
        yield from self._step_picture()

    @property
    def _positions(self) -> tuple[str, np.ndarray]:
        """Mass centre of the first body, with its name, for the picture of the orbit."""
        return "x", self._motion["position"][:, 0]

    def _pole(self, body: int | str) -> tuple[np.ndarray, np.ndarray]:
        """The pole at all times, NaN where the body does not rotate, and the inertia."""
        place = self._place(body)
        inertias = self._run.attributes["inertia"]
        inertia = np.asarray(inertias[place % len(inertias)])
        Omega = self._motion["angular_velocity"][:, place]
        square = np.einsum("ti,ij,tj->t", Omega, inertia, Omega)
        if not np.any(square > 0.0):
            raise InputError(f"polhode: {self._name(body)} does not rotate")
        return Omega / np.sqrt(np.where(square > 0.0, square, np.nan))[:, None], inertia

    def _name(self, body: int | str) -> str:
        return self._run.attributes["bodies"][self._place(body)]

    def _place(self, body: int | str) -> int:
        """Place of a body in the list of bodies."""
        names = self._run.attributes["bodies"]
        places = {**{name: i for i, name in enumerate(names)}, **{i: i for i in range(len(names))}}
        if body not in places:
            raise InputError(f"body = {quoted(body)}; this run has {', '.join(names)}")
        return places[body]
