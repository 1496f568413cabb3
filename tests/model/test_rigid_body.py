"""Rigid bodies: principal axes, Euler tensor, particles, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model import RigidBody
from poinsot.rotation import exp

TURN = np.asarray(exp(jnp.array([0.3, -0.8, 0.5])))
MATRIX = TURN @ np.diag([2.0, 3.0, 4.0]) @ TURN.T


def inertia(masses, points):
    """Inertia tensor of particles about the origin, summed one by one."""
    return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True))


def test_three_numbers_need_no_axes():
    body = RigidBody(2.0, (3, 4, 5))
    assert body.axes is None
    np.testing.assert_array_equal(body.inertia_matrix, np.diag([3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(body.planar_moments, [3.0, 2.0, 1.0])


def test_matrix_is_diagonalised_with_a_right_handed_frame():
    body = RigidBody(1.0, MATRIX)
    assert body.axes is not None
    np.testing.assert_allclose(np.sort(body.moments), [2.0, 3.0, 4.0], rtol=1e-14)
    np.testing.assert_allclose(body.axes.T @ body.axes, np.eye(3), atol=1e-14)
    assert np.linalg.det(body.axes) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(body.inertia_matrix, MATRIX, atol=1e-14)


def test_nearly_diagonal_matrix_keeps_its_frame():
    """Axes are ordered by direction, not by size: the largest moment stays the first."""
    small = np.asarray(exp(jnp.array([1e-3, 2e-3, -1e-3])))
    body = RigidBody(1.0, small @ np.diag([4.0, 2.0, 3.0]) @ small.T)
    np.testing.assert_allclose(body.moments, [4.0, 2.0, 3.0], rtol=1e-13)
    assert body.axes is not None
    np.testing.assert_allclose(body.axes, small, atol=1e-12)


def test_diagonal_matrix_is_as_good_as_three_numbers():
    body = RigidBody(1.0, np.diag([4.0, 2.0, 3.0]))
    assert body.axes is None
    np.testing.assert_array_equal(body.moments, [4.0, 2.0, 3.0])


def test_particles():
    """The four particles of a tetrahedron whose moments are known in closed form, shifted and turned."""
    corners = np.array(
        [[0.0, 0, 0], [1, 0, 0], [0.5, np.sqrt(3) / 2, 0], [0.5, np.sqrt(3) / 6, np.sqrt(2 / 3)]]
    )
    masses = np.full(4, 0.25)
    shift = np.array([1.0, -2.0, 3.0])
    body = RigidBody.from_particles(masses, corners @ TURN.T + shift)
    # A regular tetrahedron of edge 1 with corner masses is spherical: sum m |rho|^2 = 3/8, each moment 1/4.
    np.testing.assert_allclose(body.moments, 0.25 * np.ones(3), rtol=1e-13)
    assert body.centre is not None
    np.testing.assert_allclose(body.centre, TURN @ corners.mean(axis=0) + shift, atol=1e-14)
    assert float(body.mass) == 1.0


def test_particles_are_kept_and_make_the_euler_tensor():
    rng = np.random.default_rng(1)
    masses, points = rng.uniform(0.5, 1.5, 7), rng.standard_normal((7, 3))
    body = RigidBody.from_particles(masses, points)
    assert body.particles is not None and body.centre is not None
    rho = np.asarray(body.particles.points)
    np.testing.assert_allclose(rho + np.asarray(body.centre), points, atol=1e-14)
    np.testing.assert_allclose(masses @ rho, np.zeros(3), atol=1e-14)
    np.testing.assert_allclose(body.euler_tensor, (rho.T * masses) @ rho, atol=1e-13)
    np.testing.assert_allclose(body.inertia_matrix, inertia(masses, rho), atol=1e-13)


def test_inertia_about_another_point():
    rng = np.random.default_rng(2)
    masses, points = rng.uniform(0.5, 1.5, 5), rng.standard_normal((5, 3))
    body = RigidBody.from_particles(masses, points)
    pivot = np.array([0.3, -1.0, 2.0])
    arms = points - pivot
    direct = inertia(masses, arms)
    np.testing.assert_allclose(body.inertia_about(pivot - np.asarray(body.centre)), direct, rtol=1e-13)


def test_flat_bodies_are_fine():
    body = RigidBody.from_particles([1, 1, 1], [[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert np.min(np.asarray(body.planar_moments)) == pytest.approx(0.0, abs=1e-15)
    assert np.all(np.asarray(body.moments) > 0)


@pytest.mark.parametrize("matrix", [MATRIX, TURN @ np.diag([4.0, 1.0, 3.5]) @ TURN.T])
def test_diagonalisation_is_differentiable(matrix):
    """Moments and axes of a traced matrix against central differences of eigenvalues and eigenvectors."""
    direction = np.array([[0.1, 0.5, -0.2], [0.5, 0.3, 0.4], [-0.2, 0.4, -0.6]])

    def frame(s):
        body = RigidBody(1.0, jnp.asarray(matrix) + s * jnp.asarray(direction))
        assert body.axes is not None
        return jnp.concatenate([body.moments, body.axes.reshape(-1)])

    slope = jax.jacfwd(frame)(0.0)
    h = 1e-5
    np.testing.assert_allclose(slope, (frame(h) - frame(-h)) / (2 * h), atol=1e-8)
    backward = jax.grad(lambda s: jnp.sum(frame(s) * jnp.arange(12.0)))(0.0)
    assert float(backward) == pytest.approx(float(slope @ np.arange(12.0)), rel=1e-12)


def test_three_traced_numbers_may_be_equal():
    gradient = jax.grad(lambda J: jnp.sum(RigidBody(1.0, J).inertia_matrix * jnp.arange(9.0).reshape(3, 3)))
    np.testing.assert_array_equal(gradient(jnp.ones(3)), [0.0, 4.0, 8.0])


BAD = {
    "triangle": (lambda: RigidBody(1.0, (1, 1, 3)), r"3 > 1 \+ 1.*triangle inequality"),
    "triangle of a matrix": (
        lambda: RigidBody(1.0, TURN @ np.diag([1, 1, 3]) @ TURN.T),
        "triangle inequality",
    ),
    "negative": (lambda: RigidBody(1.0, (1, -1, 1)), r"principal moments \(1, -1, 1\).*positive"),
    "zero": (lambda: RigidBody(1.0, (1, 1, 0)), "all three must be positive"),
    "unsymmetric": (
        lambda: RigidBody(1.0, np.eye(3) + np.eye(3, k=1) * 0.1),
        r"not symmetric \(off by 0\.1",
    ),
    "shape": (lambda: RigidBody(1.0, (1, 1)), r"shape \(2,\).*three principal moments or a 3x3 matrix"),
    "nan": (lambda: RigidBody(1.0, (1, np.nan, 1)), r"inertia of 'body'\[1\] = nan; it must be finite"),
    "words": (lambda: RigidBody(1.0, "round"), "inertia of 'body' = 'round'; it must be numbers"),
    "mass": (lambda: RigidBody(0.0, (1, 1, 1)), "mass of 'body' = 0; it must be positive"),
    "name": (lambda: RigidBody(1.0, (1, 1, 1), name=""), "name = ''"),
    "line": (lambda: RigidBody.from_particles([1, 2, 1], np.outer([0, 1, 3], [1, 2, 3])), "lie on one line"),
    "point": (lambda: RigidBody.from_particles([1.0], [[1, 2, 3]]), "1 particles of 'body' lie on one line"),
    "particle mass": (lambda: RigidBody.from_particles([1, -2, 1], np.eye(3)), r"masses\[1\] of 'body' = -2"),
    "particle shape": (lambda: RigidBody.from_particles([1, 2], np.eye(3)), r"\(2,\) and points \(3, 3\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, line = BAD[case]
    with pytest.raises(pt.InputError, match=line) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_traced_numbers_are_not_checked():
    assert float(jax.jit(lambda J: RigidBody(1.0, J).moments[2])(jnp.array([1.0, 1.0, 3.0]))) == 3.0
