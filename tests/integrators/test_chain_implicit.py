"""Implicit methods on chains: Newton's method along the row of bodies is Newton's method, at linear cost."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.core import Result
from poinsot.equations._constrained_bodies import ConstrainedBodies
from poinsot.integrators import FixedPoint, GaussLegendre, RadauIIA, SimplifiedNewton
from poinsot.integrators.constrained import ConstrainedRungeKutta, Rattle
from poinsot.integrators.runge_kutta import _prediction
from poinsot.integrators.runge_kutta._stage_inverse import spectrum
from poinsot.integrators.variational import Variational
from poinsot.kernels import _programs, once
from poinsot.solvers import linearised

QUATERNIONS = pt.coordinates.Quaternions()
MASSIVE = pt.coordinates.Quaternions(sigma="mean")
DISPLACED = ("clamped", pt.ends.displaced((8.0, 0.0, 0.0)))
"""The first body has no coordinates, the last only those of its rotation."""


def relaxed(stiffness: float, count: int = 5, **options) -> pt.Chain:
    """Springs between all particles of neighbours, at rest in the straight chain."""
    body, spacing = pt.shapes.tetrahedron(a=1.0, particle_mass=1.0), 2.0
    points = np.asarray(body.principal_points)
    lengths = np.linalg.norm(points[None] + spacing * np.eye(3)[0] - points[:, None], axis=-1)
    springs = pt.potentials.HarmonicPair(stiffness=stiffness, length=lengths)
    return pt.Chain(body, count, spacing, springs, **options)


def packed(chain: pt.Chain, coordinates, form: str):
    """The problem and a state near the straight chain."""
    formulation = pt.formulate(chain, coordinates, form)
    start = formulation.start(chain.straight_state(velocity_scale=0.05, seed=3))
    return formulation.problem, formulation.problem.pack(start)


def one_step(problem, integrator, y):
    """A compiled step as a function of its size."""

    @once
    def step(h):
        y1, _, info = integrator.step(problem, 0.0, h, y, integrator.init(problem, 0.0, h, y))
        return y1, info

    return lambda h: step(jnp.asarray(h))


@pytest.mark.parametrize(
    ("options", "form", "blocks"),
    [
        pytest.param({"ends": DISPLACED, "neighbours": 2}, "hamiltonian", 3, marks=pytest.mark.slow),
        pytest.param({"ends": DISPLACED}, "null_space", 4, marks=pytest.mark.slow),
        pytest.param({"ends": "ring", "count": 7}, "hamiltonian", 4, marks=pytest.mark.slow),
    ],
    ids=["second neighbours", "velocities", "ring"],
)
def test_blocks_hold_the_whole_jacobian(options, form, blocks):
    """The matrix in blocks times any vector is the derivative of the right-hand side along it."""
    problem, y = packed(relaxed(100.0, **options), QUATERNIONS, form)
    structure = problem.blocks("y")
    assert structure is not None and structure.count == blocks
    along = jnp.asarray(np.random.default_rng(1).normal(size=y.shape))

    @once
    def both(y):
        def field(y):
            return problem.vector_field(0.0, y)

        matrix = linearised(field, y, structure)[1]
        return structure.join(matrix.times(structure.split(along))), jax.jvp(field, (y,), (along,))[1]

    product, derivative = both(y + 0.01 * along)
    np.testing.assert_allclose(product, derivative, rtol=0.0, atol=1e-11 * np.max(np.abs(derivative)))


@pytest.mark.parametrize("reach", [1, 2, 3])
@pytest.mark.parametrize("ends", ["free", "ring", "periodic"])
def test_bodies_that_act_on_each_other_are_neighbours_in_the_row(ends, reach):
    count = 11
    row = relaxed(100.0, count, ends=ends, neighbours=reach).row
    assert row is not None
    apart = np.abs(np.subtract.outer(range(count), range(count)))
    if ends != "free":
        apart = np.minimum(apart, count - apart)
    assert np.all(np.abs(np.subtract.outer(row, row))[apart <= reach] <= 1)
    assert row.max() >= count // (2 * reach) - 1, "and the row is long"


@pytest.mark.parametrize(
    ("integrator", "coordinates"),
    [
        pytest.param(Rattle(), pt.coordinates.Directors(), marks=pytest.mark.slow),
        pytest.param(Rattle(), MASSIVE, marks=pytest.mark.slow),
        pytest.param(Variational(), MASSIVE, marks=pytest.mark.slow),
        pytest.param(ConstrainedRungeKutta(RadauIIA(2).tableau), MASSIVE, marks=pytest.mark.slow),
    ],
    ids=["rattle, directors", "rattle, quaternions", "variational", "radau"],
)
def test_a_step_in_blocks_is_the_dense_one(integrator, coordinates, monkeypatch):
    problem, y = packed(relaxed(100.0, ends=DISPLACED), coordinates, "index3")
    blocked, info = one_step(problem, integrator, y)(0.05)
    monkeypatch.setattr(ConstrainedBodies, "blocks", lambda *_, **__: None)
    dense, dense_info = one_step(problem, integrator, y)(0.05)
    assert int(info.result) == int(dense_info.result) == Result.successful
    assert int(info.iterations) == int(dense_info.iterations)
    np.testing.assert_allclose(blocked, dense, rtol=0.0, atol=1e-13)
    assert np.max(np.abs(blocked - y)) > 1e-3


ABOVE_NOISE = 1e3
"""Units of round-off."""


@pytest.fixture(scope="module")
def solvers():
    """A step of Gauss' method by its size: with both iterations, and with Newton's to fewer digits."""
    problem, y = packed(relaxed(100.0, ends=DISPLACED), QUATERNIONS, "hamiltonian")
    kinds = FixedPoint(), SimplifiedNewton(), SimplifiedNewton(tolerance=ABOVE_NOISE)
    return [one_step(problem, GaussLegendre(2, solver=solver), y) for solver in kinds]


@pytest.mark.slow
def test_newton_and_the_fixed_point_find_the_same_step(solvers):
    (fixed, _), (newton, info), _ = (solve(0.01) for solve in solvers)
    assert int(info.iterations) <= 6
    np.testing.assert_allclose(newton, fixed, rtol=0.0, atol=2e-15)


@pytest.mark.slow
def test_newton_takes_steps_far_beyond_the_fixed_point(solvers):
    """The fixed point ends between 0.08 and 0.12: five times the latter is a few corrections for Newton.

    They are counted above the noise of so long a step, 150 units of round-off: how many more it takes until
    two in a row do not shrink is luck.
    """
    fixed, newton, above_noise = solvers
    assert int(fixed(0.08)[1].result) == Result.successful
    assert int(fixed(0.12)[1].result) == Result.stage_equations_not_converged
    assert int(newton(0.6)[1].result) == Result.successful
    _, info = above_noise(0.6)
    assert int(info.result) == Result.successful and int(info.iterations) <= 15


@pytest.mark.slow
@pytest.mark.parametrize("noise", [True, False], ids=["noise known", "unknown"])
def test_momenta_that_are_round_off_are_not_iterated_upon(noise, monkeypatch):
    """A chain at rest between clamped ends is pulled by rounding alone, and no iteration gets below that."""
    chain = pt.library.particle_chain(count=8, ends="clamped")
    formulation = pt.formulate(chain, QUATERNIONS, "hamiltonian")
    start = formulation.start(chain.straight_state())
    if not noise:
        monkeypatch.setattr(
            _prediction, "field_noise", lambda problem, t, y: (problem.vector_field(t, y), None)
        )
    # No program that was compiled with the other noise.
    monkeypatch.setattr(_programs, "_native", _programs.Remembered())
    jax.clear_caches()
    solution = pt.solve(formulation.problem, GaussLegendre(3), start, dt=0.004, steps=400, save_every=400)
    jax.clear_caches()
    quick = int(solution.result) == Result.successful and int(solution.iterations) <= 5 * 400
    assert quick is noise, f"{int(solution.iterations)} iterations, result {int(solution.result)}"


def memory(count: int, integrator, coordinates, form: str) -> int:
    """Bytes of a compiled step of a chain."""
    problem, y = packed(relaxed(100.0, count, ends="clamped"), coordinates, form)

    def step(problem, y):
        return integrator.step(problem, 0.0, 0.01, y, integrator.init(problem, 0.0, 0.01, y))[0]

    analysis = jax.jit(step).lower(problem, y).compile().memory_analysis()
    assert analysis is not None
    return analysis.temp_size_in_bytes + analysis.output_size_in_bytes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("integrator", "coordinates", "form"),
    [
        (GaussLegendre(3, solver=SimplifiedNewton()), QUATERNIONS, "hamiltonian"),
        (Variational(), MASSIVE, "index3"),
        (Rattle(), pt.coordinates.Directors(), "index3"),
    ],
    ids=["gauss", "variational", "rattle"],
)
def test_memory_is_linear_in_the_bodies(integrator, coordinates, form):
    """A dense matrix would need four times as much for twice the bodies."""
    small, large = (memory(count, integrator, coordinates, form) for count in (200, 400))
    assert large < 2.2 * small


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_spectrum_is_that_of_the_matrix(stages):
    A = GaussLegendre(stages).tableau.A_hi
    values, right, left = spectrum(A)
    assert len(values) == (stages + 1) // 2
    np.testing.assert_allclose(np.real(right @ np.diag(values) @ left), A, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(np.real(right @ left), np.eye(stages), rtol=0.0, atol=1e-13)


def test_a_matrix_with_too_few_eigenvectors_is_replaced_by_one_next_to_it():
    A = np.array([[0.25, 0.0, 0.0], [0.5, 0.25, 0.0], [0.3, 0.4, 0.25]])
    values, right, left = spectrum(A)
    assert np.linalg.cond(right) < 1e7
    np.testing.assert_allclose(np.real(right @ np.diag(values) @ left), A, rtol=0.0, atol=2e-3)
