"""Solids against Gauss quadrature of their mass, which is exact for these polynomials."""

import math

import jax
import numpy as np
import pytest

import poinsot as pt
from poinsot.model import RigidBody, shapes

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
TURN = (2 * math.pi * (np.arange(8) + 0.5) / 8, np.full(8, 2 * math.pi / 8))


def line(a, b):
    """Gauss nodes and weights between a and b."""
    return 0.5 * (a + b) + 0.5 * (b - a) * NODES, 0.5 * (b - a) * WEIGHTS


def cloud(*axes, place, element):
    """Particles of density 1 at the nodes of a product rule with the given volume element."""
    grid = np.meshgrid(*(nodes for nodes, _ in axes), indexing="ij")
    weight = np.prod(np.meshgrid(*(weights for _, weights in axes), indexing="ij"), axis=0)
    points = np.stack([np.broadcast_to(part, weight.shape) for part in place(*grid)], axis=-1)
    return RigidBody.from_particles((weight * element(*grid)).reshape(-1), points.reshape(-1, 3))


def turned_solid(radius, bottom, top):
    """A solid of revolution about the third axis, with the radius a function of height."""
    return cloud(
        line(0.0, 1.0),
        TURN,
        line(bottom, top),
        place=lambda s, a, z: (s * radius(z) * np.cos(a), s * radius(z) * np.sin(a), z),
        element=lambda s, a, z: s * radius(z) ** 2,
    )


def ellipsoid_cloud(a, b, c):
    """An ellipsoid in stretched spherical coordinates, u the cosine of the polar angle."""
    return cloud(
        line(0.0, 1.0),
        line(-1.0, 1.0),
        TURN,
        place=lambda s, u, w: (
            a * s * np.sqrt(1 - u * u) * np.cos(w),
            b * s * np.sqrt(1 - u * u) * np.sin(w),
            c * s * u,
        ),
        element=lambda s, u, w: a * b * c * s * s,
    )


def box_cloud(a, b, c):
    return cloud(
        line(0.0, a),
        line(0.0, b),
        line(0.0, c),
        place=lambda x, y, z: (x, y, z),
        element=lambda x, y, z: np.ones_like(x),
    )


def disc_cloud(r):
    return cloud(
        line(0.0, r), TURN, place=lambda s, a: (s * np.cos(a), s * np.sin(a), 0.0), element=lambda s, a: s
    )


CASES = {
    "box": (shapes.box((1.0, 2.0, 3.0), density=1.0), box_cloud(1.0, 2.0, 3.0)),
    "cylinder": (shapes.cylinder(0.5, 2.0, density=1.0), turned_solid(lambda z: 0.5 + 0.0 * z, 0.0, 2.0)),
    "cone": (shapes.cone(0.5, 2.0, density=1.0), turned_solid(lambda z: 0.25 * z, 0.0, 2.0)),
    "ellipsoid": (shapes.ellipsoid((1.0, 2.0, 3.0), density=1.0), ellipsoid_cloud(1.0, 2.0, 3.0)),
    "sphere": (shapes.sphere(1.5, density=1.0), ellipsoid_cloud(1.5, 1.5, 1.5)),
    "disc": (shapes.disc(1.5, density=1.0), disc_cloud(1.5)),
}


@pytest.mark.parametrize("case", CASES)
def test_mass_and_inertia(case):
    body, particles = CASES[case]
    np.testing.assert_allclose(body.mass, particles.mass, rtol=1e-13)
    np.testing.assert_allclose(body.inertia_matrix, particles.inertia_matrix, rtol=1e-12, atol=1e-12)
    assert body.name == case


def test_the_comparison_tells_solids_apart():
    """Negative control: a cylinder is not a box of the same mass and size."""
    cylinder, box = CASES["cylinder"][0], shapes.box((1.0, 1.0, 2.0), mass=CASES["cylinder"][0].mass)
    assert not np.allclose(cylinder.moments, box.moments, rtol=1e-2)


def test_tip_of_a_cone():
    """The cloud has its tip at the origin: the tip is where the mass centre is not, seen from there."""
    _, particles = CASES["cone"]
    assert particles.centre is not None
    np.testing.assert_allclose(shapes.cone_tip(2.0), -np.asarray(particles.centre), atol=1e-14)


def test_mass_and_density_agree():
    by_density = shapes.cone(0.3, 0.7, density=2.5)
    by_mass = shapes.cone(0.3, 0.7, mass=2.5 * math.pi * 0.3**2 * 0.7 / 3)
    np.testing.assert_allclose(by_density.moments, by_mass.moments, rtol=1e-15)


def test_disc_is_flat_and_no_other():
    assert float(CASES["disc"][0].planar_moments[2]) == 0.0
    others = [body for name, (body, _) in CASES.items() if name != "disc"]
    assert all(np.all(np.asarray(body.planar_moments) > 0) for body in others)


def test_gradient_in_a_length():
    slope = jax.grad(lambda r: shapes.sphere(r, density=3.0).moments[0])(1.2)
    assert float(slope) == pytest.approx(5 * 8 / 15 * math.pi * 3.0 * 1.2**4, rel=1e-13)


BAD = {
    "neither": (lambda: shapes.box((1, 1, 1)), "'box' has neither mass nor density"),
    "both": (lambda: shapes.sphere(1.0, mass=1, density=1), "'sphere' has both mass and density; give one"),
    "flat box": (
        lambda: shapes.box((1, 1, 0), mass=1),
        r"box = \(1, 1, 0\); all three must be positive",
    ),
    "radius": (lambda: shapes.disc(-1.0, mass=1), "radius of a disc = -1; it must be positive"),
    "two edges": (
        lambda: shapes.box((1, 1), mass=1),
        r"box has shape \(2,\); it must be 3 numbers",
    ),
    "density": (lambda: shapes.cone(1, 1, density=0), "density of 'cone' = 0; it must be positive"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text):
        make()
