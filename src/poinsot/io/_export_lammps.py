"""Text dumps as LAMMPS writes them."""

from typing import TextIO

import numpy as np

from poinsot.io._export_frames import Frame, Frames

COLUMNS = "id mol type mass x y z vx vy vz c_q[1] c_q[2] c_q[3] c_q[4]"
"""Those of `dump custom`; the last four as of `compute q all property/atom quatw quati quatj quatk`."""
ROW = "%d %d 1" + " %.17g" * 11 + "\n"
MARGIN = 1e-3
"""Room around the particles, as a part of their largest extent."""


def write_lammps(frames: Frames, file: TextIO) -> None:
    """Write every frame: particles of one type, the bodies they belong to as molecules numbered from one.

    The step is the number of the frame; its time stands beside it. The box is shrunk to the particles, and
    along x it is the period of a periodic chain.

    Args:
        frames: what to write.
        file: where to.
    """
    body = frames.body
    for frame in frames:
        columns = (frames.masses, frame.points, frame.rates, frame.quaternion[body])
        table = np.column_stack([np.arange(len(body)) + 1, body + 1, *columns])
        file.write(f"ITEM: TIME\n{frame.t!r}\nITEM: TIMESTEP\n{frame.number}\n")
        file.write(
            f"ITEM: NUMBER OF ATOMS\n{len(table)}\n{_box(frame, frames.period)}ITEM: ATOMS {COLUMNS}\n"
        )
        file.write(ROW * len(table) % tuple(table.ravel()))


def _box(frame: Frame, period: float | None) -> str:
    """Bounds of the box along x, y and z."""
    low, high = frame.points.min(axis=0), frame.points.max(axis=0)
    room = MARGIN * (np.max(high - low) or 1.0)
    low, high = low - room, high + room
    along = "ss"
    if period is not None:
        along, high[0] = "pp", low[0] + period
    rows = "".join(f"{float(a)!r} {float(b)!r}\n" for a, b in zip(low, high, strict=True))
    return f"ITEM: BOX BOUNDS {along} ss ss\n{rows}"
