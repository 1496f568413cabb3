"""Verdicts of the conservation report on cases whose answer is known beforehand."""

import io
import json

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import poinsot as pt
from poinsot.integrators import FixedPoint
from poinsot.simulation import Report, Scale, Verdict
from poinsot.simulation._pace import Pace, oscillations
from poinsot.simulation._verdict import EPSILON, judge

PERIOD = 2.0 * np.pi
EXACT, BOUNDED, DRIFTING, LOST, SHORT = (
    getattr(Verdict, name) for name in ("exact", "bounded", "drifting", "lost", "short")
)

KEPLER = pt.Hamiltonian(
    T=lambda p: 0.5 * p @ p,
    V=lambda q: -1.0 / jnp.sqrt(q @ q),
    invariants={"angular momentum": lambda q, p: q[0] * p[1] - q[1] * p[0]},
)
PENDULUM = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: -jnp.cos(q[0]))


def _kepler(*given, **options):
    report = _kepler_report(*given, **options)
    return report["energy"].verdict, report["angular momentum"].verdict


def _kepler_report(name, e, periods, steps_per_period, **options):
    start = pt.State(q=[1.0 - e, 0.0], p=[0.0, np.sqrt((1.0 + e) / (1.0 - e))])
    integrator = pt.integrators.by_name(name) if isinstance(name, str) else name
    run = pt.simulate(
        KEPLER, start, t1=periods * PERIOD, dt=PERIOD / steps_per_period, integrator=integrator, **options
    )
    return run.report()


def _pendulum(name, t1, dt=0.1):
    start = pt.State(q=[2.0], p=[0.0])
    return pt.simulate(PENDULUM, start, t1=t1, dt=dt, integrator=pt.integrators.by_name(name))


@pytest.mark.parametrize(
    ("name", "e", "periods", "steps", "energy", "momentum"),
    [
        ("rk4", 0.2, 100, 100, DRIFTING, DRIFTING),
        ("rk4", 0.6, 100, 400, DRIFTING, DRIFTING),
        ("rk4", 0.6, 10, 400, DRIFTING, DRIFTING),
        ("heun", 0.6, 100, 400, DRIFTING, DRIFTING),
        ("radau5", 0.6, 10, 400, DRIFTING, DRIFTING),
        ("explicit-euler", 0.2, 100, 100, DRIFTING, LOST),
        # It escapes, and its energy then stands still far from where it began.
        ("explicit-euler", 0.6, 100, 400, LOST, DRIFTING),
        ("verlet", 0.2, 100, 100, BOUNDED, EXACT),
        ("verlet", 0.6, 100, 400, BOUNDED, EXACT),
        ("verlet", 0.6, 3, 400, BOUNDED, EXACT),
        ("symplectic-euler-a", 0.6, 3, 400, BOUNDED, EXACT),
        ("gauss4", 0.6, 100, 200, BOUNDED, EXACT),
        ("lobatto-iiia4", 0.6, 100, 200, BOUNDED, BOUNDED),
    ],
)
def test_kepler(name, e, periods, steps, energy, momentum):
    assert _kepler(name, e, periods, steps) == (energy, momentum)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("rk4", DRIFTING),
        ("explicit-euler", LOST),
        ("implicit-euler", LOST),
        ("verlet", BOUNDED),
        ("gauss4", BOUNDED),
    ],
)
def test_pendulum(name, verdict):
    assert _pendulum(name, 200.0).report()["energy"].verdict is verdict


def test_energy_that_has_decayed_to_nothing_is_lost_and_not_bounded():
    """After 1000 time units implicit Euler stands still: nearly all windows are equal."""
    assert _pendulum("implicit-euler", 1000.0).report()["energy"].verdict is LOST


def test_compensated_gauss_at_a_small_step_is_exact_in_energy_too():
    gauss = pt.integrators.GaussLegendre(6, compensated=True, solver=FixedPoint(tolerance=0.0))
    assert _kepler(gauss, 0.6, 40, 256) == (EXACT, EXACT)


@pytest.mark.parametrize("name", ["verlet", "rk4", "gauss4"])
def test_less_than_two_oscillations_are_not_judged(name):
    """Over a third of a period the energy error of Verlet looks just like a drift."""
    assert _pendulum(name, 4.0).report()["energy"].verdict is SHORT


def test_three_states_are_not_judged():
    report = _pendulum("verlet", 0.2).report()
    assert report["energy"].verdict is SHORT
    assert np.isnan(report["energy"].drift)
    assert "too short to tell" in str(report)


def test_where_drift_hides_in_the_spikes_of_few_periods_it_is_not_called_bounded():
    """Three steps down, one at each perihelion, are not yet a trend."""
    assert _kepler("rk4", 0.6, 3, 400) == (SHORT, SHORT)


@pytest.mark.parametrize("t1", [500.0, 5000.0])
@pytest.mark.parametrize("name", ["rk4", "verlet"])
def test_a_run_that_flies_apart_is_never_too_short_to_tell(name, t1):
    """Eleven states, or a hundred; the energy is off by hundreds of percent from the first step on."""
    run = pt.simulate(
        KEPLER, pt.State(q=[0.4, 0.0], p=[0.0, 2.0]), t1=t1, dt=50.0, integrator=pt.integrators.by_name(name)
    )
    row = run.report()["energy"]
    assert row.verdict is LOST and row.relative_deviation > 4.0
    if t1 < 1000.0:
        assert np.isnan(row.drift) and row.cells[4] == "-"


def test_a_constant_added_to_the_energy_hides_no_drift():
    def energy(constant):
        raised = pt.Hamiltonian(T=lambda p: 0.5 * p @ p + constant, V=lambda q: -1.0 / jnp.sqrt(q @ q))
        start = pt.State(q=[0.4, 0.0], p=[0.0, 2.0])
        return pt.simulate(raised, start, t1=200.0, dt=0.01, integrator=pt.integrators.RK4()).report()[
            "energy"
        ]

    plain, raised = energy(0.0), energy(1e6)
    assert plain.verdict is raised.verdict is DRIFTING
    assert raised.drift == pytest.approx(plain.drift, rel=1e-3)
    # What the constant's own round-off hides is said: no smaller change could be seen.
    assert plain.roundoff < 1e-11 and 1e-9 < raised.roundoff < 1e-8


def test_components_of_a_momentum_are_judged_as_a_vector_and_a_still_one_has_no_drift():
    """A satellite in the plane of x and y: L_z is 4e11 times what L_x would be by itself."""
    satellite = pt.System(
        pt.RigidBody(200.0, (10.0, 20.0, 25.0)), potentials=[pt.potentials.GravityGradient(4e14)]
    )
    start = satellite.state(
        position=(7e6, 0.0, 0.0), velocity=(0.0, 7559.0, 1e-3), angular_velocity=(1e-3, 0.0, 1e-3)
    )
    run = pt.simulate(
        satellite,
        start,
        t1=40_000.0,
        dt=10.0,
        coordinates=pt.coordinates.Group(),
        integrator=pt.integrators.LieSplitting(),
    )
    report = run.report()
    momenta = [report[name] for name in ("L_x", "L_y", "L_z")]
    assert all(row.verdict is EXACT for row in momenta)
    assert len({run.scales[row.name] for row in momenta}) == 1
    for row in momenta:
        assert row.resolution <= 2.0 * row.largest_deviation / 40_000.0 * 2.0
    assert f"up to {momenta[0].roundoff:.0e} in L_x, L_y, L_z" in str(report)


def test_round_off_of_strong_forces_that_cancel_is_round_off():
    """Five points at rest, each pulled by four springs with forces of hundreds, and moving by 1e-9."""
    drawn = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 5))
    lengths = jnp.asarray(drawn - drawn.T)
    pulled = pt.Hamiltonian(
        T=lambda p: 0.5 * p @ p,
        V=lambda q: 250.0 * jnp.sum((q[None, :] - q[:, None] - lengths) ** 2),
        invariants={"momentum": lambda q, p: jnp.sum(p)},
    )
    start = pt.State(q=np.mean(lengths, axis=0), p=1e-9 * np.arange(-2.0, 3.0))
    verlet = pt.integrators.StormerVerlet()
    row = pt.simulate(pulled, start, t1=100.0, dt=0.01, integrator=verlet).report()["momentum"]
    assert row.verdict is EXACT
    # By the size of the momenta alone it would not be.
    assert row.largest_deviation > 8.0 * EPSILON * 1e-8 * 100.0


def test_a_quantity_that_is_not_conserved_does_not_excuse_itself():
    wrong = pt.Hamiltonian(
        T=lambda p: 0.5 * p @ p, V=lambda q: 0.5 * q @ q, invariants={"position": lambda q, p: q[0]}
    )
    run = pt.simulate(wrong, pt.State(q=[1.0], p=[0.0]), t1=100.0, dt=0.05, integrator=pt.integrators.RK4())
    # It swings from one to minus one, twice its size.
    assert run.report()["position"].verdict is LOST


def test_a_quantity_that_starts_at_zero_is_not_measured_by_its_own_deviation():
    t = np.linspace(0.0, 10.0, 200)
    values = 1e-6 * np.sin(9.0 * t)
    run = pt.Trajectory(None, t, {"q": np.cos(9.0 * t)[:, None]}, {"I": values}, pt.Result.successful, {})
    row = run.report()["I"]
    assert np.isnan(row.relative_deviation) and row.cells[3] == "-"
    json.dumps(run.report().to_dict(), allow_nan=False)


def test_a_clock_that_stands_still_is_too_short_to_tell():
    """Steps of one at t = 1e17, where the next number is 16 away."""
    t = 1e17 + np.arange(100.0)
    found = judge(t, 1.0 + 1e-6 * np.arange(100.0), np.arange(100.0), Scale(1.0, 1.0, 1.0), Pace(10.0))
    assert found.verdict is SHORT


def test_saving_rarely_changes_no_verdict():
    assert _kepler("verlet", 0.6, 100, 400, save_every=37) == (BOUNDED, EXACT)
    assert _kepler("rk4", 0.6, 100, 400, save_every=37) == (DRIFTING, DRIFTING)


def test_backward_runs_are_judged_alike():
    start = pt.State(q=[2.0], p=[0.0])
    for name, verdict in (("verlet", BOUNDED), ("rk4", DRIFTING)):
        run = pt.simulate(PENDULUM, start, t1=-200.0, dt=-0.1, integrator=pt.integrators.by_name(name))
        assert run.report()["energy"].verdict is verdict


def test_zero_at_the_start_is_measured_against_what_it_cancels():
    """A parabolic orbit has energy zero, as the difference of two and two."""
    start = pt.State(q=[0.5, 0.0, 0.0], p=[0.0, 2.0, 0.0])
    flat = pt.Hamiltonian(
        T=lambda p: 0.5 * p @ p,
        V=lambda q: -1.0 / jnp.sqrt(q @ q),
        invariants={"momentum": lambda q, p: jnp.cross(q, p), "nothing": lambda q, p: 0.0 * q[0]},
    )
    gauss = pt.integrators.GaussLegendre(6, compensated=True, solver=FixedPoint(tolerance=0.0))
    report = pt.simulate(flat, start, t1=20.0, dt=0.02, integrator=gauss).report()
    assert report["energy"].start == 0.0 and 4.0 < report["energy"].reference < 12.0
    assert {row.name: row.verdict for row in report.rows} == dict.fromkeys(
        ("energy", "momentum", "nothing"), EXACT
    )
    assert report["momentum"].start == [0.0, 0.0, 1.0]
    # The same deviations measured against the quantity itself would have been condemned.
    energy = np.linspace(0.0, 1e-15, 100)
    t = np.arange(100.0)
    assert judge(t, energy, t, Scale(2.0, 1.0, 1.0), Pace(10.0)).verdict is EXACT
    assert judge(t, energy, t, Scale(float(energy.max()), 1.0, 1.0), Pace(10.0)).verdict is not EXACT


def test_a_vector_is_judged_by_its_worst_component():
    with_vector = pt.Hamiltonian(
        T=lambda p: 0.5 * p @ p,
        V=lambda q: -1.0 / jnp.sqrt(q @ q),
        invariants={
            "pair": lambda q, p: jnp.stack([q[0] * p[1] - q[1] * p[0], 0.5 * p @ p - 1.0 / jnp.sqrt(q @ q)])
        },
    )
    start = pt.State(q=[0.4, 0.0], p=[0.0, 2.0])
    run = pt.simulate(with_vector, start, t1=100.0, dt=0.02, integrator=pt.integrators.by_name("verlet"))
    pair, energy = run.report()["pair"], run.report()["energy"]
    assert pair.verdict is BOUNDED and pair.largest_deviation == energy.largest_deviation
    assert pair.start == [0.8, -0.5]


def test_a_failed_run_is_judged_by_what_there_is():
    fall = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: -(q[0] ** 4))
    run = pt.simulate(
        fall, pt.State(q=[1.0], p=[0.0]), t1=50.0, dt=0.01, integrator=pt.integrators.RK4(), throw=False
    )
    assert not run.result.ok
    report = run.report()
    assert "infinite or NaN" in report.header["result"]
    assert report["energy"].verdict in (SHORT, Verdict.not_finite)
    json.dumps(report.to_dict(), allow_nan=False)


def test_a_quantity_that_overflows_is_said_to_be_not_finite():
    t = np.arange(50.0)
    for bad in (np.inf, np.nan):
        values = np.ones(50)
        values[40] = bad
        assert judge(t, values, t, Scale(1.0, 1.0, 1.0), Pace(10.0)).verdict is Verdict.not_finite


def _synthetic(oscillation, cycles, per_cycle, phase, drift):
    """Times, values with a drift of so many amplitudes over the run, and steps."""
    x = np.linspace(0.0, cycles, max(int(cycles * per_cycle), 40))
    return x, 1.0 + 1e-6 * (oscillation(2.0 * np.pi * (x + phase)) + drift * x / cycles), np.arange(len(x))


SHAPES = {
    "sine": np.sin,
    "narrow": lambda a: 0.2 / (1.1 + np.cos(a)),
    "two tones": lambda a: np.sin(a) + 0.5 * np.sin(1.618 * a + 1.0),
    "beats": lambda a: np.sin(a) * (1.0 + 0.5 * np.sin(0.11 * a)),
}


@settings(max_examples=300, deadline=None)
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    cycles=st.floats(100.0, 1000.0),
    per_cycle=st.sampled_from([11.3, 20.7, 41.9]),
    phase=st.floats(0.0, 1.0),
)
def test_a_slow_drift_is_found_under_an_oscillation_and_not_found_without(shape, cycles, per_cycle, phase):
    for drift, verdict in ((0.0, BOUNDED), (0.5, DRIFTING), (-2.0, DRIFTING)):
        t, values, steps = _synthetic(SHAPES[shape], cycles, per_cycle, phase, drift)
        found = judge(t, values, steps, Scale(2.0, 1.0, 1.0), Pace(cycles))
        assert found.verdict is verdict
        if drift:
            assert found.rate == pytest.approx(1e-6 * drift / cycles, rel=0.05)
        else:
            assert abs(found.rate) <= found.resolution < 1e-6 * 0.5 / cycles


@settings(max_examples=300, deadline=None)
@example(shape="sine", cycles=8.25, phase=0.375, drift=0.0)  # once round in each of eight windows
@example(shape="narrow", cycles=8.25, phase=0.125, drift=0.0)
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    cycles=st.floats(2.5, 16.0),
    phase=st.floats(0.0, 1.0),
    drift=st.sampled_from([0.0, 1.0, -1.0]),
)
def test_with_few_oscillations_it_may_be_too_short_but_never_wrong(shape, cycles, phase, drift):
    t, values, steps = _synthetic(SHAPES[shape], cycles, 40.0, phase, drift)
    found = judge(t, values, steps, Scale(2.0, 1.0, 1.0), Pace(cycles))
    if drift == 0.0:
        assert found.verdict is not DRIFTING
    elif found.verdict is BOUNDED:
        assert 1e-6 * abs(drift) / cycles <= found.resolution


@pytest.mark.parametrize("seed", range(40))
def test_a_random_walk_of_rounding_errors_is_exact_and_one_with_a_bias_is_not(seed):
    errors = EPSILON * np.random.default_rng(seed).uniform(-0.5, 0.5, size=20_000)
    t = np.arange(20_000.0)
    walk = 1.0 + np.concatenate([[0.0], np.cumsum(errors[1:])])
    assert judge(t, walk, t, Scale(1.0, 1.0, 1.0), Pace(100.0)).verdict is EXACT
    assert judge(t, walk + 0.5 * EPSILON * t, t, Scale(1.0, 1.0, 1.0), Pace(100.0)).verdict is DRIFTING


def test_a_tiny_oscillation_from_the_first_step_on_is_not_taken_for_round_off():
    """At the end of the run round-off could be as large, but not at its beginning."""
    t = np.arange(100_000.0)
    values = 1.0 + 50.0 * EPSILON * np.sin(0.5 * t)
    assert np.abs(values - 1.0).max() < 4.0 * EPSILON * np.sqrt(t[-1])
    assert judge(t, values, t, Scale(1.0, 1.0, 1.0), Pace(1000.0)).verdict is BOUNDED


@pytest.mark.parametrize("seed", range(30))
def test_noise_without_trend_is_not_called_a_drift(seed):
    noise = np.random.default_rng(seed).normal(size=4000)
    smooth = np.convolve(noise, np.exp(-np.arange(60) / 15.0), "valid")
    t = np.arange(len(smooth), dtype=float)
    assert judge(t, 1.0 + 1e-6 * smooth, t, Scale(2.0, 1.0, 1.0), Pace(100.0)).verdict is not DRIFTING


def test_constant_quantities_are_exact():
    t = np.arange(100.0)
    for value in (0.0, 3.0, 1e300):
        found = judge(t, np.full(100, value), t, Scale(value, 1.0, 1.0), Pace(0.0))
        assert (found.verdict, found.deviation, found.rate) == (EXACT, 0.0, 0.0)


def test_oscillations_are_half_the_changes_of_direction():
    t = np.linspace(0.0, 10.0, 1001)
    columns = np.column_stack([np.cos(2.0 * np.pi * t), t, np.ones(1001), np.sign(np.cos(2.0 * np.pi * t))])
    assert oscillations(columns) == pytest.approx([10.0, 0.0, 0.0, 10.0], abs=0.5)


def test_rounding_noise_of_a_constant_component_is_no_oscillation():
    """A straight line has not oscillated, whatever its constant velocity does in the last bit."""
    t = np.linspace(0.0, 1.0, 1000)
    q = np.column_stack([t, np.zeros(1000)])
    p = np.column_stack([np.ones(1000), 1e-16 * np.random.default_rng(0).normal(size=1000)])
    energy = 1.0 + 1e-6 * t**2
    run = pt.Trajectory(None, t, {"q": q, "p": p}, {"energy": energy}, pt.Result.successful, {})
    assert run.report()["energy"].verdict is SHORT


def test_the_printed_report_is_aligned_and_complete():
    run = _pendulum("rk4", 200.0)
    text = str(run.report())
    assert text.isascii() and not any(line != line.rstrip() for line in text.splitlines())
    head = dict(line.split(None, 1) for line in text.split("\n\n")[0].splitlines() if line)
    assert head["problem"] == "hamiltonian (q 1, p 1)"
    assert "RK4: order 4" in head["integrator"] and "2,000 steps of 0.1" in head["run"]
    assert head["result"] == "the run reached its end"
    columns, rule, row = text.split("\n\n")[1].splitlines()
    edges = [i for i, c in enumerate(rule) if c == "-" and (i == 0 or rule[i - 1] == " ")]
    assert len(edges) == 6
    assert row[edges[5] :] == "drifting" and columns[edges[5] :] == "verdict"
    assert all(row[i - 1] == " " for i in edges[1:])
    slope = np.polyfit(run.t, run.energy, 1)[0]
    assert run.report()["energy"].drift == pytest.approx(slope, rel=0.02)


def test_the_report_as_data():
    run = _pendulum("verlet", 200.0)
    report = run.report()
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    (row,) = data["conserved"]
    assert row["verdict"] == "bounded" and row["name"] == "energy"
    assert row["largest_deviation"] == np.max(np.abs(run.energy - run.energy[0]))
    assert row["relative_deviation"] == pytest.approx(
        row["largest_deviation"] / abs(run.energy[0]), rel=1e-14
    )
    assert report.rows[0] is report["energy"]
    with pytest.raises(KeyError, match="has energy"):
        report["momentum"]


def test_the_report_in_colour_says_the_same():
    from rich.console import Console

    screen = io.StringIO()
    Console(width=140, file=screen).print(_pendulum("rk4", 200.0).report())
    text = screen.getvalue()
    assert "drifting" in text and "RK4: order 4" in text and "energy" in text


def test_nothing_known_to_be_conserved():
    decay = pt.ODE(lambda y: -y)
    run = pt.simulate(decay, pt.State(y=[1.0]), t1=1.0, dt=0.1, integrator=pt.integrators.RK4())
    report = Report.of(run)
    assert report.rows == () and "invariants={...}" in str(report)
