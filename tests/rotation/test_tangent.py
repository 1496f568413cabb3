"""Tangent maps: which one is body and which is space, by differentiating the exponential."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from rotation_strategies import BATCH, EPS, apply, largest_gap, property_test, rotation_vectors, vectors

from poinsot import rotation as rn
from quickly import quickly


@quickly
def velocities(xi, rate):
    """Body and space angular velocity and quaternion rate, by autodiff and by the maps."""
    rot, rot_rate = jax.jvp(rn.exp, (xi,), (rate,))
    transpose = jnp.swapaxes(rot, -1, -2)
    _, quat_rate = jax.jvp(rn.quat_exp, (xi,), (rate,))
    return {
        "body": (rn.vee(transpose @ rot_rate), apply(rn.Tr(xi), rate)),
        "space": (rn.vee(rot_rate @ transpose), apply(rn.Tl(xi), rate)),
        "quaternion": (quat_rate, apply(rn.quat_tangent(xi), rate)),
        "quaternion back": (rate, apply(rn.quat_tangent_inverse(xi), quat_rate)),
    }


@property_test
@given(rotation_vectors(1.9 * np.pi), vectors)
def test_maps_give_the_derivative_of_the_exponential(xi, rate):
    for name, (derivative, mapped) in velocities(xi, rate).items():
        assert largest_gap(derivative, mapped) < 1e-12, name


def test_the_two_maps_are_not_interchangeable():
    pairs = velocities(jnp.full((BATCH, 3), 0.5), jnp.tile(jnp.array([1.0, 0.2, 0.4]), (BATCH, 1)))
    assert largest_gap(pairs["body"][0], pairs["space"][1]) > 0.1


@quickly
def inverses(xi):
    unit = jnp.broadcast_to(jnp.eye(3), (*xi.shape, 3))
    return {
        "left": rn.Tl(xi) @ rn.Tl_inverse(xi) - unit,
        "right": rn.Tr_inverse(xi) @ rn.Tr(xi) - unit,
        "quaternion": rn.quat_tangent_inverse(xi) @ rn.quat_tangent(xi) - unit,
        "kernel": jnp.einsum("nij,nj->ni", rn.quat_tangent_inverse(xi), rn.quat_exp(xi)),
        "right is left transposed": rn.Tr(xi) - jnp.swapaxes(rn.Tl(xi), -1, -2),
        "space is rotated body": rn.Tl(xi) - rn.exp(xi) @ rn.Tr(xi),
    }


@property_test
@given(rotation_vectors(1.9 * np.pi))
def test_inverses_and_relations(xi):
    for name, defect in inverses(xi).items():
        assert largest_gap(defect, 0.0) < 1e-13, name


def test_derivatives_at_zero():
    def both(xi):
        return jnp.stack([rn.Tl(xi), rn.Tl_inverse(xi)])

    first = jax.jacfwd(both)
    values, slopes, curvatures = quickly(lambda xi: (both(xi), first(xi), jax.jacfwd(first)(xi)))(
        jnp.zeros(3)
    )
    basis = np.asarray(rn.hat(jnp.eye(3)))
    for n, (linear, square) in enumerate([(0.5, 1.0 / 6.0), (-0.5, 1.0 / 12.0)]):
        np.testing.assert_array_equal(values[n], np.eye(3))
        for i, j in itertools.product(range(3), repeat=2):
            np.testing.assert_allclose(slopes[n, ..., i], linear * basis[i], atol=EPS)
            expected = square * (basis[i] @ basis[j] + basis[j] @ basis[i])
            np.testing.assert_allclose(curvatures[n, ..., i, j], expected, atol=EPS)


def test_reverse_mode_at_zero():
    gradient = quickly(jax.grad(lambda xi: rn.Tr_inverse(xi)[0, 1]))(jnp.zeros(3))
    np.testing.assert_allclose(gradient, [0.0, 0.0, -0.5], atol=EPS)
