"""Whole runs in native code: the same bits in every arrangement, and the results of plain ones."""

import os
import platform
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.integrators.adaptive import _jitted
from poinsot.kernels import _cores, _programs
from poinsot.kernels.native import _program
from poinsot.simulation import _ensemble_native, _fixed_run, _loop
from poinsot.simulation._schedule import Pace

KEPLER = pt.library.kepler()
TOP = pt.library.heavy_top(inertia=(50, 42, 10), mgl=108.8)
STEPS = 60


def flags() -> set[str]:
    """What the processor can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())


X86 = platform.machine().lower() in ("x86_64", "amd64")
NEEDED = {"x86-64": set(), "x86-64-v3": {"avx2", "fma"}, "x86-64-v4": {"avx512f", "avx512vl", "avx512dq"}}
CPUS = [cpu for cpu, needed in NEEDED.items() if X86 and needed <= flags()]


def kepler_starts(runs: int) -> pt.State:
    e = jnp.linspace(0.1, 0.7, runs)
    zero = jnp.zeros_like(e)
    return pt.State(
        q=jnp.stack([1.0 - e, zero], axis=1), p=jnp.stack([zero, jnp.sqrt((1.0 + e) / (1.0 - e))], axis=1)
    )


FORMULATION = pt.formulate(TOP, pt.coordinates.Group(), "group")


def top_start(spin):
    turning = jnp.stack([0.1 * spin, 0.2 * spin, spin])
    return FORMULATION.start(TOP.state(rotation=pt.rotation.about_x(1.0), angular_velocity=turning))


def top_starts(runs: int) -> pt.State:
    starts = [top_start(spin) for spin in jnp.linspace(5.0, 20.0, runs)]
    return jax.tree.map(lambda *parts: jnp.stack(parts), *starts)


CASES: dict[str, tuple[Any, Any, Any, float]] = {
    "gauss": (KEPLER, kepler_starts, pt.integrators.GaussLegendre(3), 0.05),
    "verlet": (KEPLER, kepler_starts, pt.integrators.StormerVerlet(), 0.01),
    "lie-splitting": (FORMULATION.problem, top_starts, pt.integrators.LieSplitting(), 0.01),
    "lie-rattle": (FORMULATION.problem, top_starts, pt.integrators.LieRattle(), 0.01),
}


def numbers(run: Any) -> dict[str, np.ndarray]:
    """All states of a run, by label."""
    parts = run.state.items() if isinstance(run, pt.Solution) else run.components.items()
    return {name: np.asarray(part) for name, part in parts}


def together(name: str, runs: int, steps: int = STEPS, save_every: int = 1, **options: Any):
    problem, starts, integrator, dt = CASES[name]
    grid: dict[str, Any] = {"dt": dt, "steps": steps, "save_every": save_every}
    found = pt.ensemble(problem, integrator, starts(runs), kernel="native", **grid, **options)
    assert found.kernel.startswith("native") and np.all(found.result == pt.Result.successful)
    return numbers(found)


def alone(name: str, lane: int, runs: int, steps: int = STEPS, **options: Any):
    problem, starts, integrator, dt = CASES[name]
    start = jax.tree.map(lambda leaf: leaf[lane], starts(runs))
    options = {"kernel": "native", "progress": False} | options
    found = pt.simulate(problem, start, t1=steps * dt, dt=dt, integrator=integrator, **options)
    assert found.attributes["kernel"].startswith(options["kernel"])
    return numbers(found)


def equal(a: dict[str, np.ndarray], b: dict[str, np.ndarray], at: Any = ...) -> bool:
    """Whether states are the same, bit for bit; of the first those `at` some place."""
    assert set(a) == set(b)
    return all(np.array_equal(np.asarray(a[name])[at], np.asarray(b[name])) for name in a)


# The same bits.


@pytest.mark.parametrize("name", CASES)
def test_a_run_has_the_same_bits_alone_and_in_an_ensemble(name):
    """Eleven runs fill no whole number of vectors."""
    found = together(name, 11)
    for lane in (0, 5, 10):
        assert equal(found, alone(name, lane, 11), lane)
    assert not equal(found, alone(name, 1, 11), 0)


@pytest.mark.parametrize("name", of_the_long_suite(["gauss", "lie-splitting"], {"gauss"}))
def test_chunks_and_saves_change_no_bit(name, monkeypatch):
    steps = 420
    first, many = alone(name, 0, 3, steps), together(name, 3, steps)
    sparse, sparse_many = alone(name, 0, 3, steps, save_every=7), together(name, 3, steps, save_every=7)
    assert equal(first, sparse, slice(None, None, 7))
    assert equal(many, sparse_many, np.s_[:, ::7])
    for capacity, pace, room in ((2**11, 5, 1500), (2**18, 10**6, 4000)):
        monkeypatch.setattr(_fixed_run, "CAPACITY", capacity)
        monkeypatch.setattr(_ensemble_native, "ROOM", room)
        for module in (_fixed_run, _ensemble_native):
            monkeypatch.setattr(module, "Pace", lambda pace=pace: Pace(pace, 1e-9))
        assert equal(alone(name, 0, 3, steps), first)
        assert equal(alone(name, 0, 3, steps, save_every=7), sparse)
        assert equal(together(name, 3, steps), many)
        assert equal(together(name, 3, steps, save_every=7), sparse_many)


@pytest.mark.parametrize("name", of_the_long_suite(["gauss", "lie-splitting"], {"gauss"}))
def test_cores_and_batches_change_no_bit(name, monkeypatch):
    found = []
    for cores, at_once in ((1, 2**23), (2, 2**23), (4, 2**23), (2, 2**12)):
        monkeypatch.setattr(_cores, "cores", lambda n=cores: n)
        monkeypatch.setattr(_ensemble_native, "AT_ONCE", at_once)
        found.append(together(name, 50))
    assert all(equal(one, found[0]) for one in found[1:])


@pytest.mark.parametrize("name", ["gauss", "lie-rattle", "verlet"])
def test_the_width_of_vectors_changes_no_bit(name, monkeypatch):
    found = []
    for width in (4, 8, 16):
        monkeypatch.setattr(_ensemble_native, "lanes_of", lambda *_, width=width: width)
        found.append(together(name, 18))
    assert equal(found[0], found[1]) and equal(found[0], found[2])
    assert equal(found[0], alone(name, 17, 18), 17)


@pytest.mark.skipif(len(CPUS) < 2, reason="needs an x86-64 processor with AVX2")
@pytest.mark.parametrize("name", of_the_long_suite(["gauss", "lie-splitting"], {"lie-splitting"}))
def test_the_processor_changes_no_bit_unless_code_is_fast(name, monkeypatch):
    """Fast code contracts products and sums where the processor can: the bits then depend on it."""
    strict, fast = [], []
    for cpu in CPUS:
        monkeypatch.setenv("POINSOT_NATIVE_CPU", cpu)
        strict.append(alone(name, 0, 3, 3000, save_every=1000))
        strict.append({label: part[0] for label, part in together(name, 3, 3000, save_every=1000).items()})
        fast.append(alone(name, 0, 3, 3000, save_every=1000, fast=True))
    assert all(equal(one, strict[0]) for one in strict[1:])
    assert not equal(fast[0], fast[1])


# Failures, events.


def both(problem, start, **options: Any):
    """The run in native code and in plain."""
    runs = [
        pt.simulate(problem, start, throw=False, progress=False, kernel=kernel, **options)
        for kernel in ("native", "plain")
    ]
    assert runs[0].attributes["kernel"] == "native" and runs[1].attributes["kernel"] == "plain: asked for"
    return runs


def agree(native, plain, rtol: float, atol: float = 0.0) -> None:
    assert native.result is plain.result
    assert native.attributes["steps"] == plain.attributes["steps"]
    np.testing.assert_allclose(native.t, plain.t, rtol=1e-12)
    for label, part in plain.components.items():
        np.testing.assert_allclose(native.components[label], part, rtol=rtol, atol=atol, err_msg=label)


def test_collision():
    """Straight into the centre, where the stage equations stop converging."""
    start = pt.State(q=[1.0, 0.0], p=[0.0, 0.0])
    native, plain = both(KEPLER, start, t1=5.0, dt=0.05, integrator=pt.integrators.GaussLegendre(3))
    assert native.result is pt.Result.stage_equations_not_converged
    agree(native, plain, 1e-11, 1e-12)


def test_explosion():
    native, plain = both(
        pt.ODE(lambda y: y**2),
        pt.State(y=[1.0]),
        t1=5.0,
        dt=0.1,
        integrator=pt.integrators.RK4(),
        save_every=4,
    )
    assert native.result is pt.Result.non_finite
    agree(native, plain, 1e-12)


@pytest.mark.slow
def test_gimbal_lock():
    sphere = pt.library.free_body(inertia=(1.0, 1.0, 1.0))
    start = sphere.state(rotation=pt.rotation.about_x(0.5), angular_velocity=(-1.0, 0.1, 0.0))
    native, plain = both(
        sphere,
        start,
        t1=5.0,
        dt=0.05,
        integrator=pt.integrators.GaussLegendre(2),
        coordinates=pt.coordinates.EulerAngles("zxz", margin=0.2),
        form="hamiltonian",
    )
    assert native.result is pt.Result.near_singularity and native.attributes["steps"] > 2
    agree(native, plain, 1e-12, 1e-12)


@pytest.mark.parametrize("integrator", [pt.integrators.GaussLegendre(3), pt.integrators.StormerVerlet()])
def test_event(integrator):
    start = jax.tree.map(lambda leaf: leaf[0], kepler_starts(1))
    native, plain = both(
        KEPLER,
        start,
        t1=10.0,
        dt=0.05,
        integrator=integrator,
        stop=lambda q, p: q[1] + 0.25,
        save_every=3,
    )
    assert native.result is pt.Result.stopped_by_event and native.q[-1, 1] == pytest.approx(-0.25, abs=1e-12)
    agree(native, plain, 1e-12, 1e-12)


def test_saves_between_steps():
    start = jax.tree.map(lambda leaf: leaf[0], kepler_starts(1))
    integrator = pt.integrators.GaussLegendre(3)
    native, plain = both(
        KEPLER, start, t1=3.0, dt=0.05, integrator=integrator, save_at=[0.0, 0.11, 1.5, 2.99]
    )
    agree(native, plain, 1e-12, 1e-12)


def test_a_failing_run_leaves_the_others_alone():
    """One run of many falls into the centre; its neighbours in the vector do not notice."""
    states = kepler_starts(9)
    fallen = pt.State(q=states.q, p=states.p.at[3].set(0.0))
    grid: dict[str, Any] = {"dt": 0.05, "steps": 40, "kernel": "native"}
    method = pt.integrators.GaussLegendre(3)
    good, bad = (pt.ensemble(KEPLER, method, one, **grid) for one in (states, fallen))
    assert bad.result[3] == pt.Result.stage_equations_not_converged and 0 < bad.steps[3] < 40
    others = np.arange(9) != 3
    assert np.all(bad.result[others] == pt.Result.successful)
    assert np.array_equal(bad.q[others], good.q[others]) and np.array_equal(bad.p[others], good.p[others])
    single = both(KEPLER, pt.State(q=fallen.q[3], p=fallen.p[3]), t1=2.0, dt=0.05, integrator=method)[0]
    kept = bad.steps[3] + 1
    assert (
        kept == len(single) and np.array_equal(bad.q[3, :kept], single.q) and np.isnan(bad.q[3, kept:]).all()
    )


# Every family of methods.

ALL = {name: pt.integrators.by_name(name) for name in pt.integrators.names()}
ON_KEPLER = [name for name, method in ALL.items() if method.refusal(KEPLER) is None]
ON_TOP = [name for name in ALL if name not in ON_KEPLER]
QUICK = {
    "rk4",
    "gauss6",
    "radau3",
    "lobatto-iiiab4",
    "verlet",
    "yoshida6",
    "blanes-moan4",
    "energy-momentum",
    "lie-splitting",
    "lie-rattle",
}


@pytest.mark.parametrize("name", of_the_long_suite(ON_KEPLER, QUICK & set(ON_KEPLER)))
def test_methods_on_kepler(name):
    start = jax.tree.map(lambda leaf: leaf[0], kepler_starts(1))
    native, plain = both(
        KEPLER, start, t1=2.0, dt=0.01, integrator=pt.integrators.by_name(name), save_every=50
    )
    agree(native, plain, 1e-11, 1e-11)
    assert native.result.ok and np.max(np.abs(native.q[-1] - native.q[0])) > 0.1


@pytest.mark.parametrize("name", of_the_long_suite(ON_TOP, QUICK & set(ON_TOP)))
def test_methods_on_a_top(name):
    start = TOP.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(0.5, 1.0, 5.0))
    native, plain = both(TOP, start, t1=1.0, dt=0.005, integrator=pt.integrators.by_name(name), save_every=50)
    assert native.result is plain.result is pt.Result.successful
    assert native.attributes["steps"] == plain.attributes["steps"] == 200
    np.testing.assert_allclose(native.rotation, plain.rotation, atol=1e-11)
    np.testing.assert_allclose(native.energy, plain.energy, rtol=1e-11)
    assert np.max(np.abs(native.rotation[-1] - native.rotation[0])) > 0.1


@pytest.mark.slow
def test_a_method_too_large_to_be_written_out_runs_plain(monkeypatch):
    """And says why; asked for native, it is refused before a step is taken."""
    monkeypatch.setattr(_program, "HEAVIEST", 20_000)
    monkeypatch.setattr(_programs, "_native", _programs.Remembered())
    start = TOP.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(0.5, 1.0, 5.0))
    options: dict[str, Any] = {
        "t1": 0.05,
        "dt": 0.005,
        "integrator": pt.integrators.by_name("constrained-radau5"),
    }
    run = pt.simulate(TOP, start, progress=False, **options)
    assert run.result.ok and run.attributes["kernel"].startswith("plain: the trace has about")
    with pytest.raises(pt.InputError, match="kernel='auto'"):
        pt.simulate(TOP, start, progress=False, kernel="native", **options)


def test_a_long_run_has_its_long_code_compiled_with_more_effort(monkeypatch):
    """What both compute is the same to the last bit."""
    efforts, made = [], _program.object_code
    monkeypatch.setattr(_program, "object_code", lambda *given: efforts.append(given[-1]) or made(*given))
    monkeypatch.setattr(_program, "LONGEST", 100)
    monkeypatch.setattr(_programs, "_native", _programs.Remembered())
    monkeypatch.setattr(_loop, "MANY_STEPS", STEPS)
    short, long = (
        pt.simulate(KEPLER, KEPLER.start, t1=t1, dt=0.05, integrator="gauss4", progress=False)
        for t1 in (0.05 * STEPS, 0.1 * STEPS)
    )
    assert 1 not in efforts[:-1] and efforts[-1] == 1, efforts
    np.testing.assert_array_equal(long.q[: STEPS + 1], short.q)


ADAPTIVE = {
    "dopri5": pt.integrators.DormandPrince5(),
    "dopri8": pt.integrators.DormandPrince8(),
    "odex": pt.integrators.Odex(),
    "seulex": pt.integrators.Seulex(),
    "reversible": pt.integrators.ReversibleSteps(pt.integrators.StormerVerlet()),
}


@pytest.mark.parametrize("name", ["dopri8", "odex"])
def test_event_of_an_adaptive_run(name):
    start = jax.tree.map(lambda leaf: leaf[2], kepler_starts(4))
    given: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10, "stop": lambda q, p: q[1] + 0.25}
    native, plain = both(KEPLER, start, t1=10.0, integrator=ADAPTIVE[name], **given)
    assert native.result is plain.result is pt.Result.stopped_by_event
    assert native.t[-1] == pytest.approx(plain.t[-1], abs=1e-8)
    assert native.q[-1, 1] == pytest.approx(-0.25, abs=1e-12)


@pytest.mark.skipif(len(CPUS) < 2, reason="needs an x86-64 processor with AVX2")
@pytest.mark.parametrize("name", ["dopri8", "odex"])
def test_the_processor_changes_no_bit_of_an_adaptive_run(name, monkeypatch):
    start, found = jax.tree.map(lambda leaf: leaf[2], kepler_starts(4)), []
    for cpu in CPUS:
        monkeypatch.setenv("POINSOT_NATIVE_CPU", cpu)
        _jitted._functions.cache_clear()
        run = pt.simulate(
            KEPLER, start, t1=20.0, rtol=1e-9, integrator=ADAPTIVE[name], kernel="native", progress=False
        )
        found.append((np.asarray(run.t), np.asarray(run.q)))
    for times, states in found[1:]:
        assert np.array_equal(times, found[0][0]) and np.array_equal(states, found[0][1])


@pytest.mark.parametrize("name", ADAPTIVE)
def test_adaptive_solvers(name):
    start = jax.tree.map(lambda leaf: leaf[2], kepler_starts(4))
    tolerance = 1e-7
    steps: dict[str, Any] = {"dt": 0.01} if name == "reversible" else {"rtol": tolerance, "atol": tolerance}
    native, plain = both(KEPLER, start, t1=7.0, integrator=ADAPTIVE[name], **steps)
    assert native.result is plain.result is pt.Result.successful
    assert native.counts.accepted == pytest.approx(plain.counts.accepted, rel=0.03, abs=2)
    np.testing.assert_allclose(native.q[-1], plain.q[-1], atol=100 * tolerance)


# The world around a run.


def test_interrupt():
    """Ctrl-C in the middle of an interval between saves is answered at once, with what there is."""
    start, between = jax.tree.map(lambda leaf: leaf[0], kepler_starts(1)), 10**9
    options: dict[str, Any] = {
        "dt": 2.0**-20,
        "integrator": pt.integrators.StormerVerlet(),
        "progress": False,
    }
    pt.simulate(KEPLER, start, t1=2.0**-16, save_every=4, kernel="native", **options)
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    # A shell starts what is to run in the background with this signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(pt.Interrupted) as caught:
            pt.simulate(
                KEPLER, start, t1=2 * between * 2.0**-20, save_every=between, kernel="native", **options
            )
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    prefix = caught.value.trajectory
    assert prefix.result is pt.Result.interrupted and prefix.attributes["kernel"] == "native"
    # The interval takes ten seconds and more.
    assert 10**4 < prefix.attributes["steps"] < between and np.all(np.isfinite(prefix.q))


SCRIPT = """
import sys
import poinsot as pt
from poinsot.kernels.native import _target
made, compile = [], _target._compiled
_target._compiled = lambda *given: made.append(1) or compile(*given)
kepler = pt.library.kepler()
start = pt.State(q=[0.5, 0.0], p=[0.0, 1.7])
run = pt.simulate(kepler, start, t1=5.0, dt=0.05, integrator=pt.integrators.GaussLegendre(3),
                  kernel="native", progress=False)
print(len(made), run.q.tobytes().hex()[-64:])
"""


@pytest.mark.slow
def test_code_is_kept_for_the_next_process(tmp_path):
    """It has the same bits, and what is damaged is made anew."""

    def process() -> tuple[int, str]:
        environment = os.environ | {"POINSOT_CACHE_DIR": str(tmp_path / "code")}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        made, bits = done.stdout.split()
        return int(made), bits

    made, bits = process()
    entries = sorted(path for path in (tmp_path / "code").glob("*.o") if "-" not in path.name)
    assert made == len(entries) > 0
    assert process() == (0, bits)
    whole = entries[0].read_bytes()
    entries[0].write_bytes(whole[:-100] + b"0" * 100)
    assert process() == (1, bits)
    assert entries[0].read_bytes() == whole


def test_solve_under_transformations_is_plain_and_agrees():
    """What is traced by JAX stays in JAX; eagerly, native code gives the same."""
    problem, method = KEPLER, pt.integrators.GaussLegendre(2)
    states = kepler_starts(3)

    def end(state):
        return pt.solve(problem, method, state, dt=0.05, steps=20, save_every=20).q[-1]

    one = jax.tree.map(lambda leaf: leaf[0], states)
    eager = pt.solve(problem, method, one, dt=0.05, steps=20, save_every=20)
    assert eager.kernel == "native"
    np.testing.assert_allclose(jax.jit(end)(one), eager.q[-1], rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(end)(states)[0], eager.q[-1], rtol=1e-12)
    slope = jax.grad(lambda state: end(state)[0])(one).p[1].item()
    h = 1e-5
    shifted = [end(pt.State(q=one.q, p=one.p.at[1].add(d)))[0].item() for d in (h, -h)]
    assert slope == pytest.approx((shifted[0] - shifted[1]) / (2 * h), rel=1e-8)


@pytest.mark.slow
def test_a_chain_whose_code_would_be_too_long_has_the_loop_of_rows(monkeypatch):
    chain = pt.library.particle_chain(
        body=pt.shapes.tetrahedron(), count=3, potential=pt.potentials.LennardJones(epsilon=5.0, sigma=1.0)
    )
    start = chain.straight_state(velocity_scale=0.05, seed=0)
    marchers, original = [], _fixed_run._run

    def seen(marcher, *rest):
        marchers.append(type(marcher).__name__)
        return original(marcher, *rest)

    def run(**options):
        return pt.simulate(
            chain, start, t1=0.02, dt=1e-3, integrator=pt.integrators.LieSplitting(), **options
        )  # fmt: skip

    monkeypatch.setattr(_fixed_run, "_run", seen)
    native = run()
    monkeypatch.setattr(_program, "HEAVIEST", 100)
    monkeypatch.setattr(_programs, "_native", _programs.Remembered())
    rows = run()
    assert marchers == ["KernelMarcher", "RowMarcher"] and native.attributes["kernel"] == "native"
    assert rows.attributes["kernel"].startswith("plain: the trace has about")
    np.testing.assert_allclose(native.position, rows.position, atol=1e-12)
    with pytest.raises(pt.InputError, match="kernel = 'native' cannot run this: the trace has about"):
        run(kernel="native")
