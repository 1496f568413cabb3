"""What coordinates of a rotating body must say, and what follows from it for all of them alike."""

import abc

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Checked, saddle_point
from poinsot.core.types import Scalar

Position = Float[Array, " n"]
Velocity = Float[Array, " n"]
Momentum = Float[Array, " n"]
Force = Float[Array, " n"]
Multipliers = Float[Array, " m"]
Moments = Float[Array, "3"]
BodyVector = Float[Array, "3"]


class AbstractOrientation(Checked):
    """Numbers that stand for the rotation of one body.

    Everything here is written for one body and plain small arrays. Many bodies, or many runs, come from
    outside by `jax.vmap(..., in_axes=-1, out_axes=-1)`.
    """

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Number of coordinates, n."""

    @property
    @abc.abstractmethod
    def constraints(self) -> int:
        """Number of internal constraints, m."""

    @abc.abstractmethod
    def rotation(self, q: Position) -> Float[Array, "3 3"]:
        """Matrix R(q) from body to space; its columns are the directors."""

    @abc.abstractmethod
    def from_quaternion(self, quat: Float[Array, "4"]) -> Position:
        """Coordinates of the rotation of a unit quaternion."""

    @abc.abstractmethod
    def velocity(self, q: Position, Omega: BodyVector) -> Velocity:
        r"""Rate of the coordinates at a body angular velocity, $\dot q = T(q)\,\Omega$."""

    @abc.abstractmethod
    def omega(self, q: Position, v: Velocity) -> BodyVector:
        r"""Body angular velocity of a rate $\dot q$; a part of it across the constraints does not count."""

    @abc.abstractmethod
    def constraint(self, q: Position) -> Multipliers:
        """Internal constraints g(q), zero for a rotation."""

    @abc.abstractmethod
    def project_position(self, q: Position) -> Position:
        """The coordinates of a rotation next to `q`."""

    @abc.abstractmethod
    def refusal(self, form: str, J: Moments) -> str | None:
        """Why these coordinates cannot serve a body with moments `J` in a form of the equations, or None.

        Args:
            form: name of the form, for instance "null_space"; or "regular" for anything that needs the
                inverse of the mass matrix, such as a Hamiltonian with multipliers.
            J: principal moments of inertia. Traced values are not looked at.
        """

    @property
    def singular(self) -> bool:
        """Whether there are rotations that they cannot describe."""
        return False

    def clearance(self, q: Position) -> Scalar:
        """How far `q` is from where the coordinates must not be used any more; infinite if nowhere."""
        return jnp.asarray(jnp.inf)

    def free_rotation(self, q: Position) -> Float[Array, "3 3"]:
        """Matrix of a form without multipliers: a potential of it has no slope along the length of `q`."""
        return self.rotation(q)

    def free_slope(self, q: Position, slope: Force) -> Force:
        """The part of the slope of a potential that is left in `free_rotation`."""
        return slope


class AbstractCoordinates(AbstractOrientation):
    r"""Coordinates q of one rotating body with its kinetic energy and internal constraints.

    With principal moments $J$ and the body angular velocity $\Omega$,

    $$ \dot q = T(q)\,\Omega, \qquad G(q)\,T(q) = 0, \qquad T^T M\,T = \operatorname{diag} J, \qquad G = g_q
    $$

    on the surface $g(q) = 0$. The linear maps of a vector ($T\Omega$, $T^T p$, $M v$, $G v$,
    $G^T\lambda$) are what a class writes down; their matrices follow. Multipliers have one sign everywhere,
    $M\ddot q + G^T\lambda = f$.
    """

    @property
    def bilinear(self) -> bool:
        r"""Whether $T(q)$ is linear in $q$, so that $T(q)^T p$ is bilinear."""
        return True

    @property
    def constant_mass(self) -> bool:
        """Whether the mass matrix does not depend on `q`."""
        return False

    @abc.abstractmethod
    def free_momentum(self, q: Position, p: Momentum) -> BodyVector:
        r"""Body angular momentum $T(q)^T p$.

        The kinetic energy of the constraint-free form is $\tfrac12\sum_k (T^T p)_k^2 / J_k$.
        """

    @abc.abstractmethod
    def momentum(self, q: Position, v: Velocity, J: Moments) -> Momentum:
        r"""Momentum $M(q)\,v$."""

    @abc.abstractmethod
    def velocity_force(self, q: Position, v: Velocity, J: Moments) -> Force:
        r"""Force of inertia quadratic in the velocities.

        $$ c(q, v) = \tfrac12\,\partial_q (v^T M v) - \dot M v, \qquad M\ddot q + G^T\lambda = f + c $$
        """

    @abc.abstractmethod
    def quasi_momentum(self, q: Position, p: Momentum) -> Float[Array, " k"]:
        r"""Momenta $\pi$ in which the kinetic energy is a sum of squares, on the surface $g(q) = 0$.

        $$ \tfrac12\,p^T M(q)^{-1} p = \tfrac12 \sum_k \pi_k^2 / I_k $$

        with the numbers I of `quasi_inertia`. They are bilinear in q and p, or p itself; for Euler angles
        linear in p alone.
        """

    @abc.abstractmethod
    def quasi_inertia(self, J: Moments) -> Float[Array, " k"]:
        """Inertia of each of the quasi-momenta."""

    @abc.abstractmethod
    def constraint_rate(self, q: Position, v: Velocity) -> Multipliers:
        r"""Rate of the constraints, $G(q)\,v$."""

    @abc.abstractmethod
    def constraint_force(self, q: Position, multipliers: Multipliers) -> Force:
        r"""Force of the constraints, $G(q)^T\lambda$."""

    @abc.abstractmethod
    def normal_acceleration(self, q: Position, v: Velocity) -> Velocity:
        r"""An acceleration n that keeps the constraints at a velocity, $G n = -\dot G v$ on the surface."""

    @abc.abstractmethod
    def multipliers(self, q: Position, force: Force) -> Multipliers:
        r"""Multipliers of a constraint force, $\lambda$ with $G^T\lambda = f$."""

    @abc.abstractmethod
    def project_velocity(self, q: Position, v: Velocity) -> Velocity:
        r"""The velocity with $G(q)\,v = 0$ nearest to `v`, at a position on the surface or next to it."""

    @abc.abstractmethod
    def turn(self, q: Position, turn: Float[Array, "4"]) -> Position:
        """Coordinates after a further rotation in the body frame, given as a unit quaternion."""

    def null_space(self, q: Position) -> Float[Array, "n 3"]:
        r"""Matrix $T(q)$, whose columns span the velocities along the surface."""
        return jax.vmap(lambda e: self.velocity(q, e), out_axes=1)(jnp.eye(3))

    def constraint_jacobian(self, q: Position) -> Float[Array, "m n"]:
        r"""Matrix $G(q) = g_q$."""
        return jax.vmap(lambda e: self.constraint_rate(q, e), out_axes=1)(jnp.eye(self.size))

    def mass_matrix(self, q: Position, J: Moments) -> Float[Array, "n n"]:
        r"""Matrix $M(q)$ of the kinetic energy $\tfrac12 v^T M v$."""
        return jax.vmap(lambda e: self.momentum(q, e, J), out_axes=1)(jnp.eye(self.size))

    def tangent_velocity(self, q: Position, p: Momentum, J: Moments) -> Velocity:
        r"""Velocity of a momentum along the surface, $T J^{-1} T^T p$."""
        return self.velocity(q, self.free_momentum(q, p) / J)

    def tangent_response(self, q: Position, force: Force, J: Moments) -> Velocity:
        r"""Acceleration along the surface of a body at rest, $S (S^T M S)^{-1} S^T f$ with $G S = 0$."""
        return self.tangent_velocity(q, force, J)

    def tangent(self, q: Position, u: BodyVector) -> Velocity:
        r"""Rate $S(q)\,u$ along the surface $g = $ const through any `q`; on rotations $S = T$."""
        return self.velocity(q, u)

    def tangent_frame(self, q: Position) -> Float[Array, "3 3"]:
        r"""Matrix $F$ such that R changes by $F\,\hat u$ when `q` moves by $S\,u$."""
        return self.rotation(q)

    def tangent_mobility(self, q: Position, J: Moments) -> Float[Array, "*three 3"]:
        r"""Inverse of $S^T M S$, or its diagonal where it has no more."""
        return 1.0 / J

    def constraint_bend(self, q: Position, v: Velocity) -> Multipliers:
        r"""Part $\dot G v$ of the second rate of the constraints, $\ddot g = G\ddot q + \dot G v$."""
        return jax.jvp(lambda x: self.constraint_rate(x, v), (q,), (v,))[1]

    def acceleration(
        self, q: Position, v: Velocity, J: Moments, force: Force
    ) -> tuple[Velocity, Multipliers]:
        r"""Acceleration and multipliers with the multipliers eliminated in closed form (index 0).

        With $f$ the applied force and $c$ the `velocity_force`, the acceleration has a part n across the
        surface that the constraints give and a part along it that the moments give:

        $$ G n = -\dot G v, \qquad \ddot q = n + S (S^T M S)^{-1} S^T (f + c - M n), \qquad
           G^T\lambda = f + c - M\ddot q, $$

        where the columns of S span the null space of G; on the surface $S = T$ and $S^T M S = J$. No inverse
        of M occurs. On the surface it is the solution of `kkt_acceleration`. Off it n decides what becomes of
        a drift: in directors it is that solution too, since a form that holds on rotations only makes the
        drift grow exponentially; in quaternions n turns it back.

        Args:
            q: position.
            v: velocity.
            J: principal moments of inertia.
            force: applied generalised force.
        """
        total = force + self.velocity_force(q, v, J)
        across = self.normal_acceleration(q, v)
        a = across + self.tangent_response(q, total - self.momentum(q, across, J), J)
        return a, self.multipliers(q, total - self.momentum(q, a, J))

    def kkt_acceleration(
        self, q: Position, v: Velocity, J: Moments, force: Force
    ) -> tuple[Velocity, Multipliers]:
        r"""Acceleration and multipliers from the linear system of index 1, at any position.

        $$ \begin{pmatrix} M & G^T \\ G & 0 \end{pmatrix} \begin{pmatrix} \ddot q \\ \lambda \end{pmatrix}
           = \begin{pmatrix} f + c(q, v) \\ -\dot G v \end{pmatrix} $$

        The arguments are those of `acceleration`.
        """
        M, G = self.mass_matrix(q, J), self.constraint_jacobian(q)
        total = force + self.velocity_force(q, v, J)
        solution = saddle_point(M, G, total, -self.constraint_bend(q, v))
        return solution[: self.size], solution[self.size :]

    def refusal(self, form: str, J: Moments) -> str | None:
        """Nothing is refused but the form that belongs to `Group`."""
        if form == "group":
            return f"{type(self).__name__} has no form 'group'; take pt.coordinates.Group()"
        return None
