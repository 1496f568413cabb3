"""Rows of bodies: taken without looking and in windows, they are the steps of the plain loop."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation import _row_shards
from poinsot.simulation._loop import Marcher
from poinsot.simulation._row import Row
from poinsot.simulation._row_march import RowMarcher
from poinsot.simulation._row_shards import RowShards, row_marcher

pytestmark = pytest.mark.slow

COUNT = 40
STEPS = 20
GROUP = pt.coordinates.Group()
SPLITTING = pt.integrators.LieSplitting()
FOURTH = pt.integrators.Composition(SPLITTING, "yoshida4")


def chain_with(ends) -> pt.Chain:
    return pt.library.particle_chain(count=COUNT, spacing=2.2, ends=ends)


ENDS = {
    "clamped and pulled": ("clamped", pt.ends.force((3.0, 0.5, 0.0))),
    "turned and displaced": (
        pt.ends.clamped((0.1, 0.0, 0.0), pt.rotation.about_x(0.2)),
        pt.ends.displaced((2.2 * COUNT, 0.1, 0.0)),
    ),
}


def ran(chain, integrator, **options):
    start = chain.straight_state(velocity_scale=0.2, seed=1)
    options = {"t1": STEPS * 2e-3, "dt": 2e-3, "save_every": 10} | options
    return pt.simulate(chain, start, coordinates=GROUP, integrator=integrator, progress=False, **options)


def in_windows(monkeypatch):
    """Short windows, so that a short chain is a long one."""
    monkeypatch.setattr(_row_shards, "WINDOW", 16)
    monkeypatch.setattr(_row_shards, "EVALUATIONS", 3)
    monkeypatch.setattr(_row_shards, "ROUNDS", 2)
    monkeypatch.setattr(_row_shards, "LONG", 10)
    monkeypatch.setattr(_row_shards, "_cores", lambda: 2)


def plainly(monkeypatch):
    """The loop that looks at every step."""
    monkeypatch.setattr("poinsot.simulation._fixed_run.row_marcher", lambda marcher: marcher)


def loop_of(chain, integrator: Any = SPLITTING, event=None):
    problem = pt.formulate(chain, GROUP, "group").problem
    return row_marcher(Marcher(problem, integrator, jnp.asarray(0.0), jnp.asarray(1e-3), event))


@pytest.mark.parametrize("name", ["clamped and pulled", "turned and displaced"])
def test_rows_take_the_steps_of_the_plain_loop(name, monkeypatch):
    chain = chain_with(ENDS[name])
    assert isinstance(loop_of(chain), RowMarcher)
    whole = ran(chain, SPLITTING)
    in_windows(monkeypatch)
    assert isinstance(loop_of(chain), RowShards)
    cut = ran(chain, SPLITTING)
    plainly(monkeypatch)
    plain = ran(chain, SPLITTING)
    assert np.max(np.abs(plain.position[-1] - plain.position[0])) > 5e-3
    for run in (whole, cut):
        assert len(run) == len(plain)
        for name in ("position", "quaternion", "velocity", "angular_velocity"):
            difference = np.abs(getattr(run, name) - getattr(plain, name))
            assert np.max(difference) < 1e-13 * STEPS, name


def test_composed_steps_in_windows(monkeypatch):
    chain = chain_with("free")
    whole = ran(chain, FOURTH)
    in_windows(monkeypatch)
    cut = ran(chain, FOURTH)
    assert np.max(np.abs(whole.position - cut.position)) < 1e-13 * STEPS
    plain_step = ran(chain, SPLITTING)
    assert np.max(np.abs(cut.position - plain_step.position)) > 1e-9


def test_a_margin_too_narrow_is_wrong(monkeypatch):
    chain = chain_with("free")
    right = ran(chain, SPLITTING)
    in_windows(monkeypatch)
    take = Row.steps
    jax.clear_caches()
    # One step more than the margin is wide: windows then meet with bodies that are out of date.
    monkeypatch.setattr(Row, "steps", lambda row, rows, first, h, n: take(row, rows, first, h, n + 3))
    wrong = ran(chain, SPLITTING, t1=2e-3, save_every=1)
    # What was compiled of the wrong steps is not for the tests that follow.
    jax.clear_caches()
    later = right.position[1] - wrong.position[1]
    assert np.max(np.abs(later)) > 1e-6


def test_chunks_change_no_bit(monkeypatch):
    chain = chain_with("free")
    in_windows(monkeypatch)
    once, often = ran(chain, SPLITTING, save_every=STEPS), ran(chain, SPLITTING, save_every=3)
    assert np.array_equal(once.position[-1], often.position[-1])
    assert np.array_equal(once.quaternion[-1], often.quaternion[-1])


@pytest.mark.parametrize("cut", [False, True], ids=["whole", "in windows"])
def test_blow_up_ends_where_the_plain_loop_ends(cut, monkeypatch):
    # Springs under steps far too long: what moves grows tenfold and more in each, up to the largest number.
    springs = pt.potentials.HarmonicPair(50.0, 1.0)
    chain = pt.library.particle_chain(count=COUNT, potential=springs, ends="free")
    hot = {"t1": 1000.0, "dt": 2.0, "save_every": 1, "throw": False}
    with monkeypatch.context() as patch:
        plainly(patch)
        plain = ran(chain, SPLITTING, **hot)
    if cut:
        in_windows(monkeypatch)
    run = ran(chain, SPLITTING, **hot)
    assert plain.result is pt.Result.non_finite
    assert 2 < len(plain) < 500
    assert run.result is pt.Result.non_finite
    assert len(run) == len(plain)
    assert np.all(np.isfinite(run.position))


def test_other_problems_keep_their_loop():
    chain = chain_with("free")
    ring = pt.library.particle_chain(count=8, ends="ring")
    for loop in (
        loop_of(ring),
        loop_of(chain, pt.integrators.LieRattle()),
        loop_of(chain, pt.integrators.LieSplitting("exact")),
        loop_of(chain, event=pt.Event(lambda motion: motion.position[0, 0])),
    ):
        assert isinstance(loop, Marcher)
