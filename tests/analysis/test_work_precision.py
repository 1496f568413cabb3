"""The work-precision ladder."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import work_precision
from poinsot.integrators import RK4, DormandPrince5, GaussLegendre, StormerVerlet
from poinsot.integrators.adaptive._jitted import capacity

OSCILLATOR = pt.Hamiltonian(T=lambda p: 0.5 * jnp.sum(p * p), V=lambda q: 0.5 * jnp.sum(q * q))
START = pt.State(q=[1.0], p=[0.0])
WHOLE = pt.State(q=[np.cos(200.0)], p=[-np.sin(200.0)])
EXACT = pt.State(q=[np.cos(2.0)], p=[-np.sin(2.0)])


@pytest.fixture(scope="module")
def ladder():
    methods = {"rk4": RK4(), "gauss4": GaussLegendre(2)}
    return work_precision(
        OSCILLATOR, START, 2.0, methods, steps=[10, 20, 100_000], reference=EXACT, repeats=3
    )


def test_errors_fall_with_the_order(ladder):
    for method in ("rk4", "gauss4"):
        work, error = ladder.curve(method, "steps")
        assert work.tolist() == [10, 20, 100_000]
        assert np.log2(error[0] / error[1]) == pytest.approx(4.0, abs=0.15)


def test_time_is_that_of_running_and_not_of_compiling(ladder):
    seconds, _ = ladder.curve("rk4")
    assert np.all(seconds > 0.0) and seconds[2] > 5.0 * seconds[0]
    assert ladder.compile_seconds["rk4"] > 10.0 * seconds[0]


def test_nor_of_programs_that_only_a_longer_run_needs():
    solver = {"dp5": DormandPrince5()}
    found = work_precision(
        OSCILLATOR, START, 200.0, solver, tolerances=[1e-3, 1e-12], reference=WHOLE, repeats=1
    )
    short, long = found.points
    assert long.steps > capacity(2) > 10 * short.steps, "several batches"
    assert long.seconds < 0.2 * found.compile_seconds["dp5"]


def test_iterations_are_counted(ladder):
    assert np.all(ladder.curve("rk4", "iterations")[0] == 0)
    assert np.all(ladder.curve("gauss4", "iterations")[0] > ladder.curve("gauss4", "steps")[0])


def test_plain_data_and_table(ladder):
    data = json.loads(json.dumps(ladder.to_dict()))
    assert len(data["points"]) == 6 and data["points"][0]["method"] == "rk4"
    assert str(ladder).count("\n") == 6


def test_own_reference_and_own_ladders():
    result = work_precision(
        OSCILLATOR, START, 2.0, {"verlet": StormerVerlet()}, steps={"verlet": [8, 16]}, repeats=1
    )
    _, error = result.curve("verlet")
    assert np.log2(error[0] / error[1]) == pytest.approx(2.0, abs=0.1)


def test_nothing_to_compare():
    with pytest.raises(pt.InputError, match="methods"):
        work_precision(OSCILLATOR, START, 2.0, {}, steps=[10])
