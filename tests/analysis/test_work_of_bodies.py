"""Methods and formulations of a body side by side: what a point says, what is left out and why."""

import json
import sys
from typing import Any, cast

import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import InterruptedComparison, work_precision, work_ratio
from poinsot.analysis import _work_runs as runs
from poinsot.coordinates import EulerAngles, Group, Quaternions
from poinsot.integrators import RK4, DormandPrince8, DormandPrince853, LieSplitting, StormerVerlet

pytestmark = pytest.mark.slow

TOP = pt.library.gyro_top()
END = 2.0
DECAY = pt.ODE(lambda y: -y), pt.State(y=[1.0]), 1.0
PLACES = {
    "null": (Quaternions(), "null_space"),
    "absolute": (Quaternions(), "index0"),
    "group": (Group(), "group"),
    "impossible": (EulerAngles("zxz"), "index3"),
}


@pytest.fixture(scope="module")
def found():
    """An adaptive solver, one with fixed steps, and one that takes the group alone."""
    methods = {"dop": DormandPrince853(), "rk4": RK4(), "lie": LieSplitting()}
    return work_precision(
        TOP,
        TOP.start,
        END,
        methods,
        formulations=PLACES,
        tolerances=[1e-5, 1e-8, 1e-17],
        steps=[1600, 3200],
        repeats=1,
    )


def test_errors_fall_with_the_tolerance_and_the_step(found):
    for place in ("null", "absolute"):
        _, error = found.curve("dop", "rhs", place)
        assert error[0] > 300.0 * error[1]
        _, error = found.curve("rk4", "rhs", place)
        assert np.log2(error[0] / error[1]) == pytest.approx(4.0, abs=0.2)
    _, error = found.curve("lie", "steps", "group")
    assert np.log2(error[0] / error[1]) == pytest.approx(2.0, abs=0.1)


def test_a_point_is_what_a_run_says(found):
    """Counts, median step and error of one point, from `pt.simulate`."""
    point = found.of("dop", "null")[1]
    given = {"coordinates": Quaternions(), "form": "null_space", "integrator": DormandPrince853()}
    run = pt.simulate(TOP, TOP.start, t1=END, rtol=1e-8, atol=1e-8, **given)
    counts = (point.rhs, point.jacobians, point.steps, point.rejected)
    assert counts == (run.counts.rhs, 0, run.counts.accepted, run.counts.rejected)
    assert point.h == np.median(run.steps.h) and point.tolerance == 1e-8
    assert 0.0 < point.seconds < 5.0 and point.result == "successful"
    exact = work_precision(
        TOP, TOP.start, END, {"dop": DormandPrince853()}, formulations=PLACES, tolerances=[1e-8],
        repeats=1, reference=run.final,
    )  # fmt: skip
    # The final state has a unit quaternion; the run itself has drifted, to |q|^2 = 1 + 2 g.
    drift = 2.0 * np.sqrt(3.0) * abs(run.constraint[-1, 0, 0])
    assert exact.of("dop", "null")[0].error < 2.0 * drift < 1e-9
    assert exact.reference == "given"
    assert exact.of("dop", "absolute")[0].error > 1e-7


def test_right_hand_sides_of_fixed_steps(found):
    assert found.curve("rk4", "rhs", "null")[0].tolist() == [6400, 12800]
    assert np.all(np.isnan(found.curve("lie", "rhs", "group")[0])), "a splitting has none to count"


def test_what_refuses_is_listed(found):
    reasons = {(one.method, one.formulation): one.reason for one in found.refused}
    assert (
        "no constraints" in reasons["dop", "impossible"] and "no constraints" in reasons["rk4", "impossible"]
    )
    assert "kind 'group'" in reasons["lie", "null"] and "kind 'group'" in reasons["lie", "absolute"]
    assert "below what double precision allows" in reasons["dop", "null"]
    ran = {(point.method, point.formulation) for point in found.points}
    every = {(method, place) for method in ("dop", "rk4", "lie") for place in PLACES}
    assert ran | set(reasons) == every
    assert str(found).count("not run:") == len(found.reasons()) > 0


def test_plain_data_and_picture(found):
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["reference"] == "Taylor series in quadruple precision"
    assert len(data["points"]) == len(found.points) and len(data["refused"]) == len(found.refused)
    figure = found.plot()
    assert len(figure.axes) == 2 * len(found.methods)
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    work, error = found.curve("dop", "rhs", "absolute")
    assert np.array_equal(lines["absolute"].get_xdata(), work)
    assert np.array_equal(lines["absolute"].get_ydata(), error)


def test_without_heyoka(monkeypatch):
    monkeypatch.setitem(sys.modules, "heyoka", None)
    given = {"formulations": {"null": PLACES["null"]}, "tolerances": [1e-10], "repeats": 1}
    with pytest.warns(UserWarning, match=r"Gauss of order 16.*poinsot\[taylor\]"):
        made = work_precision(TOP, TOP.start, END, [DormandPrince853()], **given)
    assert "Gauss" in made.reference and made.points[0].error < 1e-7


def test_a_run_that_fails_is_a_point_of_infinite_error():
    """y' = y^2 from 1 is infinite at t = 1."""
    given = {"tolerances": [1e-6], "repeats": 1, "reference": pt.State(y=[1.0])}
    made = work_precision(pt.ODE(lambda y: y * y), pt.State(y=[1.0]), 2.0, [DormandPrince8()], **given)
    (point,) = made.points
    assert point.error == np.inf and point.result != "successful" and point.rhs
    assert made.to_dict()["points"][0]["error"] is None


def test_patience(monkeypatch):
    """A ladder ends before a run that would take too long, and says so."""
    times = iter([0.0, 1.0, 3.0, 30.0])
    original = runs.Contender._run
    monkeypatch.setattr(
        runs.Contender, "_run", lambda self, rung: runs.replace(original(self, rung), seconds=next(times))
    )
    made = work_precision(
        *DECAY, {"rk4": RK4()}, steps=[10, 20, 40, 80], repeats=1, reference="gauss", patience=8.0
    )
    assert [point.steps for point in made.points] == [10, 20]
    (left_out,) = made.refused
    assert left_out.reason == "not run at 40, 80: 9 s expected, patience = 8 s"


def test_interrupted(monkeypatch):
    original = runs.Contender.point

    def point(self, rung, repeats):
        if self.name == "second":
            raise KeyboardInterrupt
        return original(self, rung, repeats)

    monkeypatch.setattr(runs.Contender, "point", point)
    with pytest.raises(InterruptedComparison) as caught:
        work_precision(*DECAY, {"first": RK4(), "second": RK4()}, steps=[10, 20], repeats=1)
    assert [point.method for point in caught.value.work_precision.points] == ["first", "first"]


def test_names_of_a_list():
    made = work_precision(*DECAY, [RK4(), RK4(), DormandPrince8()], steps=[10], tolerances=[1e-6])
    assert made.methods == ("RK4", "RK4 (2)", "DormandPrince8")
    assert len(made.plot().axes[0].get_lines()) == 3 * 3, "a curve, its lost points and the limit"


def test_ratio_of_made_up_curves():
    """Orders 4 and 4, the other three times as dear; then a curve that reaches what the other never does."""
    work = np.array([10.0, 20.0, 40.0, 80.0])
    curve = work, work**-4.0
    assert work_ratio(curve, (3.0 * work, work**-4.0)) == pytest.approx(3.0)
    assert work_ratio((3.0 * work, work**-4.0), curve) == pytest.approx(1.0 / 3.0)
    assert work_ratio(curve, (work, np.full(4, np.inf))) == pytest.approx(np.sqrt(2.0 * 4.0))
    assert np.isnan(work_ratio(curve, (work, np.full(4, 1e-30))))


def test_wrong_input():
    with pytest.raises(pt.InputError, match="steps: RK4"):
        work_precision(*DECAY, [RK4()])
    with pytest.raises(pt.InputError, match="formulations: only a pt.System"):
        work_precision(*DECAY, [DormandPrince8()], formulations=[(Quaternions(), "index0")])
    with pytest.raises(pt.InputError, match="reference = 'exact'"):
        work_precision(*DECAY, [DormandPrince8()], reference="exact")
    with pytest.raises(pt.InputError, match="must be one of pt.integrators"):
        work_precision(*DECAY, {"mine": cast(Any, 4)})
    made = work_precision(*DECAY, [StormerVerlet()], steps=[10])
    assert made.points == () and "kind" in made.refused[0].reason
