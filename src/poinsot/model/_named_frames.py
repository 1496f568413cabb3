"""Named frames: places with directions on bodies that people speak of, such as the hand of an arm."""

from collections.abc import Mapping
from typing import Any

from poinsot.core import InputError, quoted

from ._roster import Roster
from .joints._site import GROUND
from .potentials._marker import Marker


def as_frames(frames: Any, roster: Roster) -> dict[str, Marker]:
    """Frames of the bodies of a system, by name.

    Args:
        frames: for each name the body, or "ground", a point in it and, unless it is that of the body, a
            rotation against it; or a `Marker`.
        roster: the bodies.

    Raises:
        InputError: one line that names the frame.
    """
    if frames is None:
        return {}
    if not isinstance(frames, Mapping):
        raise InputError(f"frames = {quoted(frames)}; it must be a dictionary of frames by name")
    return {name: _as_frame(name, frame, roster) for name, frame in frames.items()}


def _as_frame(name: Any, frame: Any, roster: Roster) -> Marker:
    if not isinstance(name, str) or not name:
        raise InputError(f"frames has the key {quoted(name)}; names of frames are words")
    if not isinstance(frame, Marker):
        if not isinstance(frame, (list, tuple)) or len(frame) not in (1, 2, 3):
            raise InputError(
                f"frame {name!r} = {quoted(frame)}; it must be a body, a point in it and, if it is turned, a "
                "rotation: (body, point, rotation)"
            )
        body, *rest = frame
        try:
            frame = Marker(None if body == GROUND else body, *rest)
        except InputError as error:
            raise InputError(f"frame {name!r}: {error}") from None
    if frame.body is None:
        return frame
    try:
        return Marker(roster.place(frame.body), frame.point, frame.rotation)
    except InputError as error:
        raise InputError(f"frame {name!r}: {error}") from None
