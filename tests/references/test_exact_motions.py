"""Exact motions of the library beside heyoka, which knows no elliptic function."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from heyoka_top import Case, motion

import poinsot as pt
from long_suite import of_the_long_suite

TIMES = (0.01, 0.1, 0.5, 2.0, 10.0)


def case(example, angles) -> Case:
    """The start of an example for heyoka; `angles` are its 3-1-3 angles in units of pi."""
    (potential,) = example.potentials or (None,)
    mgl = 0.0 if potential is None else float(potential.mgl)
    return Case(tuple(np.asarray(example.inertia)[:, 0]), mgl, angles, tuple(spin(example.start)), TIMES)


def spin(state) -> np.ndarray:
    return np.asarray(state.angular_velocity)[..., 0, :]


def errors(example, angles) -> tuple[float, float]:
    reference, exact = motion(case(example, angles)), example.exact(np.array(TIMES))
    R = np.asarray(pt.rotation.to_matrix(exact.quaternion))[:, 0]
    fastest = np.max(np.abs(spin(example.start)))
    return np.max(np.abs(R - reference.R)), np.max(np.abs(spin(exact) - reference.Omega)) / fastest


EXAMPLES = {
    "fast top": (pt.library.fast_top(), (0, 1 / 6, 0)),
    "fast top, slower": (pt.library.fast_top(spin=16.0), (0, 1 / 6, 0)),
    "fast top, level, backwards": (pt.library.fast_top(theta=np.pi / 2, spin=-25.0), (0, 1 / 2, 0)),
    "regular precession": (pt.library.regular_precession(), (0, 1 / 3, 0)),
    "slow regular precession": (pt.library.regular_precession(precession=-4.0), (0, 1 / 3, 0)),
    "tumbling body": (pt.library.tumbling_body(), (0, 0, 0)),
    "tennis racket": (pt.library.tennis_racket(disturbance=20.0), (1 / 3, 1 / 4, 1 / 2)),
}


@pytest.mark.parametrize("name", of_the_long_suite(list(EXAMPLES), set(EXAMPLES) - {"fast top"}))
def test_exact_motion_is_heyokas(name):
    """To round-off in angles of up to 1400 radians."""
    assert max(errors(*EXAMPLES[name])) < 5e-13


def test_the_motion_of_another_start_is_told_apart():
    example, angles = EXAMPLES["regular precession"]
    faster = pt.library.regular_precession(precession=10.0 * (1.0 + 1e-12))
    other = example.recommending(example.start, example.dt, faster.exact)
    assert max(errors(other, angles)) > 5e-12


@pytest.mark.parametrize("name", EXAMPLES)
def test_exact_velocity_is_the_rate_of_the_exact_position(name):
    example, _ = EXAMPLES[name]
    state, rate = jax.jvp(example.exact, (jnp.asarray(0.37),), (jnp.asarray(1.0),))
    scale = np.max(np.abs(state.velocity)) + 1.0
    np.testing.assert_allclose(rate.position, state.velocity, rtol=0.0, atol=1e-12 * scale)


@pytest.mark.parametrize("name", EXAMPLES)
def test_exact_motion_begins_at_the_start(name):
    example, _ = EXAMPLES[name]
    at_start = example.exact(0.0)
    for label in example.start.names:
        scale = 1.0 + np.max(np.abs(example.start[label]))
        np.testing.assert_allclose(at_start[label], example.start[label], rtol=0.0, atol=1e-15 * scale)
