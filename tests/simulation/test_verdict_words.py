"""What verdicts claim: truncation is not round-off, bounded is not small, and some things are said before."""

import io
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation import BodyTrajectory, Verdict
from poinsot.simulation._verdict import ALLOWANCE, EPSILON

TOP = pt.library.gyro_top()
KEPLER = pt.Hamiltonian(
    T=lambda p: 0.5 * p @ p,
    V=lambda q: -1.0 / jnp.sqrt(q @ q),
    invariants={
        "Runge-Lenz": lambda q, p: (
            jnp.stack([p[1], -p[0]]) * (q[0] * p[1] - q[1] * p[0]) - q / jnp.sqrt(q @ q)
        )
    },
)


def _in_euler_angles(dt, steps, **options):
    return pt.simulate(
        TOP,
        TOP.start,
        t1=dt * steps,
        dt=dt,
        coordinates=pt.coordinates.EulerAngles("xyz"),
        integrator="gauss6",
        progress=False,
        **options,
    )


def test_an_error_that_falls_with_the_step_is_not_called_round_off():
    """The momentum in Euler angles that come to within 16 degrees of their singularity; one grows to 8000."""
    rows = {dt: _in_euler_angles(dt, 20_000).report()["L_z"] for dt in (0.02, 0.015, 0.01)}
    sizes = [row.largest_deviation for row in rows.values()]
    np.testing.assert_allclose(sizes[:-1], np.multiply(sizes[1:], [(4 / 3) ** 6, 1.5**6]), rtol=0.1)
    assert all(row.verdict is Verdict.bounded for row in rows.values())


def test_longer_runs_hide_no_truncation():
    """Ten times as many steps, in which an angle grows to 80,000 radians."""
    report = _in_euler_angles(0.02, 200_000, save_every=10).report()
    assert report["energy"].verdict is report["L_z"].verdict is Verdict.bounded


def test_an_error_that_does_not_fall_with_the_step_is_round_off():
    """The control: at a tenth of these steps the same momentum is exact, and half the step is no better."""
    rows = [_in_euler_angles(dt, 20_000).report()["L_z"] for dt in (0.0025, 0.00125)]
    assert all(row.verdict is Verdict.exact for row in rows)
    assert rows[1].largest_deviation > rows[0].largest_deviation / 8.0


def test_what_counts_as_round_off_follows_from_the_sizes_of_the_terms_alone():
    """The walk once more, by differences: each number of each state is moved by a share of itself."""
    run = _in_euler_angles(0.02, 2000)
    assert isinstance(run, BodyTrajectory) and run.formulation is not None
    problem, row = run.formulation.watched(TOP.start, 0.0).problem, run.report()["L_z"]
    states = jnp.concatenate([jnp.asarray(run.q), jnp.asarray(run.p)], axis=1)
    share = 2.0**-20

    @jax.jit
    def changes(y):
        moved = y[None, None] + share * jnp.stack([jnp.diag(y), -jnp.diag(y)])
        values = jax.vmap(jax.vmap(lambda one: problem.conserved(0.0, one)["L_z"]))(moved)
        return (values[0] - values[1]) / (2.0 * share)

    squares = np.sum(np.asarray(jax.lax.map(changes, states)) ** 2, axis=1)
    walk = np.sqrt(np.sum(squares))
    assert row.roundoff == pytest.approx(ALLOWANCE * EPSILON * (100.0 + walk), rel=0.2)


def test_a_vector_that_has_turned_over_is_lost_and_not_bounded():
    """Verlet turns the orbit slowly: after half a turn its Runge-Lenz vector points the other way."""
    start = pt.State(q=[0.4, 0.0], p=[0.0, 2.0])
    run = pt.simulate(KEPLER, start, t1=1500.0, dt=0.05, integrator=pt.integrators.StormerVerlet())
    row = run.report()["Runge-Lenz"]
    assert row.relative_deviation > 1.5
    assert row.verdict is Verdict.lost
    assert run.report()["energy"].verdict is Verdict.bounded


def test_bounded_says_by_how_much_where_that_is_not_small():
    def cells(dt):
        start = pt.State(q=[0.4, 0.0], p=[0.0, 2.0])
        run = pt.simulate(KEPLER, start, t1=300.0, dt=dt, integrator=pt.integrators.StormerVerlet())
        row = run.report()["energy"]
        assert row.verdict is Verdict.bounded
        return row.cells

    coarse, fine = cells(0.15), cells(0.005)
    share = float(coarse[3])
    assert 0.05 < share < 0.5
    assert coarse[-1] == f"bounded, moves by {100.0 * share:.2g} % of its size"
    assert fine[-1] == "bounded"


@pytest.mark.parametrize("steps", [5, 100])
def test_energy_that_has_grown_a_million_times_is_never_too_short_to_tell(steps):
    """A hinge with a spring that the step cannot carry; as a function, since a `JointSpring` is refused."""
    rod = pt.RigidBody(mass=1.0, inertia=(0.001, 1 / 12, 1 / 12), name="rod")
    ends = {"at_first": (0, 0, 0), "at_second": (-0.5, 0, 0)}
    pin = pt.joints.Revolute("ground", "rod", **ends, axis=(0, 0, 1), name="pin")

    def spring(x, R):
        return 0.5e9 * jnp.arctan2(R[0, 1, 0], R[0, 0, 0]) ** 2

    system = pt.System([rod], joints=[pin], potentials=[spring])
    start = system.assemble(system.state(position=[(0.5, 0, 0)]), coordinates={"pin": 0.5})
    run = pt.simulate(
        system, start, t1=0.01 * steps, dt=0.01, coordinates="joint", form="recursive", integrator="rk4"
    )
    report = run.report()
    assert report["energy"].verdict is Verdict.lost
    assert any(text.startswith("energy has changed by") for text in report.alarms)


@pytest.mark.parametrize("dt", [10.0, 1000.0])
def test_a_top_at_a_step_of_many_turns_is_lost(dt):
    top = pt.library.heavy_top(inertia=(1.0, 1.2, 0.5), mgl=1.0)
    start = top.state(rotation=(0.8, 0.6, 0.0, 0.0), angular_velocity=(0.0, 0.1, 5.0))
    report = pt.simulate(top, start, t1=200 * dt, dt=dt, integrator="lie-splitting").report()
    assert report["energy"].verdict is Verdict.lost and len(report.alarms) == 2


FREE = pt.System(pt.RigidBody(1.0, (1.0, 2.0, 2.5), name="brick"))


def _free(w, dt, integrator="lie-midpoint", **options):
    start = FREE.state(angular_velocity=w)
    return pt.simulate(FREE, start, t1=100 * dt, dt=dt, integrator=integrator, **options)


@pytest.mark.parametrize("w", [(1e3, 1.0, 1.0), (1e6, 1.0, 1e6)])
@pytest.mark.parametrize("integrator", ["lie-splitting", "lie-midpoint"])
def test_more_than_half_a_turn_in_a_step_is_said_before_any_verdict(w, integrator, tmp_path):
    """The midpoint rule keeps the energy to round-off and has the attitude wrong by more than a radian."""
    run = _free(w, 0.01, integrator)
    report = run.report()
    angle, least = f"{0.01 * np.linalg.norm(w):.2g}", f"{np.pi / np.linalg.norm(w):.2g}"
    assert report.alarms[0].startswith(f"brick turns by {angle} rad in the step from t = 0")
    assert report.alarms[0].endswith(f"take dt below {least}")
    text = str(report)
    assert (
        text.index(report.alarms[0])
        < text.index("largest deviation")
        < text.index("None of this is accuracy")
    )
    assert json.loads(json.dumps(report.to_dict()))["alarms"] == list(report.alarms)
    run.save(tmp_path / "run.zarr")
    assert pt.load(tmp_path / "run.zarr").report().alarms == report.alarms


def test_less_than_half_a_turn_in_a_step_is_not_spoken_of():
    """The control, on both sides of the bound."""
    assert _free((1e3, 1.0, 1.0), 0.00315).report().alarms
    assert not _free((1e3, 1.0, 1.0), 0.0031).report().alarms


def test_turns_of_an_adaptive_run_are_those_of_its_steps():
    """About its axis of symmetry, a solver with loose tolerances turns a body far in a step."""
    ball = pt.System(pt.RigidBody(1.0, (1.0, 1.0, 0.5)))
    start = ball.state(angular_velocity=(0.0, 0.0, 10.0))

    def alarms(rtol):
        solver = pt.integrators.DormandPrince853()
        run = pt.simulate(ball, start, t1=10.0, rtol=rtol, atol=rtol, integrator=solver)
        assert (10.0 * np.max(run.steps.h) > np.pi) == (rtol > 1e-6)
        return run.report().alarms

    (alarm,) = alarms(1e-3)
    assert "body turns by 3.2 rad in the step from" in alarm and "tolerances" in alarm
    assert not alarms(1e-12)


def test_the_coloured_report_has_what_comes_before_the_verdicts():
    from rich.console import Console

    screen = io.StringIO()
    Console(width=200, file=screen).print(_free((1e3, 1.0, 1.0), 0.01).report())
    text = screen.getvalue()
    assert text.count("brick turns by 10 rad") == text.count("None of this is accuracy") == 1
