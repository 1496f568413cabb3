"""How far the scheme of Terze, Müller and Zlatar moves the spatial momentum of a free body, by theory."""

import numpy as np

from poinsot.papers._bodies import BodyRun


def momentum_rate(J: np.ndarray, rotation: np.ndarray, Omega: np.ndarray) -> np.ndarray:
    r"""Leading term of the change of spatial momentum in unit time, over $h^2$.

    With $P_{1/2} = R_0 S$, $S = \big(\hat\Omega + \tfrac h2(\hat\Omega^2 + \hat{\dot\Omega})\big) D$ and
    the turn $E = \exp(h\,\hat\Omega + \tfrac{h^2}2 \hat{\dot\Omega})$, a step ends with the spatial momentum
    $R_0 \operatorname{vee}(S E^T - E S^T)$. In powers of $h$ it is that of the start up to the third, where

    $$ S E^T \ni h^3 X, \qquad X = \hat\Omega D \big(\tfrac14 (\hat\Omega \hat{\dot\Omega} + \hat{\dot\Omega}
       \hat\Omega) - \tfrac16 \hat\Omega^3\big) + \tfrac14 (\hat\Omega^2 + \hat{\dot\Omega}) D
       (\hat\Omega^2 - \hat{\dot\Omega}) , $$

    and $R \operatorname{vee}(X - X^T)$ is returned, for each time.

    Args:
        J: principal moments of inertia.
        rotation: at the times, time first.
        Omega: body angular velocity at the times.
    """
    d = 0.5 * np.sum(J) - J
    W, A = _hat(Omega), _hat(np.cross(J * Omega, Omega) / J)
    X = (W * d) @ (0.25 * (W @ A + A @ W) - W @ W @ W / 6.0) + 0.25 * ((W @ W + A) * d) @ (W @ W - A)
    skew = X - np.swapaxes(X, 1, 2)
    body = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    return np.einsum("tij,tj->ti", rotation, body)


def predicted(J: np.ndarray, run: BodyRun) -> np.ndarray:
    """Change of spatial momentum over the whole of a run as the step goes to zero, over the step squared."""
    rate = momentum_rate(J, run.exact_rotation, run.exact_angular_velocity)
    return np.trapezoid(rate, run.t, axis=0)


def extrapolated(coarse: BodyRun, fine: BodyRun) -> np.ndarray:
    """The same measured, from two runs of which one has half the step: their error is linear in it."""
    double, single = (
        (run.angular_momentum[-1] - run.angular_momentum[0]) / run.h**2 for run in (coarse, fine)
    )
    return 2.0 * single - double


def _hat(vectors: np.ndarray) -> np.ndarray:
    """Skew matrices of vectors."""
    return np.cross(vectors[:, None, :], np.eye(3)).swapaxes(1, 2)
