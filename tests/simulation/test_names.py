"""Names in place of integrators and coordinates, wherever these are taken."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

OSCILLATOR = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 0.5 * q @ q)
START = pt.State(q=[1.0], p=[0.0])
TOP = pt.library.heavy_top((3.0, 2.5, 1.0), 1.0)
TILTED = TOP.state(rotation=pt.rotation.about_x(0.3), angular_velocity=(0.1, 0.2, 3.0))
VERLET = pt.integrators.StormerVerlet()


def test_simulate_takes_names_as_files_do():
    named = pt.simulate(OSCILLATOR, START, t1=1.0, dt=0.1, integrator="verlet")
    assert np.array_equal(named.q, pt.simulate(OSCILLATOR, START, t1=1.0, dt=0.1, integrator=VERLET).q)
    adaptive = pt.simulate(OSCILLATOR, START, t1=1.0, integrator="dormand_prince5")
    assert np.allclose(adaptive.q[-1], np.cos(1.0), atol=1e-8)
    bodies = pt.simulate(
        TOP, TILTED, t1=0.1, dt=0.05, integrator="gauss4", coordinates="euler-angles", form="null-space"
    )
    assert "EulerAngles" in bodies.attributes["coordinates"] and bodies.attributes["form"] == "null_space"


def test_solve_and_ensemble_take_names():
    grid = {"dt": 0.1, "steps": 5}
    one = pt.solve(OSCILLATOR, "verlet", START, **grid)
    assert np.array_equal(one.q, pt.solve(OSCILLATOR, VERLET, START, **grid).q)
    starts = jax.tree.map(lambda x: jnp.stack([x, 2.0 * x]), START)
    assert pt.ensemble(OSCILLATOR, "verlet", starts, **grid).q.shape == (2, 6, 1)
    bodies = pt.solve(TOP, "lie-splitting", TILTED, coordinates="group", dt=0.01, steps=2)
    assert bodies.rotation.shape == (3, 1, 3, 3)


def test_formulate_takes_names():
    formulation = pt.formulate(TOP, "directors", "index3")
    assert isinstance(formulation.bodies.coordinates, pt.coordinates.Directors)
    with pytest.raises(pt.InputError, match="coordinates 'director' is not known; did you mean directors"):
        pt.formulate(TOP, "director", "index3")
    with pytest.raises(pt.InputError, match="form 'index4' is not known; did you mean index3"):
        pt.formulate(TOP, "directors", "index4")


def test_analysis_takes_names():
    an = pt.analysis
    assert an.symplecticity(OSCILLATOR, "verlet", START, 0.1).defect < 1e-13
    assert an.reversibility(OSCILLATOR, "verlet", START, 0.1) < 1e-13
    assert an.invariant_deviations(OSCILLATOR, "verlet", START, dt=0.1, steps=10).steps == 10
    assert an.tangent_map(OSCILLATOR, "verlet", START, dt=0.1, steps=3).matrix.shape == (2, 2)
    found = an.work_precision(OSCILLATOR, START, 1.0, ["verlet", "dormand-prince5"], steps=[10], repeats=1)
    assert {point.method for point in found.points} == {"verlet", "dormand-prince5"}


def test_every_kind_has_a_name():
    assert isinstance(pt.integrators.by_name("dormand-prince5"), pt.integrators.DormandPrince5)
    assert isinstance(pt.integrators.by_name("lie_splitting"), pt.integrators.LieSplitting)
    assert not set(pt.integrators.names()) & set(pt.integrators.adaptive_names())
    assert set(pt.integrators.REGISTRY) == {*pt.integrators.names(), *pt.integrators.adaptive_names()}
    assert isinstance(pt.coordinates.by_name("euler_angles"), pt.coordinates.EulerAngles)


PT: Any = pt


def _run(**changed):
    return PT.simulate(OSCILLATOR, START, **({"t1": 1.0, "dt": 0.1, "integrator": "verlet"} | changed))


CASES = {
    "integrator 'gaus6' is not known; did you mean gauss6": lambda: _run(integrator="gaus6"),
    r"integrator = RK4 is a function; call it, integrator=RK4\(\)": lambda: _run(
        integrator=pt.integrators.RK4
    ),
    r"integrator = StormerVerlet is a class; call it": lambda: _run(integrator=pt.integrators.StormerVerlet),
    r"call it, integrator=Composition\(base=..., scheme=...\)": lambda: _run(
        integrator=pt.integrators.Composition
    ),
    "must be one of pt.integrators, or a name such as 'gauss6', got float": lambda: _run(integrator=6.0),
    r"coordinates = Quaternions is a class; call it, coordinates=Quaternions\(\)": lambda: PT.simulate(
        TOP, TILTED, t1=1.0, dt=0.1, integrator="gauss4", coordinates=pt.coordinates.Quaternions
    ),
    "coordinates must be one of pt.coordinates, or a name": lambda: PT.formulate(TOP, 3, "index3"),
    "coordinates = 'group': only a pt.System has a choice": lambda: _run(coordinates="group"),
    "solve takes fixed steps, and .* chooses its own": lambda: PT.solve(
        OSCILLATOR, "dormand-prince5", START, dt=0.1, steps=1
    ),
    "order_estimate takes fixed steps": lambda: PT.analysis.order_estimate(OSCILLATOR, "odex", START, 1.0),
    "ensemble takes fixed steps": lambda: PT.ensemble(OSCILLATOR, "lsoda", START, dt=0.1, steps=1),
    "problem must be a problem such as pt.Hamiltonian": lambda: PT.simulate(
        3.0, START, t1=1.0, dt=0.1, integrator="rk4"
    ),
    "problem = kepler is a function; call it": lambda: PT.solve(
        pt.library.kepler, "rk4", START, dt=0.1, steps=1
    ),
    "a system of bodies is given where a problem is needed": lambda: PT.analysis.reversibility(
        TOP, "rk4", TILTED, 0.1
    ),
}


@pytest.mark.parametrize("message", CASES)
def test_wrong_choices_are_one_line(message):
    with pytest.raises(pt.InputError, match=message) as caught:
        CASES[message]()
    assert "\n" not in str(caught.value)
