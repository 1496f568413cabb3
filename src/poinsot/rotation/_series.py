r"""Functions of the squared angle that stay smooth where the angle vanishes.

The coefficients in the exponential of a rotation and in its tangent maps, such as $\sin\theta / \theta$, are
even in the angle $\theta$, hence smooth functions of $x = \theta^2$, and $x = \xi \cdot \xi$ is smooth in the
rotation vector. Writing them this way leaves no singular point: values and derivatives of every order are
right at zero too.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ._sincos import sincos

# Terms of the series of c_k, enough for k < 10 where it is used.
_TERMS = 18

# Powers of t^2 in arctan(t)/t after three halvings of an angle below pi/2: tan(pi/16)^26 / 27 < 1e-19.
_ARCTAN_TERMS = 12


def _polynomial(coefficients: list[float], x: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """Evaluate a polynomial, constant term first, by Horner's rule."""
    total = jnp.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def stumpff(k: int, x: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    r"""Stumpff function $c_k$ of a squared angle.

    $$ c_k(x) = \sum_{j \ge 0} \frac{(-x)^j}{(k + 2j)!}, \qquad
       c_0 = \cos\theta, \quad c_1 = \frac{\sin\theta}{\theta}, \quad
       c_2 = \frac{1 - \cos\theta}{\theta^2}, \quad c_3 = \frac{\theta - \sin\theta}{\theta^3}, $$

    where $\theta = \sqrt{x}$. The relation $c_k = 1/k! - x\,c_{k+2}$ gives the higher ones away from zero,
    the series near zero, and

    $$ c_k'(x) = \tfrac12 \left( k\,c_{k+2}(x) - c_{k+1}(x) \right) $$

    is the derivative everywhere, so that no derivative is ever taken through the choice between the two.

    Args:
        k: index, zero or more; a Python integer.
        x: squared angle, zero or more.
    """
    if k == 0:
        return sincos(jnp.sqrt(x))[1]
    if k == 1:
        angle = jnp.sqrt(x)
        return jnp.where(x == 0.0, 1.0, sincos(angle)[0] / jnp.where(x == 0.0, 1.0, angle))
    if k == 2:
        # 1 - cos(theta) = 2 sin(theta/2)^2 does not cancel.
        return 0.5 * stumpff(1, 0.25 * x) ** 2
    # Up to here each term of the series is at most half the one before; beyond, the recurrence is safe.
    switch = 0.5 * (k + 1) * (k + 2)
    series = _polynomial([(-1.0) ** j / math.factorial(k + 2 * j) for j in range(_TERMS)], x)
    recurrence = (1.0 / math.factorial(k - 2) - stumpff(k - 2, x)) / jnp.maximum(x, switch)
    return jnp.where(x < switch, series, recurrence)


@stumpff.defjvp
def _stumpff_jvp(k, primals, tangents):
    (x,), (dx,) = primals, tangents
    slope = -0.5 * stumpff(k + 1, x)
    if k > 0:
        slope = slope + 0.5 * k * stumpff(k + 2, x)
    return stumpff(k, x), slope * dx


def inverse_tangent_coefficient(x: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    r"""Coefficient of $\hat\xi^2$ in the inverse tangent maps, as a function of the squared angle.

    $$ e(x) = \frac{1}{x}\left(1 - \frac{\theta}{2}\cot\frac{\theta}{2}\right)
            = \frac{c_2(x/4) - c_3(x/4)}{4\,c_1(x/4)}, \qquad e(0) = \tfrac{1}{12}. $$

    The second form has neither a removable singularity nor cancellation. It is infinite at $\theta = 2\pi$,
    where the exponential map has no local inverse.

    Args:
        x: squared angle, at least 0 and below $4\pi^2$.
    """
    quarter = 0.25 * x
    return (stumpff(2, quarter) - stumpff(3, quarter)) / (4.0 * stumpff(1, quarter))


def angle_over_sine(
    sine_squared: Float[Array, "*batch"], cosine: Float[Array, "*batch"]
) -> Float[Array, "*batch"]:
    r"""Angle in the first quadrant divided by its sine, from the squared sine and the cosine.

    $$ f(s^2, c) = \frac{\operatorname{atan2}(s, c)}{s}, \qquad c \ge 0. $$

    Each replacement of $c$ by $c + \sqrt{s^2 + c^2}$ halves the angle exactly. After three of them the
    tangent $t = s/c$ is below $\tan(\pi/16)$ and the series of $\arctan(t)/t$ in $t^2$ serves the whole
    quadrant, with no branch and nothing to go wrong at $s = 0$. The pair need not be normalised: $f$ is
    homogeneous of degree $-1$ in $(s, c)$.

    Args:
        sine_squared: square of the sine.
        cosine: cosine, zero or more.
    """
    for _ in range(3):
        cosine = cosine + jnp.sqrt(sine_squared + cosine * cosine)
    tangent_squared = sine_squared / (cosine * cosine)
    series = _polynomial([(-1.0) ** j / (2 * j + 1) for j in range(_ARCTAN_TERMS + 1)], tangent_squared)
    return 8.0 * series / cosine
