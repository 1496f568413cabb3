"""The integrator interface: a pure one-step map with declared properties."""

import abc
from typing import Any, ClassVar

import equinox as eqx

from poinsot.core import AbstractProblem, Hamiltonian, Packed, StepInfo


class AbstractIntegrator(eqx.Module):
    """A one-step map `(t, y) -> (t + h, y)` with its traits.

    Traits are claims, and every one is measured by the contract test and by `poinsot verify`:

    - `needs`: the least structure it works with: `"ode"`, `"hamiltonian"` or `"separable"`;
    - `order`: of the global error;
    - `symmetric`: a step of `-h` undoes a step of `h`;
    - `symplectic`: the map keeps the symplectic form;
    - `conserves`: which polynomial invariants it keeps to round-off: `"linear"`, `"quadratic"`, and
      `"bilinear"` for those of the form $q^T D p$.

    A step may be of any size and sign: compositions take unequal and negative steps.
    """

    needs: ClassVar[str]
    order: eqx.AbstractVar[int]
    symmetric: eqx.AbstractVar[bool]
    symplectic: eqx.AbstractVar[bool]
    conserves: eqx.AbstractVar[frozenset[str]]
    reference: eqx.AbstractVar[str]

    @abc.abstractmethod
    def init(self, problem: AbstractProblem, t, h, y: Packed) -> Any:
        """What is carried from step to step besides the state: guesses, round-off not yet added."""

    @abc.abstractmethod
    def step(self, problem: AbstractProblem, t, h, y: Packed, carry: Any) -> tuple[Packed, Any, StepInfo]:
        """One step of size `h` from time `t`."""

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Why this integrator cannot work on `problem`, or None if it can."""
        if self.needs == "ode":
            return None
        if not isinstance(problem, Hamiltonian):
            return f"needs a Hamiltonian problem, this one is of kind {problem.kind!r}"
        if self.needs == "separable" and not problem.separable:
            return (
                "needs a separable Hamiltonian, given as pt.Hamiltonian(T=..., V=...); "
                "this one is given as a single H(q, p)"
            )
        return None
