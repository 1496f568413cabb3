"""Lie-group integrators: every declared property measured, and that the others are absent."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from group_cases import (
    FREE,
    NONLINEAR,
    damping,
    orthogonality,
    spatial_momentum,
    start,
    stepper,
    symplecticity_defect,
)

from long_suite import of_the_long_suite
from poinsot.coordinates import Group as GroupCoordinates
from poinsot.core import Group, GroupParts, InputError
from poinsot.integrators.coefficients import collocation, explicit
from poinsot.integrators.lie import (
    KryslEndresNewmark,
    LieMidpoint,
    LieRattle,
    LieSplitting,
    MuntheKaas,
    TerzeRattle,
)
from quickly import quickly

INTEGRATORS = {
    "elementary": LieSplitting(),
    "exact": LieSplitting("exact"),
    "rattle": LieRattle(),
    "midpoint": LieMidpoint(),
    "terze": TerzeRattle(),
    "newmark": KryslEndresNewmark(),
    "munthe-kaas": MuntheKaas(explicit.rk4()),
}
each = pytest.mark.parametrize(
    "name", of_the_long_suite(list(INTEGRATORS), {"elementary", "exact", "rattle", "midpoint"})
)
H = jnp.array(0.1)


@cache
def conservative(name):
    return stepper(INTEGRATORS[name])


@cache
def damped(name):
    return stepper(INTEGRATORS[name], damping)


def slopes(run, y, t=0.0):
    """Observed orders from runs to time 1 with ever smaller steps."""
    ends = []
    for n in (20, 40, 80, 160):
        end, failures = run(y, jnp.array(1.0 / n), n, t, nonlinear=1.0)
        assert failures == 0
        ends.append(np.asarray(end))
    gaps = [np.abs(a - b).max() for a, b in zip(ends, ends[1:], strict=False)]
    return np.log2(np.array(gaps[:-1]) / np.array(gaps[1:]))


def there_and_back(run, y, t):
    """Largest change after a step and its reverse."""
    forth, _ = run(y, H, 1, t, nonlinear=1.0)
    back, _ = run(forth, -H, 1, t + H, nonlinear=1.0)
    return np.abs(np.asarray(back - y)).max()


@each
def test_order_in_a_nonlinear_potential(name):
    np.testing.assert_allclose(
        slopes(conservative(name), start(NONLINEAR)), INTEGRATORS[name].order, atol=0.1
    )


@pytest.mark.slow
@each
def test_order_with_loads_that_depend_on_time_and_velocity(name):
    np.testing.assert_allclose(slopes(damped(name), start(NONLINEAR), 0.3), INTEGRATORS[name].order, atol=0.1)


@each
def test_symmetry_is_as_declared(name):
    change = there_and_back(conservative(name), start(NONLINEAR), 0.0)
    assert change < 1e-14 if INTEGRATORS[name].symmetric else change > 1e-10


@each
def test_loads_leave_a_symmetric_step_symmetric(name):
    change = there_and_back(damped(name), start(NONLINEAR), 0.3)
    assert change < 1e-14 if INTEGRATORS[name].symmetric else change > 1e-10


@pytest.mark.slow
@each
def test_symplecticity_is_as_declared(name):
    defect = symplecticity_defect(INTEGRATORS[name], NONLINEAR, start(NONLINEAR), H)
    assert defect < 1e-13 if INTEGRATORS[name].symplectic else defect > 1e-9


@each
@pytest.mark.parametrize("axial, components", [(0.0, [0, 1, 2]), (1.0, [2])], ids=["free", "axial"])
def test_spatial_momentum_is_kept_as_declared(name, axial, components):
    y = start(FREE)
    end, failures = conservative(name)(y, H, 1000, axial=axial)
    drift = np.abs(np.asarray(spatial_momentum(FREE, end) - spatial_momentum(FREE, y)))[components].max()
    assert failures == 0
    if axial == 0.0:
        assert np.max(np.abs(FREE.split(end).p - FREE.split(y).p)) < 1e-12
    # The positions of a free body reach 40: the round-off of x and p counts that many times.
    assert drift < 1e-12 if "momentum" in INTEGRATORS[name].conserves else drift > 1e-8


@each
def test_rotations_stay_orthogonal(name):
    end, _ = conservative(name)(start(FREE), H, 1000, axial=1.0)
    assert orthogonality(FREE, end) < 1e-13


@each
def test_energy_of_a_free_body(name):
    """Exact rotations and the midpoint rule keep it; the others do not, so the test can tell."""
    y = start(FREE)
    end, _ = conservative(name)(y, H, 1000)
    change = abs(float(FREE.energy(0.0, end) - FREE.energy(0.0, y)))
    assert change < 1e-12 if name in ("exact", "midpoint") else change > 1e-11


def test_matrices_and_quaternions_move_alike():
    of = Group(FREE.mass, FREE.inertia, FREE.potential, element=GroupCoordinates("matrix"))
    by_matrix, _ = stepper(LieSplitting(), element="matrix")(start(of), H, 100, nonlinear=1.0)
    by_quaternion, _ = conservative("elementary")(start(FREE), H, 100, nonlinear=1.0)
    x, p, g, m = of.split(by_matrix)
    other = FREE.split(by_quaternion)
    np.testing.assert_allclose(of.rotation(g), FREE.rotation(other.g), atol=1e-13)
    np.testing.assert_allclose(m, other.m, atol=1e-13)
    np.testing.assert_allclose(x, other.x, atol=1e-13)


@pytest.mark.parametrize("name", ["elementary", "rattle"])
def test_bodies_side_by_side_move_as_alone(name):
    """Two bodies without interaction, which differ in their momenta."""
    y, other = start(FREE), start(FREE, momentum=(-0.3, 0.5, 0.8))
    pair = Group(
        jnp.tile(FREE.mass, 2),
        jnp.tile(FREE.inertia, (1, 2)),
        lambda t, x, R: jnp.sum(R[2, 2]),
        element=FREE.element,
    )
    alone = Group(FREE.mass, FREE.inertia, lambda t, x, R: jnp.sum(R[2, 2]), element=FREE.element)
    parts = GroupParts(
        *(jnp.concatenate(p, axis=1) for p in zip(FREE.split(y), FREE.split(other), strict=True))
    )
    integrator = INTEGRATORS[name]

    def step(of, y):
        return integrator.step(of, 0.0, H, y, integrator.init(of, 0.0, H, y))[0]

    both = pair.split(step(pair, pair.join(parts)))
    for n, single in enumerate((y, other)):
        for together, apart in zip(both, alone.split(step(alone, single)), strict=True):
            np.testing.assert_allclose(together[:, n : n + 1], apart, atol=1e-15)


@pytest.mark.slow
def test_reverse_mode_agrees_with_forward_mode_through_the_implicit_equation():
    y, integrator = start(NONLINEAR), LieRattle()

    def value(y):
        return jnp.sum(integrator.step(NONLINEAR, 0.0, H, y, integrator.init(NONLINEAR, 0.0, H, y))[0] ** 2)

    reverse = quickly(jax.grad(value))(y)
    forward = quickly(jax.jacfwd(value))(y)
    np.testing.assert_allclose(reverse, forward, atol=1e-13)


def test_a_step_too_large_for_the_iteration_is_reported():
    _, failures = conservative("rattle")(start(FREE), jnp.array(20.0), 1)
    assert failures > 0


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="free of LieSplitting = 'euler'"):
        LieSplitting("euler")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="MuntheKaas takes an explicit one"):
        MuntheKaas(collocation.gauss(2))
    assert LieRattle().refusal(FREE) is None
