"""Values as text: reprs on one line with their numbers, values in messages cut short."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.core import brief, quoted


def test_a_body_shows_its_numbers():
    assert repr(pt.RigidBody(mass=1.0, inertia=(1, 2, 3))) == "RigidBody(mass=1.0, moments=(1.0, 2.0, 3.0))"
    assert repr(pt.potentials.LennardJones(epsilon=5, sigma=1)) == "LennardJones(epsilon=5.0, sigma=1.0)"
    assert repr(pt.State(q=[0.4, 0.0], p=[0.0, 2.0])) == "State(q=(0.4, 0.0), p=(0.0, 2.0))"
    assert repr(pt.ODE(lambda y: -y, params={"a": 0.1})) == "ODE(f=<lambda>, params={'a': 0.1})"


def test_several_bodies_show_their_names():
    linkage = pt.library.two_body_linkage()
    names = "name='two-body linkage', bodies=('first', 'second'), joints=('ball',)"
    assert repr(linkage) == f"System({names}, potentials=('Spring',))"
    chain = pt.OpenChain(pt.library.cart_pole())
    assert repr(chain) == "OpenChain(system='cart-pole', joints=('rails', 'hinge'), q_size=2, v_size=2)"


def controlled() -> list[tuple[Any, str]]:
    """A controller of each kind, and what belongs to them, with its text."""
    arm = pt.OpenChain(pt.library.two_link_arm())
    path = pt.control.quintic([0.0, 0.0], [1.0, 0.5], 2.0)
    own = "chain=OpenChain('two-link-arm'), "
    both, elbow = "joints=('shoulder', 'elbow')", "joints=('elbow',)"
    way = "JointPath(q0=(0.0, 0.0), way=(1.0, 0.5), profile=QuinticProfile(time=2.0), begin=0.0)"
    held = pt.control.PDGravity(arm, 2.0, 1.0, [0.1, 0.2], joints=["elbow"])
    law = "PDGravity(" + own + "kp=(2.0,), kd=(1.0,), reference=(0.1, 0.2), " + elbow + ")"
    gains = "kp=(9.0, 9.0), kd=(6.0, 6.0)"
    return [
        (path, way),
        (pt.control.ComputedTorque(arm, 9.0, 6.0, path), f"ComputedTorque({own}{gains}, reference={way})"),
        (held, law),
        (pt.control.Sampled(held, 0.1), f"Sampled(law={law}, period=0.1)"),
        (
            pt.control.Feedback(arm, spun, params={"d": 2.0}),
            f"Feedback({own}law=spun of params={{'d': 2.0}}, {both})",
        ),
        (arm.metric, "OpenChain.metric of " + repr(arm)),
        (arm.system.with_terms(loads=[held]).loads[0], law),
    ]


def spun(q, v, params):
    return -params["d"] * v


def test_controllers_show_their_numbers_and_joints():
    for thing, text in controlled():
        assert repr(thing) == text


def test_terms_of_a_system_show_what_they_were_made_with():
    loads = [pt.loads.JointTorque("hinge", lambda t, angle, rate: t), pt.loads.JointDamper("rails", 0.5)]
    pull = pt.loads.Force((0, 0, 1), body="cart")
    cart = pt.library.cart_pole().with_terms(loads=[*loads, pull])
    assert "potentials=('UniformGravity',), loads=('JointTorque', 'JointDamper', 'Force')" in repr(cart)
    assert [repr(term) for term in (*cart.potentials, *cart.loads)] == [
        "UniformGravity(acceleration=(0.0, 0.0, -9.81))",
        "JointTorque(effect=<lambda>, joint='hinge')",
        "JointDamper(damping=0.5, joint='rails')",
        "Force(force=(0.0, 0.0, 1.0), point=(0.0, 0.0, 0.0), frame='space', body=0)",
    ]
    pair = pt.potentials.LennardJones(epsilon=5.0, sigma=1.0)
    two = pt.System([pt.RigidBody(mass=1.0, inertia=(1, 2, 2.5))] * 2, potentials=[pair])
    assert repr(two.potentials) == f"({pair!r},)" and "potentials=('LennardJones',)" in repr(two)


def tetrahedra(count):
    return pt.library.particle_chain(
        body=pt.shapes.tetrahedron(),
        count=count,
        potential=pt.potentials.LennardJones(epsilon=5.0, sigma=1.0),
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: pt.State(q=np.zeros((500, 2)), p=np.zeros((500, 2))),
        lambda: pt.System([pt.RigidBody(mass=k, inertia=(1, 2, 2.5)) for k in range(1, 60)]),
        lambda: tetrahedra(1000),
        lambda: pt.Hamiltonian(lambda q, p: 0.5 * p @ p, params={"table": np.arange(1000.0)}),
        lambda: pt.Event(lambda q, p: q[0]),
    ],
)
def test_no_repr_is_a_page(make):
    text = repr(make())
    assert "\n" not in text and len(text) <= 400


def test_traced_numbers_show_their_shape():
    seen = []
    jax.jit(lambda m: seen.append(repr(pt.RigidBody(mass=m, inertia=(1, 2, 3)))) or m)(1.0)
    assert seen == ["RigidBody(mass=float64[], moments=float64[3])"]


def test_long_values_are_cut_in_messages():
    assert quoted("abc") == "'abc'"
    for value in ("x" * 100_000, list(range(10**5)), {"a": "y" * 10**6}):
        text = quoted(value)
        assert len(text) <= 200 and " ... " in text and text[-1] == repr(value)[-1]
    assert quoted(np.arange(12.0).reshape(4, 3)).count("\n") == 0


def test_values_without_a_repr_are_named():
    class Broken:
        def __repr__(self):
            raise RuntimeError("no text")

    assert quoted(10**5000) == "<int>"
    assert quoted(Broken()) == "<Broken>"


def test_long_lists_say_how_many_more():
    assert brief(list(range(10))) == "(0, 1, 2, 3, 4, 5, ... 4 more)"
    assert brief(jnp.arange(3.0)) == "(0.0, 1.0, 2.0)"
    assert brief((1.0,)) == "(1.0,)"
