"""Poincare sections against motions whose crossings are known exactly."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import _poincare, poincare_section
from poinsot.integrators import GaussLegendre

GAUSS = GaussLegendre(6)
OSCILLATOR = pt.Hamiltonian(T=lambda p: 0.5 * jnp.sum(p * p), V=lambda q: 0.5 * jnp.sum(q * q))


def height(q, p):
    return q[0]


def rising(q, p):
    return p[0] > 0.0


START = pt.State(q=[-np.sin(0.3)], p=[np.cos(0.3)])  # q = sin(t - 0.3): upward at 0.3 + 2 pi k


def test_crossings_are_located_to_round_off():
    section = poincare_section(OSCILLATOR, GAUSS, START, section=height, t1=64.0, dt=0.25)
    exact = 0.3 + 2.0 * np.pi * np.arange(11)
    assert section.count == 11
    np.testing.assert_allclose(section.t, exact, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(section.state.q[:, 0], 0.0, atol=1e-15)
    np.testing.assert_allclose(section.state.p[:, 0], 1.0, atol=1e-12)


@pytest.mark.parametrize(("direction", "first", "gap"), [(-1, 0.3 + np.pi, 2 * np.pi), (0, 0.3, np.pi)])
def test_directions(direction, first, gap):
    section = poincare_section(
        OSCILLATOR, GAUSS, START, section=height, t1=64.0, dt=0.25, direction=direction
    )
    np.testing.assert_allclose(section.t, first + gap * np.arange(section.count), rtol=0.0, atol=1e-12)
    assert section.t[-1] + gap > 64.0


def test_condition_on_the_points():
    both = {"section": height, "t1": 64.0, "dt": 0.25, "direction": 0}
    kept = poincare_section(OSCILLATOR, GAUSS, START, where=rising, **both)
    np.testing.assert_allclose(kept.t, 0.3 + 2.0 * np.pi * np.arange(11), rtol=0.0, atol=1e-12)


def test_without_locating_points_are_the_ends_of_steps():
    section = poincare_section(OSCILLATOR, GAUSS, START, section=height, t1=64.0, dt=0.25, locate=False)
    exact = 0.3 + 2.0 * np.pi * np.arange(11)
    np.testing.assert_allclose(section.t, np.ceil(exact / 0.25) * 0.25, rtol=0.0, atol=1e-12)
    assert np.all(section.state.q[:, 0] >= 0.0)


def test_the_start_counts_when_it_lies_on_the_section_and_moves_through_it():
    on_it = pt.State(q=[0.0], p=[1.0])
    options = {"section": height, "t1": 8.0, "dt": 0.25}
    up = poincare_section(OSCILLATOR, GAUSS, on_it, **options)
    np.testing.assert_allclose(up.t, [0.0, 2.0 * np.pi], rtol=0.0, atol=1e-12)
    down = poincare_section(OSCILLATOR, GAUSS, on_it, direction=-1, **options)
    np.testing.assert_allclose(down.t, [np.pi], rtol=0.0, atol=1e-12)


def test_backward_runs():
    section = poincare_section(OSCILLATOR, GAUSS, START, section=height, t1=-16.0, dt=-0.25, direction=-1)
    np.testing.assert_allclose(section.t, 0.3 - 2.0 * np.pi * np.arange(1, 3), rtol=0.0, atol=1e-12)


def test_chunks_and_full_buffers_lose_nothing(monkeypatch):
    """With room for three crossings and blocks of two, the same points come out."""
    free = pt.Hamiltonian(lambda q, p: 0.5 * jnp.sum(p * p) + 0.5 * jnp.sum(q * q))
    monkeypatch.setattr(_poincare, "CAPACITY", 3)
    monkeypatch.setattr(_poincare, "BLOCK", 2)
    section = poincare_section(free, GAUSS, START, section=height, t1=400.0, dt=0.25)
    np.testing.assert_allclose(section.t, 0.3 + 2.0 * np.pi * np.arange(64), rtol=0.0, atol=1e-11)


@pytest.mark.slow
def test_points_lie_on_the_motion_of_a_nonlinear_problem():
    """Each located point is where a run of its own, with a stop condition, would end."""
    henon_heiles = pt.Hamiltonian(
        T=lambda p: 0.5 * jnp.sum(p * p),
        V=lambda q: 0.5 * jnp.sum(q * q) + q[0] ** 2 * q[1] - q[1] ** 3 / 3.0,
    )
    start = pt.State(q=[0.02, 0.1], p=[0.35, 0.05])
    section = poincare_section(
        henon_heiles, GAUSS, start, section=lambda q, p: q[0], t1=40.0, dt=0.125, direction=-1
    )
    first = pt.simulate(
        henon_heiles, start, t1=40.0, dt=0.125, integrator=GAUSS, stop=lambda q, p: q[0], progress=False
    )
    assert section.count > 4
    assert section.t[0] == pytest.approx(first.t[-1], abs=1e-12)
    np.testing.assert_allclose(section.state.q[0], first.q[-1], rtol=0.0, atol=1e-12)


def test_a_failure_keeps_the_points():
    """A fall into the centre of attraction ends the run."""
    fall = pt.Hamiltonian(lambda q, p: 0.5 * jnp.sum(p * p) - 1.0 / jnp.sqrt(jnp.sum(q * q)))
    with pytest.raises(pt.SimulationError) as caught:
        poincare_section(
            fall,
            GaussLegendre(3),
            pt.State(q=[1.0, 0.0], p=[0.0, 0.0]),
            section=lambda q, p: q[0] - 0.5,
            t1=20.0,
            dt=0.0625,
            direction=-1,
        )
    trajectory = caught.value.trajectory
    assert len(trajectory.t) == 1 and trajectory.t[0] == pytest.approx(0.909, abs=0.01)
    assert not trajectory.result.ok
