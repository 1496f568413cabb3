"""Coordinates and reactions of joints against time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.core import InputError, quoted
from poinsot.model.joints import Spherical
from poinsot.simulation import BodyTrajectory
from poinsot.viz._drawing import READABLE, beginning, curves
from poinsot.viz._style import stacked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curves = dict[str, dict[str, np.ndarray]]
"""Names and values of the curves of each panel, by what the panel shows."""

COUPLED = "effort of couplings"


def joint_names(run: BodyTrajectory, names: Sequence[str] | None = None) -> list[str]:
    """Those of the joints of a run, or of some of them.

    Raises:
        InputError: there are no joints, or none of such a name.
    """
    known = [joint["name"] for joint in run.attributes.get("joints", [])]
    if not known:
        raise InputError(f"{run.attributes.get('system', 'this system')} has no joints")
    if names is None:
        return known
    for name in [names] if isinstance(names, str) else names:
        if name not in known:
            raise InputError(f"no joint is called {quoted(name)}; there are {', '.join(known)}")
    return [names] if isinstance(names, str) else list(names)


def coordinates(run: BodyTrajectory, names: Sequence[str] | None) -> Curves:
    """Angles and ways of joints, by name of joint and of coordinate where there are several."""
    panels: Curves = {"angle": {}, "position": {}}
    for name in joint_names(run, names):
        joint = run.joint(name)
        values = _broken(joint.values) if joint.names == Spherical.freedoms else joint.values
        for k, coordinate in enumerate(joint.names):
            turns = "angle" in coordinate or "turn" in coordinate
            label = name if len(joint.names) == 1 else f"{name} {coordinate}"
            panels["angle" if turns else "position"][label] = values[:, k]
    return panels


def _broken(vectors: np.ndarray) -> np.ndarray:
    """Rotation vectors with a gap where, at half a turn, they jump to the opposite: no line goes there."""
    jumps = np.linalg.norm(np.diff(vectors, axis=0), axis=1) > np.pi
    return np.where(np.append(False, jumps)[:, None], np.nan, vectors)


def reactions(run: BodyTrajectory, names: Sequence[str] | None) -> Curves:
    """Lengths of force and torque of joints, and what drives and couplings do."""
    panels: Curves = {
        what: {} for what in ("force", "torque", "torque of drives", "force of drives", COUPLED)
    }
    for name in joint_names(run, names):
        reaction: Any = run.reaction(name)
        for what in ("force", "torque"):
            size = np.linalg.norm(getattr(reaction, what), axis=1)
            panels[what] |= {name: size} if what == "force" or np.any(size > 0.0) else {}
    for name in run.attributes["drives"] if names is None else ():
        drive: Any = run.reaction(name)
        panels[f"{drive.kind} of drives"][name] = drive.effort
    for name in run.attributes["couplings"] if names is None else ():
        coupling: Any = run.reaction(name)
        panels[COUPLED] |= {f"on {joint}": coupling.efforts[:, k] for k, joint in enumerate(coupling.joints)}
    return panels


def draw(run: BodyTrajectory, panels: Curves, figure: "Figure | None", title: str) -> "Figure":
    """The panels that have curves, one above the other, with the first oscillations if there are many."""
    shown = {what: rows for what, rows in panels.items() if rows}
    if not shown:
        raise InputError("these joints have no coordinates; take plot.reactions or plot.mechanism")
    figure, axes = stacked(figure, len(shown))
    every = [values for rows in shown.values() for values in rows.values()]
    end = beginning(np.stack(every, axis=1), READABLE)
    part = "" if end == len(run) else f", first {READABLE} oscillations"
    for ax, (what, rows) in zip(axes, shown.items(), strict=True):
        curves(ax, run.t[:end], np.stack(list(rows.values()), axis=1)[:end], list(rows))
        if len(rows) == 1:
            ax.get_lines()[0].set_label(next(iter(rows)))
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
        ax.set_ylabel(what)
    axes[0].set_title(f"{title}{part}")
    axes[-1].set_xlabel("$t$")
    figure.align_ylabels(axes)
    return figure
