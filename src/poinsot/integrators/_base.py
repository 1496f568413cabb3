"""The integrator interface: a pure one-step map with declared properties."""

import abc
from dataclasses import dataclass, replace
from typing import Any, Literal

from poinsot.core import AbstractProblem, Checked, Group, Hamiltonian, Packed, StepInfo

OF_KIND = {
    "hamiltonian": "pt.Hamiltonian or bodies in the form 'hamiltonian'",
    "constrained": "pt.Constrained or bodies in the form 'index3'",
    "group": "bodies in pt.coordinates.Group()",
}
"""Where a problem of a kind comes from."""


@dataclass(frozen=True)
class Traits:
    """What an integrator claims. Every claim is measured by the contract test and by `poinsot verify`."""

    name: str
    """What the method is called."""
    order: int
    """Order of the global error."""
    symmetric: bool = False
    """A step of `-h` undoes a step of `h`."""
    symplectic: bool = False
    """The map keeps the symplectic form."""
    conserves: frozenset[str] = frozenset()
    r"""What it keeps to round-off: `"energy"`, polynomial invariants, `"linear"`, `"quadratic"`, and
    `"bilinear"` for those of the form $q^T D p$, and `"momentum"`, on the group: the angular momenta in space
    about the axes of symmetry, which are bilinear in directors or quaternions and their momenta."""
    needs: Literal["ode", "hamiltonian", "separable", "constrained", "group"] = "ode"
    """The least structure it works with."""
    holds_joints: bool = False
    """Whether it closes joints between bodies at the end of each step; `holds_velocity` says of the rates."""
    reference: str = ""
    """Where it comes from."""


class AbstractIntegrator(Checked):
    """A one-step map `(t, y) -> (t + h, y)` with its traits.

    A step may be of any size and sign: compositions take unequal and negative steps.
    """

    @property
    @abc.abstractmethod
    def traits(self) -> Traits:
        """What the method claims."""

    @abc.abstractmethod
    def init(self, problem: Any, t, h, y: Packed) -> Any:
        """What is carried from step to step besides the state: guesses, round-off not yet added; or None."""

    @abc.abstractmethod
    def step(self, problem: Any, t, h, y: Packed, carry: Any) -> tuple[Packed, Any, StepInfo]:
        """One step of size `h` from time `t`, on a problem of the kind it needs.

        Args:
            problem: what is solved; `problem.vector_field(t, y)` is the right-hand side of any, and a
                `pt.Hamiltonian` also has `split(y)`, `dHdq(t, q, p)` and `dHdp(t, q, p)`.
            t: time at the start of the step.
            h: step size.
            y: packed state at the start.
            carry: what `init` or the step before returned.

        Returns:
            The packed state at the end, what is carried on, and a `StepInfo`: `StepInfo()` of an explicit
            step, `StepInfo.implicit(converged, iterations)` of one that solved equations.
        """

    @property
    def holds_velocity(self) -> bool:
        """Whether its steps keep velocities along the constraints of a problem, not the positions alone."""
        return True

    def claims(self, problem: AbstractProblem) -> Traits:
        """What of its traits holds on a problem that it fits: what is said of a run.

        Nothing is symplectic but canonical equations, or those of the group under methods made for it; and
        where forces act that have no potential, nothing is kept.
        """
        traits = self.traits
        if not problem.conservative:
            return replace(traits, symplectic=False, conserves=frozenset())
        canonical = problem.kind in ("hamiltonian", "constrained") or self.needs == "group"
        return replace(traits, symplectic=traits.symplectic and canonical)

    @property
    def remedy(self) -> str | None:
        """What helps, beside a shorter step, where the implicit equations of a step do not converge."""
        return None

    @property
    def name(self) -> str:
        """See `Traits.name`."""
        return self.traits.name

    @property
    def order(self) -> int:
        """See `Traits.order`."""
        return self.traits.order

    @property
    def symmetric(self) -> bool:
        """See `Traits.symmetric`."""
        return self.traits.symmetric

    @property
    def symplectic(self) -> bool:
        """See `Traits.symplectic`."""
        return self.traits.symplectic

    @property
    def conserves(self) -> frozenset[str]:
        """See `Traits.conserves`."""
        return self.traits.conserves

    @property
    def needs(self) -> str:
        """See `Traits.needs`."""
        return self.traits.needs

    @property
    def reference(self) -> str:
        """See `Traits.reference`."""
        return self.traits.reference

    @property
    def reach(self) -> float | None:
        r"""Largest $|h\lambda|$, left of the imaginary axis, at which a step of $y' = \lambda y$ is stable.

        None where there is no such number, or it is not known.
        """
        return None

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Why this integrator cannot work on `problem`, or None if it can."""
        if self.needs == "ode":
            if problem.ordinary:
                return None
            return (
                "needs an ordinary differential equation; here the constraints are to be imposed by the "
                "integrator (the forms 'index0', 'null_space' and 'recursive' are ordinary)"
            )
        kind = "hamiltonian" if self.needs == "separable" else self.needs
        if problem.kind != kind:
            return f"needs a problem of kind {kind!r}, such as {OF_KIND[kind]}"
        if isinstance(problem, Group) and problem.joints is not None and not self.traits.holds_joints:
            return (
                "does not hold joints; take LieRattle() or a composition of it, GeneralizedAlpha(), or an "
                "integrator of ordinary equations such as RK4()"
            )
        if self.needs == "separable" and isinstance(problem, Hamiltonian) and not problem.separable:
            return (
                "needs a separable Hamiltonian, given as pt.Hamiltonian(T=..., V=...); this one is a single "
                "H(q, p), which StormerVerlet() and GaussLegendre(2) can take"
            )
        return None
