"""Values as text: reprs on one line with their numbers, values in messages cut short."""

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
