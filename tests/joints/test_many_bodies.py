"""Many bodies with joints in methods with multipliers: equations in a row of blocks, or a refusal."""

import jax
import numpy as np
import pytest

import poinsot as pt
from poinsot.equations import _joint_multipliers
from poinsot.model._joint_row import row_of

methods = pt.integrators


@pytest.mark.parametrize(
    ("count", "groups", "widest"),
    [
        (7, [(3, 1), (1, 6), (6, 0), (0, 2), (2, 5), (5, 4)], 1),
        (8, [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (6, 7)], 2),
        (9, [(k, k + 1) for k in range(8)] + [(0, 2), (4, 6)], 2),
        (5, [(0, 1, 2), (2, 3, 4)], 3),
        (4, [], 1),
    ],
    ids=["chain", "parts", "ladder", "groups", "none"],
)
def test_places_of_bodies_that_are_joined_are_neighbours(count, groups, widest):
    row = row_of(count, groups)
    for group in groups:
        assert np.ptp(row[list(group)]) <= 1
    assert np.bincount(row).max() <= widest
    assert set(row) == set(range(row.max() + 1))


def test_blocks_of_a_pendulum_of_many_rods():
    """A body with a joint in each block, from the ground outwards; with a load there are none."""
    rods = pt.library.rod_pendulum(9)
    blocks = pt.formulate(rods, "quaternions", "index3").problem.blocks("qg")
    assert blocks is not None
    assert (blocks.count, blocks.size, blocks.coupled) == (9, 7 + 1 + 3, True)
    assert pt.formulate(pt.library.rod_pendulum(8), "quaternions", "index3").problem.blocks("qg") is None
    damped = pt.System(rods.bodies, joints=rods.joints, loads=[pt.loads.LinearDamping(0.1)])
    assert pt.formulate(damped, "quaternions", "index3").problem.blocks("qg") is None


def test_a_dense_matrix_of_many_bodies_is_refused():
    rods = pt.library.rod_pendulum(31)
    problem = pt.formulate(rods, "quaternions", "index3").problem
    assert methods.Rattle().refusal(problem) is None and methods.ConstrainedGauss(2).refusal(problem) is None
    assert "31 bodies with joints at once" in str(methods.EnergyMomentum().refusal(problem))
    few = pt.formulate(pt.library.rod_pendulum(30), "quaternions", "index3").problem
    assert methods.EnergyMomentum().refusal(few) is None
    for form in ("index1", "index2", "index3"):
        many = pt.formulate(pt.library.rod_pendulum(31), "quaternions", form).problem
        assert "31 bodies with joints at once" in str(methods.Ida().refusal(many))
    assert methods.Ida().refusal(few) is None


def test_a_dense_matrix_of_many_joint_coordinates_is_refused():
    """What needs none runs: SPARK methods have no unknowns in Newton's method but multipliers."""
    few, many = (
        pt.formulate(pt.library.hinge_pendulum(count), "joint", "index3").problem for count in (30, 31)
    )
    for method in (methods.Rattle(), methods.Variational(), methods.EnergyMomentum()):
        assert method.refusal(few) is None
        assert "take GaussLegendre() in the form 'hamiltonian'" in str(method.refusal(many))
    assert methods.ConstrainedGauss(2).refusal(many) is None
    balls = pt.formulate(pt.library.rod_pendulum(31), "joint", "index3").problem
    assert "31 bodies with joints at once" in str(methods.ConstrainedGauss(2).refusal(balls))


def stepped(system, coordinates, form, method, h):
    formulation = pt.formulate(system, coordinates, form)
    problem = formulation.problem
    y = problem.pack(formulation.start(system.start))
    carry = method.init(problem, 0.0, h, y)
    step = jax.jit(lambda t, y, carry: method.step(problem, t, h, y, carry))
    for k in range(3):
        y, carry, info = step(k * h, y, carry)
        assert int(info.result) == 0
    return np.asarray(y), problem.blocks("g", forces=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coordinates", "form", "method"),
    [
        ("directors", "index3", methods.Rattle()),
        ("quaternions", "index3", methods.Variational()),
        ("quaternions", "hamiltonian", methods.ConstrainedGauss(2)),
        ("quaternions", "index3", methods.ConstrainedRungeKutta(methods.RadauIIA(2).tableau)),
    ],
)
@pytest.mark.parametrize(
    "system", [pt.library.rod_pendulum(4), pt.library.parallelogram()], ids=["tree", "loop"]
)
def test_steps_in_blocks_are_those_of_a_dense_matrix(system, coordinates, form, method, monkeypatch):
    monkeypatch.setattr(_joint_multipliers, "FEW", 1)
    in_blocks, blocks = stepped(system, coordinates, form, method, 0.01)
    assert blocks is not None and blocks.count > 2
    monkeypatch.setattr(_joint_multipliers, "FEW", 100)
    dense, none = stepped(system, coordinates, form, method, 0.01)
    assert none is None
    np.testing.assert_allclose(in_blocks, dense, rtol=0.0, atol=1e-11 * np.max(np.abs(dense)))
