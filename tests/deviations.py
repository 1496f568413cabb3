"""How well a run kept a quantity, for tests that need no verdict on it."""

import numpy as np

from poinsot.simulation import Trajectory


def deviation(run: Trajectory, name: str) -> float:
    """Largest deviation of any component from the start, as a report states it.

    A report also finds the scales of its verdicts, which compiles derivatives.
    """
    values = np.asarray(run.conserved[name])
    return float(np.max(np.abs(values - values[0])))
