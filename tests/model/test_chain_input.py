"""Wrong input of a chain: one clear line each, that names the field, the value and the remedy."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model import Chain, potentials, shapes

BODY = shapes.tetrahedron()
PAIR = potentials.LennardJones(5.0, 1.0)


def chain(**options: Any) -> Chain:
    given = {"body": BODY, "count": 4, "spacing": 2.0, "potential": PAIR, "ends": "clamped"} | options
    return Chain(**given)


def overlapping():
    """Particle 1 of the second body, half a unit before its centre, on particle 0 of the third."""
    made = chain()
    position = np.array(made.straight_state().position)
    position[2] = position[1] + [1.0, 0.0, 0.0]
    return made.state(position=position)


def run_while_touching():
    """Straight, as far apart as the tetrahedra are wide: corners meet, which shows when the run begins."""
    made = chain(spacing=1.0)
    method = pt.integrators.LieSplitting()
    return pt.simulate(made, made.straight_state(), t1=0.1, dt=0.1, integrator=method, progress=False)


def broken(s):
    """Not a number beyond a distance of 2.5."""
    return jnp.sqrt(6.25 - s)


BAD = {
    "two bodies": (lambda: chain(count=2), "count = 2; a chain with two ends has at least 3 bodies"),
    "no whole number": (lambda: chain(count=4.0), "count of Chain = 4.0; it must be a whole number"),
    "no body": (
        lambda: chain(body="tetrahedron"),
        "of Chain = 'tetrahedron'; it must be a pt.RigidBody",
    ),
    "no spacing": (lambda: chain(spacing=0.0), "spacing = 0; it must be positive"),
    "unknown end": (lambda: chain(ends=("clamped", "loose")), "ends[1] = 'loose' is not known; an end is"),
    "unknown end alone": (lambda: chain(ends="loose"), "ends[0] = 'loose' is not known; an end is"),
    "one end": (lambda: chain(ends=("clamped",)), "give one for the first and one for the last body"),
    "a ring with an end": (lambda: chain(ends=("ring", "free")), "a chain without ends is ends='ring'"),
    "force of two numbers": (lambda: chain(ends=("free", pt.ends.force((1.0, 0.0)))), "force of the end"),
    "displaced to nowhere": (lambda: pt.ends.displaced((1.0, np.nan, 0.0)), "position of the displaced end"),
    "turned but nowhere": (lambda: pt.ends.clamped(rotation=np.eye(3)), "clamped(position, rotation)"),
    "turning about a corner": (
        lambda: pt.ends.End(pt.freedom.FixedPoint((0.5, 0.0, 0.0))),
        "an end turns about its mass centre, not about point = (0.5, 0, 0)",
    ),
    "too many neighbours": (lambda: chain(neighbours=4), "neighbours = 4 with 4 bodies; at most 3"),
    "ring bitten twice": (lambda: chain(ends="ring", neighbours=2), "needs more than 4 bodies"),
    "no neighbours": (lambda: chain(neighbours=0), "neighbours = 0; it must be a whole number of at least 1"),
    "no potential": (lambda: chain(potential=()), "potential is empty"),
    "potential of one body": (
        lambda: chain(potential=potentials.UniformGravity()),
        "it must be a potential between particles",
    ),
    "table of other particles": (
        lambda: chain(potential=potentials.LennardJones(np.ones((3, 3)), 1.0)),
        "LennardJones has a table of shape (3, 3); the body has 4 particles, so it must be (4, 4)",
    ),
    "a body without particles": (
        lambda: chain(body=pt.RigidBody(1.0, (1.0, 1.0, 1.0), name="ball")),
        "'ball' has no particles",
    ),
    "mass of nothing": (lambda: shapes.tetrahedron(particle_mass=0.0), "particle_mass of a tetrahedron = 0"),
    "mass below zero": (
        lambda: pt.RigidBody.from_particles([1.0, 1.0, -2.0], np.eye(3), name="odd"),
        "masses[2] of 'odd' = -2; it must be positive",
    ),
    "depth of nothing": (lambda: potentials.LennardJones(0.0, 1.0), "epsilon of LennardJones = 0"),
    "overlapping particles": (
        overlapping,
        "particle 1 of 'body1' and particle 0 of 'body2' overlap: their distance is 0; move the bodies",
    ),
    "overlapping in the straight chain": (
        run_while_touching,
        "particle 1 of 'body0' and particle 0 of 'body1' overlap: their distance is",
    ),
    "overlapping second neighbours": (
        lambda: chain(ends="free", neighbours=2, count=5).state(
            position=[(0, 0, 0), (2, 0, 0), (4, 0, 0), (5, 3, 0), (5, 0, 0)]
        ),
        "particle 1 of 'body2' and particle 0 of 'body4' overlap",
    ),
    "overlap across the joint of a ring": (
        lambda: chain(ends="periodic").state(position=[(0, 0, 0), (2, 0, 0), (4, 0, 0), (7, 0, 0)]),
        "particle 1 of 'body3' and particle 0 of 'body0' overlap",
    ),
    "potential that is no number": (
        lambda: chain(potential=potentials.PairFunction(broken), ends="free").state(),
        "the potential is not finite at the start: energy nan, force on 'body0' not a number",
    ),
    "positions of other bodies": (
        lambda: chain(ends="free").state(position=np.zeros((3, 3))),
        "position",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_one_clear_line(case):
    act, words = BAD[case]
    with pytest.raises(pt.InputError) as told:
        act()
    message = str(told.value)
    assert "\n" not in message
    assert words in message


def test_good_input_is_taken():
    """The same as above without what was wrong."""
    assert chain().straight_state().position.shape == (4, 3)
    start = chain(ends="free").state()
    np.testing.assert_allclose(start.position[:, 0], [0.0, 2.0, 4.0, 6.0])


def test_states_that_are_traced_are_not_looked_at():
    made = chain(ends="free")
    straight = made.straight_state()

    def first(scale):
        return made.state(position=scale * straight.position).position[1, 0]

    assert jax.jit(first)(0.5) == 1.0
