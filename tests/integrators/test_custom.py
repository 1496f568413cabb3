"""An integrator of one's own, written with what `poinsot.integrators` offers."""

import jax
import jax.numpy as jnp
import numpy as np

import poinsot as pt
from poinsot.integrators import AbstractIntegrator, StepInfo, Traits


class Ralston(AbstractIntegrator):
    """Ralston's method of order 2."""

    @property
    def traits(self) -> Traits:
        return Traits(name="Ralston", order=2, conserves=frozenset({"linear"}))

    def init(self, problem, t, h, y):
        pass

    def step(self, problem, t, h, y, carry):
        k1 = problem.vector_field(t, y)
        k2 = problem.vector_field(t + 2 * h / 3, y + 2 * h / 3 * k1)
        return y + 0.25 * h * (k1 + 3.0 * k2), None, StepInfo()


PENDULUM = pt.Hamiltonian(lambda q, p: 0.5 * p[0] ** 2 - jnp.cos(q[0]), vectorised=True)
START = pt.State(q=[1.0], p=[0.0])


def test_it_runs_and_has_its_order():
    run = pt.simulate(PENDULUM, START, t1=1.0, dt=0.01, integrator=Ralston())
    assert run.result.ok and "Ralston: order 2" in str(run.report())
    assert abs(pt.analysis.order_estimate(PENDULUM, Ralston(), START, 1.0).order - 2.0) < 0.15


def test_it_runs_in_batches():
    """The report of a step may be one for all runs."""
    starts = jax.tree.map(lambda x: jnp.stack([x, 2.0 * x]), START)
    for kernel in ("plain", "native"):
        runs = pt.ensemble(PENDULUM, Ralston(), starts, dt=0.1, steps=3, kernel=kernel)
        assert runs.q.shape == (2, 4, 1) and np.all(np.isfinite(runs.q)) and np.all(runs.result == 0)


def test_reports_take_python_numbers():
    info = StepInfo(iterations=3)
    assert int(info.then(StepInfo()).iterations) == 3 and int(info.result) == pt.Result.successful
