"""Discrete gradients: the change of a function as a product with the step, and what they are invariant to."""

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import composed_gradient, discrete_gradient

Y0, Y1 = jnp.array([0.3, -0.7, 1.1]), jnp.array([0.5, -0.4, 0.8])


def f(y):
    return jnp.sin(y[0]) * y[1] ** 2 + jnp.exp(0.3 * y[2]) * y[0]


def square(y):
    return jnp.sum(y * y, keepdims=True)


def well(c):
    return jnp.sqrt(1.0 + c[0]) + 0.2 * c[0] ** 2


def test_product_with_the_step_is_the_change():
    slope = discrete_gradient(f, Y0, Y1)
    np.testing.assert_allclose(slope @ (Y1 - Y0), f(Y1) - f(Y0), rtol=1e-14)
    # The gradient at the midpoint does not have this property.
    middle = jax.grad(f)(0.5 * (Y0 + Y1))
    assert abs(middle @ (Y1 - Y0) - (f(Y1) - f(Y0))) > 1e-4


def test_limit_of_a_short_step_is_the_gradient():
    np.testing.assert_allclose(discrete_gradient(f, Y0, Y0), jax.grad(f)(Y0), rtol=1e-15)
    near = discrete_gradient(f, Y0, Y0 + 1e-9)
    np.testing.assert_allclose(near, jax.grad(f)(Y0), rtol=1e-6)


def test_function_of_a_quadratic_invariant_exerts_no_torque():
    slope = composed_gradient(well, square, Y0, Y1)
    change = well(square(Y1)) - well(square(Y0))
    np.testing.assert_allclose(slope @ (Y1 - Y0), change, rtol=1e-14)
    middle = 0.5 * (Y0 + Y1)
    np.testing.assert_allclose(jnp.cross(middle, slope), 0.0, atol=1e-15)
    # The general discrete gradient of the same function does.
    general = discrete_gradient(lambda y: well(square(y)), Y0, Y1)
    assert np.max(np.abs(jnp.cross(middle, general))) > 1e-5


def test_derivatives_are_finite_where_nothing_moves():
    jacobian = jax.jacfwd(lambda y: discrete_gradient(f, Y0, y))(Y0)
    assert np.all(np.isfinite(jacobian))
