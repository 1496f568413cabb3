"""What runs of bodies are watched for: momenta, constraints, gaps of joints, users' functions."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from poinsot.core import Packed, each_body, largest

if TYPE_CHECKING:
    from poinsot.equations._formulation import Formulation

PROBES = 16
"""Random signs by which the size of the terms of a sum is found."""


class OfMomenta(eqx.Module):
    """One component of linear and angular momentum, as an invariant of the problem."""

    formulation: "Formulation"
    place: int = eqx.field(static=True)

    def __call__(self, t, *state_and_params) -> Array:
        *state, _ = state_and_params
        return self.formulation.momenta(t, joined(state))[self.place]


class OfMotion(eqx.Module):
    """A user's function of the motion, as an invariant of the problem."""

    formulation: "Formulation"
    name: str = eqx.field(static=True)

    def __call__(self, t, *state_and_params) -> Array:
        *state, _ = state_and_params
        return self.formulation.users_invariants(t, joined(state))[self.name]


class OfConstraints(eqx.Module):
    """The residuals of the internal constraints, or their rates, as an invariant of the problem."""

    formulation: "Formulation"
    rate: bool = eqx.field(static=True)

    def __call__(self, t, *state_and_params) -> Array:
        *state, _ = state_and_params
        return self.formulation.residuals(t, joined(state))[int(self.rate)].reshape(-1)

    @property
    def terms(self) -> Callable[..., Array] | None:
        """How the sizes of the terms of a rate are found; None of residuals and gaps."""
        return self._terms if self.rate else None

    def _terms(self, t, *state_and_params) -> Array:
        """Size of what a rate is the sum of, at a velocity that is as large in all components."""
        *state, _ = state_and_params
        c, c_rate = self.formulation.turning(t, joined(state))
        constraint = each_body(self.formulation.bodies.coordinates.constraint)

        def rates(signs):
            return jax.jvp(constraint, (c,), (largest(c_rate) * signs.reshape(c_rate.shape),))[1].reshape(-1)

        return _mean_size(rates, c_rate.size)


class OfJoints(eqx.Module):
    """What the joints of a system are open by, or their rates, as an invariant of the problem."""

    formulation: "Formulation"
    rate: bool = eqx.field(static=True)

    def __call__(self, t, *state_and_params) -> Array:
        *state, _ = state_and_params
        x, R, velocity, Omega = self._motion(t, joined(state))
        if self.rate:
            return self._rates(t, x, R, jnp.concatenate([velocity.reshape(-1), Omega.reshape(-1)]))
        return self._joints.flat(self._joints.gaps(t, x, R))

    @property
    def terms(self) -> Callable[..., Array] | None:
        """How the sizes of the terms of a rate are found; None of residuals and gaps."""
        return self._terms if self.rate else None

    def _terms(self, t, *state_and_params) -> Array:
        """Size of what a rate is the sum of, at a twist that is as large in all components of a kind."""
        *state, _ = state_and_params
        x, R, velocity, Omega = self._motion(t, joined(state))
        sizes = jnp.concatenate([jnp.full(part.size, largest(part)) for part in (velocity, Omega)])
        driven = self._rates(t, x, R, jnp.zeros_like(sizes))
        return jnp.abs(driven) + _mean_size(
            lambda signs: self._rates(t, x, R, signs * sizes) - driven, sizes.size
        )

    @property
    def _joints(self):
        joints = self.formulation.bodies.joints
        assert joints is not None
        return joints

    def _motion(self, t, y: Packed) -> tuple[Array, Array, Array, Array]:
        bodies = self.formulation.bodies
        q, rate, Omega = self.formulation.rates(t, y)
        x, c = bodies.split(q)
        return x, bodies.rotation(c), bodies.split(rate)[0], Omega

    def _rates(self, t, x: Array, R: Array, twist: Array) -> Array:
        return self._joints.flat(self._joints.rates(t, x, R, twist))


def joined(parts: Sequence[Array]) -> Packed:
    """The packed state of its parts."""
    return jnp.concatenate([part.reshape(-1) for part in parts])


def _mean_size(linear: Callable[[Array], Array], count: int) -> Array:
    """Root mean square of a linear function over random signs: the length of each row of its matrix."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(PROBES, count))
    return jnp.sqrt(jnp.mean(lax.map(linear, jnp.asarray(signs)) ** 2, axis=0))
