"""The Kepler problem in its plane, with the exact motion as a function of time."""

from functools import partial

import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import Hamiltonian, State, checked
from poinsot.library._parameters import numbers, positive, require

TWO_PI = 6.283185307179586


def kinetic(p) -> Array:
    """Kinetic energy of unit mass; `p` of shape `(2,)`, or `(2, batch)`."""
    return 0.5 * (p[0] * p[0] + p[1] * p[1])


def potential(q, params) -> Array:
    """Energy in the field of the centre."""
    return -params["mu"] * lax.rsqrt(q[0] * q[0] + q[1] * q[1])


def angular_momentum(q, p) -> Array:
    """About the centre."""
    return q[0] * p[1] - q[1] * p[0]


def runge_lenz_x(q, p, params) -> Array:
    """First component of the Laplace-Runge-Lenz vector, which points to the pericentre."""
    return p[1] * angular_momentum(q, p) + q[0] * potential(q, params)


def runge_lenz_y(q, p, params) -> Array:
    """Second component of the Laplace-Runge-Lenz vector."""
    return -p[0] * angular_momentum(q, p) + q[1] * potential(q, params)


INVARIANTS = {
    "angular momentum": angular_momentum,
    "Runge-Lenz x": runge_lenz_x,
    "Runge-Lenz y": runge_lenz_y,
}


def eccentric_anomaly(mean_anomaly, eccentricity) -> Array:
    r"""Solve Kepler's equation $E - e \sin E = M$ to round-off, for $0 \le e < 1$.

    Newton's method from $\min(|M| + e, \pi)$, $M$ brought into $[-\pi, \pi]$. There the left side is convex
    and the start lies beyond the root, so that the iteration falls to it without fail.
    """
    turns = jnp.round(mean_anomaly / TWO_PI)
    reduced = mean_anomaly - TWO_PI * turns
    M, e = jnp.abs(reduced), eccentricity

    def newton(_, E):
        return E - (E - e * jnp.sin(E) - M) / (1.0 - e * jnp.cos(E))

    E = lax.fori_loop(0, 40, newton, jnp.minimum(M + e, 0.5 * TWO_PI))
    return TWO_PI * turns + jnp.copysign(E, reduced)


def motion(t, params) -> State:
    """The exact motion from the pericentre, at time or times `t`, for scalar parameters."""
    e, rate = params["eccentricity"], jnp.sqrt(params["mu"])
    E = eccentric_anomaly(rate * jnp.asarray(t, dtype=float), e)
    flattening = jnp.sqrt(1.0 - e * e)
    cosine, sine = jnp.cos(E), jnp.sin(E)
    speed = rate / (1.0 - e * cosine)
    q = jnp.stack([cosine - e, flattening * sine], axis=-1)
    return State(q=q, p=jnp.stack([-speed * sine, speed * flattening * cosine], axis=-1))


@checked
def kepler(eccentricity: ArrayLike = 0.6, mu: ArrayLike = 1.0) -> Hamiltonian:
    r"""A planet about a fixed centre, on an ellipse of semi-major axis 1, started at its pericentre.

    $$ H = \tfrac12 (p_1^2 + p_2^2) - \frac{\mu}{\sqrt{q_1^2 + q_2^2}}, \qquad
       q(0) = (1 - e,\, 0), \quad p(0) = \Big(0,\, \sqrt{\mu \tfrac{1+e}{1-e}}\Big) $$

    The exact motion is a function of the eccentric anomaly $E$, which Kepler's equation gives from the time:

    $$ E - e \sin E = \sqrt\mu\, t, \qquad q = (\cos E - e,\, \sqrt{1 - e^2}\, \sin E) $$

    with period $2\pi/\sqrt\mu$. (Chaurasia (2012), section 2.3, prints the orbit over the true anomaly and
    calls that angle $t$.) Besides the energy, the angular momentum and the Laplace-Runge-Lenz vector
    $(e\mu, 0)$ are conserved. Arrays of eccentricities give a batch with states of shape `(2, batch)`.

    Args:
        eccentricity: $e$, from 0 (circle) to below 1.
        mu: gravitational parameter $\mu$.
    """
    known = numbers(eccentricity=eccentricity, mu=mu)
    e = known["eccentricity"]
    require((e >= 0.0) & (e < 1.0), f"eccentricity = {eccentricity!r}; it must be at least 0 and below 1")
    positive(mu=known["mu"])
    zero, speed = jnp.zeros_like(e), jnp.sqrt(known["mu"] * (1.0 + e) / (1.0 - e))
    problem = Hamiltonian(
        T=kinetic, V=potential, params={"mu": known["mu"]}, invariants=INVARIANTS, vectorised=True
    )
    return problem.recommending(
        start=State(q=jnp.stack([1.0 - e, zero]), p=jnp.stack([zero, speed])),
        dt=0.05,
        exact=partial(motion, params=known),
        name="kepler",
    )
