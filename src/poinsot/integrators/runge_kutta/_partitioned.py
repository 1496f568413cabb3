"""Partitioned Runge-Kutta methods: one tableau for the positions, another for the momenta."""

import equinox as eqx
import jax.numpy as jnp

from poinsot.core import Hamiltonian, Packed
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._partitioned_tableau import PartitionedTableau
from poinsot.integrators._update import add
from poinsot.integrators.coefficients import collocation
from poinsot.integrators.coefficients.collocation import LobattoStages
from poinsot.integrators.runge_kutta._prediction import (
    StageCarry,
    first_carry,
    next_carry,
    noticed,
    plainer,
    predict,
)
from poinsot.integrators.runge_kutta._stages import FixedPoint, StageEquations
from poinsot.integrators.runge_kutta._weights import weighted, weights


class LobattoIIIAB(AbstractIntegrator):
    r"""The Lobatto IIIA-IIIB pair: IIIA for positions, IIIB for momenta; order `2 stages - 2`.

    $$ Q_i = q_0 + h \sum_j a_{ij} H_p(Q_j, P_j), \qquad P_i = p_0 - h \sum_j \hat a_{ij} H_q(Q_j, P_j) $$

    Symmetric and symplectic for every Hamiltonian; two stages give Störmer-Verlet.

    Args:
        stages: number of stages, at least 2.
        solver: iteration of the stage equations.
        compensated: double-double coefficients and compensated summation of the update.
    """

    stages: LobattoStages = eqx.field(default=3, static=True)
    solver: FixedPoint = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    @property
    def pair(self) -> PartitionedTableau:
        """The two tableaux."""
        return collocation.lobatto_pair(self.stages)

    @property
    def traits(self) -> Traits:
        """Those of the pair."""
        return Traits(
            name=self.pair.name,
            order=self.pair.order,
            symmetric=self.pair.symmetric,
            symplectic=self.pair.symplectic,
            conserves=frozenset({"linear", "bilinear"}),
            needs="hamiltonian",
            reference=self.pair.reference,
        )

    def init(self, problem: Hamiltonian, t, h, y: Packed) -> StageCarry:
        """No last step to extrapolate from."""
        return first_carry(problem, self.pair.position, t, h, y, self.compensated)

    def step(self, problem: Hamiltonian, t, h, y: Packed, carry: StageCarry):
        """One step, see the class."""
        position, momentum = self.pair.position, self.pair.momentum
        n = y.shape[0] // 2

        def combine(rows, F):
            return jnp.concatenate([weighted(rows[0], F[:, :n]), weighted(rows[1], F[:, n:])], axis=1)

        equations = StageEquations(
            problem=problem,
            times=t + position.c_hi * h,
            h=h,
            y=y,
            weights=[weights(half.A_hi, half.A_lo, self.compensated) for half in (position, momentum)],
            combine=combine,
            matrix=None,
            noise=carry.noise,
            former=carry.derivatives,
        )
        guess, again = predict(h, carry, position), plainer(h, carry, position)
        F, info = self.solver.solve(equations, guess, again)
        b = weights(position.b_hi[None], position.b_lo[None], self.compensated)
        y1, error = add(y, h * weighted(b, F)[0], carry.error)
        return y1, noticed(problem, next_carry(carry, position, F, h, error)), info
