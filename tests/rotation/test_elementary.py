"""Rotation matrices about given axes."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rotation_strategies import EPS
from scipy.spatial.transform import Rotation

from poinsot import rotation as rn


@pytest.mark.parametrize(
    ("build", "start", "end"),
    [
        (rn.about_x, (0, 1, 0), (0, 0, 1)),
        (rn.about_y, (0, 0, 1), (1, 0, 0)),
        (rn.about_z, (1, 0, 0), (0, 1, 0)),
    ],
)
def test_quarter_turn_follows_the_right_hand(build, start, end):
    np.testing.assert_allclose(np.asarray(build(math.pi / 2.0)) @ np.array(start), end, atol=EPS)


@pytest.mark.parametrize(("build", "letter"), [(rn.about_x, "x"), (rn.about_y, "y"), (rn.about_z, "z")])
def test_batches_agree_with_scipy(build, letter):
    angle = np.linspace(-7.0, 7.0, 12)
    oracle = Rotation.from_euler(letter, angle[:, None])
    np.testing.assert_allclose(build(angle), oracle.as_matrix(), atol=2 * EPS)
    axis = [float(letter == name) for name in "xyz"]
    np.testing.assert_allclose(rn.about_axis(axis, 0.3), build(0.3), atol=2 * EPS)


def test_whole_numbers_are_welcome():
    np.testing.assert_array_equal(rn.about_x(1), rn.about_x(1.0))
    np.testing.assert_array_equal(rn.about_axis((0, 0, 2), 1), rn.about_axis((0.0, 0.0, 2.0), 1.0))
    np.testing.assert_array_equal(rn.euler("zxz", (1, 0, 0)), rn.euler("zxz", (1.0, 0.0, 0.0)))


def test_any_axis_of_any_length():
    axis = np.array([1.0, -2.0, 0.5])
    expected = Rotation.from_rotvec(1.2 * axis / np.linalg.norm(axis)).as_matrix()
    for length in (1.0, 1e-3, 1e6):
        np.testing.assert_allclose(rn.about_axis(jnp.asarray(length * axis), 1.2), expected, atol=4 * EPS)
    np.testing.assert_allclose(jax.jit(rn.about_axis)(jnp.asarray(axis), 1.2), expected, atol=4 * EPS)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (1.0, math.nan, 0.0), (math.inf, 0.0, 0.0)])
def test_axis_without_direction_is_refused(axis):
    with pytest.raises(ValueError, match="axis .* has no direction|axis.* it must be finite"):
        rn.about_axis(axis, 1.0)
