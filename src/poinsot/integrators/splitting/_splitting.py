"""Splitting of a separable Hamiltonian into its two exact flows."""

from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from poinsot.core import Hamiltonian, Packed, StepInfo
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._composition_scheme import CompositionScheme
from poinsot.integrators.splitting._composition import scheme_of

Flow = Literal["T", "V"]


class Splitting(AbstractIntegrator):
    r"""Alternates the exact flows of $T(p)$ (drift) and $V(q)$ (kick); explicit and symplectic.

    $$ \varphi^T_h(q, p) = (q + h\,T'(p),\, p), \qquad \varphi^V_h(q, p) = (q,\, p - h\,V'(q)) $$

    The scheme's steps are written out as one word in the two flows and neighbours of the same kind are
    merged; every word begins and ends with the same flow, whose last rate of a step is the first of the next,
    so a composition of `s` Verlet steps costs `s` forces.

    In a time-dependent problem each flow reads a clock that the other one advances: then both are exact
    flows of the system extended by time, and the order holds.

    Args:
        scheme: `"strang"` (order 2) or a composition scheme by name or as `CompositionScheme`.
        first: the flow that begins, `"V"` or `"T"`.
    """

    scheme: CompositionScheme | None = eqx.field(static=True)
    first: Flow = eqx.field(static=True)

    def __init__(self, scheme: str | CompositionScheme = "strang", *, first: Flow = "V"):
        self.scheme = None if isinstance(scheme, str) and scheme == "strang" else scheme_of(scheme)
        self.first = first

    def __repr__(self) -> str:
        return f"Splitting({'strang' if self.scheme is None else self.scheme.name}, first={self.first!r})"

    @property
    def traits(self) -> Traits:
        """Order and symmetry of the scheme."""
        scheme = self.scheme
        return Traits(
            name=f"{'Strang' if scheme is None else scheme.name} splitting, {self.first} first",
            order=2 if scheme is None else scheme.order,
            symmetric=scheme is None or scheme.symmetric,
            symplectic=True,
            conserves=frozenset({"linear", "bilinear"}),
            needs="separable",
            reference="Strang, SIAM J. Numer. Anal. 5 (1968)" if scheme is None else scheme.reference,
        )

    @property
    def word(self) -> tuple[tuple[Flow, float], ...]:
        """The flows in the order in which they act, with their weights; neighbours differ."""
        second: Flow = "T" if self.first == "V" else "V"
        if self.scheme is None:
            return (self.first, 0.5), (second, 1.0), (self.first, 0.5)
        letters: list[tuple[Flow, float]] = []
        for (factor, _), w in zip(self.scheme.steps, map(float, self.scheme.weights_hi), strict=True):
            if self.scheme.base == "symmetric":
                letters.extend([(self.first, 0.5 * w), (second, w), (self.first, 0.5 * w)])
            elif factor == "adjoint":
                letters.extend([(self.first, w), (second, w)])
            else:
                letters.extend([(second, w), (self.first, w)])
        return _merged(letters)

    def _rates(self, problem: Hamiltonian) -> tuple[Callable, Callable]:
        """Rate of what the first flow moves, from what the second moves, and the other way round."""

        def kick(t, q):
            return -problem.dHdq(t, q, q)

        def drift(t, p):
            return problem.dHdp(t, p, p)

        return (kick, drift) if self.first == "V" else (drift, kick)

    def init(self, problem: Hamiltonian, t, h, y: Packed) -> Array:
        """Rate of the first flow at the start."""
        q, p = problem.split(y)
        rate, _ = self._rates(problem)
        return rate(t, q if self.first == "V" else p)

    def step(self, problem: Hamiltonian, t, h, y: Packed, carry: Array):
        """One step: the word, as a loop over pairs of flows.

        Written out as one expression, XLA would evaluate early flows again for every later one.
        """
        (_, head), *tail = self.word
        second, first = np.array([weight for _, weight in tail]).reshape(-1, 2).T
        clock_second = head + np.cumsum(first) - first
        clock_first = np.cumsum(second)
        rate_first, rate_second = self._rates(problem)

        def pair(state, row):
            x, z, _ = state
            w_second, w_first, now_second, now_first = row
            z = z + w_second * h * rate_second(t + now_second * h, x)
            rate = rate_first(t + now_first * h, z)
            return (x + w_first * h * rate, z, rate), None

        q, p = problem.split(y)
        x, z = (p, q) if self.first == "V" else (q, p)
        start = (x + head * h * carry, z, carry)
        (x, z, rate), _ = lax.scan(pair, start, (second, first, clock_second, clock_first))
        q, p = (z, x) if self.first == "V" else (x, z)
        return jnp.concatenate([q, p]), rate, StepInfo.explicit(problem.lanes(y))


def _merged(letters: list[tuple[Flow, float]]) -> tuple[tuple[Flow, float], ...]:
    """The word with equal neighbours added up."""
    merged = [letters[0]]
    for flow, weight in letters[1:]:
        if flow == merged[-1][0]:
            merged[-1] = (flow, merged[-1][1] + weight)
        else:
            merged.append((flow, weight))
    return tuple(merged)
