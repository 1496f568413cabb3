"""Forms in joint coordinates with multipliers: of loops, drives and couplings, and of unit quaternions."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import (
    PUSHING,
    PUSHING_REPETITIONS,
    Blocks,
    Packed,
    Printable,
    Projection,
    UserFunction,
    whole_gradient,
)
from poinsot.core.types import Scalar
from poinsot.equations._bodies import Bodies, Flat
from poinsot.equations._held import AbstractHeld
from poinsot.equations._joint_multipliers import LINEAR, joint_refusal_of_many
from poinsot.equations._joint_space import JointEnergy, JointSpace
from poinsot.equations._second_order import SecondOrder
from poinsot.model import System
from poinsot.model.open_chain import (
    Loops,
    along_rates,
    axis_places,
    lifted,
    loops_of,
    quaternion_places,
    rates_of,
)


class LoopSpace(JointSpace):
    """Joint coordinates along a tree, with what holds it beyond the tree, if anything does."""

    @property
    def loops(self) -> Loops:
        """Joints that close loops, drives and couplings."""
        system = self.system
        assert isinstance(system, System)
        return loops_of(system)

    @property
    def projectable(self) -> bool:
        """Always."""
        return True


class LoopRates(Printable):
    r"""Rates and accelerations of joint coordinates, with the loops at the level of accelerations.

    $$ \dot q = T(q)\,v, \qquad a\,\dot v = Q - g - \Gamma v v + G^T\lambda, \qquad
       G\dot v = -\dot G v - \dot g_t $$

    Args:
        bodies: the system along its tree.
        eliminated: the tree by articulated bodies, then the multipliers by a system of their own (index 0);
            else both by one linear system (index 1).
    """

    bodies: LoopSpace
    eliminated: bool = eqx.field(static=True)

    @property
    def height(self) -> int:
        """Three rates of a rotation."""
        return 3

    @property
    def pivots(self) -> bool:
        """Whether multipliers are unknowns of a linear system, as in the form of index 1."""
        return not self.eliminated

    def __call__(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Rates of coordinates and of their rates."""
        chain, loops = self.bodies.chain, self.bodies.loops
        if self.eliminated:
            rates, _ = loops.acceleration(chain, t, q, v, chain.forward_dynamics(q, v, None, t))
        else:
            rates = self._together(t, q, v)
        return chain.coordinate_rates(q, v), rates

    def _together(self, t, q: Flat, v: Flat) -> Flat:
        chain, loops = self.bodies.chain, self.bodies.loops
        hold = loops.at(chain, t, q, (PUSHING, PUSHING_REPETITIONS))
        corner = jnp.diag(jnp.concatenate(hold.scale))
        whole = jnp.block([[chain.metric(q), hold.G.T], [hold.G, jnp.zeros_like(corner)]])
        shifted = whole.at[chain.v_size :, chain.v_size :].set(-PUSHING * corner)
        forces = -chain.inverse_dynamics(q, v, jnp.zeros_like(v), t)
        right = jnp.concatenate([forces, -loops.bend(chain, t, q, v)])
        solution = jnp.linalg.solve(shifted, right)
        for _ in range(PUSHING_REPETITIONS - 1):
            solution = solution + jnp.linalg.solve(shifted, right - whole @ solution)
        return solution[: chain.v_size]

    def project(self, t, q: Flat, v: Flat, what: Projection) -> tuple[Flat, Flat]:
        """Closed loops and unit quaternions, and rates that keep them."""
        chain, loops = self.bodies.chain, self.bodies.loops
        if what in ("position", "both"):
            q = loops.closed(chain, t, q)
        if what in ("velocity", "both"):
            v = v + loops.impulse(chain, t, q, v)[0]
        return q, v

    def energy(self, t, q: Flat, v: Flat) -> Array:
        """Kinetic plus potential energy."""
        return self.bodies.chain.energy(q, v, t)

    def implicit_form(self) -> None:
        """None: multipliers are solved for."""
        return None


class ConstrainedJoints(AbstractHeld):
    r"""The equations of index 3, or of index 2 where integrators hold velocities only.

    State: coordinates $q$ of the tree and momenta $p$. Constraints: unit length of the quaternions of balls,
    $\tfrac12(|q|^2 - 1)$, then the gaps of what closes loops, of drives and of couplings. A tree of hinges
    and slides has neither. A quaternion counts by its direction alone, and its length $r$ has an inertia of
    its own,

    $$ T = \tfrac12\,v\cdot a(q)\,v + 2 I_0\,\dot r^2, \qquad
       H = \tfrac12\,\pi\cdot a(q)^{-1}\pi + \frac{(q\cdot p)^2}{8 I_0\,|q|^2} + V(q), \qquad \pi = T(q)^T p,
    $$

    so that the mass can be inverted; the multiplier of the length is zero.
    """

    bodies: LoopSpace
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)
    held: int = eqx.field(static=True)

    def __init__(self, bodies: Bodies, index: int = 3, invariants: dict[str, UserFunction] | None = None):
        self.bodies, self.held = LoopSpace(bodies), index
        self.params, self.invariants, self.vectorised = None, invariants or {}, False

    @property
    def regular(self) -> bool:
        """Always."""
        return True

    @property
    def separable(self) -> bool:
        """Never: the mass depends on the coordinates."""
        return False

    @property
    def rheonomic(self) -> bool:
        """Whether a drive takes time."""
        return any(condition.takes_time for condition in self.bodies.loops.conditions)

    @property
    def energy_of_tree(self) -> JointEnergy:
        """The Hamiltonian of the tree, without the lengths of quaternions."""
        return JointEnergy(self.bodies)

    def blocks(self, unknowns: str, *, forces: bool = True) -> Blocks | None:
        """Nothing is known of equations: the mass matrix is full. A tree of hinges has no multipliers."""
        tree = not self.bodies.loops.conditions and not self.bodies.chain.structure.balls
        return Blocks.of(np.zeros(0, dtype=int)) if tree and set(unknowns) == {"g"} else None

    @property
    def dense_refusal(self) -> str | None:
        """Many bodies have too many unknowns for a dense matrix."""
        tree = "GaussLegendre() in the form 'hamiltonian'"
        return joint_refusal_of_many(self.bodies.system, LINEAR if self.bodies.loops.conditions else tree)

    def potential(self, t, q: Flat) -> Scalar:
        """Potential energy of the system."""
        chain = self.bodies.chain
        return chain.energy(q, jnp.zeros(chain.v_size), t)

    def constraint(self, t, q: Flat) -> Float[Array, " m"]:
        """Unit lengths, then gaps."""
        return jnp.concatenate([self._lengths(q), self.bodies.loops.gap(self.bodies.chain, t, q)])

    def extent(self, q: Flat) -> Flat:
        r"""One for angles and quaternions, a length $L$ for slides: $\max(|q|, L / (|w|\,L + |s|))$.

        Gaps are sums of lengths of the bodies, and rounded like these, also where all coordinates are zero.
        """
        nodes, at = self.bodies.chain.nodes, axis_places(self.bodies.chain.structure)[0]
        size, own = jnp.ones_like(q), jnp.abs(q)
        if not len(at):
            return jnp.maximum(size, own)
        turn, slide = (jnp.sqrt(jnp.sum(part * part, axis=1)) for part in (nodes.turns, nodes.slides))
        gyration = jnp.sqrt(jnp.max(jnp.trace(nodes.inertias, axis1=1, axis2=2)) / jnp.max(nodes.masses))
        places = [jnp.max(jnp.abs(part)) for part in (nodes.places, nodes.body_places, slide * own[at])]
        length = jnp.max(jnp.stack([gyration, *places]))
        return jnp.maximum(size.at[at].set(length / (turn * length + slide)), own)

    def _lengths(self, q: Flat) -> Float[Array, " ball"]:
        quats = q[quaternion_places(self.bodies.chain.structure)]
        return 0.5 * (jnp.sum(quats * quats, axis=1) - 1.0)

    def slack(self, t, q: Flat) -> Float[Array, " m"] | None:
        """What the conditions would be accelerated by with free bodies; nothing for lengths."""
        chain, loops = self.bodies.chain, self.bodies.loops
        if not loops.conditions:
            return None
        return jnp.concatenate([jnp.zeros_like(self._lengths(q)), loops.free_scale(chain, t, q)])

    @property
    def _length_inertia(self) -> Array:
        """The number $4 I_0$: twice the mean trace of the tensors of inertia."""
        return 2.0 * jnp.mean(jnp.trace(self.bodies.chain.nodes.inertias, axis1=1, axis2=2))

    def momentum(self, q: Flat, v: Flat) -> Flat:
        """Momentum of a derivative of the coordinates."""
        chain = self.bodies.chain
        structure = chain.structure
        p = lifted(structure, q, chain.momenta(q, rates_of(structure, q, v)))
        if not structure.balls:
            return p
        quats = quaternion_places(structure)
        own, rate = q[quats], v[quats]
        along = jnp.sum(own * rate, axis=1) / jnp.sum(own * own, axis=1)
        return p.at[quats].add(self._length_inertia * along[:, None] * own)

    def kinetic(self, q: Flat, p: Flat) -> Scalar:
        """Kinetic energy in momenta."""
        chain, energy = self.bodies.chain, self.energy_of_tree
        return 0.5 * jnp.sum(energy.rates(q, p) * along_rates(chain.structure, q, p)) + self._radial(q, p)

    def _radial(self, q: Flat, p: Flat) -> Scalar:
        """Kinetic energy of the lengths of quaternions."""
        quats = quaternion_places(self.bodies.chain.structure)
        own = q[quats]
        along = jnp.sum(own * p[quats], axis=1) ** 2 / jnp.sum(own * own, axis=1)
        return 0.5 * jnp.sum(along) / self._length_inertia

    def dHdq(self, t, q: Flat, p: Flat) -> Flat:
        """Gradient of the Hamiltonian in the coordinates, less the load."""
        slope = self.energy_of_tree.dq(t, q, p, None)
        if self.bodies.chain.structure.balls:
            slope = slope + jax.grad(self._radial)(q, p)
        return slope if self.conservative else slope - self.load(t, q, self.velocity(t, q, p))

    def dHdp(self, q: Flat, p: Flat) -> Flat:
        """Gradient of the Hamiltonian in the momenta."""
        rate = self.energy_of_tree.dp(0.0, q, p, None)
        return rate + jax.grad(self._radial, argnums=1)(q, p) if self.bodies.chain.structure.balls else rate

    def velocity(self, t, q: Flat, p: Flat) -> Flat:
        """The velocity of a momentum that keeps the loops closed."""
        chain, rates = self.bodies.chain, self.energy_of_tree.rates(q, p)
        return chain.coordinate_rates(q, rates + self.bodies.loops.impulse(chain, t, q, rates)[0])

    def tangent_momentum(self, t, q: Flat, p: Flat) -> Flat:
        """The momentum less its part across the constraints, which costs no round-off where there is none."""
        chain = self.bodies.chain
        structure = chain.structure
        if structure.balls:
            quats = quaternion_places(structure)
            own = q[quats]
            along = jnp.sum(own * p[quats], axis=1) / jnp.sum(own * own, axis=1)
            p = p.at[quats].add(-along[:, None] * own)
        _, push = self.bodies.loops.impulse(chain, t, q, self.energy_of_tree.rates(q, p))
        return p + lifted(structure, q, push)

    def project(self, t, y: Packed, what: Projection) -> Packed:
        """Coordinates and momenta on the constraints, in the metric of the mass."""
        q, p = self.split(y)
        if what in ("position", "both"):
            q = self.bodies.loops.closed(self.bodies.chain, t, q)
        if what in ("velocity", "both"):
            p = self.tangent_momentum(t, q, p)
        return jnp.concatenate([q, p])

    def discrete_gradient(self, t, q0: Flat, p0: Flat, q1: Flat, p1: Flat) -> tuple[Flat, Flat]:
        """Gonzalez' discrete gradient of the Hamiltonian in all variables."""
        return whole_gradient(lambda q, p: self.hamiltonian(t, q, p), q0, p0, q1, p1)

    def acceleration(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Acceleration and multipliers, by articulated bodies; those of loops are their negative forces."""
        chain, loops = self.bodies.chain, self.bodies.loops
        rates = rates_of(chain.structure, q, v)
        change, forces = loops.acceleration(chain, t, q, rates, chain.forward_dynamics(q, rates, None, t))
        a = jax.jvp(chain.coordinate_rates, (q, rates), (v, change))[1]
        return a, jnp.concatenate([jnp.zeros_like(self._lengths(q)), -forces])

    def load(self, t, q: Flat, v: Flat) -> Flat:
        """Generalised force of the loads."""
        chain = self.bodies.chain
        return lifted(chain.structure, q, chain.load(t, q, rates_of(chain.structure, q, v)))


def looped_second_order(
    bodies: Bodies, invariants: dict[str, UserFunction], *, eliminated: bool
) -> SecondOrder:
    """The problem in coordinates and their rates, of index 0 or 1."""
    rates: Any = LoopRates(LoopSpace(bodies), eliminated)
    return SecondOrder(rates, invariants)
