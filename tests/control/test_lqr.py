"""Linear-quadratic control: the Riccati equation beside SciPy, poles, a pole that is caught."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

import poinsot as pt


@pytest.fixture(scope="module")
def chain() -> pt.OpenChain:
    return pt.OpenChain(pt.library.cart_pole())


@pytest.fixture(scope="module")
def balance(chain) -> pt.control.LQR:
    return pt.control.LQR(chain, [0.3, 0.0], Q=(1.0, 10.0, 1.0, 1.0), R=0.5, joints=["rails"])


def test_matrices_are_those_of_the_cart_and_the_pole(balance):
    M, m, half, g = 1.0, 0.1, 0.5, 9.81
    # (M + m) x'' + m l a'' = u and m l x'' + 4/3 m l^2 a'' = m g l a, solved for the accelerations.
    matrix = np.array([[M + m, m * half], [m * half, 4.0 / 3.0 * m * half**2]])
    to_force, to_fall = (np.linalg.solve(matrix, one) for one in ([1.0, 0.0], [0.0, m * g * half]))
    A = np.zeros((4, 4))
    A[:2, 2:], A[2:, 1] = np.eye(2), to_fall
    np.testing.assert_allclose(balance.A, A, atol=1e-12)
    np.testing.assert_allclose(balance.B[:, 0], [0.0, 0.0, *to_force], atol=1e-13)


def test_gain_is_that_of_the_riccati_equation_of_scipy(balance):
    P = solve_continuous_are(balance.A, balance.B, np.diag([1.0, 10.0, 1.0, 1.0]), [[0.5]])
    np.testing.assert_allclose(balance.P, P, rtol=1e-11)
    np.testing.assert_allclose(balance.gain, balance.B.T @ P / 0.5, rtol=1e-11)
    assert np.max(np.linalg.eigvals(np.asarray(balance.closed_loop)).real) < -0.3
    assert np.max(np.linalg.eigvals(np.asarray(balance.A)).real) > 1.0


@pytest.mark.parametrize("size", [3, 12])
def test_riccati_of_random_systems(size):
    draw = np.random.default_rng(size)
    A, B = draw.standard_normal((size, size)) + np.eye(size), draw.standard_normal((size, 2))
    Q, R = np.diag(draw.uniform(0.1, 10.0, size)), np.diag(draw.uniform(0.1, 2.0, 2))
    P = np.asarray(pt.control.riccati(*map(jnp.asarray, (A, B, Q, R))))
    np.testing.assert_allclose(P, solve_continuous_are(A, B, Q, R), rtol=0, atol=1e-10 * np.max(np.abs(P)))
    left = A.T @ P + P @ A - P @ B @ np.linalg.solve(R, B.T @ P) + Q
    assert np.max(np.abs(left)) < 1e-11 * np.max(np.abs(P)) ** 2


def test_its_text_has_the_gain(balance):
    text = repr(balance)
    assert text.startswith(
        "LQR(chain=OpenChain('cart-pole'), target=(0.3, 0.0), hold=(0.0,), gain=((-1.41421, "
    )
    assert text.endswith("joints=('rails',))") and len(text) < 200


def test_a_pole_is_caught_and_settles(chain, balance):
    run: Any = pt.simulate(
        chain.system,
        chain.system.joint_state({"hinge": 0.4}),
        t1=40.0,
        dt=0.02,
        save_every=50,
        control=balance,
        coordinates="joint",
        integrator="gauss4",
        progress=False,
    )
    np.testing.assert_allclose(run.q[-1], [0.3, 0.0], atol=1e-8)
    assert run.attributes["kernel"] == "native"


@pytest.mark.slow
def test_the_gain_can_be_differentiated_in_a_mass():
    def gain(mass):
        chain = pt.OpenChain(pt.library.cart_pole(pole=mass))
        return pt.control.LQR(chain, jnp.zeros(2), joints=["rails"]).gain[0, 1]

    slope = jax.jit(jax.grad(gain))(0.1)
    values = jax.jit(gain)
    assert abs(slope - (values(0.1001) - values(0.0999)) / 2e-4) < 1e-5 * abs(slope)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda chain: pt.control.LQR(chain, [0.0, 0.3], joints=["rails"]), "'hinge', which is not acted on"),
        (lambda chain: pt.control.LQR(chain, [0.0, 0.0], Q=(1.0, 2.0), joints=["rails"]), "Q of LQR has"),
        (lambda chain: pt.control.LQR(chain, [0.0], joints=["rails"]), "target of LQR has"),
        (lambda chain: pt.control.LQR(chain, [0.0, 0.0], Q=-1.0), "Q of LQR has the eigenvalue -1; none may"),
        (
            lambda chain: pt.control.LQR(chain, [0.0, 0.0], R=0.0),
            "R of LQR has the eigenvalue 0; all must be",
        ),
        (lambda chain: pt.control.LQR(chain, [0.0, 0.0], Q=np.tri(4)), "Q of LQR is not symmetric"),
        (
            lambda chain: pt.control.riccati(*map(jnp.eye, (2, 3, 2, 3))),
            "B of riccati has shape",
        ),
        (lambda chain: pt.control.LQR(chain, [0.0, 0.0], Q=(0, 1, 0, 1), joints=["rails"]), "no feedback"),
    ],
)
def test_what_is_refused(chain, call, said):
    with pytest.raises(pt.InputError, match=said):
        call(chain)


@pytest.mark.slow
def test_many_starts_are_caught_at_once(chain, balance):
    robot, angles = chain.system, (0.1, -0.2)
    starts = [robot.joint_state({"hinge": angle}) for angle in angles]
    together = jax.tree.map(lambda *parts: np.stack(parts), *starts)
    options: Any = {"dt": 0.02, "steps": 100, "coordinates": "joint", "form": "recursive", "save_every": 100}
    many = pt.ensemble(robot, "rk4", together, control=balance, **options)
    for k, start in enumerate(starts):
        one = pt.solve(robot, "rk4", start, control=balance, **options)
        np.testing.assert_allclose(many.state.position[k], one.state.position, rtol=0, atol=1e-12)
        height = np.asarray(one.state.position)[-1, 1, 2]
        assert height > np.cos(0.04) * 0.5, "without control the pole falls: it would be below the rails"


def test_a_sampled_controller_of_many_starts_is_refused(chain, balance):
    starts = jax.tree.map(lambda part: np.stack([part, part]), chain.system.joint_state())
    with pytest.raises(pt.InputError, match="control is sampled, and each run would hold forces of its own"):
        pt.ensemble(chain.system, "rk4", starts, control=pt.control.Sampled(balance, 0.1), dt=0.1, steps=1)
