"""Euler angles in all twelve sequences, against SciPy, autodiff and the formulas of the literature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rotation_strategies import EPS
from scipy.spatial.transform import Rotation

from poinsot import rotation as rn
from quickly import quickly

PROPER = [sequence for sequence in rn.EULER_SEQUENCES if sequence[0] == sequence[2]]


def everything(sequence, angles, rate):
    rot, rot_rate = jax.jvp(lambda a: rn.euler(sequence, a), (angles,), (rate,))
    return {
        "rot": rot,
        "body": rn.vee(jnp.swapaxes(rot, -1, -2) @ rot_rate),
        "quat": rn.euler_quaternion(sequence, angles),
        "back": rn.euler_angles(sequence, rot),
        "rate matrix": rn.euler_rate_matrix(sequence, angles),
        "singularity": rn.euler_singularity(sequence, angles),
    }


def evaluate(sequence, angles):
    """All functions, operation by operation: twelve sequences share those, but no compiled program."""
    rate = np.broadcast_to([0.7, -1.3, 0.4], angles.shape)
    result = everything(sequence, jnp.asarray(angles), jnp.asarray(rate))
    return {name: np.asarray(value) for name, value in result.items()}, rate


def regular_angles(sequence, count=64):
    """Angles inside the range that `euler_angles` returns, some a hair's breadth from its ends."""
    rng = np.random.default_rng(3)
    angles = rng.uniform(-np.pi, np.pi, (count, 3))
    low = 0.0 if sequence in PROPER else -np.pi / 2.0
    angles[:, 1] = low + rng.uniform(0.0, np.pi, count)
    angles[0] = [np.pi - 1e-9, low + 1e-3, 1e-9 - np.pi]
    angles[1] = [1e-12, low + np.pi - 1e-3, -1e-8]
    return angles


def singular_angles(sequence):
    low = 0.0 if sequence in PROPER else -np.pi / 2.0
    angles = np.random.default_rng(4).uniform(-np.pi, np.pi, (64, 3))
    angles[:, 1] = low + np.where(np.arange(64) % 2, 0.0, np.pi)
    angles[:8, 1] += 1e-9
    return angles


def test_there_are_twelve_different_sequences():
    assert len(set(rn.EULER_SEQUENCES)) == 12
    assert all(a != b != c and {a, b, c} <= set("xyz") for a, b, c in rn.EULER_SEQUENCES)


@pytest.mark.parametrize("sequence", rn.EULER_SEQUENCES)
def test_sequence(sequence):
    angles = regular_angles(sequence)
    result, rate = evaluate(sequence, angles)
    oracle = Rotation.from_euler(sequence.upper(), angles)
    np.testing.assert_allclose(result["rot"], oracle.as_matrix(), atol=4 * EPS)
    np.testing.assert_allclose(rn.to_matrix(jnp.asarray(result["quat"])), result["rot"], atol=8 * EPS)
    # The outer angles are worse determined the closer the singularity.
    np.testing.assert_array_less(
        np.abs(result["back"] - angles).max(axis=-1), 20 * EPS / result["singularity"]
    )
    body = np.einsum("nij,nj->ni", result["rate matrix"], rate)
    np.testing.assert_allclose(body, result["body"], atol=10 * EPS)
    np.testing.assert_allclose(
        np.abs(np.linalg.det(result["rate matrix"])), result["singularity"], atol=4 * EPS
    )


@pytest.mark.parametrize("sequence", rn.EULER_SEQUENCES)
def test_angles_at_the_singularity_still_belong_to_the_rotation(sequence):
    result, _ = evaluate(sequence, singular_angles(sequence))
    again, _ = evaluate(sequence, result["back"])
    np.testing.assert_allclose(again["rot"], result["rot"], atol=10 * EPS)
    assert np.all(result["singularity"] < 2e-9)


def test_a_different_sequence_is_a_different_rotation():
    angles = regular_angles("zxz")[2:]
    assert (
        np.abs(evaluate("zxz", angles)[0]["rot"] - evaluate("zyz", angles)[0]["rot"]).max(axis=(1, 2)).min()
        > 1e-2
    )


def test_precession_nutation_spin():
    psi, th, phi = angles = np.array([0.3, 0.8, -1.1])
    dpsi, dth, dphi = rate = np.array([0.5, -0.2, 2.0])
    body = rn.euler_rate_matrix("zyz", jnp.asarray(angles)) @ jnp.asarray(rate)
    expected = [
        dth * np.sin(phi) - dpsi * np.sin(th) * np.cos(phi),
        dth * np.cos(phi) + dpsi * np.sin(th) * np.sin(phi),
        dphi + dpsi * np.cos(th),
    ]
    np.testing.assert_allclose(body, expected, atol=4 * EPS)
    quat = [
        np.cos(th / 2.0) * np.cos((phi + psi) / 2.0),
        np.sin(th / 2.0) * np.sin((phi - psi) / 2.0),
        np.sin(th / 2.0) * np.cos((phi - psi) / 2.0),
        np.cos(th / 2.0) * np.sin((phi + psi) / 2.0),
    ]
    np.testing.assert_allclose(rn.euler_quaternion("zyz", jnp.asarray(angles)), quat, atol=2 * EPS)


@pytest.mark.parametrize("sequence", ["zxz", "xyz"])
def test_near_singularity(sequence):
    singular = np.array([0.0, np.pi, -np.pi] if sequence == "zxz" else [np.pi / 2.0, -np.pi / 2.0])
    for offset, near in ((0.0, True), (0.099, True), (-0.099, True), (0.101, False), (-0.101, False)):
        beta = singular + offset
        angles = jnp.asarray(np.stack([np.full_like(beta, 0.4), beta, np.full_like(beta, -0.2)], axis=-1))
        np.testing.assert_array_equal(rn.near_singularity(sequence, angles, 0.1), near)


def test_derivative_of_the_angles_inverts_the_rate_matrix():
    @quickly
    def there_and_back(angles, body):
        rot = rn.euler("zyz", angles)
        _, rate = jax.jvp(lambda r: rn.euler_angles("zyz", r), (rot,), (rot @ rn.hat(body),))
        return rn.euler_rate_matrix("zyz", angles) @ rate

    body = jnp.array([0.5, -0.2, 2.0])
    np.testing.assert_allclose(there_and_back(jnp.array([0.3, 0.8, -1.1]), body), body, atol=1e-14)


@pytest.mark.parametrize("sequence", ["xxy", "zz", "ZXZ", "abc", ""])
def test_unknown_sequence_names_the_valid_ones(sequence):
    angles = jnp.zeros(3)
    calls = [
        lambda: rn.euler(sequence, angles),
        lambda: rn.euler_quaternion(sequence, angles),
        lambda: rn.euler_angles(sequence, jnp.eye(3)),
        lambda: rn.euler_rate_matrix(sequence, angles),
        lambda: rn.euler_singularity(sequence, angles),
        lambda: rn.near_singularity(sequence, angles, 0.1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"'{sequence}'.*zxz, zyz, xyz"):
            call()
