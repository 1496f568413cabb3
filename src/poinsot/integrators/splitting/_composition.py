"""Composition: a high-order method from many steps of a simple one."""

import dataclasses
from typing import Any

import equinox as eqx
import numpy as np
from jax import lax

from poinsot.core import AbstractProblem, InputError, Packed, StepInfo, quoted
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._composition_scheme import CompositionScheme
from poinsot.integrators.coefficients.composition import COMPOSITION_SCHEMES


def scheme_of(scheme: str | CompositionScheme) -> CompositionScheme:
    """A scheme by its name, or itself."""
    if isinstance(scheme, CompositionScheme):
        return scheme
    if not isinstance(scheme, str) or scheme not in COMPOSITION_SCHEMES:
        raise InputError(
            f"scheme {quoted(scheme)} is not known; choose one of {', '.join(COMPOSITION_SCHEMES)}"
        )
    return COMPOSITION_SCHEMES[scheme]()


class Composition(AbstractIntegrator):
    r"""Composes steps of a base method to a higher order.

    $$ \Psi_h = \Phi_{\gamma_s h} \circ \dots \circ \Phi_{\gamma_1 h} $$

    $$ \Psi_h = \chi_{\alpha_s h} \circ \chi^*_{\beta_s h} \circ \dots
                \circ \chi_{\alpha_1 h} \circ \chi^*_{\beta_1 h} $$

    The first form needs a symmetric base of order 2; the second a base of order 1 and its adjoint. What the
    base conserves, the composition conserves.

    Args:
        base: the method $\Phi$ or $\chi$.
        scheme: a `CompositionScheme`, or its name, such as `"yoshida4"`, `"kahan-li8"`, `"blanes-moan6"`.
        adjoint: the method $\chi^*$, for schemes of the second form.

    Example:
        >>> from poinsot.integrators import Composition, StormerVerlet, SymplecticEulerA, SymplecticEulerB
        >>> Composition(StormerVerlet(), "suzuki4").order
        4
        >>> Composition(SymplecticEulerA(), "blanes-moan6", adjoint=SymplecticEulerB()).order
        6
    """

    base: AbstractIntegrator
    adjoint: AbstractIntegrator | None
    scheme: CompositionScheme = eqx.field(static=True)

    def __init__(
        self,
        base: AbstractIntegrator,
        scheme: str | CompositionScheme,
        *,
        adjoint: AbstractIntegrator | None = None,
    ):
        self.base, self.scheme, self.adjoint = base, scheme_of(scheme), adjoint

    def __repr__(self) -> str:
        adjoint = "" if self.adjoint is None else f", adjoint={self.adjoint}"
        return f"Composition({self.base}, {self.scheme.name}{adjoint})"

    def __check_init__(self):
        name, base = self.scheme.name, self.base.name
        if self.scheme.base == "adjoint pair" and self.adjoint is None:
            raise InputError(
                f"scheme {name} composes a method and its adjoint: give adjoint=... beside base={base}"
            )
        if self.scheme.base == "symmetric":
            if self.adjoint is not None:
                raise InputError(f"scheme {name} composes one symmetric method; leave adjoint out")
            if not self.base.symmetric or self.base.order != 2:
                raise InputError(
                    f"scheme {name} needs a symmetric base of order 2; {base} has order {self.base.order}"
                    f"{'' if self.base.symmetric else ' and is not symmetric'}. "
                    "StormerVerlet() and ImplicitMidpoint() fit"
                )

    @property
    def traits(self) -> Traits:
        """Order and symmetry of the scheme; everything else from the base."""
        return self._composed(self.base.traits)

    def claims(self, problem: AbstractProblem) -> Traits:
        """The same of what the base claims on the problem."""
        return self._composed(self.base.claims(problem))

    def _composed(self, traits: Traits) -> Traits:
        """Traits of the composition of a base with these."""
        return dataclasses.replace(
            traits,
            name=f"{self.scheme.name} of {self.base.name}",
            order=self.scheme.order,
            symmetric=self.scheme.symmetric,
            reference=self.scheme.reference,
        )

    @property
    def holds_velocity(self) -> bool:
        """What the base says."""
        return self.base.holds_velocity

    def refusal(self, problem: AbstractProblem) -> str | None:
        """What the methods composed say themselves."""
        reasons = (method.refusal(problem) for method in self._cycle)
        return next((reason for reason in reasons if reason is not None), None)

    @property
    def remedy(self) -> str | None:
        """That of the base."""
        return None if self.base.remedy is None else f"{self.base.remedy} in the base"

    def init(self, problem: AbstractProblem, t, h, y: Packed) -> tuple[Any, ...]:
        """What base and adjoint carry."""
        return tuple(method.init(problem, t, h, y) for method in self._cycle)

    @property
    def _cycle(self) -> tuple[AbstractIntegrator, ...]:
        """The methods that act by turns."""
        return (self.base,) if self.adjoint is None else (self.adjoint, self.base)

    def step(self, problem: AbstractProblem, t, h, y: Packed, carry: tuple[Any, ...]):
        """One step: all factors in the order in which they act.

        A loop over the factors rather than one long expression: XLA compiles one of them, and does not
        evaluate the early ones again for every later one.
        """
        weights = self.scheme.weights_hi
        begins = np.concatenate([[0.0], np.cumsum(weights)[:-1]])
        rows = (-1, len(self._cycle))

        def act(state, row):
            y, carries, total = state
            weights, begins = row
            following = []
            for index, (method, carry) in enumerate(zip(self._cycle, carries, strict=True)):
                y, carry, info = method.step(problem, t + begins[index] * h, weights[index] * h, y, carry)
                following.append(carry)
                total = total.then(info)
            return (y, tuple(following), total), None

        start = (y, carry, StepInfo.explicit(problem.lanes(y)))
        (y, carry, total), _ = lax.scan(act, start, (weights.reshape(rows), begins.reshape(rows)))
        return y, carry, total
