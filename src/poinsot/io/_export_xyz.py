"""Extended XYZ files, which ASE, OVITO and others read."""

from typing import TextIO

import numpy as np

from poinsot.io._export_frames import Frames

COLUMNS = "species:S:1:pos:R:3:masses:R:1:body:I:1:velo:R:3:quaternion:R:4"
"""Names, kinds and widths of the columns: of each particle, and of the body it belongs to."""
ROW = "X" + " %.17g" * 4 + " %d" + " %.17g" * 7 + "\n"


def write_xyz(frames: Frames, file: TextIO) -> None:
    """Write every frame: particles of no chemical kind (`X`), bodies numbered from zero.

    The quaternion (w, x, y, z) is that of the particle's body. Only a periodic chain has a lattice, in whose
    directions across the chain there is room and no period.

    Args:
        frames: what to write.
        file: where to.
    """
    body = frames.body
    head = f'Properties={COLUMNS} pbc="F F F"'
    if frames.period is not None:
        low, high = frames.bounds
        width = float(2.0 * np.max(high - low))
        head = f'Lattice="{frames.period!r} 0 0 0 {width!r} 0 0 0 {width!r}" Properties={COLUMNS} pbc="T F F"'
    for frame in frames:
        columns = (frame.points, frames.masses, body, frame.rates, frame.quaternion[body])
        table = np.column_stack(columns)
        file.write(f"{len(table)}\n{head} Time={frame.t!r}\n")
        file.write(ROW * len(table) % tuple(table.ravel()))
