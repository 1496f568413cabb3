"""Loads and potentials of every kind: one motion in joint coordinates and on the group."""

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from test_joint_coordinates import crane, start

import poinsot as pt

Marker = pt.potentials.Marker
PARTS = ("position", "rotation", "velocity", "angular_velocity")


def wind(t, x, R, v, Omega, params):
    """Drag on the points beside each mass centre, in air that moves."""
    offset = jnp.array([0.1, 0.0, 0.2])
    air = jnp.stack([jnp.sin(2.0 * t), 0.5 * t, 0.3 + 0.0 * t])
    apart = air[None] - v - jnp.einsum("bij,bj->bi", R, jnp.cross(Omega, offset[None]))
    force = params * apart
    return force, jnp.cross(offset[None], jnp.einsum("bji,bj->bi", R, force))


def field(t, x, R):
    """Something between all bodies that time enters."""
    return jnp.cos(t) * x[2, 0] * R[1, 2, 0] + 0.5 * jnp.sum((x[2] - x[0]) ** 2) + 0.3 * R[2, 0, 1] ** 2


TERMS: dict[str, dict[str, list[Any]]] = {
    "forces": {
        "loads": [
            pt.loads.Force((0.4, -1.0, 0.7), point=(0.2, 0.1, -0.3), body="load"),
            pt.loads.Force(lambda t: jnp.stack([jnp.sin(3 * t), t, 1.0 - t]), frame="body", body="boom"),
            pt.loads.Torque((0.5, -0.3, 0.2), body="boom"),
            pt.loads.Torque(lambda t: jnp.stack([0.1 * t, 0.0 * t, 0.2 + t]), frame="body", body="load"),
            pt.loads.Function(wind, params=0.4),
        ]
    },
    "dampers": {
        "loads": [
            pt.loads.LinearDamping(0.3, 0.1),
            pt.loads.Damper(Marker("load", (0.1, 0.0, 0.0)), Marker("cart"), damping=0.8),
            pt.loads.JointDamper("hinge", 0.5),
            pt.loads.JointTorque("hinge", lambda t, angle, rate: jnp.cos(2 * t) - 0.2 * angle * rate),
            pt.loads.JointForce("rails", 1.5),
        ]
    },
    "potentials": {
        "potentials": [
            pt.potentials.Function(field),
            pt.potentials.JointSpring("hinge", 2.0, rest=0.4),
            pt.potentials.Spring(
                Marker("load", (0.0, 0.1, 0.2)), Marker("cart", (0.0, 0.3, 0.0)), stiffness=5.0
            ),
        ]
    },
}


@cache
def loaded(kind: str) -> pt.System:
    return crane().with_terms(**TERMS[kind])


def parts(system: pt.System, coordinates: str, form: str) -> dict[str, np.ndarray]:
    run: Any = pt.simulate(
        system, start(), t1=1.0, save_at=[0.5, 1.0], coordinates=coordinates, form=form,
        integrator="dormand-prince8", rtol=1e-12, atol=1e-12, progress=False,
    )  # fmt: skip
    return {name: np.asarray(getattr(run, name))[-1] for name in PARTS}


@cache
def on_the_group(kind: str) -> dict[str, np.ndarray]:
    return parts(loaded(kind), "group", "group")


@cache
def free() -> dict[str, np.ndarray]:
    return parts(crane(), "group", "group")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["recursive", "hamiltonian", "covariant"])
@pytest.mark.parametrize("kind", TERMS)
def test_terms_move_a_tree_as_they_move_its_bodies_on_the_group(kind, form):
    ours, theirs = parts(loaded(kind), "joint", form), on_the_group(kind)
    for name in PARTS:
        assert np.max(np.abs(theirs[name] - free()[name])) > 1e-2, name
        np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=1e-9, err_msg=name)
