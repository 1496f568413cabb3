"""Drives that the joints do not allow: found at the start, before anything has moved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, State, Twist, concrete, joined, known_numbers, on_device
from poinsot.kernels import once
from poinsot.solvers import Dependence

from ._compact import AnyLinkage, compact
from ._dependence import TAKES_PART, dependence, in_loops, jacobians, matrices
from ._linkage import Linkage
from ._near import Asked
from ._start import live
from .joints import Drive

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem

OFF = 1e-6
"""What rates and accelerations may contradict each other by, relative to one plus the largest."""


@dataclass(frozen=True)
class Driven:
    r"""Drives in loops of joints at a pose.

    Combinations of rows that depend on each other are orthonormal columns $N$ with $N^T G = 0$. Rates with
    $G u + g_t = 0$ exist if and only if $N^T g_t = 0$, and accelerations with $G \dot u + b = 0$, where $b$
    are the second rates of the gaps at a constant twist, if and only if $N^T b = 0$.
    """

    linkage: Linkage
    pose: tuple[Any, Array, Array]
    """Time, live positions and rotations."""
    core: list[int]
    """Places of the conditions in loops."""
    drives: list[int]
    """Of these the drives."""

    @classmethod
    def of(cls, linkage: Linkage, t, x: Array, quat: Array) -> Self:
        """The drives of a linkage that joints may contradict."""
        core = in_loops(linkage)
        drives = [i for i in core if isinstance(linkage.conditions[i], Drive)]
        return cls(linkage, (t, x, quat), core, drives)

    @cached_property
    def _held(self) -> AnyLinkage:
        return compact(self.linkage)

    @cached_property
    def _jacobians(self) -> list[np.ndarray]:
        return jacobians(self.linkage, self._held, *self.pose)

    @cached_property
    def _dependence(self) -> Dependence:
        return dependence(self.linkage, self.core, self._jacobians)

    def fault(self, twist: Twist | None = None) -> str | None:
        """What is wrong, in words, or None; accelerations are looked at where a twist is given."""
        return self.useless() or self.rates() or (None if twist is None else self.accelerations(twist))

    def useless(self) -> str | None:
        """Which drive moves a coordinate that joints hold, wherever they let the mechanism go.

        Its row depends on those of the joints. So does it where a coordinate is at a turning point; there a
        motion along the joints has a second rate of the coordinate.
        """
        if not self.drives or not self._dependence.dependent:
            return None
        undriven = [i for i in self.core if i not in self.drives]
        draw, roots = np.random.default_rng(0), np.sqrt(np.asarray(self.linkage.weights))
        for drive in self.drives:
            alone = sorted([*undriven, drive])
            own = np.concatenate([np.full(self.linkage.conditions[i].rows, float(i == drive)) for i in alone])
            found = dependence(self.linkage, alone, self._jacobians)
            share = found.contradicted(own)
            if np.linalg.norm(share) <= TAKES_PART:
                continue
            twist = found.solution(draw.standard_normal(roots.size)) * roots
            twist = twist / max(1.0, np.max(np.abs(twist)))
            bend = self._right(self._bends(twist) - self._bends(0.0 * twist), alone)
            if abs(share @ bend) <= OFF * np.linalg.norm(share) * (1.0 + np.linalg.norm(bend)):
                label = self.linkage.label(drive)
                return f"{label} moves what other joints hold; leave it out, or free the joint"
        return None

    def rates(self) -> str | None:
        """Which drive asks for a rate that the other conditions do not allow."""
        return self._contradiction("a rate", lambda: self._rates)

    def accelerations(self, twist: Twist) -> str | None:
        """Which drive asks for an acceleration that they do not allow at a twist."""
        return self._contradiction("an acceleration", lambda: self._bends(twist))

    def _contradiction(self, what: str, flat: Callable[[], np.ndarray]) -> str | None:
        if not self.drives or not self._dependence.dependent:
            return None
        right = self._right(flat(), self.core)
        left = self._dependence.contradicted(right)
        if np.max(np.abs(left)) <= OFF * (1.0 + np.max(np.abs(right))):
            return None
        lengths = np.concatenate([self._lengths(i) for i in self.core])
        ends = np.cumsum([self.linkage.conditions[i].rows for i in self.core])
        rows = {drive: ends[self.core.index(drive)] - 1 for drive in self.drives}
        taking_part = [one for one in rows if abs(left[rows[one]]) > TAKES_PART * np.linalg.norm(left)]
        if not taking_part:
            return None
        # What people ask an assembly for is theirs to change first.
        asked = [one for one in taking_part if isinstance(self.linkage.conditions[one], Asked)]
        drive = max(asked or taking_part, key=lambda one: abs(left[rows[one]]))
        part = left[rows[drive]]
        # So much the drive would have to ask for less.
        off = abs(left @ left / part) * lengths[rows[drive]]
        return (
            f"{self.linkage.label(drive)} asks for {what} at the start that other joints and drives do "
            f"not allow, off by {off:.3g}; leave it out, give it another function or value, or free the joint"
        )

    @cached_property
    def _rates(self) -> np.ndarray:
        """Rates of all gaps while nothing moves."""
        return self._asked(np.zeros(self.linkage.weights.size))[0]

    def _bends(self, twist: Twist | np.ndarray) -> np.ndarray:
        """Second rates of all gaps at a constant twist."""
        return self._asked(twist)[1]

    def _asked(self, twist: Twist | np.ndarray) -> list[np.ndarray]:
        rows = _asked(self._held, *self.pose, jnp.asarray(twist))
        return [np.asarray(part) for part in rows]

    def _lengths(self, condition: int) -> np.ndarray:
        """Lengths of the rows of a condition in the metric of the mass."""
        roots = np.sqrt(np.asarray(self.linkage.weights))[np.array(self.linkage.parts[condition])]
        return np.linalg.norm(self._jacobians[condition] * roots, axis=1)

    def _right(self, flat: np.ndarray, places: Sequence[int]) -> np.ndarray:
        """Numbers of some conditions, by the lengths of their rows."""
        parts = np.split(flat, np.cumsum([one.rows for one in self.linkage.conditions])[:-1])
        return np.concatenate([parts[i] / self._lengths(i) for i in places])


def check_drives(system: "AbstractSystem", t, state: State) -> None:
    """Refuse a start at which a drive and the joints contradict each other.

    Raises:
        InputError: names the drive, its joint and the bodies.
    """
    linkage = system.linkage
    if linkage is None or not concrete(linkage, state, t):
        return
    with known_numbers():
        x, quat, *rates = live(system.placement, state)
        twist = joined(rates, flat=True)
        fault = Driven.of(linkage, on_device(np.asarray(t, dtype=float)), x, quat).fault(twist)
        if fault is not None:
            raise InputError(fault)


@once
def _asked(linkage: AnyLinkage, t, x: Array, quat: Array, twist: Twist) -> tuple[Array, Array]:
    """Rates of the gaps at rest, and their second rates at a constant twist."""
    R = matrices(quat)
    rates = linkage.rates(t, x, R, jnp.zeros_like(twist))
    return linkage.flat(rates), linkage.flat(linkage.bends(t, x, R, twist))
