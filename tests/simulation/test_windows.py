"""Rows of bodies in windows: right-hand sides, substitutions and runs are those of the plain problem."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.core import AbstractProblem, InWindows
from poinsot.integrators.runge_kutta._stages import StageEquations
from poinsot.integrators.runge_kutta._weights import weighted, weights
from poinsot.kernels import once
from poinsot.model._neighbours import Neighbours
from poinsot.simulation import _window_march
from poinsot.simulation._fixed_run import row_marcher
from poinsot.simulation._loop import Marcher
from poinsot.simulation._window_march import WindowMarcher, in_windows

pytestmark = pytest.mark.slow

COUNT = 21
GAUSS = pt.integrators.GaussLegendre(3)
QUATERNIONS = pt.coordinates.Quaternions()
ENDS = {
    "clamped and pulled": ("clamped", pt.ends.force((3.0, 0.5, 0.0))),
    "turned and displaced": (
        pt.ends.clamped((0.1, 0.0, 0.0), pt.rotation.about_x(0.2)),
        pt.ends.displaced((2.2 * (COUNT - 1), 0.1, 0.0)),
    ),
}


FIELDS = [
    pt.potentials.UniformGravity((0.0, 1.0, -3.0)),
    pt.potentials.Field(lambda x, R, k: k * x[1] ** 2 + R[2, 2], params=0.3),
    pt.potentials.ConstantForce((1.0, 0.0, 2.0), point=(0.0, 0.1, 0.2), body="body9"),
]


@pytest.fixture
def short(monkeypatch):
    """Windows of eight bodies: a short chain is a long one, the last of three windows filled up."""
    monkeypatch.setattr(Neighbours, "window", 8)
    monkeypatch.setattr(_window_march, "MANY", 8)


def chain_with(ends, **options) -> pt.Chain:
    return pt.library.particle_chain(count=COUNT, spacing=2.2, ends=ends, **options)


def both(chain, coordinates=QUATERNIONS) -> tuple[AbstractProblem, InWindows, jax.Array]:
    """The problem, the same in windows, and a packed state in which no two bodies are alike."""
    formulation = pt.formulate(chain, coordinates, "hamiltonian")
    problem = formulation.problem
    windows = in_windows(problem, GAUSS)
    assert isinstance(windows, InWindows)
    y = problem.pack(formulation.start(chain.straight_state(velocity_scale=0.3, seed=1)))
    return problem, windows, y + 0.05 * np.random.default_rng(2).standard_normal(y.shape)


@pytest.mark.parametrize(
    ("ends", "coordinates", "terms"),
    [
        ("clamped and pulled", QUATERNIONS, []),
        ("turned and displaced", QUATERNIONS, []),
        ("turned and displaced", pt.coordinates.Directors(), []),
        ("clamped and pulled", QUATERNIONS, FIELDS),
    ],
    ids=["pulled", "displaced", "displaced, in directors", "under fields"],
)
def test_rates_are_those_of_the_whole_row(ends, coordinates, terms, short):
    problem, windows, y = both(chain_with(ENDS[ends]).with_terms(terms), coordinates)

    @once
    def evaluated(problem, windows, y):
        cut = windows.cut(y)
        rates = windows.vector_field(0.0, cut)
        return problem.vector_field(0.0, y), cut, windows.joined(cut), rates, windows.joined(rates)

    right, cut, again, rates, found = evaluated(problem, windows, y)
    assert cut.shape[::2] == (3, 8)
    assert np.array_equal(again, y)
    assert np.max(np.abs(found - right)) < 1e-14 * np.max(np.abs(right))
    assert np.all(rates[-1, :, COUNT - 16 :] == 0.0), "bodies that fill up do not move"


def test_magnitudes_are_those_of_the_whole_row(short):
    problem, windows, y = both(chain_with("free"))

    @once
    def measured(problem, windows, y):
        cut = windows.cut(y)
        sizes = windows.magnitude(cut)
        return sizes, windows.joined(jnp.broadcast_to(sizes, cut.shape)), problem.magnitude(y)

    sizes, found, right = measured(problem, windows, y)
    assert np.array_equal(found, right)
    assert np.ptp(sizes) > 1.0


def substitution(problem, y, inverse_unit):
    """One substitution of stage derivatives, as the method makes it of problem and state."""
    tableau, h = GAUSS.tableau, jnp.asarray(0.05)
    equations = StageEquations(
        problem=problem,
        times=h * tableau.c_hi,
        h=h,
        y=y,
        weights=weights(tableau.A_hi, tableau.A_lo, False),
        combine=weighted,
        matrix=tableau.A_hi,
        noise=None,
        former=jnp.zeros_like(y)[None],
    )
    return equations.substitution(inverse_unit)


def test_a_substitution_is_that_of_the_whole_row(short):
    """Every window must find its neighbours' derivatives as they were, whichever comes first."""
    problem, windows, y = both(chain_with("free"))
    F, pull = np.random.default_rng(3).standard_normal((2, 3, *y.shape))

    def plain(F, y):
        return substitution(problem, y, problem.magnitude(y))(F)

    def cut(F, y):
        Y = windows.cut(y)
        rates = jnp.where(jnp.arange(24).reshape(3, 1, 8) < COUNT, jax.vmap(windows.cut)(F), 0.0)
        following, change = substitution(windows, Y, windows.magnitude(Y))(rates)
        return jax.vmap(windows.joined)(following), change

    def with_slopes(function):
        """Derivatives backward in both: where bodies that take no part met others, they would be NaN."""
        following, back, change = jax.vjp(function, jnp.asarray(F), y, has_aux=True)
        return following, change, *back(jnp.asarray(pull))

    right, found = jax.jit(lambda: with_slopes(plain))(), jax.jit(lambda: with_slopes(cut))()
    for one, other in zip(found, right, strict=True):
        assert np.max(np.abs(one - other)) < 1e-12 * np.max(np.abs(other))


def ran(chain, integrator=GAUSS, velocity=0.2, **options):
    start = chain.straight_state(velocity_scale=velocity, seed=1)
    options = {"t1": 0.04, "dt": 4e-3, "save_every": 5, "kernel": "plain"} | options
    return pt.simulate(
        chain, start, coordinates=QUATERNIONS, integrator=integrator, progress=False, **options
    )


def plainly(monkeypatch):
    monkeypatch.setattr(_window_march, "MANY", COUNT + 1)


@pytest.mark.parametrize(
    ("ends", "compensated"), [("turned and displaced", False), ("clamped and pulled", True)]
)
def test_runs_are_those_of_the_plain_loop(ends, compensated, short, monkeypatch):
    chain = chain_with(ENDS[ends])
    gauss = pt.integrators.GaussLegendre(3, compensated=compensated)
    # Off the grid too, and in a last step that is shorter.
    options = {"t1": 0.039, "last_step": "shorten"}
    windows = ran(chain, gauss, **options)
    plainly(monkeypatch)
    plain = ran(chain, gauss, **options)
    assert len(windows) == len(plain) == 4
    assert np.max(np.abs(plain.position[-1] - plain.position[0])) > 5e-3
    for name in ("position", "quaternion", "velocity", "angular_velocity"):
        assert np.max(np.abs(getattr(windows, name) - getattr(plain, name))) < 1e-13, name


@pytest.mark.parametrize(("dt", "fails"), [(0.05, False), (0.055, True)])
def test_a_violent_run_ends_where_the_plain_loop_ends(dt, fails, short, monkeypatch):
    """Bodies that fly into each other: steps that the first guess does not find, and one that none finds."""
    chain = chain_with("free")
    hot = {"velocity": 2.5, "t1": 60 * dt, "dt": dt, "save_every": 1, "throw": False}
    windows = ran(chain, **hot)
    plainly(monkeypatch)
    plain = ran(chain, **hot)
    assert windows.result is plain.result
    assert (windows.result is not pt.Result.successful) == fails
    assert 2 < len(windows) == len(plain) <= 61
    assert (len(windows) < 61) == fails
    assert np.all(np.isfinite(windows.position))


def test_which_problems_go_in_windows(short):
    def loop_of(chain, integrator: Any = GAUSS, coordinates: Any = QUATERNIONS, event=None):
        problem = pt.formulate(chain, coordinates, "hamiltonian").problem
        return row_marcher(Marcher(problem, integrator, jnp.asarray(0.0), jnp.asarray(1e-3), event))

    chain = chain_with("free")
    assert isinstance(loop_of(chain), WindowMarcher)
    newton = pt.integrators.GaussLegendre(3, solver=pt.integrators.SimplifiedNewton())
    dragged = pt.Chain(
        chain.body, COUNT, 2.2, pt.potentials.LennardJones(5.0, 1.0), loads=[pt.loads.LinearDamping(0.1)]
    )
    moved = chain_with(("clamped", pt.ends.displaced(lambda t: jnp.array([44.0 + 0.1 * t, 0.0, 0.0]))))
    for loop in (
        loop_of(chain_with("ring")),
        loop_of(dragged),
        loop_of(moved),
        loop_of(chain, newton),
        loop_of(chain, coordinates=pt.coordinates.EulerAngles()),
        loop_of(chain, pt.integrators.LobattoIIIAB(3)),
        loop_of(chain, event=pt.Event(lambda motion: motion.position[0, 0])),
        loop_of(pt.library.particle_chain(count=7)),
    ):
        assert loop is None
