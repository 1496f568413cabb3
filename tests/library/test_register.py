"""Things of one's own under names: in files, lists, messages and reports."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot import coordinates, integrators, library
from poinsot.integrators import AbstractIntegrator, StepInfo, Traits, _registry
from poinsot.io import load_scenario
from poinsot.model import loads, potentials, shapes


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """What a test registers is known to it alone."""
    for registry in (m.REGISTRY for m in (coordinates, integrators, library, loads, potentials, shapes)):
        monkeypatch.setattr(registry, "_entries", dict(registry))
    monkeypatch.setattr(_registry, "_ADAPTIVE", set(_registry._ADAPTIVE))


class Leap(AbstractIntegrator):
    """Euler's method under a name of its own."""

    @property
    def traits(self) -> Traits:
        return Traits(name="my leap", order=1)

    def init(self, problem, t, h, y):
        pass

    def step(self, problem, t, h, y, carry):
        return y + h * problem.vector_field(t, y), None, StepInfo()


def duffing(stiffness=1.0):
    oscillator = pt.Hamiltonian(
        T=lambda p: 0.5 * p @ p, V=lambda q, params: 0.25 * params["k"] * q[0] ** 4, params={"k": stiffness}
    )
    return oscillator.recommending(pt.State(q=[1.0], p=[0.0]), dt=0.05, name="duffing")


def test_a_system_and_an_integrator_in_a_file(tmp_path):
    pt.register("integrator", "leap", Leap)
    pt.register("system", "duffing")(duffing)
    path = tmp_path / "own.toml"
    path.write_text(
        """
        [system]
        name = "duffing"
        parameters = { stiffness = 2.0 }
        [integrator]
        name = "leap"
        [run]
        t1 = 1.0
        dt = 0.05
        """
    )
    run = load_scenario(path).run(progress=False)
    text = str(run.report())
    assert "duffing with stiffness = 2.0" in text and "my leap: order 1" in text
    own = duffing(2.0)
    by_hand = pt.simulate(own, own.start, t1=1.0, dt=own.dt, integrator=Leap())
    assert np.array_equal(run.q, by_hand.q) and run.energy[0] == 0.5
    path.write_text(path.read_text().replace("stiffness =", "stifness ="))
    with pytest.raises(pt.InputError, match="line 4.*has no parameter 'stifness'; did you mean stiffness"):
        load_scenario(path)
    assert "leap" in pt.integrators.names() and "leap" in pt.integrators.fitting(own)
    assert pt.simulate(own, own.start, t1=0.1, dt=0.05, integrator="leap").result.ok


def test_a_potential_in_a_file(tmp_path):
    @pt.register("potential", "quartic")
    def quartic(strength):
        return pt.potentials.of_body(lambda x, R: strength * jnp.sum(x**2) ** 2, 0)

    assert pt.potentials.REGISTRY["quartic"] is quartic
    path = tmp_path / "own.toml"
    path.write_text(
        """
        [[bodies]]
        name = "ball"
        density = 1.0
        shape = { name = "sphere", radius = 1.0 }
        start = { position = [1.0, 0.0, 0.0] }
        [[potentials]]
        name = "quartic"
        strength = 3.0
        [integrator]
        name = "lie-splitting"
        [run]
        t1 = 0.1
        dt = 0.05
        """
    )
    setup = load_scenario(path).setup
    assert isinstance(setup.system, pt.System)
    value = setup.system.pose_potential(0.0, setup.start.position, jnp.eye(3)[None])
    assert float(value) == 3.0


def test_adaptive_solvers_are_listed_as_such():
    pt.register("integrator", "coarse", lambda: pt.integrators.DormandPrince5(first_step=0.1))
    assert "coarse" in pt.integrators.adaptive_names() and "coarse" not in pt.integrators.names()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("integrater", "leap", Leap), "kind = 'integrater'; it must be .*; did you mean integrator"),
        (("integrator", "rk4", Leap), "integrator name = 'rk4' is taken"),
        (("integrator", "My Leap", Leap), "integrator name = 'My Leap'; it must be lower case"),
        (("integrator", "leap", Leap()), "maker is Leap; give a class or function"),
        (("integrator", "leap", dict), "its maker returns dict; it must return a pt.integrators"),
    ],
)
def test_what_cannot_be_registered_is_one_line(given, message):
    with pytest.raises(pt.InputError, match=message):
        pt.register(*given)


def test_a_system_that_is_none():
    pt.register("system", "nothing", lambda: 3)
    with pytest.raises(pt.InputError, match="'nothing': its maker returns int; it must return a problem"):
        pt.library.by_name("nothing")
