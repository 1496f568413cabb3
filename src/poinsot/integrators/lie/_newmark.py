"""The explicit Newmark method on the group."""

import jax.numpy as jnp

from poinsot.core import Group, GroupParts, Packed, Wrench, each_body
from poinsot.integrators._base import Traits
from poinsot.integrators.lie._kick import CarriesWrench, Momenta, solve_momenta, with_load
from poinsot.rotation import quat_exp


class KryslEndresNewmark(CarriesWrench):
    r"""Newmark's explicit method in the body frame, after Krysl and Endres; order 2.

    With $\beta = 0$ and $\gamma = \tfrac12$,

    $$ R_1 = R_0 \exp\Big(h\,\Omega_0 + \tfrac{h^2}2 \dot\Omega_0\Big)^{\wedge}, \qquad
       \Omega_1 = \Omega_0 + \tfrac h2 (\dot\Omega_0 + \dot\Omega_1), \qquad
       J\,\dot\Omega = \tau + J\Omega \times \Omega . $$

    The rotation is explicit, so the torque of the potential is evaluated once per step; the gyroscopic term
    (and loads that depend on velocities) make the last equation implicit, solved by repeated substitution.
    Translations go along by Störmer-Verlet. Rotations stay orthogonal and the step is symmetric. It is not
    symplectic, and does not keep the spatial momentum of a free body. What is implemented is what stands
    here; it has not been compared with the tables of the article.
    """

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, linear momentum kept; nothing else."""
        return Traits(
            name="Krysl-Endres Newmark",
            order=2,
            symmetric=True,
            symplectic=False,
            conserves=frozenset({"linear"}),
            needs="group",
            reference="Krysl, Endres, Int. J. Numer. Meth. Engng. 62 (2005)",
        )

    def step(self, problem: Group, t, h, y: Packed, carry: Wrench):
        """One step, see the class."""
        x, p, g, m = problem.split(y)
        start = Momenta(p, m)
        rate = _rate(problem, t, x, g, start, carry)
        half = start.pushed(0.5 * h, rate)
        x = x + h * problem.velocity(half.p)
        g = problem.turn(g, each_body(quat_exp)(h * problem.omega(half.m)))
        own = problem.wrench(t + h, x, g)
        end, info = solve_momenta(
            problem,
            y,
            h,
            own,
            start.pushed(h, rate),
            lambda end: half.pushed(0.5 * h, _rate(problem, t + h, x, g, end, own)),
        )
        return problem.join(GroupParts(x, end.p, g, end.m)), own, info


def _rate(problem: Group, t, x, g, momenta: Momenta, own: Wrench) -> Wrench:
    """Rates of the momenta: forces, torques and the gyroscopic term."""
    wrench = with_load(problem, t, x, g, momenta, own)
    gyroscopic = each_body(jnp.cross)(momenta.m, problem.omega(momenta.m))
    return Wrench(wrench.force, wrench.torque + gyroscopic)
