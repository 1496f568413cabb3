"""Bodies of the library: what heavy_top makes of its numbers, what it refuses, and the registry."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

GYRO = (50.0, 42.0, 10.0)


def test_heavy_top_has_the_given_inertia_about_its_fixed_point():
    top = pt.library.heavy_top(GYRO, 108.8)
    np.testing.assert_allclose(top.inertia[:, 0], GYRO, rtol=1e-15)
    state = top.state(rotation=pt.rotation.about_x(0.3), angular_velocity=(1.0, -2.0, 3.0))
    R = pt.rotation.to_matrix(state.quaternion)
    pose = (state.position, R, state.velocity, state.angular_velocity)
    kinetic = 0.5 * np.sum(np.array(GYRO) * np.array([1.0, 4.0, 9.0]))
    np.testing.assert_allclose(top.kinetic(*pose), kinetic, rtol=1e-14)
    np.testing.assert_allclose(
        top.angular_momentum(*pose), R[0] @ (np.array(GYRO) * np.array([1.0, -2.0, 3.0])), rtol=1e-13
    )


@pytest.mark.parametrize("given", [{"mgl": 109.0, "mass": 4.0}, {"mgl": 109.0, "length": 2.0}])
def test_two_numbers_give_the_third(given):
    top = pt.library.heavy_top(GYRO, **given)
    mass, length = float(top.bodies[0].mass), float(top.state().position[0, 2])
    np.testing.assert_allclose(mass * 9.81 * length, 109.0, rtol=1e-15)
    np.testing.assert_allclose(given.get("mass", mass), mass, rtol=1e-15)
    np.testing.assert_allclose(given.get("length", length), length, rtol=1e-15)
    np.testing.assert_allclose(potential(top), 109.0, rtol=1e-15)


def test_mass_and_length_give_the_weight():
    top = pt.library.heavy_top((0.002, 0.002, 0.0008), mass=1.0, length=0.04, gravity=10.0)
    np.testing.assert_allclose(potential(top), 0.4, rtol=1e-15)


def potential(top) -> float:
    """Energy of the upright top."""
    return float(top.potential(0.0, jnp.zeros((3, 0)), jnp.eye(3)[:, :, None]))


def test_with_mgl_alone_the_body_is_half_as_long_as_it_could_be():
    top = pt.library.heavy_top(GYRO, 109.0, gravity=10.0)
    length = float(top.state().position[0, 2])
    pt.library.heavy_top(GYRO, 109.0, gravity=10.0, length=2.0 * length * (1.0 - 1e-12))
    with pytest.raises(pt.InputError, match="at most"):
        pt.library.heavy_top(GYRO, 109.0, gravity=10.0, length=2.0 * length * (1.0 + 1e-6))


def test_a_negative_weight_hangs_down_and_none_is_balanced():
    assert float(pt.library.heavy_top(GYRO, -109.0).state().position[0, 2]) < 0.0
    balanced = pt.library.heavy_top(GYRO, 0.0)
    assert float(balanced.state().position[0, 2]) == 0.0
    assert potential(balanced) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs mgl, or mass and length"),
        ({"mass": 1.0}, "needs mgl, or mass and length"),
        ({"mgl": 1.0, "mass": 1.0, "length": 1.0}, "leave one of them out"),
        ({"mass": 4.0, "length": 4.0}, "at most"),
        ({"mgl": 1.0, "length": -1.0}, "one sign"),
        ({"mgl": 1.0, "mass": -1.0}, "must be positive"),
        ({"mgl": float("nan")}, "must be finite"),
        ({"mgl": 1.0, "inertia": (1.0, 1.0, 2.5)}, "triangle inequality"),
        ({"mgl": 1.0, "inertia": (1.0, 1.0, 2.0)}, "flat body"),
        ({"mgl": 1.0, "inertia": (1.0, 1.0)}, "three principal moments"),
        ({"mgl": 1.0, "inertia": (1.0, -1.0, 1.0)}, "must be positive"),
    ],
)
def test_impossible_tops_are_refused(arguments, message):
    with pytest.raises(pt.InputError, match=message):
        pt.library.heavy_top(**({"inertia": GYRO} | arguments))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pt.library.fast_top(spin=1.0), "no fast top"),
        (lambda: pt.library.fast_top(theta=0.0), "between 0 and pi"),
        (lambda: pt.library.regular_precession(precession=0.0), "falls"),
        (lambda: pt.library.by_name("gyro-topp"), "did you mean gyro-top"),
        (lambda: pt.library.by_name("gyro-top", spinn=1.0), "did you mean spin"),
    ],
)
def test_impossible_examples_are_refused(make, message):
    with pytest.raises(pt.InputError, match=message):
        make()


def test_gradients_reach_the_moments_and_the_weight():
    def height(J, mgl):
        return pt.library.heavy_top(J, mgl).state().position[0, 2]

    J = jnp.array(GYRO)
    by_moments, by_weight = jax.grad(height, argnums=(0, 1))(J, 109.0)
    length = 0.25 * (J[0] + J[1] - J[2]) * 9.81 / 109.0
    np.testing.assert_allclose(by_moments, 0.25 * 9.81 / 109.0 * np.array([1.0, 1.0, -1.0]), rtol=1e-14)
    np.testing.assert_allclose(by_weight, -length / 109.0, rtol=1e-14)


def test_free_body_keeps_its_moments_and_moves_freely():
    body = pt.library.free_body((0.9144, 1.098, 1.66), mass=2.0)
    assert body.translating == body.rotating == (0,)
    np.testing.assert_array_equal(body.inertia[:, 0], [0.9144, 1.098, 1.66])
    np.testing.assert_array_equal(body.masses, [2.0])


def test_data_of_record():
    """Numbers that the sources print or imply."""
    cone = pt.library.regular_precession()
    np.testing.assert_allclose(cone.start.angular_velocity[0], [0.0, 10 * np.sqrt(0.75), 140.6], rtol=1e-12)
    disc = pt.library.fast_top().bodies[0]
    np.testing.assert_allclose(disc.planar_moments[2], 0.0, atol=1e-18)
    gyro = pt.library.gyro_top()
    np.testing.assert_allclose(gyro.start.quaternion[0], [np.sqrt(0.75), 0.5, 0.0, 0.0], atol=1e-16)
    np.testing.assert_allclose(potential(gyro), 11.09 * 9.81, rtol=1e-15)


def test_systems_by_their_names():
    assert isinstance(pt.library.by_name("heavy_top", inertia=(50, 42, 10), mgl=1.0), pt.System)
    assert pt.library.parameters("tennis_racket")["spin"] == 50.0
    assert pt.library.parameters("free-body") == {"inertia": "required", "mass": 1.0}
    with pytest.raises(
        pt.InputError, match="system 'free-body' needs inertia; its parameters are inertia, mass"
    ):
        pt.library.by_name("free-body", mass=2.0)
