"""Coordinates and reactions of joints against time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.core import InputError, quoted
from poinsot.model.joints import Spherical
from poinsot.simulation import BodyTrajectory
from poinsot.viz._drawing import LEGEND_MOST, READABLE, STILL, beginning, curves
from poinsot.viz._style import QUIET, stacked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = dict[str, dict[str, np.ndarray]]
"""Names and values of the curves of each panel, by what the panel shows."""

COUPLED = "effort of couplings"
TURNING = "angle over turns"
MANY = 20.0 * np.pi
"""Range of angles of what turns on: beside it others would be flat lines."""
ROUND_OFF = 1e-9
"""Part of the largest torque or force below which the other is not shown."""


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
    panels: Curves = {TURNING: {}, "angle": {}, "position": {}}
    for name in joint_names(run, names):
        joint = run.joint(name)
        values = _broken(joint.values) if joint.names == Spherical.freedoms else joint.values
        for k, coordinate in enumerate(joint.names):
            turns = "angle" in coordinate or "turn" in coordinate
            label = name if len(joint.names) == 1 else f"{name} {coordinate}"
            panels["angle" if turns else "position"][label] = values[:, k]
    return _apart(panels)


def _apart(panels: Curves) -> Curves:
    """The same with angles that go on and on in a panel of their own, if there are others."""
    angles = panels["angle"]
    on = {label: values for label, values in angles.items() if np.ptp(values) > MANY}
    if len(on) in (0, len(angles)):
        return panels
    rest = {label: values for label, values in angles.items() if label not in on}
    return panels | {TURNING: on, "angle": rest}


def _broken(vectors: np.ndarray) -> np.ndarray:
    """Rotation vectors with a gap where, at half a turn, they jump to the opposite: no line goes there."""
    jumps = np.linalg.norm(np.diff(vectors, axis=0), axis=1) > np.pi
    return np.where(np.append(False, jumps)[:, None], np.nan, vectors)


def reactions(run: BodyTrajectory, names: Sequence[str] | None) -> Curves:
    """Lengths of force and torque of joints, and what drives and couplings do."""
    panels: Curves = {
        what: {} for what in ("force", "torque", "torque of drives", "force of drives", COUPLED)
    }
    shown = joint_names(run, names)
    own: list[Any] = [run.reaction(name) for name in shown]
    sizes = (
        np.reshape([np.linalg.norm(getattr(one, what), axis=1) for one in own], (len(own), len(run.t)))
        for what in ("force", "torque")
    )
    force, torque = without_round_off(run, *sizes)
    panels["force"] = dict(zip(shown, force, strict=True))
    panels["torque"] = {name: size for name, size in zip(shown, torque, strict=True) if np.any(size > 0.0)}
    for name in run.attributes["drives"] if names is None else ():
        drive: Any = run.reaction(name)
        panels[f"{drive.kind} of drives"][name] = drive.effort
    for name in run.attributes["couplings"] if names is None else ():
        coupling: Any = run.reaction(name)
        panels[COUPLED] |= {f"on {joint}": coupling.efforts[:, k] for k, joint in enumerate(coupling.joints)}
    return panels


def without_round_off(
    run: BodyTrajectory, force: np.ndarray, torque: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Set forces to zero where torques alone act, and torques where forces alone do."""
    arm = np.max(np.abs([joint["points"] for joint in run.attributes["joints"]]))
    forces, torques = arm * np.max(np.abs(force), initial=0.0), np.max(np.abs(torque), initial=0.0)
    return (
        0.0 * force if forces < ROUND_OFF * torques else force,
        0.0 * torque if torques < ROUND_OFF * forces else torque,
    )


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
        _widen(ax, list(rows.values()))
        if len(rows) > LEGEND_MOST:
            told = f"{len(rows)} curves;\nsome of them by\nnames=[...]"
            ax.text(1.02, 0.5, told, transform=ax.transAxes, va="center", color=QUIET, fontsize=9)
    axes[0].set_title(f"{title}{part}")
    axes[-1].set_xlabel("$t$")
    figure.align_ylabels(axes)
    return figure


def _widen(ax: "Axes", values: list[np.ndarray]) -> None:
    """Leave room about values that do not change but for round-off, whose digits would be the ticks."""
    low, high = min(map(np.nanmin, values)), max(map(np.nanmax, values))
    size = max(abs(low), abs(high))
    if high - low < STILL * size:
        ax.set_ylim(low - 0.1 * size, high + 0.1 * size)
