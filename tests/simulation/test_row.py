"""Rows of bodies: taken without looking and in windows, they are the steps of the plain loop."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation import _row_shards
from poinsot.simulation._loop import Marcher
from poinsot.simulation._row_march import RowMarcher
from poinsot.simulation._row_shards import Cut, RowShards, row_marcher

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
    options = {"t1": STEPS * 2e-3, "dt": 2e-3, "save_every": 10, "kernel": "plain"} | options
    return pt.simulate(chain, start, coordinates=GROUP, integrator=integrator, progress=False, **options)


def in_windows(monkeypatch) -> list[pt.Result]:
    """Short windows, so that a short chain is a long one; what their marches end with, as they do."""
    ends, march = [], RowShards._march

    def watched(marcher, *arguments):
        loop = march(marcher, *arguments)
        ends.append(pt.Result(int(loop.result)))
        return loop

    monkeypatch.setattr(RowShards, "_march", watched)
    monkeypatch.setattr(_row_shards, "WINDOW", 24)
    monkeypatch.setattr(_row_shards, "EVALUATIONS", 3)
    monkeypatch.setattr(_row_shards, "ROUNDS", 2)
    monkeypatch.setattr(_row_shards, "LONG", 10)
    monkeypatch.setattr(_row_shards, "cores", lambda: 2)
    return ends


def plainly(monkeypatch):
    """The loop that looks at every step."""
    monkeypatch.setattr("poinsot.simulation._fixed_run.row_marcher", lambda marcher: None)


def loop_of(chain, integrator: Any = SPLITTING, event=None):
    problem = pt.formulate(chain, GROUP, "group").problem
    return row_marcher(Marcher(problem, integrator, jnp.asarray(0.0), jnp.asarray(1e-3), event))


FIELDS = [
    pt.potentials.UniformGravity((0.0, 1.0, -3.0)),
    pt.potentials.Field(lambda x, R, k: k * x[1] ** 2 + R[2, 2], params=0.3),
    pt.potentials.Spring((9.0, 2.0, 0.0), pt.potentials.Marker("body5"), stiffness=2.0, rest_length=1.0),
]


@pytest.mark.parametrize(
    ("name", "terms"),
    [("clamped and pulled", []), ("turned and displaced", []), ("clamped and pulled", FIELDS)],
    ids=["pulled", "displaced", "under fields"],
)
def test_rows_take_the_steps_of_the_plain_loop(name, terms, monkeypatch):
    chain = chain_with(ENDS[name]).with_terms(terms)
    assert isinstance(loop_of(chain), RowMarcher)
    whole = ran(chain, SPLITTING)
    ends = in_windows(monkeypatch)
    assert isinstance(loop_of(chain), RowShards)
    cut = ran(chain, SPLITTING)
    assert ends == 2 * [pt.Result.successful], "not taken over by the plain loop"
    plainly(monkeypatch)
    plain = ran(chain, SPLITTING)
    assert cut.attributes["rows"] == whole.attributes["rows"] == "body by body along the row"
    assert plain.attributes["rows"].startswith("no, all bodies at once")
    assert np.max(np.abs(plain.position[-1] - plain.position[0])) > 5e-3
    for run in (whole, cut):
        assert len(run) == len(plain)
        for name in ("position", "quaternion", "velocity", "angular_velocity"):
            difference = np.abs(getattr(run, name) - getattr(plain, name))
            assert np.max(difference) < 1e-13 * STEPS, name


def test_composed_steps_in_windows(monkeypatch):
    chain = chain_with("free")
    whole = ran(chain, FOURTH)
    ends = in_windows(monkeypatch)
    cut = ran(chain, FOURTH)
    assert ends == 2 * [pt.Result.successful]
    assert np.max(np.abs(whole.position - cut.position)) < 1e-13 * STEPS
    plain_step = ran(chain, SPLITTING)
    assert np.max(np.abs(cut.position - plain_step.position)) > 1e-9


def test_a_margin_too_narrow_is_wrong(monkeypatch):
    """Where windows meet with bodies that are out of date."""
    chain = chain_with("free")
    right = ran(chain, SPLITTING)
    in_windows(monkeypatch)
    cut = Cut.of
    monkeypatch.setattr(Cut, "of", lambda row, shards: replace(cut(row, shards), margin=1))
    wrong = ran(chain, SPLITTING)
    assert np.max(np.abs(right.position[-1] - wrong.position[-1])) > 1e-9


def test_an_overlap_too_narrow_is_seen(monkeypatch):
    """What lies beyond a shard is not finite within one step, and comes nearer by a body in each."""
    ends, cut = in_windows(monkeypatch), Cut.of
    monkeypatch.setattr(Cut, "of", lambda row, shards: replace(cut(row, shards), overlap=1))
    ran(chain_with("free"), SPLITTING)
    assert ends == [pt.Result.non_finite]


def test_steps_of_very_many_parts_are_not_cut(monkeypatch):
    chain = chain_with("free")
    in_windows(monkeypatch)
    assert isinstance(loop_of(chain, FOURTH), RowShards)
    monkeypatch.setattr(_row_shards, "WINDOW", 8)
    assert isinstance(loop_of(chain, FOURTH), RowMarcher)


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
        assert loop is None
