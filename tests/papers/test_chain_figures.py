"""What the figures of chains in Chaurasia (2012) rest on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.papers.chaurasia2012._chain import (
    DISC_SPACING,
    HOMOGENEOUS,
    THESIS,
    discs,
    run_chain,
    tetrahedra,
    unit_error,
)
from poinsot.papers.chaurasia2012._chain_energy import bond_lengths, kinetic_energy, torn_for_good, trend
from poinsot.papers.chaurasia2012._chain_open_question import Order
from poinsot.papers.chaurasia2012._chain_timing import Growth
from poinsot.papers.chaurasia2012._chain_work import traced_products

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def short():
    """The beginning of the motion of figure 3.5, by a method that is quick to compile."""
    return run_chain(*tetrahedra("c1-c2"), pt.integrators.RK4(), 0.02, 0.002)


def test_the_tetrahedra_are_those_of_the_thesis(short):
    chain, start = tetrahedra("c1-c2")
    np.testing.assert_allclose(start.position, 2.0 * np.arange(8)[:, None] * np.eye(3)[0])
    np.testing.assert_allclose(chain.body_inertias[3], np.diag([17 / 12, 5 / 4, 7 / 6]), rtol=1e-15)
    points = np.array([[-1 / 2, -1 / 3, -1 / 4], [1 / 2, -1 / 3, -1 / 4], [0, 2 / 3, -1 / 4], [0, 0, 3 / 4]])
    r = np.linalg.norm(points[None, :] + [2.0, 0.0, 0.0] - points[:, None], axis=2)
    potential = 7.0 * np.sum(20.0 * (r**-12 - r**-6)) - 3.0 * 14.0
    np.testing.assert_allclose(short.energy[0] - kinetic_energy(short)[0], potential, rtol=1e-13)


def test_kinetic_energy(short):
    _, start = tetrahedra("c1-c2")
    v, Omega = np.asarray(start.velocity), np.asarray(start.angular_velocity)
    expected = 2.0 * np.sum(v**2) + 0.5 * np.sum([17 / 12, 5 / 4, 7 / 6] * Omega**2)
    np.testing.assert_allclose(kinetic_energy(short)[0], expected, rtol=1e-12)
    np.testing.assert_allclose(bond_lengths(short)[0], 2.0, rtol=1e-14)
    assert not torn_for_good(short)


def test_discs_are_at_the_minimum_of_the_potential():
    chain, start = discs(8, 4)
    assert DISC_SPACING == pytest.approx(2.0 ** (1 / 6))
    assert not np.any(np.asarray(start.velocity)) and not np.any(np.asarray(start.angular_velocity[0]))
    assert chain.body.principal_points.shape == (8, 3)


def test_a_bond_that_closes_again_is_not_torn():
    t = np.arange(5.0)
    position = np.zeros((5, 3, 3))
    position[:, 1, 0] = [2.0, 5.0, 2.0, 2.0, 3.0]
    position[:, 2, 0] = position[:, 1, 0] + [2.0, 5.0, 2.0, 5.0, 9.0]
    run = pt.BodyTrajectory(None, t, {}, {}, pt.Result.successful, {}, motion={"position": position})
    assert torn_for_good(run) == [3.0]


def test_a_trend_is_told_from_a_swing():
    t = np.linspace(0.0, 1.0, 1000)
    noise = np.random.default_rng(0).standard_normal(1000)
    assert abs(trend(np.sin(40.0 * t) + noise)) < 4.0 < abs(trend(np.sin(40.0 * t) + noise + 3.0 * t))


def test_exponents_are_those_of_the_largest_sizes():
    sizes = (1, 10, 100, 1000, 10_000)
    growth = Growth(sizes, np.array([1.0, 2.0, 1.0, 100.0, 1e4]))
    assert growth.exponent == pytest.approx(2.0) and growth.smallest_ratio == 0.5
    assert Order((0.1, 0.05, 0.025), (1.0, 2.0**-6, 2.0**-12)).measured == pytest.approx(6.0)


def test_length_of_a_quaternion_from_its_constraint():
    residual = 0.5 * (np.array([1.0, 1.1, 0.9]) ** 2 - 1.0)
    motion = {"constraint": residual[:, None, None]}
    run = pt.BodyTrajectory(None, np.arange(3.0), {}, {}, pt.Result.successful, {}, motion=motion)
    np.testing.assert_allclose(unit_error(run)[:, 0], [0.0, 0.1, 0.1], atol=1e-15)


def test_the_two_forms_are_two():
    assert HOMOGENEOUS.I0 is None and THESIS.I0 == 1.0


def test_products_of_a_loop_count_each_time():
    """Of an outer product 12, of three turns of a loop of two products 6, of a branch the longer one."""
    x = jnp.ones(4)
    assert traced_products(lambda x: x[:, None] * x[None, :3], x) == 12
    looped = lambda x: jax.lax.scan(lambda carry, _: (carry * carry * 2.0, None), x[0], None, 3)[0]  # noqa: E731
    assert traced_products(looped, x) == 6
    branches = lambda x: jax.lax.cond(x[0] > 0, lambda y: y * y, lambda y: y[:2].sum() * y, x)  # noqa: E731
    assert traced_products(branches, x) == 4
    assert traced_products(jax.jit(lambda x: x + x), x) == 0
