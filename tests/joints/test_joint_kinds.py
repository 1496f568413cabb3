"""Every joint: rank, rates and bends against the exact motion of its bodies, and runs that hold it."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from deviations import deviation
from long_suite import of_the_long_suite
from poinsot.core import REQUIRED, parameters_of
from poinsot.kernels import once
from poinsot.model._tree_motion import expanded, joint_rates, rate_count, reduced
from poinsot.rotation import exp, to_matrix

J = pt.joints
AT: Any = {"at": (0.3, -0.2, 0.1), "axis": (1.0, 2.0, 2.0)}


def made(maker: Any) -> J.AbstractJoint:
    """A joint of a kind; what it takes besides two bodies and a place is a number."""
    more = [key for key, value in parameters_of(maker).items() if value == REQUIRED][2:]
    return maker("one", "two", **dict.fromkeys(more, 0.4), **AT)


KINDS = {type(joint).__name__: (joint, 6 - joint.rows) for joint in map(made, J.REGISTRY.values())}
"""Every joint of the registry, and how many freedoms it leaves."""
PLACES = {"one": ((0.1, 0.2, 0.3), (1.0, 0.0, 0.0, 0.0)), "two": ((1.0, -0.5, 0.2), (0.8, 0.0, 0.6, 0.0))}


def test_every_joint_is_among_the_cases():
    exported = {name: getattr(J, name) for name in J.__all__}
    kinds = {n for n, one in exported.items() if isinstance(one, type) and issubclass(one, J.AbstractJoint)}
    assert kinds - {"AbstractJoint"} == set(KINDS)
    # What each leaves, of six: the other numbers here follow from its number of rows.
    left = {
        "Spherical": 3,
        "Revolute": 1,
        "Prismatic": 1,
        "Cylindrical": 2,
        "Planar": 3,
        "Screw": 1,
        "Fixed": 0,
    }
    left |= {"Universal": 2, "Distance": 5, "PointOnLine": 4, "PointOnPlane": 5}
    assert {name: freedoms for name, (_, freedoms) in KINDS.items() if name in left} == left


@cache
def system(name: str) -> pt.System:
    bodies = [
        pt.RigidBody(2.0, (0.5, 0.7, 0.9), name="one"),
        pt.RigidBody(1.0, [[0.4, 0.05, 0.0], [0.05, 0.3, 0.02], [0.0, 0.02, 0.5]], name="two"),
    ]
    return pt.System(bodies, joints=[KINDS[name][0]], reference=PLACES)


@cache
def start(name: str) -> pt.State:
    """Both bodies near their reference poses, moving; assembled."""
    draw = np.random.default_rng(1)
    near = system(name).state(
        position=[np.array(place) + 0.05 * draw.standard_normal(3) for place, _ in PLACES.values()],
        rotation=[quat for _, quat in PLACES.values()],
        velocity=draw.standard_normal((2, 3)),
        angular_velocity=draw.standard_normal((2, 3)),
    )
    return system(name).assemble(near)


@once
def _measured(linkage, x, quat, v, Omega):
    """Rates and bends, the same along the exact motion, and the Jacobian."""
    R = jnp.moveaxis(to_matrix(quat.T), 0, -1)
    twist = jnp.concatenate([v.reshape(-1), Omega.reshape(-1)])

    def gap(time):
        turned = jnp.stack([R[:, :, k] @ exp(time * Omega[:, k]) for k in range(2)], axis=-1)
        return linkage.gaps(0.0, x + time * v, turned)[0]

    def rate(time):
        return jax.jvp(gap, (time,), (jnp.ones(()),))[1]

    exact = jax.jvp(rate, (jnp.zeros(()),), (jnp.ones(()),))[1]
    reach = linkage.at(0.0, x, R, 0.0)
    own = linkage.rates(0.0, x, R, twist)[0], linkage.bends(0.0, x, R, twist)[0]
    return gap(jnp.zeros(())), own, (rate(jnp.zeros(())), exact), reach.jacobians[0], reach.push(twist)[0]


@pytest.mark.parametrize("name", of_the_long_suite(list(KINDS), {"Revolute", "Screw", "Distance"}))
def test_rates_bends_and_rank(name):
    linkage = system(name).linkage
    assert linkage is not None
    live = system(name).live(0.0, start(name))
    # Away from the velocities that keep it closed, so that rates are not zero.
    v, Omega = live[2] + 0.3, live[3] - 0.2
    gap, found, right, jacobian, pushed = _measured(linkage, *live[:2], v, Omega)
    assert np.max(np.abs(gap)) < 1e-14
    assert np.max(np.abs(right[0])) > 0.01
    for one, other in zip(found, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(pushed, right[0], rtol=1e-13, atol=1e-13)
    assert len(jacobian) == KINDS[name][0].rows == 6 - KINDS[name][1]
    assert np.linalg.matrix_rank(np.asarray(jacobian)) == len(jacobian)


@once
def _along_tree(linkage, x, quat, v, Omega, rates):
    """Twists of rates and back, the product of Jacobian and null space, and coordinates along the motion."""
    R = jnp.moveaxis(to_matrix(quat.T), 0, -1)
    twist = jnp.concatenate([v.reshape(-1), Omega.reshape(-1)])
    T = jax.jacfwd(lambda rates: expanded(linkage, 0.0, x, R, rates))(rates)
    pushed = jax.vmap(lambda one: linkage.at(0.0, x, R, 0.0).push(one)[0])(T.T)

    def coordinates(time):
        turned = jnp.stack([R[:, :, k] @ exp(time * Omega[:, k]) for k in range(2)], axis=-1)
        return linkage.joints[0].coordinates(linkage.frames(0, 0.0, x + time * v, turned))

    back = expanded(linkage, 0.0, x, R, reduced(linkage, 0.0, x, R, twist)) - twist
    there = reduced(linkage, 0.0, x, R, T @ rates) - rates
    rate = jax.jvp(coordinates, (jnp.zeros(()),), (jnp.ones(()),))[1]
    return T, pushed, back, there, rate, joint_rates(linkage, 0, 0.0, x, R, twist)


@pytest.mark.parametrize("name", [name for name, (joint, _) in KINDS.items() if joint.freedoms is not None])
def test_the_null_space_of_a_joint_that_can_stand_in_a_tree(name):
    linkage = system(name).linkage
    assert linkage is not None
    live = system(name).live(0.0, start(name))
    count = rate_count(linkage)
    assert count == 6 + KINDS[name][1] == 6 + len(KINDS[name][0].freedoms or ())
    rates = jnp.asarray(np.random.default_rng(3).standard_normal(count))
    T, pushed, back, there, rate, found = _along_tree(linkage, *live, rates)
    assert np.linalg.matrix_rank(np.asarray(T)) == count
    for zero in (pushed, back, there):
        assert np.max(np.abs(zero), initial=0.0) < 1e-13
    if name != "Spherical":  # Turns about the axes of a body are rates of no coordinates.
        np.testing.assert_allclose(found, rate, atol=1e-13)


@once
def _opened(linkage, x, R, rates):
    return linkage.rates(0.0, x, R, expanded(linkage, 0.0, x, R, rates))[0]


def test_rates_along_a_ball_keep_its_gap_where_it_is_open_and_rotations_are_none():
    """So drifted coordinates drift no further: the null space of Lang (2010), (60), for any directors."""
    linkage, draw = system("Spherical").linkage, np.random.default_rng(5)
    assert linkage is not None
    x, R, rates = (jnp.asarray(draw.standard_normal(shape)) for shape in ((3, 2), (3, 3, 2), (9,)))
    assert np.max(np.abs(linkage.gaps(0.0, x, R)[0])) > 0.1
    assert np.max(np.abs(_opened(linkage, x, R, rates))) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_run_holds_it(name):
    run = pt.simulate(
        system(name),
        start(name),
        t1=2.0,
        dt=0.01,
        coordinates="group",
        integrator="lie-rattle",
        progress=False,
    )
    assert np.max(np.abs(run.position[-1] - run.position[0])) > 0.1
    assert deviation(run, "joints") < 1e-13 and deviation(run, "joint rates") < 1e-12
    for momentum in ("p_x", "p_y", "p_z", "L_x", "L_y", "L_z"):
        assert deviation(run, momentum) < 1e-13, momentum
    assert deviation(run, "energy") < 1e-3
    without = pt.System(system(name).bodies)
    free = pt.simulate(
        without, start(name), t1=2.0, dt=0.01, coordinates="group", integrator="lie-rattle", progress=False
    )
    assert np.max(np.abs(free.position[-1] - run.position[-1])) > 1e-3, "the joint does something"


@once
def _placing(joint, c, rates):
    """Coordinates of the placed markers, what must vanish there, and their motion beside the subspace."""
    first = exp(jnp.array([0.3, -0.7, 0.4]))

    def frames(c):
        rotation, apart = joint.placed(c)
        return J.Frames(first @ apart, first, first @ rotation)

    now, rate = jax.jvp(frames, (c,), (rates,))
    S = joint.subspace(now)
    spin = pt.rotation.vee(rate.second @ now.second.T)
    return joint.coordinates(now), joint.residual(now), (spin, rate.apart), (S.turn @ rates, S.slide @ rates)


@pytest.mark.parametrize("name", [name for name, (joint, _) in KINDS.items() if joint.freedoms is not None])
def test_a_joint_is_placed_where_its_coordinates_say_and_moves_along_its_subspace(name):
    joint, freedoms = KINDS[name]
    draw = np.random.default_rng(3)
    c, rates = jnp.asarray(draw.uniform(-1.0, 1.0, (2, freedoms)))
    found, open_by, motion, along = _placing(joint, c, rates)
    np.testing.assert_allclose(found, c, rtol=0, atol=1e-14)
    assert np.max(np.abs(open_by)) < 1e-14
    if name == "Spherical":
        # Its rates are angular velocities, not derivatives of the rotation vector.
        assert np.max(np.abs(motion[1])) == 0.0
        return
    for one, other in zip(motion, along, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)
