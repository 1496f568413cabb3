"""Reversible steps: energy without drift, motions retraced, and a plain step rule that does neither."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback

import poinsot as pt
from poinsot.integrators import GaussLegendre, LieSplitting, Rattle, ReversibleSteps, StormerVerlet
from poinsot.integrators.adaptive import Task
from poinsot.integrators.adaptive._monitor import ChangeOfField
from poinsot.integrators.adaptive._reversible_engine import ReversibleEngine as Engine
from poinsot.kernels.native._weight import Weights
from poinsot.library._kepler import motion

KEPLER_PERIOD = 2.0 * np.pi
WINDOWS = 10


@cache
def kepler():
    """Of eccentricity 0.9, from its pericentre."""
    planet = pt.library.kepler(eccentricity=0.9)
    return planet, np.asarray(planet.pack(planet.start))


@cache
def top():
    """A symmetric heavy top, let go with little spin next to the upright position, which it meets again."""
    system = pt.library.heavy_top(inertia=(1.0, 1.0, 0.5), mgl=1.0)
    start = system.state(rotation=pt.rotation.about_x(0.05), angular_velocity=(0.0, 0.0, 0.5))
    formulation = pt.formulate(system, pt.coordinates.Group(), "group")
    return formulation.problem, np.asarray(formulation.problem.pack(formulation.start(start)))


CASES = {"Kepler": (kepler, StormerVerlet(), 0.001), "top": (top, LieSplitting(), 0.1)}


@eqx.filter_jit
def energies(problem, states):
    return jax.vmap(lambda y: problem.first_integrals(jnp.zeros(()), y)["energy"])(states)


def walked(problem, y, method, dt, t1, monitor=None):
    """Times, states and outcome of a run straight from the engine, its last step whole."""
    task = Task(problem, y, 0.0, t1, 0.0, 0.0, dt)
    engine = method.start(task) if monitor is None else Engine(method.integrator, monitor, task, dt)
    t, states = [np.zeros(1)], [y[None]]
    result = pt.Result.successful
    while (t1 - t[-1][-1]) * dt > 0.0 and result is pt.Result.successful:
        batch = engine.advance(0.25)
        result = batch.result
        t.append(batch.t)
        states.append(batch.y)
    return np.concatenate(t), np.concatenate(states), result


def windows(problem, states) -> np.ndarray:
    """Largest error of the energy in each of ten windows."""
    energy = np.concatenate([np.asarray(energies(problem, part)) for part in np.array_split(states, 8)])
    error = np.abs(energy - energy[0])
    return np.array([np.max(part) for part in np.array_split(error, WINDOWS)])


@eqx.filter_jit
def default_monitor(problem, y, dt):
    """With the scales of a start."""
    return ChangeOfField.at(problem, jnp.zeros(()), y, dt)


@eqx.filter_jit
def plain_windows(problem, integrator, monitor, dt, y, steps):
    """The same errors with a step taken from the state at its start, and the time reached."""
    zero = jnp.zeros(())
    at_start = monitor.log(problem, zero, y)
    energy = problem.first_integrals(zero, y)["energy"]

    def one(_, run):
        t, y, carry, worst = run
        h = dt * jnp.exp(at_start - monitor.log(problem, t, y))
        y, carry, _ = integrator.step(problem, t, h, y, carry)
        error = jnp.abs(problem.first_integrals(t, y)["energy"] - energy)
        return t + h, y, carry, jnp.maximum(worst, error)

    def window(run, _):
        t, y, carry, worst = lax.fori_loop(0, steps, one, (*run, zero))
        return (t, y, carry), (t, worst)

    begin = (zero, y, integrator.init(problem, zero, dt, y))
    return lax.scan(window, begin, None, length=WINDOWS)[1]


def check_no_drift(name: str, periods: int, period: float):
    make, integrator, dt = CASES[name]
    problem, y = make()
    t, states, result = walked(problem, y, ReversibleSteps(integrator), dt, periods * period)
    assert result is pt.Result.successful
    bounded = windows(problem, states)
    np.testing.assert_allclose(bounded, bounded[0], rtol=0.02)
    h = np.diff(t)
    assert np.max(h) > 5.0 * np.min(h), "the steps must vary for this to say anything"

    monitor = default_monitor(problem, jnp.asarray(y), dt)
    reached, drifting = plain_windows(problem, integrator, monitor, dt, jnp.asarray(y), len(h) // WINDOWS)
    assert reached[-1] > 0.5 * t[-1]
    # The plain planet escapes in the end: then the error is all of its binding energy and grows no more.
    assert drifting[-1] > 3.0 * drifting[0] and drifting[-1] > 10.0 * bounded[-1]


TOP_PERIOD = 10.2
"""About the time between two passages through the lowest position."""


@pytest.mark.parametrize(
    ("name", "period"),
    [("Kepler", KEPLER_PERIOD), pytest.param("top", TOP_PERIOD, marks=pytest.mark.slow)],
)
def test_energy_does_not_drift(name, period):
    check_no_drift(name, 300, period)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "period"), [("Kepler", KEPLER_PERIOD), ("top", TOP_PERIOD)])
def test_energy_does_not_drift_in_4000_periods(name, period):
    check_no_drift(name, 4000, period)


@pytest.mark.parametrize(
    ("name", "flip"),
    [
        ("Kepler", (1, 1, -1, -1)),
        ("Kepler", (1, 1, 1, 1)),
        pytest.param("top", (1, 1, 1, 1, 1, 1, 1), marks=pytest.mark.slow),
    ],
    ids=["flip", "back", "top"],
)
def test_a_run_is_retraced(name, flip):
    """With momenta turned round, or with time, and the last step first: down to grown round-off."""
    make, integrator, dt = CASES[name]
    problem, y = make()
    method, flip = ReversibleSteps(integrator), np.array(flip, dtype=float)
    monitor = default_monitor(problem, jnp.asarray(y), dt)
    t, states, _ = walked(problem, y, method, dt, 60.0, monitor)
    last, way = t[-1] - t[-2], 1.0 if np.any(flip < 0) else -1.0

    def returned(first):
        return walked(problem, flip * states[-1], method, way * first, way * 0.999999 * t[-1], monitor)

    back, retraced, _ = returned(last)
    assert len(back) == len(t)
    np.testing.assert_allclose(np.abs(back), t[-1] - t[::-1], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(flip * retraced[-1], y, rtol=0.0, atol=1e-9)
    # A run that begins with another step does not come back.
    assert np.max(np.abs(flip * returned(1.01 * last)[1][-1] - y)) > 1e-5


def test_steps_follow_the_monitor():
    """Steps times density stay what they were at the start, to the square of the step."""
    problem, y = kepler()
    monitor = lambda q, p: (q @ q) ** -0.75  # noqa: E731
    spread = []
    for dt in (0.002, 0.001):
        t, states, _ = walked(problem, y, ReversibleSteps(StormerVerlet(), monitor), dt, 3.0 * KEPLER_PERIOD)
        middle = 0.5 * (states[1:] + states[:-1])
        product = np.diff(t) * (middle[:, 0] ** 2 + middle[:, 1] ** 2) ** -0.75
        spread.append(np.max(np.abs(product / product[0] - 1.0)))
    assert spread[0] < 0.03
    assert 3.0 < spread[0] / spread[1] < 5.0


@eqx.filter_jit
def density(problem, y, dt, states):
    """Density of the default monitor and its relative rate of growth, at states."""
    monitor, zero = ChangeOfField.at(problem, jnp.zeros(()), y, dt), jnp.zeros(())
    return jax.vmap(lambda y: (jnp.exp(monitor.log(problem, zero, y)), monitor.growth(problem, zero, y)))(
        states
    )


@pytest.mark.slow
def test_default_monitor_is_a_frequency():
    """Of an oscillator about any centre its own; on an orbit about the local one, from any start."""
    oscillator = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 4.5 * (q - 1000.0) @ (q - 1000.0))
    angle = np.linspace(0.0, 6.0, 7)
    states = np.stack([1000.0 + np.cos(angle), -3.0 * np.sin(angle)], axis=1)
    for start in states[:2]:
        rho, rate = density(oscillator, jnp.asarray(start), 0.01, jnp.asarray(states))
        np.testing.assert_allclose(rho, 3.0, rtol=0.7)
        assert np.all(np.isfinite(rate))
    problem, y = kepler()
    planet = motion(jnp.linspace(0.0, KEPLER_PERIOD, 41), {"eccentricity": 0.9, "mu": 1.0})
    states = np.concatenate([planet.q, planet.p], axis=1)
    local = np.sum(states[:, :2] ** 2, axis=1) ** -0.75
    for start, dt in ((states[0], 0.001), (states[20], 0.05)):
        rho, _ = density(problem, jnp.asarray(start), dt, jnp.asarray(states))
        assert np.max(rho / local) < 5.0 and np.min(rho / local) > 0.4


def exact_log(monitor, problem, y):
    """The logarithm of the default density with exact derivatives throughout."""

    def along(function):
        return lambda y: jax.jvp(function, (y,), (field(y),))[1]

    def field(y):
        return problem.vector_field(jnp.zeros(()), y)

    a, b, c = (jnp.sum(monitor.weights * f(y) ** 2) for f in (field, along(field), along(along(field))))
    return 0.25 * jnp.log(b * b + a * c) - 0.5 * jnp.log(a)


@pytest.mark.slow
def test_default_density_and_its_growth_are_those_of_exact_derivatives():
    problem, y = kepler()
    planet = motion(jnp.linspace(0.0, KEPLER_PERIOD, 41), {"eccentricity": 0.9, "mu": 1.0})
    states = jnp.concatenate([planet.q, planet.p], axis=1)
    monitor = default_monitor(problem, jnp.asarray(y), 0.001)

    def exact(y):
        rate = problem.vector_field(jnp.zeros(()), y)
        return jax.jvp(lambda y: exact_log(monitor, problem, y), (y,), (rate,))

    log, rate = jax.jit(jax.vmap(exact))(states)
    rho, found = density(problem, jnp.asarray(y), 0.001, states)
    np.testing.assert_allclose(rho, np.exp(log), rtol=2e-3)
    np.testing.assert_allclose(found / np.exp(log), rate / np.exp(log), rtol=0.0, atol=1e-3)
    assert np.max(np.abs(rate / np.exp(log))) > 0.5, "the density must grow for this to say anything"


@pytest.mark.slow
def test_default_monitor_of_joints_is_not_much_more_code_than_the_field():
    """With exact derivatives throughout it was 34 times as much, and took minutes to compile."""
    system = pt.library.two_body_linkage()
    problem = pt.formulate(system, pt.coordinates.Joint(), "hamiltonian").problem
    # A position and two quaternions, with their momenta.
    y = jnp.ones(22)
    monitor, zero = ChangeOfField(jnp.ones_like(y), jnp.ones(())), jnp.zeros(())
    field = Weights().of(jax.make_jaxpr(problem.vector_field)(zero, y))
    growth = Weights().of(jax.make_jaxpr(lambda t, y: monitor.growth(problem, t, y))(zero, y))
    assert growth < 6 * field


STARTS = {
    "from rest where the force has no slope": (lambda q: -jnp.cos(q[0]), (np.pi / 2.0, 0.0)),
    "from the lowest point": (lambda q: -jnp.cos(q[0]), (0.0, 1.9)),
    "between two wells": (lambda q: q[0] ** 4 / 4.0 - q[0] ** 2 / 2.0 + 0.1 * q[0], (1.6, 0.0)),
}


@pytest.mark.parametrize("name", STARTS)
def test_default_monitor_is_smooth_and_the_same_for_all_steps(name):
    """No start makes the steps vary wildly, and a shorter first step shortens all alike."""
    V, start = STARTS[name]
    problem = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=V)
    errors = []
    for dt in (0.05, 0.025):
        t, states, result = walked(problem, np.array(start), ReversibleSteps(StormerVerlet()), dt, 100.0)
        assert result is pt.Result.successful
        assert 0.3 * dt < np.min(np.diff(t)) and np.max(np.diff(t)) < 4.0 * dt
        errors.append(np.max(windows(problem, states)))
    assert errors[0] < 0.005
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_nothing_moves_or_all_is_uniform():
    """At rest, and in free flight, the steps stay as they are."""
    free = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 0.0 * q @ q)
    for y in ([0.5, 0.0], [0.5, 2.0]):
        t, _, result = walked(free, np.array(y), ReversibleSteps(StormerVerlet()), 0.1, 1.0)
        assert result is pt.Result.successful
        np.testing.assert_allclose(np.diff(t), 0.1, rtol=1e-12)


def test_simulate_ends_where_asked_and_is_dense():
    """Order two at the end and between steps, against the exact motion; forward and backward in time."""
    planet = pt.library.kepler(eccentricity=0.9)
    times = np.array([0.4, 3.3, 6.0, 7.7])
    exact = np.asarray(motion(times, {"eccentricity": 0.9, "mu": 1.0}).q)
    errors = []
    for dt in (0.0004, 0.0002):
        method = ReversibleSteps(StormerVerlet())
        run = pt.simulate(planet, planet.start, t1=8.0, dt=dt, integrator=method)
        assert run.t[-1] == 8.0 and run.steps.h[0] == dt
        dense = np.asarray(run.at(times)["q"])
        errors.append(np.max(np.abs(dense - exact)))
        saved = pt.simulate(planet, planet.start, t1=8.0, dt=dt, integrator=method, save_at=[*times])
        np.testing.assert_allclose(np.asarray(saved.q)[1:], dense, rtol=0.0, atol=1e-13)
    assert errors[0] < 0.02
    assert 3.5 < errors[0] / errors[1] < 4.5
    back = pt.simulate(planet, planet.start, t1=-8.0, dt=-0.0002, integrator=method)
    np.testing.assert_allclose(np.asarray(back.q)[-1, 1], -np.asarray(run.q)[-1, 1], rtol=0.0, atol=1e-12)


def test_bodies_with_a_monitor_of_their_motion_and_a_stop():
    system = pt.library.heavy_top(inertia=(1.0, 1.0, 0.5), mgl=1.0)
    start = system.state(rotation=pt.rotation.about_x(0.05), angular_velocity=(0.0, 0.0, 0.5))

    def speed(motion):
        return jnp.sqrt(0.1 + motion.angular_velocity[0] @ motion.angular_velocity[0])

    method = ReversibleSteps(LieSplitting(), speed)
    run = pt.simulate(
        system, start, t1=50.0, dt=0.02, integrator=method, stop=lambda motion: motion.rotation[0, 2, 2] + 0.5
    )
    assert run.result is pt.Result.stopped_by_event
    np.testing.assert_allclose(run.rotation[-1, 0, 2, 2], -0.5, rtol=0.0, atol=1e-12)
    rho = np.sqrt(0.1 + np.sum(np.asarray(run.angular_velocity[:-1, 0]) ** 2, axis=1))
    np.testing.assert_allclose(run.steps.h[1:-1] * rho[1:-1], run.steps.h[0] * rho[0], rtol=0.1)
    assert np.max(rho) > 3.0 * np.min(rho)


PENDULUM = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: -jnp.cos(q[0]))
UP = np.array([3.0, 0.0])
"""Nearly upright."""


@pytest.fixture(scope="module")
def swing():
    """The pendulum by a method of order 8."""
    solver = pt.integrators.DormandPrince853()
    start = pt.State(q=UP[:1], p=UP[1:])
    return pt.simulate(PENDULUM, start, t1=12.0, rtol=1e-12, atol=1e-12, integrator=solver, progress=False)


@pytest.mark.parametrize("integrator", [StormerVerlet(), GaussLegendre(2)], ids=["order 2", "order 4"])
def test_order_in_the_first_step_is_that_of_the_map(swing, integrator):
    method = ReversibleSteps(integrator)
    errors, by_number = [], []
    for dt in (0.1, 0.05):
        t, states, _ = walked(PENDULUM, UP, method, dt, 10.0)
        errors.append(np.max(np.abs(states[:, 0] - swing.at(t).q[:, 0])))
        equal = np.linspace(0.0, t[-1], len(t))
        by_number.append(np.max(np.abs(states[:, 0] - swing.at(equal).q[:, 0])))
    assert method.traits.order == integrator.order
    assert abs(np.log2(errors[0] / errors[1]) - method.traits.order) < 0.05
    assert abs(np.log2(by_number[0] / by_number[1])) < 0.1, "steps of one size are another motion"


def test_counts_the_right_hand_sides_of_monitor_and_map():
    happened = []

    def f(y):
        io_callback(lambda: happened.append(1), None)
        return jnp.stack([y[1], -jnp.sin(y[0])])

    method = ReversibleSteps(GaussLegendre(2), lambda y: 1.0 + y[0] ** 2)
    engine = method.start(Task(pt.ODE(f), np.array([2.0, 0.0]), 0.0, 3.0, 0.0, 0.0, 0.1))
    engine.advance(10.0)
    jax.effects_barrier()
    steps = engine.counts.accepted
    iterations = len(happened) - 1 - steps
    # The callback does not see that an iteration looks at two stages at once.
    assert engine.counts.rhs == 1 + steps + 2 * iterations and iterations > 5 * steps > 50
    # A splitting evaluates forces, and the right-hand side for the monitor alone, at three states.
    engine = ReversibleSteps(StormerVerlet()).start(Task(PENDULUM, UP, 0.0, 3.0, 0.0, 0.0, 0.1))
    engine.advance(10.0)
    assert engine.counts.rhs == 3 * engine.counts.accepted > 30


@pytest.mark.parametrize("make", [lambda: GaussLegendre(2), Rattle], ids=["Gauss-Legendre", "Rattle"])
def test_other_symmetric_maps(make):
    """An implicit one, and one that holds constraints, on a spherical pendulum that swings up."""
    integrator = make()
    if integrator.needs == "constrained":
        problem = pt.Constrained(V=lambda q: q[2], g=lambda q: 0.5 * (q @ q - 1.0)[None])
        y = np.array([np.sin(0.1), 0.0, np.cos(0.1), 0.0, 0.02, 0.0])
    else:
        problem, y = PENDULUM, UP
    _, states, result = walked(problem, y, ReversibleSteps(integrator), 0.1, 300.0)
    assert result is pt.Result.successful
    found = windows(problem, states)
    np.testing.assert_allclose(found, np.mean(found), rtol=0.1)


def test_time_is_summed_without_loss():
    """Of many steps far from zero the sum is the last time, to its last digits."""
    free = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 0.0 * q @ q)
    task = Task(free, np.array([0.0, 1.0]), 1e6, 1e6 + 1000.0, 0.0, 0.0, 0.1)
    engine, count = ReversibleSteps(StormerVerlet()).start(task), 0
    t = 1e6
    while t < 1e6 + 999.95:
        batch = engine.advance(0.25)
        t, count = batch.t[-1], count + len(batch.t)
    assert t == 1e6 + count * 0.1
    plain = 1e6
    for _ in range(count):
        plain += 0.1
    assert abs(plain - t) > 1e-8, "the control must lose digits"


def test_wrong_input():
    problem, y = kepler()
    state = pt.State(q=y[:2], p=y[2:])
    with pytest.raises(pt.InputError, match="RK4 is not symmetric"):
        ReversibleSteps(pt.integrators.RK4())
    with pytest.raises(pt.InputError, match="integrator of ReversibleSteps = DormandPrince853"):
        ReversibleSteps(pt.integrators.DormandPrince853())  # pyright: ignore[reportArgumentType]
    verlet = ReversibleSteps(StormerVerlet())
    with pytest.raises(pt.InputError, match="needs a nominal step"):
        pt.simulate(problem, state, t1=1.0, integrator=verlet)
    with pytest.raises(pt.InputError, match="keeps to no tolerance"):
        pt.simulate(problem, state, t1=1.0, dt=0.1, rtol=1e-9, integrator=verlet)
    with pytest.raises(pt.InputError, match="needs a problem of kind 'group'"):
        pt.simulate(problem, state, t1=1.0, dt=0.1, integrator=ReversibleSteps(LieSplitting()))
    negative = ReversibleSteps(StormerVerlet(), lambda q, p: -q[0])
    with pytest.raises(pt.InputError, match="one positive number"):
        pt.simulate(problem, state, t1=1.0, dt=0.1, integrator=negative)


def test_too_large_a_step_ends_the_run_with_its_reason():
    problem, y = kepler()
    t, states, result = walked(problem, y, ReversibleSteps(StormerVerlet()), 0.1, 100.0)
    assert result is pt.Result.monitor_too_fast
    assert "reduce dt" in result.message
    assert len(t) == len(states) == 2 and np.all(np.isfinite(states))
