"""Physical states: what is accepted, what is refused, and in which words."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model import RigidBody, System, freedom
from poinsot.rotation import about_x, euler_quaternion, from_matrix, to_matrix

BODY = RigidBody(2.0, (2.0, 3.0, 4.0))
FREE = System(BODY)
TOP = System(BODY, freedom=freedom.FixedPoint((0, 0, -0.5), at=(0, 0, 1)))
PAIR = System([RigidBody(1.0, (1, 1, 1), name="left"), RigidBody(1.0, (1, 1, 1), name="right")])
WALL = System([BODY, BODY], freedom=[freedom.Free(), freedom.Clamped((1, 0, 0), about_x(0.3))])
SLIDER = System(BODY, freedom=freedom.Translation(about_x(0.3)))
QUAT = np.asarray(from_matrix(about_x(0.3)))
ROT = np.asarray(about_x(0.3))


def test_defaults():
    state = FREE.state()
    assert state.names == ("position", "quaternion", "velocity", "angular_velocity")
    np.testing.assert_array_equal(state.quaternion, [[1.0, 0.0, 0.0, 0.0]])
    for label in ("position", "velocity", "angular_velocity"):
        np.testing.assert_array_equal(state[label], np.zeros((1, 3)))


@pytest.mark.parametrize("rotation", [QUAT, QUAT[None], ROT, ROT[None], [list(QUAT)], ROT.tolist()])
def test_rotation_in_every_guise(rotation):
    np.testing.assert_allclose(to_matrix(FREE.state(rotation=rotation).quaternion)[0], ROT, atol=1e-15)


def test_a_quaternion_is_kept_as_it_is():
    np.testing.assert_array_equal(FREE.state(rotation=-QUAT).quaternion[0], -QUAT)


def test_body_axis_may_be_left_out_for_one_body():
    one, many = FREE.state(position=(1, 2, 3)), FREE.state(position=[(1, 2, 3)])
    np.testing.assert_array_equal(one.position, many.position)


def test_several_bodies():
    state = PAIR.state(
        position=[(0, 0, 0), (1, 0, 0)], rotation=[QUAT, None], angular_velocity=[None, (1, 2, 3)]
    )
    np.testing.assert_array_equal(state.quaternion, [QUAT, [1, 0, 0, 0]])
    np.testing.assert_array_equal(state.angular_velocity, [[0, 0, 0], [1, 2, 3]])


def test_quaternions_and_matrices_may_be_mixed():
    turn = np.asarray(about_x(0.9))
    state = PAIR.state(rotation=[QUAT, turn])
    np.testing.assert_array_equal(state.quaternion[0], QUAT)
    np.testing.assert_allclose(to_matrix(state.quaternion[1]), turn, atol=1e-15)


def test_normalise():
    np.testing.assert_allclose(
        FREE.state(rotation=3.0 * QUAT, normalise=True).quaternion[0], QUAT, atol=1e-15
    )
    rounded = np.round(ROT, 4)
    state = FREE.state(rotation=rounded, normalise=True)
    np.testing.assert_allclose(jnp.sum(state.quaternion**2), 1.0, atol=1e-15)
    np.testing.assert_allclose(to_matrix(state.quaternion)[0], ROT, atol=1e-4)


def test_consistent_values_are_accepted_where_freedom_decides():
    omega = np.array([1.0, 2.0, 3.0])
    arm = np.array([0.0, 0.0, 0.5])
    position, velocity = np.array([0, 0, 1]) + ROT @ arm, ROT @ np.cross(omega, arm)
    state = TOP.state(position, ROT, velocity, omega)
    np.testing.assert_allclose(state.position[0], position, atol=1e-15)


def test_live_round_trip_with_principal_axes():
    """A body frame that is not principal: live coordinates turn with the principal axes."""
    turn = np.asarray(to_matrix(euler_quaternion("zxz", jnp.array([0.3, 0.8, -1.1]))))
    system = System(RigidBody(1.0, turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T))
    state = system.state(rotation=QUAT, angular_velocity=(1, 2, 3))
    _, quat, _, Omega = system.live(0.0, state)
    axes = np.asarray(system.bodies[0].axes)
    np.testing.assert_allclose(to_matrix(quat[:, 0]), ROT @ axes, atol=1e-14)
    np.testing.assert_allclose(Omega[:, 0], axes.T @ [1.0, 2.0, 3.0], atol=1e-14)


def test_gradients_pass_through_a_state():
    def momentum(omega, quat):
        state = TOP.state(rotation=quat, angular_velocity=omega)
        return jnp.sum(state.velocity * jnp.array([[1.0, 2.0, 3.0]]))

    slope = jax.grad(momentum)(jnp.array([1.0, 2.0, 3.0]), jnp.asarray(QUAT))
    # v = R (omega x arm), arm = (0, 0, 1/2), so that w . v has the gradient arm x R^T w.
    np.testing.assert_allclose(slope, np.cross([0.0, 0.0, 0.5], ROT.T @ [1.0, 2.0, 3.0]), atol=1e-14)


def test_names():
    assert System([BODY, BODY]).names == ("body0", "body1")
    assert FREE.names == ("body",)
    assert PAIR.index("right") == 1


BAD = {
    "long quaternion": (
        lambda: FREE.state(rotation=1.001 * QUAT),
        r"rotation of 'body' is a quaternion of length 1\.001.*off by 0\.001; .*normalise=True",
    ),
    "zero quaternion": (lambda: FREE.state(rotation=(0, 0, 0, 0), normalise=True), "the quaternion zero"),
    "second quaternion": (
        lambda: PAIR.state(rotation=[QUAT, 2 * QUAT]),
        "rotation of 'right' is a quat",
    ),
    "reflection": (
        lambda: FREE.state(rotation=np.diag([1, 1, -1]), normalise=True),
        "determinant -1, a reflection and no rotation",
    ),
    "not orthogonal": (
        lambda: FREE.state(rotation=np.round(ROT, 4)),
        r"rotation of 'body' is not orthogonal: .* by [\d.e-]+; give more digits, or pass normalise=True",
    ),
    "rotation shape": (
        lambda: FREE.state(rotation=(1, 0, 0)),
        r"shape \(3,\); it must be a quaternion",
    ),
    "rotations shape": (
        lambda: PAIR.state(rotation=QUAT),
        r"it must be \(2, 4\) or \(2, 3, 3\) for",
    ),
    "position shape": (
        lambda: PAIR.state(position=(1, 2, 3)),
        r"shape \(3,\); it must be \(2, 3\) for",
    ),
    "velocity shape": (lambda: FREE.state(velocity=1.0), r"velocity has shape \(\)"),
    "ragged": (lambda: PAIR.state(position=[(0, 0, 0), (1, 2)]), r"position of 'right' has shape \(2,\)"),
    "words": (lambda: FREE.state(velocity="fast"), "velocity = 'fast'; it must be numbers"),
    "infinite": (
        lambda: PAIR.state(position=[(0, 0, 0), (0, np.inf, 0)]),
        r"position\[1, 1\] = inf",
    ),
    "pinned velocity": (
        lambda: TOP.state(velocity=(1, 0, 0), angular_velocity=(0, 1, 0)),
        r"velocity of 'body' = \(1, 0, 0\).*make it \(0\.5, 0, 0\) \(off by 0\.5\); leave it out",
    ),
    "pinned position": (lambda: TOP.state(position=(0, 0, 0)), r"position of 'body'.*\(0, 0, 1\.5\)"),
    "turned slider": (
        lambda: SLIDER.state(angular_velocity=(0, 0, 1)),
        r"angular_velocity of 'body'.*make it",
    ),
    "slider rotation": (lambda: SLIDER.state(rotation=(1, 0, 0, 0)), "rotation of 'body'.*its freedom"),
    "moving wall": (lambda: WALL.state(velocity=[None, (0, 1, 0)]), r"velocity of 'body1' = \(0, 1, 0\)"),
    "no name": (lambda: PAIR.index("middle"), "no body is called 'middle'; there are left, right"),
    "same names": (
        lambda: System([PAIR.bodies[0]] * 2),
        "both called 'left'; give each",
    ),
    "no bodies": (lambda: System([]), "bodies is empty"),
    "no body": (lambda: System([3.0]), r"bodies\[0\] = 3.0; it must be a pt.RigidBody"),  # type: ignore[list-item]
    "few freedoms": (lambda: System([BODY, BODY], freedom=freedom.Free()), "1 entries for 2 bodies"),
    "no freedom": (lambda: System(BODY, freedom=["free"]), "freedom of 'body' = 'free'"),  # type: ignore[list-item]
    "all clamped": (lambda: System(BODY, freedom=freedom.Clamped()), "no body that can move"),
    "clamped rotation": (lambda: freedom.Clamped(rotation=2 * ROT), "rotation of Clamped is not orthogonal"),
    "no motion": (lambda: freedom.Prescribed(1.0), "motion of Prescribed = 1.0"),  # type: ignore[arg-type]
    "bad motion": (
        lambda: System([BODY, BODY], freedom=[freedom.Free(), freedom.Prescribed(lambda t: jnp.zeros(3))]),
        r"motion of 'body1' returns numbers of shape \(3,\); it must return a position",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
