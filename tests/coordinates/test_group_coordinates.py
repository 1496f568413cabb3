"""Elements of the rotation group: what a group integrator asks of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from coordinate_cases import TURN, J, hat, matrix, unit_quaternion, vec, vector
from scipy.linalg import expm, polar

from poinsot import coordinates as co
from poinsot import rotation as rn
from quickly import quickly

EPS = np.finfo(float).eps


@pytest.mark.parametrize(("element", "size", "constraints"), [("quaternion", 4, 1), ("matrix", 9, 6)])
def test_element(element, size, constraints):
    group = co.Group(element)
    assert (group.size, group.constraints) == (size, constraints)
    Omega = jnp.asarray(vector(3, 1))

    @quickly
    def facts(quat, turn):
        g = group.from_quaternion(quat)
        rate = group.velocity(g, Omega)
        turned = group.turn(g, turn)
        shift = 1e-3 * jnp.arange(float(size))
        drifted = g + shift
        R_rate = jax.jvp(group.rotation, (g,), (rate,))[1]
        return (
            group.rotation(turned),
            R_rate,
            group.omega(g, rate),
            group.constraint(turned),
            group.constraint(drifted),
            drifted,
            group.project_position(drifted),
        )

    R = matrix(unit_quaternion())
    turn = rn.quat_exp(jnp.asarray(TURN))
    turned, R_rate, omega, kept, broken, drifted, back = facts(jnp.asarray(unit_quaternion()), turn)
    np.testing.assert_allclose(turned, R @ expm(hat(TURN)), atol=8 * EPS)
    np.testing.assert_allclose(R_rate, R @ hat(Omega), atol=20 * EPS)
    np.testing.assert_allclose(omega, Omega, atol=8 * EPS)
    assert np.max(np.abs(kept)) < 8 * EPS < 1e-4 < np.max(np.abs(broken))
    if element == "quaternion":
        expected = np.asarray(drifted) / np.linalg.norm(drifted)
    else:
        expected = vec(polar(np.asarray(drifted).reshape(3, 3).T)[0])
    np.testing.assert_allclose(back, expected, atol=8 * EPS)


def test_group_belongs_to_its_own_form():
    moments = jnp.asarray(J)
    assert co.Group().refusal("group", moments) is None
    assert "null_space" in (co.Group().refusal("null_space", moments) or "")
    for coordinates in (co.Quaternions(), co.Directors(), co.EulerAngles()):
        assert "Group()" in (coordinates.refusal("group", moments) or "")
        assert coordinates.refusal("null_space", moments) is None
