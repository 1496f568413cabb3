"""The numbers of a run: converted before they are checked, refused in one line where they mean nothing."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

PROBLEM = pt.ODE(lambda y: -y)
START = pt.State(y=[1.0])
RK4, DP5 = pt.integrators.RK4(), pt.integrators.DormandPrince5()


def run(**options):
    return pt.simulate(PROBLEM, START, **({"t1": 1.0, "dt": 0.1, "integrator": RK4} | options))


@pytest.mark.parametrize("kind", [jnp.asarray, np.float64, np.asarray, lambda x: jnp.array(x, jnp.float32)])
def test_scalars_of_arrays_are_numbers(kind):
    found = run(t0=kind(0.0), t1=kind(1.0), dt=kind(0.125))
    np.testing.assert_array_equal(found.y, run(dt=0.125).y)
    assert type(found.attributes["dt"]) is float
    loose = {"integrator": DP5, "dt": None}
    np.testing.assert_array_equal(
        run(rtol=kind(2.0**-20), atol=kind(2.0**-20), **loose).y, run(rtol=2.0**-20, atol=2.0**-20, **loose).y
    )


def test_single_precision_keeps_its_value():
    """It used to end at 1000.0000149: the ratio was rounded in single precision."""
    with pytest.raises(pt.InputError, match=r"9999.99985 steps of dt = 0.10000000149.*, or dt = 0.1,"):
        run(t1=1000, dt=np.float32(0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": "0.1"}, "dt = '0.1'; it must be a finite number"),
        ({"dt": True}, "dt = True; it must be a finite number"),
        ({"dt": [0.1]}, r"dt = \[0.1\]; it must be a finite number"),
        ({"dt": np.nan}, "dt = nan; it must be a finite number"),
        ({"t1": 10**400}, "t1 = 1000.* ... .*000; it must be a finite number"),
        ({"t1": 1j}, "t1 = 1j; it must be a finite number"),
        ({"t0": 1e17, "t1": 1e17 + 160, "dt": 1.0}, "dt = 1.0 is too short .* 16 apart; count the time from"),
        ({"t0": -1e308, "t1": 1e308, "dt": 1e305}, "too far from t0"),
        (
            {"integrator": DP5, "dt": None, "rtol": 1e300},
            "rtol = 1e.300; .* must be between 0 and 1",
        ),
        ({"integrator": DP5, "dt": None, "rtol": np.inf}, "rtol = inf; it must be a finite number"),
        ({"integrator": DP5, "dt": None, "atol": 10**400}, "atol = 1.*; it must be a finite number"),
        ({"save_every": 1.5}, "save_every = 1.5; it must be a whole number"),
        ({"save_every": True}, "save_every = True; it must be a whole number"),
        ({"save_every": 10**30}, "save_every = 10*; it must be a whole number from 1 to"),
        ({"save_at": "x" * 10**5}, "save_at = 'xxx.* ... xxx*'; it must be a list or None"),
        ({"save_at": [0.1, None]}, r"save_at = \[0.1, None\]; it must be a list"),
    ],
)
def test_wrong_numbers(options, message):
    with pytest.raises(pt.InputError, match=message) as caught:
        run(**options)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("solver", [pt.integrators.FixedPoint, pt.integrators.SimplifiedNewton])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": np.inf}, "tolerance of .* = inf; it must be a finite number"),
        ({"tolerance": 1e300}, "between 0 and 10000, in units of round-off"),
        ({"tolerance": -1.0}, "between 0 and 10000"),
        (
            {"max_iterations": 2**40},
            "max_iterations of .* = 1099511627776; it must be a whole number from 1 to 1000000",
        ),
        ({"max_iterations": 9999999999999999999999}, "from 1 to 1000000"),
        ({"max_iterations": 0}, "whole number from 1 to"),
        ({"max_iterations": 2.5}, "whole number from 1 to"),
    ],
)
def test_wrong_iterations(solver, options, message):
    with pytest.raises(pt.InputError, match=message):
        solver(**options)


def test_steps_of_solve_are_whole_numbers():
    wrong: Any = (2.5, 0, True, "3")
    for steps in wrong:
        with pytest.raises(pt.InputError, match="steps = .*; it must be a whole number from 1 to"):
            pt.solve(PROBLEM, RK4, START, dt=0.1, steps=steps)
