"""Real numbers taken out of a trace: as arguments of it they are data."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.extend import core as jex

SHORT = 400
"""Operations of a function within the user's that are written out in the place of its call."""


def lifted(closed: jex.ClosedJaxpr) -> tuple[jex.ClosedJaxpr, tuple[Any, ...]]:
    """A trace that takes the real numbers in it as arguments, before the others, and these numbers."""
    numbers = _Lifted()
    jaxpr = closed.jaxpr
    names = dict(zip(jaxpr.constvars, map(numbers.constant, jaxpr.constvars, closed.consts), strict=True))
    equations = numbers.written(jaxpr.eqns, names)
    results = [numbers.used(atom, names) for atom in jaxpr.outvars]
    fixed, values = zip(*numbers.fixed, strict=True) if numbers.fixed else ((), ())
    program = jaxpr.replace(
        constvars=list(fixed),
        invars=[*numbers.variables, *jaxpr.invars],
        outvars=results,
        eqns=equations,
    )
    return jex.ClosedJaxpr(program, values), tuple(numbers.numbers)


class _Lifted:
    """Real numbers taken out of a trace."""

    def __init__(self):
        self.variables: list[Any] = []
        self.numbers: list[Any] = []
        self.fixed: list[tuple[Any, Any]] = []
        """Variables and values of constants that stay in the trace, since they may be indices or the like."""

    def constant(self, variable: Any, value: Any) -> Any:
        """A constant of the trace."""
        fresh: Any = jex.Var(variable.aval)
        if isinstance(value, Tracer) or variable.aval.dtype == np.float64:
            self.variables.append(fresh)
            self.numbers.append(value if isinstance(value, jax.Array) else np.asarray(value))
        else:
            self.fixed.append((fresh, value))
        return fresh

    def used(self, atom: Any, names: dict[Any, Any]) -> Any:
        """A variable under its new name; one for a real number that stands in the trace."""
        if not isinstance(atom, jex.Literal):
            return names.get(atom, atom)
        aval: Any = atom.aval
        if aval.dtype != np.float64:
            return atom
        self.variables.append(jex.Var(aval))
        self.numbers.append(np.asarray(atom.val, dtype=float))
        return self.variables[-1]

    def written(self, equations: Sequence[Any], names: dict[Any, Any]) -> list[Any]:
        """Equations with variables for numbers, and short functions in the place of their calls."""
        done = []
        for one in equations:
            inner = one.params.get("jaxpr") if one.primitive.name in ("jit", "pjit") else None
            if isinstance(inner, jex.ClosedJaxpr) and len(inner.jaxpr.eqns) <= SHORT:
                own = dict(zip(inner.jaxpr.invars, (self.used(a, names) for a in one.invars), strict=True))
                constants = map(self.constant, inner.jaxpr.constvars, inner.consts)
                own |= dict(zip(inner.jaxpr.constvars, constants, strict=True))
                done += self.written(_renamed(inner.jaxpr, own), own)
                results = [self.used(atom, own) for atom in inner.jaxpr.outvars]
                names |= dict(zip(one.outvars, results, strict=True))
                continue
            # The exponent of a power decides how it is computed.
            kept = (
                one.invars[1:]
                if one.primitive.name == "pow" and isinstance(one.invars[1], jex.Literal)
                else []
            )
            free = one.invars[: len(one.invars) - len(kept)]
            done.append(one.replace(invars=[*(self.used(atom, names) for atom in free), *kept]))
        return done


def _renamed(jaxpr: Any, names: dict[Any, Any]) -> list[Any]:
    """The equations with new variables for their results, as the function may be called more than once."""
    for one in jaxpr.eqns:
        names |= {old: jex.Var(old.aval) for old in one.outvars}
    return [one.replace(outvars=[names[old] for old in one.outvars]) for one in jaxpr.eqns]
