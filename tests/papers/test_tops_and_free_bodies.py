"""Reproductions of Xu and Zhong (2016) and of Terze, Müller and Zlatar (2013), and what they rest on."""

import math

import jax
import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.linalg import expm

import poinsot as pt
from poinsot.coordinates import Quaternions
from poinsot.integrators import Variational
from poinsot.library import regular_precession, tumbling_body
from poinsot.papers import catalogue, reproduce
from poinsot.papers._bodies import ladder, slope
from poinsot.papers.terze2013._free_body import J, largest_rate
from poinsot.papers.terze2013._momentum import momentum_rate
from poinsot.papers.terze2013._orthogonality import as_printed, determinant, diagonal, exponential

XU = [f"xu2016/figure-{n}" for n in range(3, 8)]
TERZE = [f"terze2013/figure-{n}" for n in range(1, 4)]


@pytest.fixture(scope="module")
def quick():
    """Every reproduction once, quickly."""
    made = {}

    def get(identifier):
        if identifier not in made:
            made[identifier] = reproduce(identifier, quick=True, progress=False)
        return made[identifier]

    return get


def exact_rates(times: np.ndarray) -> np.ndarray:
    """Body angular velocity of the free body."""
    exact = tumbling_body().exact
    assert exact is not None
    return np.asarray(jax.jit(exact)(times).angular_velocity)[:, 0]


def ours(made, name: str) -> float:
    """The number whose name is or contains this."""
    (number,) = [number for number in made.numbers if name in number.name]
    return number.ours


def test_the_catalogue_has_every_figure():
    identifiers = [identifier for identifier, _ in catalogue()]
    found = [one for one in identifiers if one.startswith(("xu2016", "terze2013"))]
    assert found == [*TERZE, "terze2013/two-bodies", *XU]


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["quaternions", "directors"])
def test_energy_error_of_the_fast_top_is_an_eighth_at_most(coordinates, quick):
    made = quick("xu2016/figure-3")
    gain = ours(made, f"{coordinates}: energy error with σ = mean over")
    assert 0.02 < gain <= 0.125
    for label in ("σ = 0", "σ = mean"):
        assert ours(made, f"{coordinates}, {label}: order") == pytest.approx(2.0, abs=0.05)


@pytest.mark.slow
def test_plain_directors_have_no_solution_with_a_long_step(quick):
    """The longest step that has one lies below the bound of theory, and the next one above it."""
    assert ours(quick("xu2016/figure-3"), "directors, σ = 0: longest step") == 0.0035
    assert 0.0035 * 40.0 * math.pi < 0.5 < 0.005 * 40.0 * math.pi


@pytest.mark.slow
def test_nutation_in_regular_precession_is_a_tenth_at_most(quick):
    made = quick("xu2016/figure-6")
    assert ours(made, "σ = mean: height error [m]") == pytest.approx(6.6e-4, rel=0.01)
    assert ours(made, "σ = mean over σ = 0, h = 0.005") <= 0.1
    assert ours(made, "σ = mean over energy-momentum") <= 0.1


@pytest.mark.slow
def test_nutation_in_directors_is_a_tenth_at_most(quick):
    made = quick("xu2016/figure-7")
    assert ours(made, "σ = mean over σ = 0, h = 0.0025") <= 0.1
    assert ours(made, "without multipliers, h = 0.005") <= 0.1


@pytest.mark.slow
def test_precession_condition_as_printed_makes_the_cone_nod():
    """Control of the correction: with J2 for J3 in (80) the height changes by much more than an error."""
    cone = regular_precession()
    _, transverse, _ = np.asarray(cone.inertia[:, 0])
    weight = float(cone.bodies[0].mass) * 9.81 * 0.075
    printed = weight / (10.0 * transverse)
    assert printed == pytest.approx(11.5, abs=0.1)
    slow = cone.state(
        rotation=pt.rotation.about_x(math.pi / 3),
        angular_velocity=(0.0, 10.0 * math.sin(math.pi / 3), printed + 5.0),
    )
    runs = [
        pt.solve(
            cone,
            Variational(),
            start,
            dt=2e-3,
            steps=100,
            coordinates=Quaternions("mean"),
            form="index3",
        )
        for start in (cone.start, slow)
    ]
    steady, nodding = (float(np.ptp(run.position[:, 0, 2])) for run in runs)
    assert steady < 2e-4 and nodding > 0.01


@pytest.mark.slow
def test_runs_of_a_ladder_are_those_of_simulate():
    body = tumbling_body()
    method, group = pt.integrators.TerzeRattle(), pt.coordinates.Group("matrix")
    runs = ladder(body, method, group, (0.2, 0.1), 2.1, form="group")
    assert [len(runs[h].t) for h in (0.2, 0.1)] == [11, 22], "the last multiple of the step before the end"
    alone = pt.simulate(
        body, body.start, t1=2.0, dt=0.2, integrator=method, coordinates=group, progress=False
    )
    run = runs[0.2].until(2.0)
    assert np.allclose(run.rotation, alone.rotation[:, 0], rtol=0.0, atol=1e-14)
    assert np.allclose(run.energy, alone.energy, rtol=1e-14)
    assert len(run.until(1.0).exact_rotation) == 6


@pytest.mark.slow
def test_a_run_that_fails_counts_its_steps_and_has_no_error():
    plain = Quaternions(sigma=0.0)
    runs = ladder(regular_precession(), Variational(), plain, (0.0075, 0.0065), 0.13)
    assert not runs[0.0075].complete and runs[0.0075].taken == 0
    assert math.isnan(runs[0.0075].height_error) and math.isnan(runs[0.0075].energy_change)
    assert runs[0.0065].complete and runs[0.0065].taken == 20 and runs[0.0065].height_error > 0.0


def test_slope():
    assert slope(4e-3, 1e-3, 2.0) == pytest.approx(2.0)


def test_scheme_as_printed_leaves_the_group_at_the_rate_of_theory():
    r"""The symmetric part of its exponent makes log det R fall by $h |\Omega|^2$ in unit time."""
    h, steps = 0.0025, 160
    left = np.log1p(determinant(as_printed(h, steps))[-1])
    rates = exact_rates(h * np.arange(steps + 1))
    assert left == pytest.approx(-h * simpson(np.sum(rates**2, axis=-1), dx=h), rel=0.02)
    assert np.max(np.abs(diagonal(as_printed(h, steps)))) > 1e-4, "beyond round-off"


def test_momentum_of_the_scheme_moves_at_the_rate_of_theory():
    """One step with two step sizes, extrapolated, beside the third power of the step in its expansion."""
    group, steps = pt.coordinates.Group("matrix"), (0.02, 0.01)
    runs = ladder(tumbling_body(), pt.integrators.TerzeRattle(), group, steps, steps[0], form="group")
    coarse, fine = ((runs[h].angular_momentum[1] - runs[h].angular_momentum[0]) / h**3 for h in steps)
    rate = momentum_rate(np.asarray(J), runs[0.01].exact_rotation, runs[0.01].exact_angular_velocity)[0]
    assert np.linalg.norm(rate) > 1e-3
    assert np.linalg.norm(2.0 * fine - coarse - rate) < 1e-3 * np.linalg.norm(rate)


def test_exponential_of_small_matrices():
    matrix = 0.1 * np.random.default_rng(1).standard_normal((3, 3))
    assert np.allclose(exponential(matrix), expm(matrix), rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("place", [0, 2])
def test_largest_rates_are_those_of_the_exact_motion(place):
    rates = exact_rates(np.linspace(0.0, 40.0, 4001))
    assert np.max(rates[:, place]) == pytest.approx(largest_rate(place), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("identifier", ["xu2016/figure-3", *TERZE])
def test_full_runs_agree(identifier):
    made = reproduce(identifier, progress=False)
    assert made.agrees, [number for number in made.numbers if number.agrees is False]
