"""Störmer-Verlet in both orders."""

from typing import Literal

import equinox as eqx
import jax.numpy as jnp

from poinsot.core import Hamiltonian, Packed
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.symplectic._euler import euler_a, euler_b


class StormerVerlet(AbstractIntegrator):
    r"""Störmer-Verlet, the composition of the two symplectic Euler methods with half steps; order 2.

    In the order `"pqp"` (kick, drift, kick):

    $$ p_{1/2} = p_0 - \tfrac h2 H_q(q_0, p_{1/2}), \qquad
       q_1 = q_0 + \tfrac h2 \big[H_p(q_0, p_{1/2}) + H_p(q_1, p_{1/2})\big], \qquad
       p_1 = p_{1/2} - \tfrac h2 H_q(q_1, p_{1/2}) $$

    and with positions and momenta exchanged in the order `"qpq"`. Symmetric and symplectic for every
    Hamiltonian; explicit when it is separable.

    Args:
        form: `"pqp"` or `"qpq"`.
    """

    form: Literal["pqp", "qpq"] = eqx.field(default="pqp", static=True)

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, symplectic."""
        return Traits(
            name=f"Störmer-Verlet ({self.form})",
            order=2,
            symmetric=True,
            symplectic=True,
            conserves=frozenset({"linear", "bilinear"}),
            needs="hamiltonian",
            reference="Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), VI (3.4)",
        )

    def init(self, problem: Hamiltonian, t, h, y: Packed) -> None:
        """Nothing is carried."""

    def step(self, problem: Hamiltonian, t, h, y: Packed, carry: None):
        """One step, see the class."""
        first, second = (euler_b, euler_a) if self.form == "pqp" else (euler_a, euler_b)
        q, p = problem.split(y)
        q, p, before = first(problem, t, 0.5 * h, q, p)
        q, p, after = second(problem, t + 0.5 * h, 0.5 * h, q, p)
        return jnp.concatenate([q, p]), None, before.then(after)
