"""Links without mass: two hinges through one are a universal joint, and what physics does not allow."""

from typing import Any

import jax
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation._subject import choose

J = pt.joints
ROD: Any = {"mass": 1.3, "inertia": (0.11, 0.1, 0.02)}
CENTRE = (0.0, 0.0, -0.5)


def hung(joints: list, *more: pt.RigidBody, second: bool = True) -> pt.System:
    """A rod below the origin, and another one on it by a ball joint."""
    bodies = [pt.RigidBody(**ROD, name="rod"), *more]
    reference: dict[str, Any] = {"rod": (CENTRE, np.eye(3))}
    if second:
        bodies.append(pt.RigidBody(**ROD, name="second"))
        reference["second"] = ((0.0, 0.0, -1.5), np.eye(3))
        joints = [*joints, J.Spherical("rod", "second", at=(0, 0, -1.0), name="ball")]
    return pt.System(
        bodies, joints=joints, reference=reference, potentials=[pt.potentials.UniformGravity()], name="rods"
    )


def cross(light: pt.RigidBody) -> pt.System:
    """The first rod hangs by two hinges across each other, with a body between them."""
    joints = [
        J.Revolute("ground", "cross", at=(0, 0, 0), axis=(1, 0, 0), name="first"),
        J.Revolute("cross", "rod", at=(0, 0, 0), axis=(0, 1, 0), name="second hinge"),
    ]
    return hung(joints, light)


MASSLESS = pt.RigidBody(0.0, (0.0, 0.0, 0.0), name="cross", light=True)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["hamiltonian", "recursive"])
def test_a_cross_without_mass_is_a_universal_joint(form):
    options: Any = {"t1": 0.4, "progress": False}
    two = cross(MASSLESS)
    start = two.joint_state(
        {"first": 0.4, "second hinge": -0.3}, rates={"first": 1.0, "ball": (0.3, 2.0, 1.0)}
    )
    run: Any = pt.simulate(
        two, start, dt=0.01, coordinates="joint", form=form, integrator="gauss8", **options
    )
    universal = J.Universal("ground", "rod", at=(0, 0, 0), axis=(0, 0, 1), name="joint")
    whole = hung([universal])
    rods = [0, 2]
    same = pt.State(
        **{
            name: np.asarray(start[name])[rods]
            for name in ("position", "quaternion", "velocity", "angular_velocity")
        }
    )
    other: Any = pt.simulate(whole, same, dt=2e-3, coordinates="group", integrator="rk4", **options)
    assert np.max(np.abs(run.position[-1][rods] - other.position[-1])) < 1e-9
    at = (slice(None), slice(None))
    for ours, theirs in (("first", "joint"), ("second hinge", "joint"), ("ball", "ball")):
        one, two_ = run.reaction(ours), other.reaction(theirs)
        step = (len(other.t) - 1) // (len(run.t) - 1)
        np.testing.assert_allclose(one.force, two_.force[::step][at], rtol=0, atol=1e-7)
        np.testing.assert_allclose(one.torque, two_.torque[::step][at], rtol=0, atol=1e-7)
    drift = np.max(np.abs(run.energy - run.energy[0]))
    assert drift < 1e-9


def test_a_light_body_tends_to_none():
    """The mass matrix with a link of mass m differs from that without by an amount of order m."""

    def metric(mass: float) -> np.ndarray:
        body = pt.RigidBody(mass, mass * np.ones(3), name="cross", light=True)
        return _metric(pt.OpenChain(cross(body)))

    none, small, smaller = metric(0.0), metric(1e-3), metric(1e-4)
    assert np.max(np.abs(small - none)) == pytest.approx(10.0 * np.max(np.abs(smaller - none)), rel=1e-9)
    assert np.min(np.linalg.eigvalsh(none)) > 1e-3


def _metric(chain: pt.OpenChain) -> np.ndarray:
    q = chain.coordinates({"first": 0.4, "second hinge": -0.3, "ball": (0.1, 0.2, -0.3)})
    return np.asarray(chain.metric(q))


def test_other_coordinates_have_no_equations_for_it():
    system = cross(MASSLESS)
    options: Any = {"t1": 0.1, "dt": 0.01, "integrator": "gauss4"}
    for coordinates in ("group", "quaternions"):
        with pytest.raises(pt.InputError, match=r"body 'cross' is light.*take pt.coordinates.Joint\(\)"):
            pt.simulate(system, system.joint_state(), coordinates=coordinates, **options)


def test_a_run_without_choices_takes_joint_coordinates_and_modes_are_refused():
    system = cross(MASSLESS)
    assert system.light == ("cross",)
    # Looked at, not run: the choice is what matters.
    assert isinstance(
        choose(system, pt.integrators.RK4(), None, None).bodies.coordinates, pt.coordinates.Joint
    )
    with pytest.raises(pt.InputError, match=r"body 'cross' is light, and equilibria and modes.*linearise"):
        pt.analysis.modes(system, system.joint_state())


def end(body: pt.RigidBody, **kind: Any) -> pt.System:
    joint = J.Revolute("rod", body.name, at=kind.pop("at"), axis=kind.pop("axis"), name="end")
    hinge = J.Revolute("ground", "rod", at=(0, 0, 0), axis=(1, 0, 0), name="hinge")
    return pt.System(
        [pt.RigidBody(**ROD, name="rod"), body],
        joints=[hinge, joint],
        reference={"rod": (CENTRE, np.eye(3)), body.name: ((0, 0, -1.2), np.eye(3))},
    )


def test_a_point_mass_beside_its_axis_moves_and_one_on_it_does_not():
    bob = pt.RigidBody(0.5, (0.0, 0.0, 0.0), name="bob", light=True)
    assert end(bob, at=(0, 0, -1.0), axis=(1, 0, 0)).count == 2
    with pytest.raises(pt.InputError, match="'end' moves 'bob' without any inertia against it"):
        end(bob, at=(0, 0, -1.0), axis=(0, 0, 1))


def test_joints_that_move_together_without_inertia_are_named_together():
    """Two hinges along one line with nothing between them; across each other they are right."""

    def hinged(axis: tuple[float, float, float]) -> pt.System:
        joints = [
            J.Revolute("ground", "yoke", at=(0, 0, 0), axis=(1, 0, 0), name="pan"),
            J.Revolute("yoke", "rod", at=(0, 0, 0), axis=axis, name="tilt"),
        ]
        yoke = pt.RigidBody(0.0, (0, 0, 0), name="yoke", light=True)
        return pt.System([yoke, pt.RigidBody(**ROD, name="rod")], joints=joints)

    assert hinged((0, 1, 0)).light == ("yoke",)
    with pytest.raises(pt.InputError, match="'pan', 'tilt' can move together without any inertia against it"):
        hinged((1, 0, 0))


def test_a_body_with_little_inertia_is_not_taken_for_one_without():
    """A speck on a rod of 1e9 kg, beside a light body: its inertia is 1e-25 of that of the rod."""
    speck = pt.RigidBody(1e-9, (1e-16, 1e-16, 1e-16), name="speck")
    heavy = pt.RigidBody(1e9, (1e9, 1e9, 1e9), name="rod")
    bob = pt.RigidBody(1.0, (0.0, 0.0, 0.0), name="bob", light=True)
    joints = [
        J.Revolute("ground", "rod", at=(0, 0, 1), axis=(1, 0, 0), name="hinge"),
        J.Revolute("rod", "speck", at=(0, 0, 0), axis=(0, 1, 0), name="pin"),
        J.Revolute("rod", "bob", at=(0, 0, 1), axis=(0, 1, 0), name="end"),
    ]
    system = pt.System([heavy, speck, bob], joints=joints)
    with jax.disable_jit():
        metric = np.asarray(pt.OpenChain(system).metric([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(metric[1, 1], 1e-16, rtol=1e-12)


LIGHT: Any = {"name": "bob", "light": True}
BAD: Any = {
    "alone": (
        lambda: end(pt.RigidBody(0.0, (0, 0, 0), **LIGHT), at=(0, 0, -1.0), axis=(1, 0, 0)),
        "'end' moves 'bob' without any inertia",
    ),
    "free": (lambda: pt.System(pt.RigidBody(0.0, (0, 0, 0), **LIGHT)), "'bob' moves 'bob' without any"),
    "negative mass": (lambda: pt.RigidBody(-1.0, (0, 0, 0), **LIGHT), "mass of 'bob' = -1; it must not be"),
    "negative": (lambda: pt.RigidBody(1.0, (1, -1, 1), **LIGHT), r"\(1, -1, 1\); none may be negative"),
    "a triangle": (lambda: pt.RigidBody(1.0, (1, 0, 0), **LIGHT), "triangle inequality"),
    "inertia": (lambda: pt.RigidBody(0.0, (1, 1, 1), **LIGHT), "but its mass is zero"),
    "unsaid": (lambda: pt.RigidBody(0.0, (0, 0, 0)), "mass of 'body' = 0; it must be positive"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case):
    make, said = BAD[case]
    with pytest.raises(pt.InputError, match=said):
        make()
