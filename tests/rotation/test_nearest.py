"""Nearest rotation against the singular value decomposition, SciPy and finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from rotation_strategies import EPS, largest_gap, matrices, property_test
from scipy.linalg import polar
from scipy.spatial.transform import Rotation

from poinsot import rotation as rn
from quickly import quickly

nearest = quickly(rn.nearest_rotation)
exp = quickly(rn.exp)


def by_singular_values(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nearest rotation and how far the answer is from being ambiguous."""
    left, sizes, right = np.linalg.svd(matrix)
    sign = np.sign(np.linalg.det(left @ right))
    left[..., :, 2] *= sign[..., None]
    return left @ right, sizes[..., 1] + sign * sizes[..., 2]


@property_test
@given(matrices)
def test_agrees_with_the_singular_value_decomposition(matrix):
    expected, margin = by_singular_values(np.asarray(matrix))
    result = np.asarray(nearest(matrix))
    clear = margin > 1e-3
    gap = np.abs(result - expected).max(axis=(-1, -2))
    assert np.all(gap[clear] < 200 * EPS / margin[clear])
    np.testing.assert_allclose(np.linalg.det(result), 1.0, rtol=20 * EPS)
    assert (
        largest_gap(result @ np.swapaxes(result, -1, -2), np.broadcast_to(np.eye(3), result.shape)) < 20 * EPS
    )


def sample(reflect: bool) -> np.ndarray:
    matrix = np.array([[1.1, -0.2, 0.1], [0.3, 0.9, 0.4], [-0.1, -0.3, 0.7]])
    return matrix * np.array([1.0, 1.0, -1.0 if reflect else 1.0])


def test_agrees_with_scipy():
    matrix = sample(reflect=False)
    np.testing.assert_allclose(nearest(jnp.asarray(matrix)), polar(matrix)[0], atol=8 * EPS)


def test_a_reflection_has_a_nearest_proper_rotation():
    matrix = sample(reflect=True)
    aligned = Rotation.align_vectors(matrix.T, np.eye(3))[0]
    np.testing.assert_allclose(nearest(jnp.asarray(matrix)), aligned.as_matrix(), atol=1e-14)
    assert largest_gap(nearest(jnp.asarray(matrix)), polar(matrix)[0]) > 0.1


def test_a_rotation_is_its_own_nearest_one():
    rot = exp(jnp.array([[0.0, 0.0, 0.0], [0.3, -2.0, 1.0], [np.pi, 0.0, 0.0]]))
    np.testing.assert_allclose(quickly(jax.vmap(rn.nearest_rotation))(rot), rot, atol=8 * EPS)


def test_extraction_and_normalisation_alone_is_not_the_nearest():
    drifted = exp(jnp.array([0.4, 0.5, -0.2])) + 1e-3 * jnp.asarray(sample(reflect=False))
    shortcut = quickly(lambda a: rn.to_matrix(rn.normalise(rn.from_matrix(a))))(drifted)
    best = nearest(drifted)
    assert jnp.linalg.norm(best - drifted) < jnp.linalg.norm(shortcut - drifted)
    assert largest_gap(best, shortcut) > 1e-5


def test_derivatives_at_a_rotation_and_elsewhere():
    direction = jnp.array([[0.2, -0.5, 0.1], [0.7, 0.3, -0.4], [0.6, 0.1, -0.9]])
    first = jax.jit(lambda a, b: jax.jvp(rn.nearest_rotation, (a,), (b,))[1])
    second = quickly(lambda a, b: jax.jvp(lambda a: first(a, b), (a,), (b,))[1])
    step = 1e-5
    for point in (jnp.eye(3), jnp.asarray(sample(reflect=False)), jnp.asarray(sample(reflect=True))):
        ahead, behind = point + step * direction, point - step * direction
        difference = (nearest(ahead) - nearest(behind)) / (2.0 * step)
        np.testing.assert_allclose(first(point, direction), difference, atol=1e-8)
        difference = (first(ahead, direction) - first(behind, direction)) / (2.0 * step)
        np.testing.assert_allclose(second(point, direction), difference, atol=1e-7)


def test_gradient_at_the_identity_is_tangent():
    weight = jnp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])
    gradient = quickly(jax.grad(lambda a: jnp.sum(weight * rn.nearest_rotation(a))))(jnp.eye(3))
    np.testing.assert_allclose(gradient, 0.5 * (weight - weight.T), atol=1e-14)
