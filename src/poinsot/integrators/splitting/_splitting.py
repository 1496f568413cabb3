"""Splitting of a separable Hamiltonian into its two exact flows."""

from typing import ClassVar, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from poinsot.core import Hamiltonian, Packed, StepInfo
from poinsot.integrators._base import AbstractIntegrator
from poinsot.integrators._composition_scheme import CompositionScheme
from poinsot.integrators.splitting._composition import scheme_of

Flow = Literal["T", "V"]


class Splitting(AbstractIntegrator):
    r"""Alternates the exact flows of $T(p)$ (drift) and $V(q)$ (kick); explicit and symplectic.

    $$ \varphi^T_h(q, p) = (q + h\,T'(p),\, p), \qquad \varphi^V_h(q, p) = (q,\, p - h\,V'(q)) $$

    The scheme's steps are written out as one word in the two flows and neighbours of the same kind are
    merged, so a composition of `s` Verlet steps costs `s` forces; where the word begins and ends with a kick,
    the last force of a step is the first of the next.

    In a time-dependent problem the clock advances with the drift.

    Args:
        scheme: `"strang"` (order 2) or a composition scheme by name or as `CompositionScheme`.
        first: the flow that begins, `"V"` or `"T"`.
    """

    needs: ClassVar[str] = "separable"
    symplectic: ClassVar[bool] = True
    conserves: ClassVar[frozenset[str]] = frozenset({"linear", "bilinear"})

    scheme: CompositionScheme | None = eqx.field(static=True)
    first: Flow = eqx.field(static=True)

    def __init__(self, scheme: str | CompositionScheme = "strang", *, first: Flow = "V"):
        if first not in ("T", "V"):
            raise ValueError(f"Splitting: first must be 'T' or 'V', got {first!r}")
        self.scheme = None if scheme == "strang" else scheme_of(scheme)
        self.first = first

    @property
    def order(self) -> int:
        """Order of the scheme."""
        return 2 if self.scheme is None else self.scheme.order

    @property
    def symmetric(self) -> bool:
        """Whether the scheme is a palindrome."""
        return self.scheme is None or self.scheme.symmetric

    @property
    def reference(self) -> str:
        """Source of the scheme."""
        return "Strang, SIAM J. Numer. Anal. 5 (1968)" if self.scheme is None else self.scheme.reference

    @property
    def word(self) -> tuple[tuple[Flow, float], ...]:
        """The flows in the order in which they act, with their weights; neighbours differ."""
        second: Flow = "T" if self.first == "V" else "V"
        if self.scheme is None:
            return (self.first, 0.5), (second, 1.0), (self.first, 0.5)
        letters: list[tuple[Flow, float]] = []
        for (factor, _), w in zip(self.scheme.steps, map(float, self.scheme.weights_hi), strict=True):
            if self.scheme.base == "symmetric":
                letters += [(self.first, 0.5 * w), (second, w), (self.first, 0.5 * w)]
            elif factor == "adjoint":
                letters += [(self.first, w), (second, w)]
            else:
                letters += [(second, w), (self.first, w)]
        return _merged(letters)

    def init(self, problem: Hamiltonian, t, h, y: Packed) -> Array | None:
        """The force at the start, where a step begins with a kick."""
        return problem.dHdq(t, *problem.split(y)) if self.first == "V" else None

    def step(self, problem: Hamiltonian, t, h, y: Packed, carry: Array | None):
        """One step: the word, as a loop over pairs of flows.

        Written out as one expression, XLA would evaluate early flows again for every later one.
        """
        head, *tail = self.word
        flows = [flow for flow, _ in tail]
        weights = np.array([weight for _, weight in tail]).reshape(-1, 2)
        drifts = weights[:, flows.index("T")]
        clock = np.cumsum(drifts) - (drifts if self.first == "V" else 0.0)
        q, p = problem.split(y)

        if self.first == "V":
            p = p - head[1] * h * carry

            def pair(state, row):
                q, p, _ = state
                (drift, kick), begun = row
                q = q + drift * h * problem.dHdp(t + begun * h, q, p)
                gradient = problem.dHdq(t + (begun + drift) * h, q, p)
                return (q, p - kick * h * gradient, gradient), None
        else:
            q = q + head[1] * h * problem.dHdp(t, q, p)

            def pair(state, row):
                q, p, _ = state
                (kick, drift), done = row
                now = t + (head[1] + done - drift) * h
                p = p - kick * h * problem.dHdq(now, q, p)
                return (q + drift * h * problem.dHdp(now, q, p), p, None), None

        (q, p, gradient), _ = lax.scan(pair, (q, p, carry), (weights, clock))
        return jnp.concatenate([q, p]), gradient, StepInfo.explicit()


def _merged(letters: list[tuple[Flow, float]]) -> tuple[tuple[Flow, float], ...]:
    """The word with equal neighbours added up."""
    merged = [letters[0]]
    for flow, weight in letters[1:]:
        if flow == merged[-1][0]:
            merged[-1] = (flow, merged[-1][1] + weight)
        else:
            merged.append((flow, weight))
    return tuple(merged)
