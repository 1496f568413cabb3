"""How a run drifts from its constraints: as a power of time."""

from dataclasses import dataclass

import numpy as np

from poinsot.core import InputError, as_array, checked, quoted
from poinsot.simulation import BodyTrajectory, Trajectory

SAMPLES = 64
"""Times, evenly spaced in their logarithm, that a power is fitted to."""


@dataclass(frozen=True)
class ConstraintDrift:
    r"""Residuals of the constraints $g(q)$ and of their rates $G(q)\,v$ along a run.

    Each is the largest so far, over all components and bodies.
    """

    t: np.ndarray
    """Times since the start."""
    position: np.ndarray
    """Of the constraints."""
    velocity: np.ndarray
    """Of their rates."""
    settled: float
    """Part of the run, at its beginning, that the exponents leave out."""

    @property
    def position_exponent(self) -> float:
        """Power of time by which the positions drift; see `drift_exponent`."""
        return drift_exponent(self.t, self.position, settled=self.settled)

    @property
    def velocity_exponent(self) -> float:
        """Power of time by which the velocities drift."""
        return drift_exponent(self.t, self.velocity, settled=self.settled)


@checked
def constraint_drift(run: Trajectory, *, settled: float = 0.05) -> ConstraintDrift:
    r"""Measure how a run of bodies drifts from the constraints of its coordinates.

    Equations whose constraints are met by accelerations only, $\ddot g = 0$ (the forms "index1" and
    "index0"), let errors $\dot g$ of velocities stay and add up, so that $\dot g$ grows like $t$ and $g$ like
    $t^2$. Equations in velocities along the constraints ("null_space") let errors of positions add up only:
    $g$ grows like $t$, and $\dot g$ no faster. After projection both stay at round-off, and their
    exponents are near zero.

    Args:
        run: from `pt.simulate` of a system, many states saved.
        settled: part of the run to leave out of the fit of exponents, at its beginning.

    Raises:
        InputError: when the run is not of bodies, or their coordinates have no constraints.
    """
    if not isinstance(run, BodyTrajectory):
        raise InputError("constraint_drift takes the run of a pt.System, whose coordinates have constraints")
    residual, rate = np.asarray(run.constraint), np.asarray(run.constraint_rate)
    if residual.shape[-1] == 0:
        raise InputError(f"{run.attributes['coordinates']} has no constraints that a run could drift from")
    if not 0.0 < settled < 1.0:
        raise InputError(f"settled = {quoted(settled)}; the part of a run to leave out lies between 0 and 1")
    t = np.abs(np.asarray(run.t) - run.t[0])
    return ConstraintDrift(t, envelope(residual), envelope(rate), settled)


def envelope(residuals: np.ndarray) -> np.ndarray:
    """Largest magnitude so far, along the first axis, of all that stands in the others."""
    return np.maximum.accumulate(np.max(np.abs(residuals).reshape(len(residuals), -1), axis=1))


@checked
def drift_exponent(t: np.ndarray, size: np.ndarray, *, settled: float = 0.05) -> float:
    r"""Slope of $\log(\mathrm{size})$ against $\log t$, by least squares.

    The fit goes over times evenly spaced in $\log t$, from `settled` of the last one on, so that the dense
    end of a run does not outweigh its beginning. Where nothing has drifted at all the slope is zero.

    Args:
        t: times since the start, growing.
        size: of the drift, not falling; see `envelope`.
        settled: part of the run to leave out.

    Raises:
        InputError: when fewer than three states are left for the fit.
    """
    t, size = (np.asarray(as_array(one, name)) for one, name in ((t, "t"), (size, "size")))
    if t.ndim != 1 or t.shape != size.shape or t.size < 3:
        raise InputError(f"t has shape {t.shape}, size {size.shape}; give as many of both, three at least")
    if np.count_nonzero(t >= settled * t[-1]) < 3:
        raise InputError(f"t has {len(t)} times; three at least must come after settled = {settled} of it")
    samples = np.geomspace(settled * t[-1], t[-1], SAMPLES)
    seen = size[np.searchsorted(t, samples * (1.0 + 1e-12), side="right") - 1]
    drifted = seen > 0.0
    if np.count_nonzero(drifted) < 2:
        return 0.0
    return float(np.polyfit(np.log(samples[drifted]), np.log(seen[drifted]), 1)[0])
