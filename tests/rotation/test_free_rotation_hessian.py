"""Second derivatives of the free rotation against differences at 40 digits, also on the separatrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from poinsot.rotation._free_rotation_tangent import _integrals_of_squares
from quickly import quickly
from rotation.free_rotation_cases import CASES, DIRECTION, all_cases, along, joined, limit

WEIGHTS = np.array([0.3, -0.7, 0.2, 0.5, -0.4, 0.6, 0.1])
NAMES = [name for name in CASES if name != "long"]


@pytest.fixture(scope="module")
def forward():
    """Values and second derivatives of all cases along one direction, forward over forward."""
    z = all_cases()
    direction = jnp.broadcast_to(DIRECTION, z.shape)

    def slope(z):
        value, slope = jax.jvp(joined, (z,), (direction,))
        return slope, value

    values, bends = quickly(lambda z: jax.jvp(slope, (z,), (direction,), has_aux=True)[::-1][:2])(z)
    return dict(zip(CASES, zip(np.asarray(values), np.asarray(bends), strict=True), strict=True))


@pytest.fixture(scope="module")
def hessians():
    """Hessians of a weighted sum of turn and momentum, of all cases, forward over reverse."""
    hessian = jax.hessian(lambda z: jnp.asarray(WEIGHTS) @ joined(z))
    return dict(zip(CASES, np.asarray(quickly(jax.vmap(hessian))(all_cases())), strict=True))


@pytest.mark.parametrize("spread", [0.0, 1e-12])
def test_squares_of_a_sphere_move_with_its_moments(spread):
    r"""The integral of $m_1^2$ moves by $(a_3 - a_2)\,h^2 m_1 m_2 m_3$, with inverse moments $a$."""
    inverse, rates = 0.5 + spread * jnp.array([1.0, 0.0, -1.0]), jnp.array([0.3, -0.2, 0.7])
    m, h = jnp.array([0.3, 0.5, -0.7]), jnp.asarray(5.0)
    moved = jax.jvp(lambda a: _integrals_of_squares(a, m, h), (inverse,), (rates,))[1]
    expected = (jnp.roll(rates, 1) - jnp.roll(rates, -1)) * h**2 * jnp.prod(m)
    np.testing.assert_allclose(moved, expected, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_forward_over_forward(forward, name):
    value, bend = forward[name]
    exact = along(name, DIRECTION, value)[1]
    np.testing.assert_allclose(bend, exact, atol=limit(name, exact), rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_hessian(forward, hessians, name):
    """Along three directions, and symmetric."""
    value, hessian = forward[name][0], hessians[name]
    for direction in (DIRECTION, np.roll(DIRECTION, 2), np.roll(DIRECTION, 4)):
        exact = along(name, direction, value)[1]
        bend = direction @ hessian @ direction
        np.testing.assert_allclose(bend, WEIGHTS @ exact, atol=limit(name, exact), rtol=0)
    np.testing.assert_allclose(hessian, hessian.T, atol=limit(name, hessian), rtol=0)
