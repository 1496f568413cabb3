"""Which values of a trace differ from run to run: the others are computed once for all lanes."""

from collections.abc import Sequence
from typing import Any

from jax.extend import core as jex

from poinsot.kernels._components import CALLS


def varying(jaxpr: Any, given: Sequence[bool]) -> list[bool]:
    """For each result whether it differs from run to run, from the same of the operands."""
    inner = jaxpr.jaxpr if isinstance(jaxpr, jex.ClosedJaxpr) else jaxpr
    flags = dict.fromkeys(inner.constvars, False) | dict(zip(inner.invars, given, strict=True))

    def read(atom) -> bool:
        return not isinstance(atom, jex.Literal) and flags[atom]

    for equation in inner.eqns:
        results = _of_equation(equation, [read(atom) for atom in equation.invars])
        flags.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in inner.outvars]


def _of_equation(equation: Any, given: list[bool]) -> list[bool]:
    name, params = equation.primitive.name, equation.params
    if not any(given):
        return [False] * len(equation.outvars)
    if name in CALLS:
        return varying(next(params[key] for key in CALLS[name] if key in params), given)
    if name == "while":
        tests, bodies = params["cond_nconsts"], params["body_nconsts"]
        test, body, carry = given[:tests], given[tests : tests + bodies], given[tests + bodies :]
        return while_varying(params, test, body, carry)[0]
    if name == "scan":
        return scan_varying(params, given)
    if name == "cond":
        branches = [varying(branch, given[1:]) for branch in params["branches"]]
        return [given[0] or any(flags) for flags in zip(*branches, strict=True)]
    return [True] * len(equation.outvars)


def while_varying(params: dict, test: Sequence[bool], body: Sequence[bool], carry: Sequence[bool]):
    """What a `while` carries that differs from run to run, and whether its condition does."""
    carry = list(carry)
    while True:
        (goes,) = varying(params["cond_jaxpr"], [*test, *carry])
        following = varying(params["body_jaxpr"], [*body, *carry])
        # Runs that are done keep what they have, while others go on.
        wider = [one or other or goes for one, other in zip(carry, following, strict=True)]
        if wider == carry:
            return carry, goes
        carry = wider


def scan_parts(params: dict) -> tuple[int, int]:
    """Count the constants and the carried values of a `scan`. JAX 0.11 keeps them as a tree of operands."""
    if "ft_in" in params:
        consts, carried, _ = params["ft_in"].unpack()
        return len(consts), len(carried)
    return params["num_consts"], params["num_carry"]


def scan_varying(params: dict, given: Sequence[bool]) -> list[bool]:
    """For each result of a `scan` whether it differs from run to run."""
    consts, carries = scan_parts(params)
    carry = list(given[consts : consts + carries])
    while True:
        results = varying(params["jaxpr"], [*given[:consts], *carry, *given[consts + carries :]])
        wider = [one or other for one, other in zip(carry, results[:carries], strict=True)]
        if wider == carry:
            return [*carry, *results[carries:]]
        carry = wider
