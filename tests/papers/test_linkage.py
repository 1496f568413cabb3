"""Two bodies with a ball joint, of Lang and of Terze et al., beside equations written by hand."""

import jax.numpy as jnp
import numpy as np
import pytest
from two_bodies_by_hand import Pair, parts

import poinsot as pt
from poinsot.kernels import once
from poinsot.papers.lang2010._linkage import AT_HALF_A_SECOND, described, example
from poinsot.papers.terze2013 import _two_bodies as terze

BY_HAND = Pair((10, 20), [(41.6, 11.6, 50.0)] * 2, [(1, 2, -3), (5, -6, -7)], 1e4)
SPINS = [(3, 2, 1), (24, 15, 12)]


@once
def field(problem, y):
    return problem.vector_field(0.0, y)


def test_the_equations_with_all_constraints_have_the_accelerations_of_those_by_hand():
    """In directors, by equation (58): positions and directors, bodies along the last axis, then rates."""
    _, problem, start = described("absolute, directors")
    rates = np.asarray(field(problem, problem.pack(start)))[24:]
    by_hand = BY_HAND.rates(BY_HAND.start(pt.rotation.to_matrix(example().start.quaternion[0]), SPINS))
    _, R, v, w = (np.asarray(part, dtype=float) for part in parts(np.asarray(by_hand)))
    np.testing.assert_allclose(rates[:6].reshape(3, 2).T, v, rtol=1e-12, atol=1e-9)
    # d/dt of R hat(w) is R' hat(w) + R hat(w').
    turned = np.asarray(pt.rotation.to_matrix(example().start.quaternion))
    spun = [R[i] @ _hat(SPINS[i]) + turned[i] @ _hat(w[i]) for i in range(2)]
    np.testing.assert_allclose(rates[6:].reshape(3, 3, 2).transpose(2, 1, 0), spun, rtol=1e-12, atol=1e-9)


def _hat(w):
    return np.asarray(pt.rotation.hat(jnp.asarray(w, dtype=float)))


@pytest.mark.slow
def test_the_state_at_half_a_second_is_that_of_equations_by_hand():
    half = np.sqrt(np.longdouble(3)) / 2
    R = np.array([[1, 0, 0], [0, 0.5, -half], [0, half, 0.5]], dtype=np.longdouble)
    end = BY_HAND.end(BY_HAND.start(R, SPINS), 0.5, 800)
    # The step is halved for the stored numbers: 2e-7 becomes 5e-12 from 400 steps to 800.
    np.testing.assert_allclose(np.asarray(end, dtype=float), np.ravel(AT_HALF_A_SECOND), atol=2e-11)


@pytest.mark.slow
def test_the_end_of_two_bodies_of_terze_is_that_of_equations_by_hand():
    pair = Pair((terze.MASS, terze.MASS), [terze.J, terze.J], terze.ARMS)
    end = pair.end(pair.start(np.eye(3), terze.SPINS), terze.ORDER_END, 50)
    np.testing.assert_allclose(np.asarray(end, dtype=float), np.ravel(terze.AT_THE_END), atol=1e-14)
