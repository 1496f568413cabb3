"""Adaptive solvers in the formulations of Lang's examples, beside motions in quadruple precision."""

from functools import cache

import numpy as np
import pytest
from heyoka_top import stored

import poinsot as pt
from poinsot.analysis import work_precision
from poinsot.coordinates import Directors, EulerAngles, Quaternions
from poinsot.integrators import DormandPrince853, Radau5

pytestmark = pytest.mark.slow

NULL_SPACE = {
    "quaternions": (Quaternions(), "null_space"),
    "directors": (Directors(), "null_space"),
    "Euler angles": (EulerAngles("zxz"), "null_space"),
}
INDEX_0 = {
    "quaternions": (Quaternions(), "index0"),
    "directors": (Directors(constraints="rows"), "index0"),
}


@cache
def error_of_example_a(coordinates, form, tolerance):
    """Distance in (R, Omega) after a minute by DOP853, without projection."""
    top, exact = pt.library.gyro_top(), stored("example A")
    run = pt.simulate(
        top,
        top.start,
        t1=60.0,
        rtol=tolerance,
        atol=tolerance,
        coordinates=coordinates,
        form=form,
        integrator=DormandPrince853(),
        save_every=10**6,
    )
    R, Omega = run.rotation[-1, 0], run.angular_velocity[-1, 0]
    return np.hypot(np.linalg.norm(R - exact.R[1]), np.linalg.norm(Omega - exact.Omega[1]))


@pytest.mark.parametrize("name", ["quaternions", "directors", "Euler angles"])
def test_null_space_after_a_minute(name):
    """3.2e-10, 9.6e-10 and 2.6e-10 were seen; a tolerance a thousand times as coarse is not enough."""
    place = NULL_SPACE[name]
    assert error_of_example_a(*place, 1e-12) < 2e-9
    assert error_of_example_a(*place, 1e-9) > 1e-8


@pytest.mark.parametrize("name", ["quaternions", "directors"])
def test_index_0_after_a_minute(name):
    """3.4e-8 and 8.3e-7 were seen; farther away than the null space by more than an order."""
    place = INDEX_0[name]
    assert 1e-8 < error_of_example_a(*place, 1e-12) < 1e-6
    assert error_of_example_a(*place, 1e-10) > 1e-6


def test_index_1_whose_length_drifts():
    """With g'' = 0 the length of the quaternion drifts and takes the spin with it: 1.1e-5 was seen."""
    assert 1e-6 < error_of_example_a(Quaternions(), "index1", 1e-12) < 2e-5


def advantages(example, t1, kind, solver, tolerances):
    """Right-hand sides of index 0 over those of the null space at equal error, and the other way round."""
    places = {"null": (kind, "null_space"), "index0": (kind, "index0")}
    found = work_precision(
        example, example.start, t1, {"solver": solver}, formulations=places, tolerances=tolerances,
        repeats=1,
    )  # fmt: skip
    assert not found.refused
    return found.advantage("solver", "null", "index0"), found.advantage("solver", "index0", "null")


@pytest.mark.parametrize("solver", [DormandPrince853(), Radau5()], ids=repr)
@pytest.mark.parametrize("kind", [Quaternions(), Directors()], ids=repr)
def test_null_space_beats_index_0_on_example_b(solver, kind):
    racket = pt.library.tennis_racket(disturbance=1e-1)
    ahead, behind = advantages(racket, 0.4, kind, solver, [1e-4, 1e-6, 1e-8, 1e-10])
    assert ahead > 1.2 and behind < 1.0


@pytest.mark.parametrize(
    ("solver", "t1", "tolerances"),
    [(DormandPrince853(), 60.0, [1e-4, 1e-6, 1e-8, 1e-10, 1e-12]), (Radau5(), 60.0, [1e-4, 1e-6, 1e-8])],
    ids=["DOP853", "Radau5"],
)
@pytest.mark.parametrize("kind", [Quaternions(), Directors()], ids=repr)
def test_null_space_beats_index_0_on_example_a(solver, t1, tolerances, kind):
    ahead, behind = advantages(pt.library.gyro_top(), t1, kind, solver, tolerances)
    assert ahead > 1.2 and behind < 1.0
