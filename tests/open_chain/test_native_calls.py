"""Functions of a chain called on arrays: native code, one state or many, with the numbers of plain ones."""

import copy
import pickle
from dataclasses import fields
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.kernels import _states, programs_made
from poinsot.kernels._methods import PROGRAMS, Method
from poinsot.kernels.native import lanes_of
from quickly import QUICK

COUNT = 2 * lanes_of(straight=False) + 3


@cache
def chain() -> pt.OpenChain:
    """A sliding cart, a hinge that is damped, and a ball."""
    J = pt.joints
    bodies = [pt.RigidBody(1.0 + k, (0.1, 0.2, 0.25), name=name) for k, name in enumerate("abc")]
    system = pt.System(
        bodies,
        joints=[
            J.Prismatic("ground", "a", at=(0, 0, 0), axis=(1, 0, 0), name="rails"),
            J.Revolute("a", "b", at=(0, 0, 0), axis=(0, 1, 1), name="hinge"),
            J.Spherical("b", "c", at=(0, 0, 1), name="ball"),
        ],
        reference={"b": ((0, 0, 0.5), (1, 0, 0, 0)), "c": ((0.2, 0, 1.5), (1, 0, 0, 0))},
        potentials=[pt.potentials.UniformGravity()],
        loads=[pt.loads.LinearDamping(0.2, 0.1)],
        frames={"tip": ("c", (0, 0, 0.5))},
    )
    return pt.OpenChain(system)


@cache
def states() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    keys = jax.random.split(jax.random.key(3), COUNT)
    pairs = [chain().random(key) for key in keys]
    q, v = (np.stack([np.asarray(pair[k]) for pair in pairs]) for k in (0, 1))
    return q, v, np.random.default_rng(0).normal(size=v.shape)


CALLS: dict[str, Any] = {
    "forward_dynamics": lambda f, q, v, a: f(q, v, a),
    "inverse_dynamics": lambda f, q, v, a: f(q, v, a, 0.5),
    "metric": lambda f, q, v, a: f(q),
    "energy": lambda f, q, v, a: f(q, v),
    "acceleration": lambda f, q, v, a: f(q, v, a, "tip"),
    "pose": lambda f, q, v, a: f(q, frame="tip"),
    "moved": lambda f, q, v, a: f(q, v),
    "state": lambda f, q, v, a: f(q, v),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_native_and_give_the_numbers_of_the_plain_function(name, monkeypatch):
    q, v, a = states()
    call = CALLS[name]
    monkeypatch.setattr(Method, "_plain", _refused)
    own = copy.deepcopy(chain())
    many = call(getattr(own, name), q, v, a)
    single = call(getattr(own, name), q[4], v[4], a[4])
    monkeypatch.undo()
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves((single, many)))
    plain = eqx.filter_jit(lambda q, v, a: call(getattr(chain(), name), q, v, a), **QUICK)(
        *map(jnp.asarray, (q, v, a))
    )
    for one, rows, right in zip(*map(jax.tree.leaves, (single, many, plain)), strict=True):
        assert rows.shape == right.shape
        np.testing.assert_allclose(rows, right, rtol=0.0, atol=1e-13 * max(1.0, np.max(np.abs(right))))
        # One state at a time has the same bits.
        assert np.array_equal(one, rows[4])


def _refused(*given):
    raise AssertionError("the plain function was called")


def test_axes_in_front_and_arguments_that_all_states_share():
    q, v, _ = states()
    f = chain().forward_dynamics
    many = f(q, v)
    assert np.array_equal(f(q[:12].reshape(3, 4, -1), v[:12].reshape(3, 4, -1)), many[:12].reshape(3, 4, -1))
    shared = f(q, v[0])
    assert np.array_equal(shared[0], many[0])
    assert not np.allclose(shared[1], many[1])
    assert np.array_equal(f(q, v[0])[3], f(q[3], v[0]))
    assert np.array_equal(f(q[::2], v[::2]), many[::2])
    assert f(q[:0], v[:0]).shape == (0, chain().v_size)
    for count in (1, 3, len(q) - 3):
        assert np.array_equal(f(q[:count], v[:count]), many[:count])
    times = np.linspace(0.0, 1.0, len(q))
    assert np.array_equal(f(q, v, None, times), many)


def test_threads_change_no_bit():
    q, v, _ = states()
    f = chain().forward_dynamics
    many = f(q, v)
    q, v = (np.concatenate([one] * 9) for one in (q, v))
    calls = [one.call for one in chain().__dict__[PROGRAMS].values() if hasattr(one, "call")]
    assert calls
    for seconds in (1e-12, 1.0):
        for call in calls:
            call._seconds = seconds
        assert np.array_equal(f(q, v), np.concatenate([many] * 9))


def test_arrays_of_jax_give_arrays_of_jax_and_transformations_work():
    q, v, tau = states()
    f = chain().forward_dynamics
    given = tuple(jnp.asarray(one[0]) for one in (q, v, tau))
    assert isinstance(f(*given), jax.Array)
    assert isinstance(f(list(q[0]), v[0]), np.ndarray)
    assert isinstance(eqx.filter_jit(f, **QUICK)(*given), jax.Array)

    # In the mass of the last body, which is a leaf of the chain, and in the forces.
    def push(mass, forces):
        nodes = chain().nodes
        heavy = pt.OpenChain(chain().system, nodes=_with_mass(nodes, mass))
        return jnp.sum(heavy.forward_dynamics(q[0], v[0], forces))

    mass, h = float(chain().nodes.masses[2]), 1e-5
    slope, along = eqx.filter_jit(jax.grad(push, argnums=(0, 1)), **QUICK)(jnp.asarray(mass), given[2])
    difference = (push(mass + h, tau[0]) - push(mass - h, tau[0])) / (2.0 * h)
    assert abs(slope - difference) < 1e-7 * max(1.0, abs(difference))
    np.testing.assert_allclose(along, np.linalg.inv(chain().metric(q[0])).sum(axis=0), rtol=1e-10)


def _with_mass(nodes, mass):
    masses = jnp.asarray(nodes.masses).at[2].set(mass)
    return type(nodes)(**{one.name: getattr(nodes, one.name) for one in fields(nodes)} | {"masses": masses})


def test_a_call_compiles_once_and_copies_start_without_programs():
    q, v, _ = states()
    chain().momenta(q[0], v[0])
    before = programs_made()
    for k in range(3):
        chain().momenta(q[k], v[k])
        chain().momenta(q[k], v=v[k])
    assert programs_made() == before
    again = pickle.loads(pickle.dumps(chain()))
    assert not again.__dict__[PROGRAMS]
    assert np.array_equal(again.momenta(q[0], v[0]), chain().momenta(q[0], v[0]))
    assert chain().metric.__doc__ == pt.OpenChain.metric.__doc__


def test_the_plain_kernel_gives_numpy_too(monkeypatch):
    monkeypatch.setenv("POINSOT_KERNEL", "plain")
    q, _, _ = states()
    own = copy.deepcopy(chain())
    before = programs_made()
    many, single = own.gravity(q[:4]), own.gravity(q[0])
    assert programs_made() == before
    assert isinstance(many, np.ndarray)
    np.testing.assert_allclose(many[0], single, rtol=0.0, atol=1e-14)


@pytest.mark.slow
def test_rows_of_single_numbers_give_the_same(monkeypatch):
    """What a GPU runs: the plain function of many states, each operation between rows of one number each."""
    q, v, _ = states()
    seen = []
    monkeypatch.setattr(_states, "_one_kernel", lambda *given: seen.append(True) or True)
    method: Any = pt.OpenChain.momenta
    found = eqx.filter_jit(
        lambda *given: _states.each_of_states(method.function, (len(q),), (True, True), chain(), given),
        **QUICK,
    )(jnp.asarray(q), jnp.asarray(v))
    assert seen
    np.testing.assert_allclose(found, chain().momenta(q, v), rtol=0.0, atol=1e-13)


def test_wrong_input_is_one_line():
    q, v, _ = states()
    for given, text in (
        ((q[:, :3], v), "q has shape"),
        ((q[:4], v[:5]), "q has the axes (4,) in front"),
        ((q[0], v[0][:2]), "v has shape (2,); it must be 5 numbers"),
        (("hand", v[0]), "q = 'hand'; it must be numbers"),
    ):
        with pytest.raises(pt.InputError) as caught:
            chain().forward_dynamics(*given)
        assert text in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(pt.InputError, match="no frame is called 'tap'"):
        chain().pose(q[0], "tap")
    with pytest.raises(TypeError, match="missing a required argument: 'v'"):
        chain().forward_dynamics(q[0])  # pyright: ignore[reportCallIssue]
