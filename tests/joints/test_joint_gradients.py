"""Gaps of joints, drives and couplings: all their derivatives against differences, in time too."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from test_joint_kinds import KINDS, system

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.kernels import once
from poinsot.rotation import exp

J = pt.joints
STEP, TIME = 2e-4, 0.7
"""A screw of a short pitch goes round fast: its derivatives grow by sixteen with their order."""


def path(t):
    """Of a drive."""
    return 0.3 * t + 0.2 * jnp.sin(2.0 * t)


@cache
def bound(function=path) -> pt.System:
    """Two joints with drives and couplings of all their coordinates, angles in whole and other ratios."""
    at: Any = {"at": (0.3, -0.2, 0.1), "axis": (1.0, 2.0, 2.0)}
    joints = [
        J.Revolute("one", "two", name="hinge", **at),
        J.Cylindrical("ground", "one", name="tube", **at),
        J.Drive("hinge", function),
        J.Drive("tube", function, "position", name="pushed"),
        J.Drive("tube", function, "angle", name="turned"),
        J.Coupling("hinge", "tube", (2, 3), 0.1, coordinates=(None, "angle"), name="gears"),
        J.Coupling("tube", "hinge", (1.0, -0.3), 0.1, coordinates=("position", None), name="rack"),
    ]
    return pt.System(system("Revolute").bodies, joints=joints)


@once
def _slopes(linkage, t, x, R, twist):
    r"""The derivatives $(g_t, G)$, and the second rate at a twist; the same by differences of order four."""

    def gaps(s, direction):
        rate, v, w = direction[0], *direction[1:].reshape(2, 3, 2)
        turned = jnp.stack([R[:, :, k] @ exp(s * w[:, k]) for k in range(2)], axis=-1)
        return linkage.flat(linkage.gaps(t + s * rate, x + s * v, turned))

    def difference(direction):
        near, far = (gaps(k * STEP, direction) - gaps(-k * STEP, direction) for k in (1, 2))
        return (8.0 * near - far) / (12.0 * STEP)

    def second(direction, step=10.0 * STEP):
        near, far = (gaps(k * step, direction) + gaps(-k * step, direction) for k in (1, 2))
        return (16.0 * near - far - 30.0 * gaps(0.0, direction)) / (12.0 * step**2)

    still = jnp.zeros(12)
    pushed = jax.vmap(lambda one: linkage.flat(linkage.at(t, x, R, 0.0).push(one)))(jnp.eye(12))
    own = jnp.concatenate([linkage.flat(linkage.rates(t, x, R, still))[None], pushed])
    bends = linkage.flat(linkage.bends(t, x, R, twist))
    moving = jnp.concatenate([jnp.ones(1), twist])
    return own, jax.vmap(difference)(jnp.eye(13)), bends, second(moving)


def slopes(of: pt.System) -> tuple[np.ndarray, ...]:
    """The same at a pose and a twist that open the joints."""
    draw, linkage = np.random.default_rng(2), of.linkage
    assert linkage is not None
    R = jnp.stack([exp(jnp.asarray(0.4 * draw.standard_normal(3))) for _ in range(2)], axis=-1)
    x, twist = jnp.asarray(draw.standard_normal((3, 2))), jnp.asarray(draw.standard_normal(12))
    assert np.max(np.abs(linkage.flat(linkage.gaps(TIME, x, R)))) > 0.05
    return tuple(map(np.asarray, _slopes(linkage, TIME, x, R, twist)))


def check(of: pt.System) -> None:
    own, differences, bends, second = slopes(of)
    assert np.max(np.abs(own[1:])) > 0.1
    np.testing.assert_allclose(own, differences, rtol=0, atol=1e-10)
    np.testing.assert_allclose(bends, second, rtol=0, atol=1e-6 * (1.0 + np.max(np.abs(bends))))


@pytest.mark.parametrize("name", of_the_long_suite(list(KINDS), {"Universal"}))
def test_derivatives_of_a_joint(name):
    check(system(name))


def test_derivatives_of_drives_and_couplings():
    check(bound())
    rates = slopes(bound())[0][0]
    slope = 0.3 + 0.4 * np.cos(2.0 * TIME)
    np.testing.assert_allclose(rates, [0.0] * 9 + [-slope] * 3 + [0.0] * 2, atol=1e-15)


@once
def _everywhere(joint, numbers):
    """Slopes of a residual in all numbers of its frames, and the same by differences of order four."""

    def residual(numbers):
        return joint.residual(J.Frames(numbers[:3], *numbers[3:].reshape(2, 3, 3)))

    def difference(direction):
        near, far = (
            residual(numbers + k * STEP * direction) - residual(numbers - k * STEP * direction)
            for k in (1, 2)
        )
        return (8.0 * near - far) / (12.0 * STEP)

    return jax.jacfwd(residual)(numbers), jax.vmap(difference, out_axes=1)(jnp.eye(21))


def check_everywhere(joint) -> None:
    """At directions that are far from orthonormal, as a step may try in directors."""
    own, differences = _everywhere(joint, jnp.asarray(np.random.default_rng(4).standard_normal(21)))
    np.testing.assert_allclose(own, differences, rtol=0, atol=1e-9)
    assert own.shape == (joint.rows, 21) and np.max(np.abs(own)) > 0.1


@pytest.mark.parametrize("name", KINDS)
def test_a_residual_is_smooth_in_all_components_of_the_directions(name):
    check_everywhere(KINDS[name][0])


class ByAngle(J.Revolute):
    """A hinge by the angles between its directions, which unit vectors alone have."""

    def residual(self, frames):
        off = [0.5 * jnp.pi - jnp.arccos(frames.cosine(2, k)) for k in (0, 1)]
        return jnp.concatenate([frames.apart, jnp.stack(off)])


def test_what_is_smooth_on_rotations_alone_is_seen():
    kind: Any = ByAngle
    joint = kind("one", "two", at=(0.3, -0.2, 0.1))
    turns = exp(jnp.array([[0.3, -0.7, 0.4], [0.2, 0.1, -0.5]]))
    rotations = jnp.concatenate([jnp.ones(3), turns.reshape(-1)])
    np.testing.assert_allclose(*_everywhere(joint, rotations), rtol=0, atol=1e-9)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_everywhere(joint)


class Detached(J.Revolute):
    """A hinge whose derivatives in places are lost."""

    def residual(self, frames):
        return super().residual(frames._replace(apart=lax.stop_gradient(frames.apart)))


@pytest.mark.slow
def test_lost_derivatives_are_seen():
    kind: Any = Detached
    joint = kind("one", "two", at=(0.3, -0.2, 0.1))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(pt.System(system("Revolute").bodies, joints=[joint]))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(bound(lambda t: path(lax.stop_gradient(t))))
