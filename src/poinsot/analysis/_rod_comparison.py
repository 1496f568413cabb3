"""Chains beside their Cosserat rod: frequencies that converge as the chains become finer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot.core import InputError, checked, quoted
from poinsot.model import Chain
from poinsot.model.freedom import Free

from ._cosserat import CosseratRod, cosserat_rod
from ._dispersion import dispersion
from ._equilibrium import stationary_point
from ._modes import modes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {"extension": (0,), "torsion": (3,), "bending": (1, 2, 4, 5)}
"""Motions of a rod, and the displacements and rotations they are made of."""
MORE = 3
"""So many times as many modes of a chain are found as of the rod, since kinds may come in another order."""
WAVES = 201


@dataclass(frozen=True)
class RodComparison:
    """Natural frequencies of chains and of the rods they approach."""

    counts: np.ndarray
    """Numbers of bodies."""
    chain: np.ndarray
    r"""(count, mode): angular frequencies $\omega$ of the chains, from the slowest on without zero modes."""
    rod: np.ndarray
    """(count, mode): those of the rods."""
    kinds: tuple[str, ...]
    """What each mode is: extension, torsion or bending; of periodic chains waves of any kind."""
    rods: tuple[CosseratRod, ...]
    """The rod of each chain."""
    phase: np.ndarray
    """Wave number times spacing, of the waves below."""
    chain_waves: np.ndarray
    """(phase, 6): squared frequencies of waves along the finest chain."""
    rod_waves: np.ndarray
    """(phase, 6): and along its rod."""

    @property
    def differences(self) -> np.ndarray:
        """(count, mode): of chain and rod, relative to the rod."""
        return self.chain / self.rod - 1.0

    @property
    def rates(self) -> np.ndarray:
        """Exponent of each difference in the number of bodies, between the two finest chains."""
        last, before = np.abs(self.differences[-1]), np.abs(self.differences[-2])
        return np.log(last / before) / np.log(self.counts[-1] / self.counts[-2])

    def plot(self) -> "Figure":
        """Differences against the number of bodies, and waves along the finest chain and its rod."""
        from poinsot.viz import plot_rod_comparison

        waves = {"phase": self.phase, "chain": self.chain_waves, "rod": self.rod_waves}
        return plot_rod_comparison(self.counts, self.differences, self.kinds, waves)

    def __str__(self) -> str:
        lines = [
            "mode  kind              omega of the rod  "
            + "".join(f"{n:>12d}" for n in self.counts)
            + "    rate"
        ]
        for mode, kind in enumerate(self.kinds):
            off = "".join(f"{value:12.2e}" for value in self.differences[:, mode])
            lines.append(f"{mode:4d}  {kind:16s}  {self.rod[-1, mode]:16.8g}  {off}  {self.rates[mode]:6.2f}")
        return "\n".join(lines)


@checked
def cosserat_comparison(
    chain_of: Callable[[int], Chain], counts: Sequence[int] = (8, 16, 32, 64), count: int = 8
) -> RodComparison:
    """Frequencies of finer and finer chains beside those of the Cosserat rod each of them is from far away.

    A clamped end of the rod is at the centre of the clamped body; a free end is half a spacing beyond the
    last centre, where the part of the rod that this body stands for ends.

    Args:
        chain_of: makes the chain of a number of bodies, straight and at rest; both ends clamped or free, or
            periodic.
        counts: numbers of bodies, at least two.
        count: how many modes.

    Raises:
        InputError: other ends; or a straight chain that is no minimum of the energy, or under stress.
    """
    if len(counts) < 2:
        raise InputError(f"counts = {tuple(counts)}; convergence shows between two chains or more")
    chains = [chain_of(bodies) for bodies in counts]
    rods = tuple(cosserat_rod(chain) for chain in chains)
    pairs = [_slow_modes(chain, rod, count) for chain, rod in zip(chains, rods, strict=True)]
    kinds = tuple(pairs[-1][1].first(count))
    slow, of_rods = ([one.sorted_as(kinds) for one in side] for side in zip(*pairs, strict=True))
    waves = dispersion(chains[-1], points=WAVES)
    return RodComparison(
        counts=np.asarray(counts),
        chain=np.sqrt(slow),
        rod=np.sqrt(of_rods),
        kinds=kinds,
        rods=rods,
        phase=waves.k * waves.spacing,
        chain_waves=waves.squares,
        rod_waves=rods[-1].waves(waves.k),
    )


@dataclass(frozen=True)
class _Spectrum:
    """Squared frequencies, ascending, and the kind of each."""

    squares: np.ndarray
    kinds: list[str]

    def first(self, count: int) -> list[str]:
        """Kinds of the slowest."""
        return self.kinds[:count]

    def sorted_as(self, kinds: Sequence[str]) -> np.ndarray:
        """Squares in the order of some kinds: the n-th of a kind stands where it comes for the n-th time."""
        left = {kind: iter(self.squares[np.array(self.kinds) == kind]) for kind in set(kinds)}
        return np.array([next(left[kind], np.nan) for kind in kinds])


def _slow_modes(chain: Chain, rod: CosseratRod, count: int) -> tuple[_Spectrum, _Spectrum]:
    """The slowest modes of a chain and of its rod, zero modes left out."""
    rest = stationary_point(chain)
    if not rest.stable:
        raise InputError(f"the straight {chain.name!r} of {chain.count} bodies is no minimum: {quoted(rest)}")
    own = modes(chain, rest, MORE * count)
    a, weights = float(chain.spacing), np.diag(rod.mass_matrix)
    if chain.closure == "periodic":
        rounds = np.arange(-count, count + 1)
        squares = np.sort(rod.waves(2.0 * np.pi * rounds / (chain.count * a)).reshape(-1))[own.zero :]
        return _Spectrum(own.squares, ["wave"] * len(own)), _Spectrum(squares, ["wave"] * len(squares))
    ends = _ends(chain)
    squares, parts = rod.spectrum(a * (chain.count - 1 + 0.5 * ends.count("free")), ends)
    of_chain = np.sum(own.shapes**2, axis=1) * weights
    return (
        _Spectrum(own.squares, [_kind(part) for part in of_chain]),
        _Spectrum(squares[own.zero :], [_kind(part) for part in parts[own.zero :]]),
    )


def _ends(chain: Chain) -> tuple[str, str]:
    """The ends of a chain as those of a rod."""
    if chain.closure == "ring":
        raise InputError("a ring has no straight rod; compare a chain with ends, or a periodic one")
    names = []
    for end in chain.ends:
        free = isinstance(end.freedom, Free) and end.force is None
        if not free and end.freedom is not None:
            raise InputError(
                f"end = {quoted(end)}; a rod is compared with ends 'clamped' and 'free', or 'periodic'"
            )
        names.append("free" if free else "clamped")
    return names[0], names[1]


def _kind(parts: np.ndarray) -> str:
    """The motion that most of the kinetic energy is in."""
    return max(KINDS, key=lambda kind: float(np.sum(parts[list(KINDS[kind])])))
