"""Bodies of particles with closed-form moments against sums over their particles."""

from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model import RigidBody, shapes

CASES = {
    "tetrahedron": shapes.tetrahedron(0.37, 1.3),
    "two_rim_disc": shapes.two_rim_disc(0.5, 0.2, particles=10, particle_mass=0.3),
    "triangular disc": shapes.two_rim_disc(0.5, 0.9, particles=6),
    "disc about x": shapes.two_rim_disc(0.5, 0.2, particles=10, particle_mass=0.3, axis=0),
    "disc about y": shapes.two_rim_disc(0.5, 0.2, particles=10, particle_mass=0.3, axis=1),
}


@pytest.mark.parametrize("name", CASES)
def test_mass_centre_and_inertia(name):
    """Made anew of its particles one by one, which keeps them as they are, and the frame."""
    body = CASES[name]
    assert body.particles is not None and body.axes is None
    masses, points = np.asarray(body.particles.masses), np.asarray(body.particles.points)
    total = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True))
    np.testing.assert_allclose(body.inertia_matrix, total, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(masses @ points, np.zeros(3), atol=1e-15)
    assert float(body.mass) == pytest.approx(masses.sum(), rel=1e-14)
    again = RigidBody.from_particles(masses, points)
    assert again.axes is None and again.particles is not None
    np.testing.assert_array_equal(again.particles.points, points)
    np.testing.assert_array_equal(again.centre, np.zeros(3))
    np.testing.assert_array_equal(again.principal_points, points)


def test_tetrahedron_of_the_thesis():
    """Its printed third moment, 5/6, is wrong: the sum gives 7/6."""
    body = shapes.tetrahedron()
    assert float(body.mass) == 4.0
    np.testing.assert_allclose(body.moments, [17 / 12, 5 / 4, 7 / 6], rtol=1e-15)
    np.testing.assert_allclose(body.planar_moments, [1 / 2, 2 / 3, 3 / 4], rtol=1e-15)
    np.testing.assert_array_equal(
        body.principal_points,
        [[-1 / 2, -1 / 3, -1 / 4], [1 / 2, -1 / 3, -1 / 4], [0, 2 / 3, -1 / 4], [0, 0, 3 / 4]],
    )


@pytest.mark.parametrize(("name", "axis"), [("two_rim_disc", 2), ("disc about x", 0), ("disc about y", 1)])
def test_disc_has_two_rims(name, axis):
    """Half of the particles on each face, at the radius, evenly apart, each above another."""
    points = np.asarray(CASES[name].principal_points)
    lower, upper = points[:5], points[5:]
    np.testing.assert_allclose(upper - lower, np.tile(0.2 * np.eye(3)[axis], (5, 1)), atol=1e-16)
    across = np.delete(lower, axis, axis=1)
    np.testing.assert_allclose(np.linalg.norm(across, axis=1), 0.5, rtol=1e-15)
    sides = np.linalg.norm(across - np.roll(across, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, 2 * 0.5 * np.sin(np.pi / 5), rtol=1e-14)


def test_gradient_in_the_size():
    """Of a disc, two moments of which are equal: axes found from a matrix would have no derivative."""

    def size(r):
        body = shapes.two_rim_disc(r, 0.2, 8)
        return jnp.sum(body.moments) + jnp.sum(body.principal_points**2)

    # The moments add up to twice sum m rho², here with m = 1.
    assert float(jax.grad(size)(0.5)) == pytest.approx(3 * 8 * 2 * 0.5, rel=1e-13)


def test_principal_points_of_a_turned_body():
    """In the principal frame the products of inertia vanish, and the moments are those of the body."""
    draw = np.random.default_rng(8)
    masses, points = draw.uniform(0.5, 1.5, 6), draw.standard_normal((6, 3))
    body = RigidBody.from_particles(masses, points)
    rho = np.asarray(body.principal_points)
    second = (rho.T * masses) @ rho
    np.testing.assert_allclose(np.trace(second) * np.eye(3) - second, np.diag(body.moments), atol=1e-13)
    assert body.particles is not None and body.axes is not None
    np.testing.assert_allclose(rho @ np.asarray(body.axes).T, body.particles.points, atol=1e-14)
    assert not np.allclose(rho, body.particles.points, atol=0.1)


def test_small_shifts_are_not_lost():
    """A mass centre near the origin, beyond round-off, is still taken off."""
    corners = np.asarray(shapes.tetrahedron().principal_points) + 1e-12
    body = RigidBody.from_particles(np.ones(4), corners)
    assert body.centre is not None
    np.testing.assert_allclose(body.centre, 1e-12 * np.ones(3), rtol=1e-3)


def test_planar_bodies_are_refused_where_they_have_no_inertia():
    """Four particles in a plane move as quaternions; directors say why they cannot take them."""
    square = RigidBody.from_particles(np.ones(4), [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    np.testing.assert_allclose(square.moments, [2, 2, 4], rtol=1e-15)
    pt.formulate(pt.System(square), pt.coordinates.Quaternions(), "hamiltonian")
    with pytest.raises(pt.InputError, match="the body is flat: its planar moment d3.*take Directors.sigma"):
        pt.formulate(pt.System(square), pt.coordinates.Directors(), "index3")


BAD = {
    "size": (lambda: shapes.tetrahedron(0.0), "a of a tetrahedron = 0; it must be positive"),
    "mass": (
        lambda: shapes.tetrahedron(1.0, -1.0),
        "particle_mass of a tetrahedron = -1; it must be positive",
    ),
    "odd": (
        lambda: shapes.two_rim_disc(1, 1, 7),
        "particles of a two_rim_disc = 7; it must be even, 6 or more",
    ),
    "few": (lambda: shapes.two_rim_disc(1, 1, 4), "particles of a two_rim_disc = 4"),
    "fraction": (
        lambda: shapes.two_rim_disc(1, 1, cast(Any, 6.5)),
        "particles = 6.5; it must be a whole number",
    ),
    "radius": (lambda: shapes.two_rim_disc(-1, 1), "radius of a two_rim_disc = -1; it must be positive"),
    "height": (lambda: shapes.two_rim_disc(1, 0), "height of a two_rim_disc = 0; it must be positive"),
    "axis": (lambda: shapes.two_rim_disc(1, 1, axis=3), "axis of a two_rim_disc = 3; it must be 0, 1 or 2"),
    "no particles": (
        lambda: shapes.sphere(1.0, mass=1.0).principal_points,
        "'sphere' has no particles; make it with RigidBody.from_particles",
    ),
    "line of two": (lambda: RigidBody.from_particles([1, 1], np.eye(3)[:2]), "the 2 particles.*on one line"),
    "nearly a line": (
        lambda: RigidBody.from_particles(np.ones(3), np.outer([1, 2, 3], np.ones(3)) + 1e-9 * np.eye(3)),
        "the 3 particles of 'body' lie on one line.*needs three that do not",
    ),
    "nothing": (lambda: RigidBody.from_particles([], np.zeros((0, 3))), "the 0 particles of 'body'"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
