r"""Many joints of a few kinds, in trees and loops: what `Linkage` says of them, as loops over the joints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Mobility, Rows, Twist, least_pivots
from poinsot.solvers import LongElimination, LongFactor

from ._condition_kind import ConditionKind, Stand, Stir, at_row, held_by, kinds_of
from ._linkage import Linkage, Turning, Visitor
from ._long_tree import LongTree

Jacobians = list[Float[Array, "count width size 6"]]
"""Derivatives of the conditions of each kind in the motions and turns of their live bodies."""
Places = tuple[int, ...]
AnyArray = TypeVar("AnyArray", Array, np.ndarray)


class Meetings(NamedTuple):
    """Pairs of conditions on one body: the block that they add to, and rows of their Jacobians."""

    slots: tuple[int, ...]
    later: tuple[int, ...]
    """Of the one that is eliminated later."""
    sooner: tuple[int, ...]


class LongLinkage(eqx.Module):
    r"""Joints, drives and couplings of a few kinds between free bodies, in any number, in trees and loops.

    The methods are those of `Linkage`, but what they return for each condition there is one array here, with
    a row for each condition, kind after kind, filled up with zeros: `Rows` of one element. All are scans:
    over the conditions of a kind, whose bodies are looked up by their places, or over the nodes of the graph
    in the order of elimination. So the code does not grow with their number.
    """

    kinds: tuple[ConditionKind, ...]
    weights: Twist
    moving: int = eqx.field(static=True)
    """Number of bodies that move."""
    listed: tuple[int, ...] = eqx.field(static=True)
    """Place in the list of conditions of each row, kind after kind."""
    elimination: LongElimination = eqx.field(static=True)
    meetings: Meetings = eqx.field(static=True)
    tree: LongTree
    independent: bool = eqx.field(static=True)
    """Whether the conditions are independent, see `Linkage.independent`."""

    def __init__(self, linkage: Linkage):
        held = [[held_by(grip, linkage) for grip in pair] for pair in linkage.grips]
        conditions = []
        for condition, seen in zip(linkage.conditions, linkage.seen, strict=True):
            joints = [linkage.joints[joint] for joint in seen]
            pieces = (condition,) if joints[0] is condition else (condition, *joints)
            conditions.append((pieces, [one for joint in seen for one in held[joint]]))
        kinds, listed = kinds_of(conditions)
        self.kinds, self.listed = tuple(kinds), tuple(listed)
        self.weights, self.moving = linkage.weights, len(linkage.placement.translating)
        self.independent = linkage.independent
        self.elimination = LongElimination(linkage.order.renumbered(listed))
        self.meetings = _meetings(self.kinds, self.elimination)
        self.tree = LongTree(linkage, listed)

    @property
    def looped(self) -> bool:
        """Joints are gone through in loops."""
        return True

    @property
    def size(self) -> int:
        """Rows of a block: those of the kind with the most."""
        return self.kinds[0].size

    def gaps(self, t, x: Array, R: Array) -> Rows:
        """What must vanish at position level."""
        return [_joined([kind.gaps(t, Stand(x, R)) for kind in self.kinds])]

    def rates(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Rates $G u + g_t$ of the gaps."""
        stand, stir = Stand(x, R), Stir.parted(twist, self.moving)
        return [_joined([kind.rates(t, stand, stir) for kind in self.kinds])]

    def bends(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Second rates of the gaps at a constant twist."""
        stand, stir = Stand(x, R), Stir.parted(twist, self.moving)
        return [_joined([kind.bends(t, stand, stir) for kind in self.kinds])]

    def visit(self, function: Visitor, t, x: Array, R: Array, twist: Twist, *given: Rows) -> list[Array]:
        """Results of a function of each condition, as `Linkage.visit`: an array for each kind."""
        stand, stir, found, begin = Stand(x, R), Stir.parted(twist, self.moving), [], 0
        for kind in self.kinds:
            own, begin = slice(begin, begin + kind.count), begin + kind.count
            found.append(kind.visit(function, t, stand, stir, *(rows[own] for (rows,) in given)))
        return found

    def flat(self, rows: Rows) -> Float[Array, " k"]:
        """Numbers of all conditions in the order of their list, without those that fill up."""
        own = [range(one.template[0].rows) for one in self.kinds for _ in range(one.count)]
        places = [[self.size * k + i for i in own[k]] for k in np.argsort(self.listed)]
        return rows[0].reshape(-1)[np.concatenate(places)]

    def at(
        self, t, x: Array, R: Array, epsilon: float | Array, turning: Turning | None = None
    ) -> "LongReach":
        """Jacobians of the conditions at a pose."""
        frame, mobility = (R, None) if turning is None else turning
        return LongReach(self, self._jacobians(t, x, R, frame), epsilon, mobility)

    def jacobians(self, t, x: Array, R: Array) -> list[Float[Array, "rows part"]]:
        """Jacobians of the conditions in the order of their list, as those of `Linkage.at`."""
        return self.in_order(self.at(t, x, R, 0.0).jacobians)

    def in_order(self, jacobians: Sequence[AnyArray]) -> list[AnyArray]:
        """Jacobians of each kind as those of the conditions in the order of their list."""
        found: dict[int, AnyArray] = {}
        places = iter(self.listed)
        for kind, parts in zip(self.kinds, jacobians, strict=True):
            rows = parts.swapaxes(1, 2).reshape(kind.count, kind.size, -1)[:, : kind.template[0].rows]
            found |= {next(places): one for one in rows}
        return [found[place] for place in range(len(found))]

    def closing(self, reach: "LongReach", t, x: Array, R: Array, mobility: Mobility, share) -> "LongClosing":
        r"""The derivative $G_1 B G_0^T$ of the gaps at the end of a step in impulses at its start.

        As in `Linkage.closing` pivots have least magnitudes where conditions may be redundant.
        """
        # Whatever it is, the iteration that uses it ends at the same forces: it is not differentiated.
        ends = lax.stop_gradient(self._jacobians(t, x, R, R))
        starts, mobility, weights = lax.stop_gradient((reach.jacobians, mobility, self.weights))
        weights = Stir.parted(weights, self.moving)

        def moved(part: Array, body) -> Array:
            shift = part[:, :3] * (mobility.time * at_row(weights.v, body[0], 1))[None]
            return jnp.concatenate([shift, _product(part[:, 3:], at_row(mobility.turn, body[1], 2))], axis=1)

        levered = self._levered(starts, moved)
        later, sooner = self.meetings.later, self.meetings.sooner
        least = None
        if not self.independent:
            here = lax.stop_gradient((reach.diagonal[0], reach.pivots[0]))
            least = least_pivots(mobility.time, share, *here)
        factors = self.elimination.factored_general(
            self._diagonal(ends, levered),
            self._blocks(ends, later, levered, sooner),
            self._blocks(ends, sooner, levered, later),
            least,
        )
        return LongClosing(self, ends, factors)

    def factored(self, jacobians: Jacobians, epsilon: float | Array, mobility: Array | None) -> LongFactor:
        r"""Factors of $A + \varepsilon\operatorname{diag}(A)$ with $A = G M^{-1} G^T$."""
        weights, jacobians, mobility = lax.stop_gradient((self.weights, jacobians, mobility))
        levered = self._moved(weights, jacobians, mobility)
        diagonal = self._diagonal(jacobians, levered, epsilon)
        across = self._blocks(jacobians, self.meetings.later, levered, self.meetings.sooner)
        return self.elimination.factored(diagonal, across)

    def diagonal(self, jacobians: Jacobians, mobility: Array | None) -> Rows:
        r"""The diagonal of $G M^{-1} G^T$."""

        def each(_, given):
            return None, jnp.sum(given[0] * given[1], axis=(0, 2))

        pairs = zip(jacobians, self._moved(self.weights, jacobians, mobility), strict=True)
        return [_joined([lax.scan(each, None, pair)[1] for pair in pairs])]

    def _moved(self, weights: Twist, jacobians: Jacobians, mobility: Array | None) -> Jacobians:
        r"""The products $G M^{-1}$."""
        inverse = Stir.parted(weights, self.moving)
        turns = inverse.w if mobility is None else mobility

        def moved(part: Array, body) -> Array:
            turn = at_row(turns, body[1], turns.ndim - 1)
            turned = part[:, 3:] * turn[None] if turn.ndim == 1 else _product(part[:, 3:], turn)
            return jnp.concatenate([part[:, :3] * at_row(inverse.v, body[0], 1)[None], turned], axis=1)

        return self._levered(jacobians, moved)

    def push(self, jacobians: Jacobians, twist: Twist) -> Rows:
        r"""The products $G u$."""
        stir = Stir.parted(twist, self.moving)

        def each(_, given):
            total = jnp.zeros(self.size)
            for part, body in zip(*given, strict=True):
                total = total + jnp.sum(part * jnp.concatenate(stir.of(body))[None], axis=1)
            return None, total

        return [_joined([lax.scan(each, None, given)[1] for given in self._of_kinds(jacobians)])]

    def pull(self, jacobians: Jacobians, forces: Rows) -> Twist:
        r"""The wrench $G^T \lambda$."""

        def each(stir: Stir, given):
            parts, bodies, force = given
            for part, body in zip(parts, bodies, strict=True):
                wrench = jnp.sum(part * force[:, None], axis=0)
                stir = Stir(added(stir.v, body[0], wrench[:3]), added(stir.w, body[1], wrench[3:]))
            return stir, None

        def added(total: Array, place, more: Array) -> Array:
            return total.at[:, place].add(more, mode="promise_in_bounds", wrap_negative_indices=False)

        stir, begin = Stir.parted(jnp.zeros_like(self.weights), self.moving), 0
        for kind, given in zip(self.kinds, self._of_kinds(jacobians), strict=True):
            own, begin = forces[0][begin : begin + kind.count], begin + kind.count
            stir = lax.scan(each, stir, (*given, own))[0]
        return jnp.concatenate([part.reshape(-1) for part in stir])

    def _jacobians(self, t, x: Array, R: Array, frame: Array) -> Jacobians:
        """Derivatives of all conditions in the motions of their bodies."""
        return [kind.jacobians(t, Stand(x, R), frame) for kind in self.kinds]

    def _of_kinds(self, jacobians: Jacobians) -> list[tuple[Array, np.ndarray]]:
        """Jacobians and bodies of the conditions of each kind."""
        pairs = zip(jacobians, self.kinds, strict=True)
        return [(parts, np.array(kind.bodies)) for parts, kind in pairs]

    def _levered(self, jacobians: Jacobians, moved: Callable) -> Jacobians:
        """How far impulses along the conditions move their bodies, in the form of Jacobians."""

        def each(_, given):
            return None, jnp.stack([moved(part, body) for part, body in zip(*given, strict=True)])

        return [lax.scan(each, None, given)[1] for given in self._of_kinds(jacobians)]

    def _diagonal(self, rows: Jacobians, columns: Jacobians, epsilon: float | Array = 0.0) -> Array:
        """Blocks of each condition with itself; where it has fewer rows than others, those of the unit."""
        blocks = []
        for kind, one, other in zip(self.kinds, rows, columns, strict=True):

            def each(_, given, kind=kind):
                block = jnp.asarray(np.diag(kind.missing))
                for row, column in zip(*given, strict=True):
                    block = block + _product(row, column)
                return None, block * (1.0 + epsilon * np.eye(kind.size))

            blocks.append(lax.scan(each, None, (one, other))[1])
        return _joined(blocks)

    def _blocks(self, rows: Jacobians, first: Places, columns: Jacobians, second: Places) -> Array:
        """Blocks of conditions that meet on bodies."""
        row, column = (
            _joined([part.reshape(-1, self.size, 6) for part in parts]) for parts in (rows, columns)
        )

        def each(blocks, given):
            slot, one, other = given
            block = _product(at_row(row, one, 0), at_row(column, other, 0))
            return blocks.at[slot].add(block, mode="promise_in_bounds", wrap_negative_indices=False), None

        blocks = jnp.zeros((len(self.elimination.pairs), self.size, self.size))
        tables = np.array(self.meetings.slots), np.array(first), np.array(second)
        return lax.scan(each, blocks, tables)[0]


@dataclass(frozen=True)
class LongReach:
    """Jacobians of the conditions at a pose, and the factors of $A$."""

    linkage: LongLinkage
    jacobians: Jacobians
    epsilon: float | Array
    mobility: Float[Array, "*three 3 turning"] | None = None
    """Of a `Turning`; None for that of the principal moments."""

    @cached_property
    def factors(self) -> LongFactor:
        """Of $A$, for those who solve; they are not differentiated, see `_solution`."""
        return self.linkage.factored(self.jacobians, self.epsilon, self.mobility)

    @cached_property
    def diagonal(self) -> Rows:
        """Diagonal of $A$."""
        return self.linkage.diagonal(self.jacobians, self.mobility)

    @property
    def pivots(self) -> Rows:
        """Pivots of the factors of $A$."""
        return [self.linkage.elimination.pivots_of(self.factors)]

    def ready(self) -> "LongReach":
        """This: the system is factored when it is solved."""
        return self

    def push(self, twist: Twist) -> Rows:
        r"""The products $G u$."""
        return self.linkage.push(self.jacobians, twist)

    def pull(self, forces: Rows) -> Twist:
        r"""The wrench $G^T \lambda$."""
        return self.linkage.pull(self.jacobians, forces)

    def solve(self, right: Rows, repetitions: int) -> Rows:
        r"""Forces $\lambda$ with $G M^{-1} G^T \lambda = b$, by repeated correction as in `GraphFactors`."""
        system = LongSystem(self.linkage, self.jacobians, self.mobility)
        return [_solution(system, self.factors, right[0], repetitions=repetitions)]


class LongSystem(eqx.Module):
    """The matrix $A$, as what it makes of forces."""

    linkage: LongLinkage
    jacobians: Jacobians
    mobility: Float[Array, "*three 3 turning"] | None

    def times(self, forces: Array) -> Array:
        r"""The product $G M^{-1} G^T \lambda$."""
        wrench = self.linkage.pull(self.jacobians, [forces])
        return self.linkage.push(self.jacobians, self._moved(wrench))[0]

    def _moved(self, wrench: Twist) -> Twist:
        r"""The twist $M^{-1} f$ of a wrench."""
        linkage = self.linkage
        if self.mobility is None:
            return linkage.weights * wrench
        weights, (force, torque) = (Stir.parted(one, linkage.moving) for one in (linkage.weights, wrench))
        turn = self.mobility * (torque if self.mobility.ndim == 2 else torque[None])
        turned = turn if turn.ndim == 2 else jnp.sum(turn, axis=1)
        return jnp.concatenate([(weights.v * force).reshape(-1), turned.reshape(-1)])

    def solve(self, factors: LongFactor, b: Array, repetitions: int) -> Array:
        """Repeated correction with the factors."""
        solve = self.linkage.elimination.solve

        def again(_, solution: Array) -> Array:
            return solution + solve(factors, b - self.times(solution))

        if repetitions == 1:
            return solve(factors, b)
        return lax.fori_loop(0, repetitions, again, jnp.zeros_like(b))


@eqx.filter_custom_jvp
def _solution(system: LongSystem, factors: LongFactor, b: Array, *, repetitions: int) -> Array:
    r"""Solve $A \lambda = b$, with the derivatives of the equation and not of the elimination.

    $$ A\,\dot\lambda = \dot b - \dot A\,\lambda $$

    Of an elimination in a loop the derivatives are many times its code, and minutes to compile.
    """
    return system.solve(factors, b, repetitions)


@_solution.def_jvp
def _change_of_solution(primals, tangents, *, repetitions: int):
    system, factors, b = primals
    of_system, _, change = tangents
    solution = _solution(system, factors, b, repetitions=repetitions)
    change = jnp.zeros_like(b) if change is None else change
    if jax.tree.leaves(of_system):
        change = change - eqx.filter_jvp(lambda one: one.times(solution), (system,), (of_system,))[1]
    return solution, lax.custom_linear_solve(
        system.times, change, lambda _, right: system.solve(factors, right, repetitions), symmetric=True
    )


class LongClosing(NamedTuple):
    """How impulses at the start of a step move the gaps at its end."""

    linkage: LongLinkage
    jacobians: Jacobians
    """At the end."""
    factors: LongFactor

    @property
    def pivots(self) -> Rows:
        """Pivots of the derivative."""
        return [self.linkage.elimination.pivots_of(self.factors)]

    def push(self, twist: Twist) -> Rows:
        """What a further motion at the end adds to the gaps."""
        return self.linkage.push(self.jacobians, twist)

    def solve(self, right: Rows) -> Rows:
        """Impulses at the start that open the joints by so much at the end."""
        return [self.linkage.elimination.solve(self.factors, right[0])]


def _meetings(kinds: Sequence[ConditionKind], elimination: LongElimination) -> Meetings:
    """All pairs of conditions that act on the same body, once for each body."""
    bodies = [own for kind in kinds for own in kind.bodies]
    firsts = np.cumsum([0, *map(len, bodies)])
    found = [
        (slot, firsts[later] + bodies[later].index(body), firsts[sooner] + bodies[sooner].index(body))
        for slot, (later, sooner) in enumerate(elimination.pairs)
        for body in bodies[later]
        if body in bodies[sooner]
    ]
    return Meetings(*(tuple(map(int, column)) for column in zip(*found, strict=True)))


def _joined(parts: Sequence[Array]) -> Array:
    """Rows of all kinds, one below the other."""
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _product(A: Array, B: Array) -> Array:
    r"""The product $A B^T$."""
    return jnp.sum(A[:, None] * B[None], axis=2)
