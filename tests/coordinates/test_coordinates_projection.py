"""General projection onto the constraints: against closed forms, and nearest in its own metric."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from coordinate_cases import J, on_surface, vector

from poinsot import coordinates as co
from quickly import quickly

EPS = np.finfo(float).eps
CASES = [co.Quaternions(), co.Directors(), co.Directors(constraints="rows")]


def drifted(coordinates, size: float = 0.01):
    facts = on_surface(coordinates)
    q = facts["q"] + size * vector(coordinates.size, 4)
    v = facts["v"] + 10.0 * size * vector(coordinates.size, 5)
    return jnp.asarray(q), jnp.asarray(v)


def geometric(coordinates):
    return quickly(lambda q, v: co.project(coordinates, q, v))


def physical(coordinates):
    return quickly(lambda q, v: co.project(coordinates, q, v, jnp.asarray(J)))


@pytest.mark.parametrize("coordinates", CASES, ids=repr)
def test_closed_forms_are_the_general_projection(coordinates):
    q, v = drifted(coordinates)
    projected_q, projected_v = geometric(coordinates)(q, v)
    np.testing.assert_allclose(projected_q, coordinates.project_position(q), atol=20 * EPS)
    np.testing.assert_allclose(projected_v, coordinates.project_velocity(projected_q, v), atol=20 * EPS)
    assert np.max(np.abs(projected_q - q)) > 1e-3


@pytest.mark.parametrize("coordinates", [co.Quaternions(sigma=0), CASES[1]], ids=repr)
def test_metric_of_the_mass(coordinates):
    """Stationary: what was moved has no momentum along the surface."""
    q, v = drifted(coordinates)
    new_q, new_v = physical(coordinates)(q, v)
    assert np.max(np.abs(coordinates.constraint(new_q))) < 4 * EPS
    assert np.max(np.abs(coordinates.constraint_rate(new_q, new_v))) < 8 * EPS
    moments = jnp.asarray(J)
    for change in (new_q - q, new_v - v):
        along = coordinates.free_momentum(new_q, coordinates.momentum(new_q, change, moments))
        np.testing.assert_allclose(along, 0.0, atol=20 * EPS)


def test_the_metric_matters_for_directors_and_not_for_quaternions():
    for coordinates, matters in ((CASES[0], False), (CASES[1], True)):
        q, v = drifted(coordinates)
        gap = max(
            np.max(np.abs(a - b))
            for a, b in zip(geometric(coordinates)(q, v), physical(coordinates)(q, v), strict=True)
        )
        assert (gap > 1e-4) == matters


def test_too_far_is_not_answered():
    q, v = jnp.zeros(4), jnp.ones(4)
    assert np.all(np.isnan(geometric(CASES[0])(q, v)[0]))


def test_batches_and_derivatives():
    coordinates = CASES[0]
    q, v = drifted(coordinates)
    both = quickly(jax.vmap(lambda q, v: co.project(coordinates, q, v), in_axes=-1, out_axes=-1))
    stacked_q, stacked_v = both(jnp.stack([q, 1.01 * q], axis=-1), jnp.stack([v, v], axis=-1))
    np.testing.assert_allclose(stacked_q[:, 0], stacked_q[:, 1], atol=4 * EPS)
    np.testing.assert_allclose(stacked_v[:, 0], stacked_v[:, 1], atol=8 * EPS)
    jacobian = quickly(jax.jacrev(lambda q: co.project(coordinates, q, v)[0]))(q)
    unit = q / jnp.linalg.norm(q)
    np.testing.assert_allclose(
        jacobian, (np.eye(4) - np.outer(unit, unit)) / np.linalg.norm(q), atol=50 * EPS
    )
