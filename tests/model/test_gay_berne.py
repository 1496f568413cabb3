"""Potentials of relative pose: Gay-Berne as an overlap of ellipsoids, its limits and symmetries."""

from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model.potentials import GayBerne, LennardJones, PosePair
from poinsot.rotation import about_x, about_y, exp
from quickly import QUICK

DRAW = np.random.default_rng(7)
TURNS = np.asarray(exp(jnp.asarray(2.0 * DRAW.standard_normal((6, 3)))))
EYE = np.eye(3)
D = np.array([2.1, -1.4, 1.9])


@eqx.filter_jit(**QUICK)
def energy(pair, d, R1, R2):
    return pair.energy(d, R1, R2)


@eqx.filter_jit(**QUICK)
def gradient(pair, d, R1, R2):
    return jax.grad(pair.energy, (0, 1, 2))(d, R1, R2)


def of(pair, d, R1, R2):
    return float(energy(pair, *(jnp.asarray(np.asarray(part, dtype=float)) for part in (d, R1, R2))))


def by_ellipsoids(d, R1, R2, epsilon, sigma, kappa, kappa_prime, mu, nu, axis):
    r"""The potential from matrices of ellipsoids instead of angles.

    Two ellipsoids of revolution with the squared semi-axes in $A_1, A_2$ touch, in the Gaussian overlap
    model, at $\sigma^{-2} = \tfrac12 \hat r^T (A_1 + A_2)^{-1} \hat r$; the strength of the overlap is one
    over the root of $\det(A_1 + A_2)$, here relative to axes at right angles.
    """

    def total(ratio2):
        squares = np.ones(3)
        squares[axis] = ratio2
        return 0.25 * sum(R @ np.diag(squares) @ R.T for R in (R1, R2))

    r = np.linalg.norm(d)
    n = d / r

    def shape(ratio2):
        return 0.5 * n @ np.linalg.solve(total(ratio2), n)

    crossed = 0.25**3 * 2.0 * (kappa**2 + 1.0) ** 2
    overlap = np.sqrt(crossed / np.linalg.det(total(kappa**2)))
    depth = epsilon * overlap**nu * shape(kappa_prime ** (1.0 / mu)) ** mu
    rho = r / sigma - shape(kappa**2) ** -0.5 + 1.0
    return 4.0 * depth * (rho**-12 - rho**-6)


CASES: dict[str, dict[str, Any]] = {
    "of the paper": dict(epsilon=1.0, sigma=1.0, kappa=3.0, kappa_prime=5.0, mu=2.0, nu=1.0, axis=2),
    "other exponents": dict(epsilon=2.0, sigma=0.7, kappa=4.4, kappa_prime=20.0, mu=1.0, nu=3.0, axis=0),
    "discs": dict(epsilon=0.5, sigma=2.0, kappa=0.3, kappa_prime=0.2, mu=1.3, nu=2.2, axis=1),
}


@pytest.mark.parametrize("name", CASES)
def test_against_ellipsoids(name):
    numbers = CASES[name]
    pair = GayBerne(**numbers)
    other = {**numbers, "kappa_prime": 1.01 * numbers["kappa_prime"]}
    signs = set()
    for R1, R2, scale in zip(TURNS[:3], TURNS[3:], (1.0, 0.6, 0.35), strict=True):
        value = of(pair, scale * D, R1, R2)
        assert value == pytest.approx(by_ellipsoids(scale * D, R1, R2, **numbers), rel=1e-12)
        assert value != pytest.approx(by_ellipsoids(scale * D, R1, R2, **other), rel=1e-4)
        signs.add(np.sign(value))
    assert signs == {-1.0, 1.0}, "both attraction and repulsion are met"


@pytest.mark.parametrize("name", CASES)
def test_gradient_against_differences(name):
    """In the distance, and in all components of both matrices, off the rotations too."""
    pair = GayBerne(**CASES[name])
    poses = [
        D,
        TURNS[0] + 0.02 * DRAW.standard_normal((3, 3)),
        TURNS[3] + 0.02 * DRAW.standard_normal((3, 3)),
    ]
    slopes = gradient(pair, *(jnp.asarray(part) for part in poses))
    h, size = 1e-5, max(float(np.max(np.abs(slope))) for slope in slopes)
    for which, slope in enumerate(slopes):
        for place in np.ndindex(slope.shape):
            ends = []
            for side in (h, -h):
                moved = [part.copy() for part in poses]
                moved[which][place] += side
                ends.append(of(pair, *moved))
            assert float(slope[place]) == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-7 * size)


def test_round_bodies_are_lennard_jones():
    """Whatever the exponents, and with axes that do not matter; a body a little longer is something else."""
    v = float(LennardJones(1.7, 1.2).value(jnp.asarray(D @ D)))
    assert of(GayBerne(1.7, 1.2, kappa=1, kappa_prime=1, mu=1.4, nu=0.3), D, *TURNS[:2]) == pytest.approx(
        v, rel=1e-13
    )
    assert of(GayBerne(1.7, 1.2, kappa=1.01, kappa_prime=1), D, *TURNS[:2]) != pytest.approx(v, rel=1e-4)


@pytest.mark.parametrize(("mu", "nu"), [(1.0, 2.0), (2.0, 1.0), (3.1, 0.4)])
def test_wells(mu, nu):
    """Where the wells of four arrangements are, and how deep.

    End to end the contact is at the length of a body, side by side at its breadth; the ratio of the two
    depths is kappa' for all exponents. Crossed at right angles, side on, the depth is epsilon.
    """
    kappa, kappa_prime, sigma = 3.0, 5.0, 0.9
    pair = GayBerne(0.8, sigma, kappa=kappa, kappa_prime=kappa_prime, mu=mu, nu=nu)
    bottom = (2 ** (1 / 6) - 1) * sigma
    beside = of(pair, [sigma + bottom, 0, 0], EYE, EYE)
    end_on = of(pair, [0, 0, kappa * sigma + bottom], EYE, EYE)
    crossed = of(pair, [sigma + bottom, 0, 0], EYE, about_x(np.pi / 2))
    chi = (kappa**2 - 1) / (kappa**2 + 1)
    assert beside == pytest.approx(-0.8 * (1 - chi**2) ** (-nu / 2), rel=1e-13)
    assert beside / end_on == pytest.approx(kappa_prime, rel=1e-12)
    assert crossed == pytest.approx(-0.8, rel=1e-13)
    tee = np.sqrt((kappa**2 + 1) / 2) * sigma
    assert of(pair, [tee, 0, 0], about_y(np.pi / 2), EYE) == pytest.approx(0.0, abs=1e-12)
    for d, R2 in (([1, 0, 0], EYE), ([0, 0, kappa], EYE), ([1, 0, 0], about_x(np.pi / 2))):
        contact = sigma * np.array(d, dtype=float)
        assert of(pair, contact, EYE, R2) == pytest.approx(0.0, abs=1e-12)
        away = contact * (1 + bottom / np.linalg.norm(contact))
        slope = gradient(pair, *(jnp.asarray(part) for part in (away, EYE, np.asarray(R2))))[0]
        np.testing.assert_allclose(slope, np.zeros(3), atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_symmetries(name):
    """A common rotation, an exchange, a turn of one body about its axis or end over end change nothing."""
    pair, axis = GayBerne(**CASES[name]), CASES[name]["axis"]
    R1, R2, turn = TURNS[0], TURNS[3], TURNS[4]
    before = of(pair, D, R1, R2)
    about_axis = np.asarray(exp(jnp.asarray(1.3 * EYE[axis])))
    over = np.asarray(exp(jnp.asarray(np.pi * EYE[(axis + 1) % 3])))
    for d, A, B in (
        (turn @ D, turn @ R1, turn @ R2),
        (-D, R2, R1),
        (D, R1 @ about_axis, R2),
        (D, R1, R2 @ over),
    ):
        assert of(pair, d, A, B) == pytest.approx(before, rel=1e-12)
    assert of(pair, D, turn @ R1, R2) != pytest.approx(before, rel=1e-3)


def test_bodies_that_overlap_have_no_energy():
    """Nearer than the length less the breadth, end to end, forces are not numbers, so that a run stops."""
    pair = GayBerne(1.0, 1.0)
    inside = [jnp.asarray(part) for part in (np.array([0.0, 0.0, 1.9]), EYE, EYE)]
    assert np.isnan(float(energy(pair, *inside)))
    assert np.all(np.isnan(gradient(pair, *inside)[0][2]))
    assert of(pair, [0, 0, 2.1], EYE, EYE) > 1e6


def test_parameters_have_gradients():
    def depth(mu):
        return GayBerne(1.0, 1.0, mu=mu).energy(jnp.asarray(D), jnp.asarray(TURNS[0]), jnp.asarray(TURNS[3]))

    h = 1e-5
    difference = (float(depth(2.0 + h)) - float(depth(2.0 - h))) / (2 * h)
    assert float(jax.grad(depth)(2.0)) == pytest.approx(difference, rel=1e-7)


def test_own_function_of_the_pose():
    """With and without parameters, by a formula written anew."""
    R1, R2 = TURNS[:2]
    plain = PosePair(lambda d, R1, R2: jnp.sum(d * R1[:, 0]) * R2[2, 1])
    assert of(plain, D, R1, R2) == pytest.approx(D @ R1[:, 0] * R2[2, 1], rel=1e-14)
    tied = PosePair(
        lambda d, R1, R2, p: 0.5 * p["k"] * jnp.sum((d - p["rest"]) ** 2) - jnp.sum(R1 * R2),
        {"k": 3.0, "rest": np.array([1.0, 0.0, 0.0])},
    )
    assert of(tied, D, R1, R2) == pytest.approx(
        1.5 * np.sum((D - EYE[0]) ** 2) - np.trace(R1.T @ R2), rel=1e-14
    )


BAD = {
    "epsilon": (lambda: GayBerne(0.0, 1.0), "epsilon of GayBerne = 0; it must be positive"),
    "sigma": (lambda: GayBerne(1.0, -1.0), "sigma of GayBerne = -1; it must be positive"),
    "kappa": (lambda: GayBerne(1.0, 1.0, kappa=0), "kappa of GayBerne = 0; it must be positive"),
    "kappa'": (lambda: GayBerne(1.0, 1.0, kappa_prime=-5), "kappa_prime of GayBerne = -5"),
    "mu": (lambda: GayBerne(1.0, 1.0, mu=0), "mu of GayBerne = 0; it must be positive"),
    "axis": (lambda: GayBerne(1.0, 1.0, axis=3), "axis of GayBerne = 3; it must be 0, 1 or 2"),
    "vector": (
        lambda: PosePair(lambda d, R1, R2: d),
        r"function of PosePair returns float64 of shape \(3,\); an energy must be one",
    ),
    "signature": (lambda: PosePair(lambda d, R1: 0.0), r"must be a function of \(d, R1, R2\) or"),
    "parameters": (lambda: PosePair(lambda d, R1, R2, p: 0.0), "function of PosePair takes parameters"),
    "not a function": (lambda: PosePair(cast(Any, None)), "function of PosePair = None"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
