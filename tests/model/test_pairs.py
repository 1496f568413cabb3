"""Pair potentials against the formulas in r, in forty digits, and what tables and cut-offs do to them."""

from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model.potentials import (
    AbstractPair,
    Coulomb,
    Cutoff,
    HarmonicPair,
    LennardJones,
    Morse,
    PairFunction,
    ScreenedCoulomb,
)
from quickly import QUICK, quickly

S = np.array([0.6, 1.0, 1.2599210498948732, 2.3, 7.0, 30.0])
"""Squared distances; the third is that of the Lennard-Jones well."""

CASES = {
    "Lennard-Jones": (LennardJones(5.0, 1.0), lambda r: 20 * (r**-12 - r**-6)),
    "Lennard-Jones scaled": (
        LennardJones(0.7, 1.3),
        lambda r: mp.mpf(0.7) * 4 * ((mp.mpf(1.3) / r) ** 12 - (mp.mpf(1.3) / r) ** 6),
    ),
    "Morse": (
        Morse(2.0, 0.4, 1.5),
        lambda r: 2 * (mp.exp(-2 * (r - 1.5) / mp.mpf(0.4)) - 2 * mp.exp(-(r - 1.5) / mp.mpf(0.4))),
    ),
    "Coulomb": (Coulomb(-3.0), lambda r: -3 / r),
    "screened Coulomb": (ScreenedCoulomb(2.0, 0.8), lambda r: 2 * mp.exp(-mp.mpf(0.8) * r) / r),
    "harmonic": (HarmonicPair(3.0, 1.2), lambda r: mp.mpf(1.5) * (r - mp.mpf(1.2)) ** 2),
    "harmonic without length": (HarmonicPair(3.0), lambda r: mp.mpf(1.5) * r**2),
    "function": (PairFunction(lambda s: jnp.exp(-s) * jnp.cos(s)), lambda r: mp.exp(-(r**2)) * mp.cos(r**2)),
    "function with parameters": (
        PairFunction(lambda s, p: p["a"] * s ** (-p["n"]) + p["c"][1], {"a": 2.0, "n": 3.0, "c": (0.5, 1.5)}),
        lambda r: 2 * r**-6 + 1.5,
    ),
}


@eqx.filter_jit(**QUICK)
def three(pair, s):
    """Energy, slope, and the derivative of the slope."""
    return (pair.value(s), *jax.jvp(pair.slope, (s,), (jnp.ones_like(s),)))


def differ(pair, formula):
    """Largest errors of energy, slope and curvature f, in units of what a relative change of s makes of f.

    That is |f| + s |f'|, with a floor under those that vanish.
    """
    with mp.workdps(40):
        exact = np.array(
            [[float(mp.diff(lambda x: formula(mp.sqrt(x)), mp.mpf(s), n)) for s in S] for n in range(4)]
        )
    scale = np.abs(exact[:3]) + S * np.abs(exact[1:]) + 1e-3
    return np.max(np.abs(np.asarray(three(pair, jnp.asarray(S))) - exact[:3]) / scale, axis=1)


@pytest.mark.parametrize("name", CASES)
def test_energy_slope_and_curvature(name):
    """A few rounding errors each."""
    assert np.max(differ(*CASES[name])) < 1e-15


class Halved(AbstractPair):
    """A pair potential whose slope is the derivative in r, not in r²: a likely slip."""

    pair: AbstractPair

    def value(self, s):
        return self.pair.value(s)

    def slope(self, s):
        return 2.0 * jnp.sqrt(s) * self.pair.slope(s)


def test_the_comparison_finds_a_wrong_slope():
    value, slope, curvature = differ(Halved(CASES["Coulomb"][0]), CASES["Coulomb"][1])
    assert value < 1e-15 and slope > 0.1 and curvature > 0.1


@eqx.filter_jit(**QUICK)
def both(pair, s):
    """The slope, and the derivative of the energy taken backwards, where the interface goes forwards."""
    return pair.slope(s), jax.grad(lambda s: jnp.sum(pair.value(s)))(s)


SLOPES = {
    **{name: pair for name, (pair, _) in CASES.items()},
    "cut-off": Cutoff(Morse(2.0, 0.4, 1.5), 2.4),
    "smooth cut-off": Cutoff(Morse(2.0, 0.4, 1.5), 2.4, smooth=3),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slope_is_the_derivative_of_the_energy(name):
    slope, derivative = both(SLOPES[name], jnp.asarray(S))
    np.testing.assert_allclose(slope, derivative, rtol=1e-12, atol=1e-13)


def test_well_of_lennard_jones():
    pair = LennardJones(5.0, 1.3)
    assert float(pair.value(jnp.asarray(1.3**2))) == pytest.approx(0.0, abs=1e-14)
    assert float(pair.value(jnp.asarray(2 ** (1 / 3) * 1.3**2))) == pytest.approx(-5.0, rel=1e-15)
    assert float(pair.slope(jnp.asarray(2 ** (1 / 3) * 1.3**2))) == pytest.approx(0.0, abs=1e-14)


def test_well_of_morse():
    """The stiffness in r is 4 s v''(s) at the bottom."""
    value, slope, curvature = three(Morse(2.0, 0.4, 1.5), jnp.asarray(1.5**2))
    assert (float(value), float(slope)) == (-2.0, 0.0)
    assert float(4 * 1.5**2 * curvature) == pytest.approx(2 * 2.0 / 0.4**2, rel=1e-14)


def test_unscreened_is_coulomb():
    np.testing.assert_allclose(
        three(ScreenedCoulomb(2.0, 0.0), jnp.asarray(S)), three(Coulomb(2.0), jnp.asarray(S)), rtol=1e-14
    )


def test_harmonic_at_no_distance():
    """The kink of a spring with a rest length, and none without, have finite derivatives."""
    origin = jnp.zeros(2)
    np.testing.assert_array_equal(three(HarmonicPair(3.0), origin), np.outer([0.0, 1.5, 0.0], np.ones(2)))
    value, slope, curvature = three(HarmonicPair(3.0, 1.2), origin)
    np.testing.assert_allclose(value, 2.16, rtol=1e-15)
    assert np.all(np.isfinite(slope)) and np.all(np.isfinite(curvature))
    assert np.all(np.isfinite(jax.grad(lambda s: jnp.sum(HarmonicPair(3.0, 1.2).value(s)))(origin)))


TABLE = np.array([[0.5, 1.0, 2.0], [1.5, 0.0, 0.7]])
LENGTHS = 1.0 + 0.1 * np.arange(6.0).reshape(2, 3)
TABLES = {
    "Lennard-Jones": lambda a, b: LennardJones(a, b),
    "Morse": lambda a, b: Morse(a, 0.4, b),
    "Morse width": lambda a, b: Morse(2.0, b, b),
    "Coulomb": lambda a, b: Coulomb(-a),
    "screened Coulomb": lambda a, b: ScreenedCoulomb(a, b),
    "harmonic": lambda a, b: HarmonicPair(a, b),
    "function": lambda a, b: PairFunction(
        lambda s, p: p[0] * jnp.exp(-s / p[1]) + p[2][0], (a, b, np.ones(4))
    ),
    "cut-off": lambda a, b: Cutoff(LennardJones(a, b), 2.0, smooth=2),
    "cut-off table": lambda a, b: Cutoff(ScreenedCoulomb(a, 0.3), 1.5 * b),
    "cut-off of a function": lambda a, b: Cutoff(PairFunction(lambda s, a: a / s, a), 1.5 * b),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(name):
    """All pairs of particles at once, one of them picked out, and potentials made for one pair each."""
    make = TABLES[name]
    pair = make(TABLE, LENGTHS)
    assert pair.table_shape == (2, 3)
    squares = jnp.asarray(np.random.default_rng(1).uniform(0.8, 6.0, (2, 3, 5)))
    together = quickly(lambda s: (pair.value(s), pair.slope(s)))(squares)
    assert [part.shape for part in together] == [(2, 3, 5)] * 2
    for k, j in np.ndindex(2, 3):
        picked = pair.of(k, j)
        assert picked.table_shape is None
        if TABLE[k, j]:
            alone = make(TABLE[k, j], LENGTHS[k, j])
            assert alone.of(1, 2) is alone
            assert [float(a) for a in _numbers(alone)] == [float(a) for a in _numbers(picked)]
        for part, method in zip(together, (picked.value, picked.slope), strict=True):
            np.testing.assert_allclose(part[k, j], method(squares[k, j]), rtol=1e-13, atol=1e-14)


def _numbers(pair):
    """Parameters that are single numbers."""
    return [leaf for leaf in jax.tree.leaves(pair) if eqx.is_array(leaf) and leaf.ndim == 0]


def test_charges():
    """A dipole against a dipole, summed by hand."""
    charges, squares = np.array([1.0, -2.0]), np.array([[1.0, 4.0], [9.0, 16.0]])
    energy = jnp.sum(Coulomb(np.outer(charges, charges)).value(jnp.asarray(squares)[:, :, None]))
    assert float(energy) == pytest.approx(1 - 2 / 2 - 2 / 3 + 4 / 4, rel=1e-15)


LJ = LennardJones(1.0, 1.0)


@pytest.mark.parametrize("smooth", [1, 2, 3])
def test_cutoff_is_as_smooth_as_it_says(smooth):
    """Near the radius the energy goes to zero with the power smooth + 1 of the distance to it, not a higher.

    So derivatives up to `smooth` are continuous, and the next one jumps.
    """
    pair, end = Cutoff(Coulomb(1.0), 1.5, smooth), 1.5**2
    gaps = np.array([1e-2, 5e-3])
    energy, slope = (np.asarray(f(jnp.asarray(end * (1 - gaps)))) for f in (pair.value, pair.slope))
    assert np.log2(energy[0] / energy[1]) == pytest.approx(smooth + 1, abs=0.05)
    assert np.log2(slope[0] / slope[1]) == pytest.approx(smooth, abs=0.05)


@pytest.mark.parametrize("smooth", [1, 2])
def test_cutoff_within_and_beyond(smooth):
    """Within: the potential less its Taylor polynomial, by forty digits. Beyond: nothing at all."""
    end = 2.5**2
    with mp.workdps(40):
        taylor = mp.taylor(lambda s: 4 * (s**-6 - s**-3), mp.mpf(end), smooth)
        exact = [
            4 * (mp.mpf(s) ** -6 - mp.mpf(s) ** -3) - mp.polyval(taylor, mp.mpf(s) - end, asc=True)
            for s in S[:4]
        ]
    parts = np.asarray(three(Cutoff(LJ, 2.5, smooth), jnp.asarray(np.append(S, end))))
    np.testing.assert_allclose(parts[0, :4], np.array(exact, dtype=float), rtol=1e-13)
    np.testing.assert_array_equal(parts[:, 5:], 0.0)


def test_depth_of_a_well_that_is_cut_off():
    """What its docstring says: a twentieth is lost at 2.5 sigma."""
    energy = np.asarray(Cutoff(LJ, 2.5).value(jnp.linspace(1.1, 1.5, 400)))
    assert -0.95 < energy.min() < -0.94


def test_nothing_that_is_not_a_number_from_beyond():
    """A potential without values beyond the radius; alone it spoils energy and gradient."""
    squares = jnp.array([1.0, 3.9, 5.0, 50.0])
    bare = PairFunction(lambda s: jnp.sqrt(4.5 - s))
    pair = Cutoff(bare, 2.0)
    for part in three(pair, squares):
        assert np.all(np.isfinite(part))
    for f in (pair.value, pair.slope):
        assert np.all(np.isfinite(jax.grad(lambda s, f=f: jnp.sum(f(s)))(squares)))
    assert np.all(np.isnan(bare.value(squares)[2:]))


def test_parameters_have_gradients_through_a_cutoff():
    """The part that is taken off follows the parameters, also of a potential that exists already."""
    made = Cutoff(LJ, 2.5)

    def energy(sigma):
        changed = eqx.tree_at(lambda pair: pair.pair.sigma, made, sigma)
        return jnp.sum(changed.value(jnp.asarray(S)))

    h = 1e-5
    difference = (energy(jnp.asarray(1 + h)) - energy(jnp.asarray(1 - h))) / (2 * h)
    assert float(jax.grad(energy)(jnp.asarray(1.0))) == pytest.approx(float(difference), rel=1e-7)
    assert float(energy(jnp.asarray(1.1))) == pytest.approx(
        float(jnp.sum(Cutoff(LennardJones(1.0, 1.1), 2.5).value(jnp.asarray(S)))), rel=1e-13
    )


def test_traced_parameters():
    slope = quickly(jax.grad(lambda e: jnp.sum(LennardJones(e, 1.0).value(jnp.asarray(S)))))(2.0)
    assert float(slope) == pytest.approx(float(jnp.sum(LJ.value(jnp.asarray(S)))), rel=1e-14)


def test_function_may_branch():
    """A user's function is for one pair: it may use what arrays have no meaning for."""
    pair = PairFunction(lambda s: jax.lax.cond(s < 2.0, lambda x: x * x, lambda x: 4.0 + 0.0 * x, s))
    np.testing.assert_array_equal(pair.value(jnp.array([[1.0, 3.0]])), [[1.0, 4.0]])
    np.testing.assert_array_equal(pair.slope(jnp.array([[1.0, 3.0]])), [[2.0, 0.0]])


BAD = {
    "epsilon": (lambda: LennardJones(0.0, 1.0), "epsilon of LennardJones = 0; it must be positive"),
    "negative": (lambda: LennardJones(-1.0, 1.0), "epsilon of LennardJones = -1; it must not be negative"),
    "sigma": (lambda: LennardJones(1.0, -1.0), "sigma of LennardJones = -1; it must be positive"),
    "table entry": (
        lambda: LennardJones(1.0, [[1.0, 1.0], [0.0, 1.0]]),
        r"sigma of LennardJones\[1, 0\] = 0; it must be positive",
    ),
    "empty table": (lambda: Coulomb(np.zeros((0, 2))), r"strength of Coulomb has shape \(0, 2\)"),
    "all zero": (lambda: HarmonicPair(np.zeros((2, 2))), r"HarmonicPair\[0, 0\] = 0; it must be positive"),
    "vector": (lambda: Coulomb([1.0, 2.0]), r"shape \(2,\); it must be one number or a table"),
    "two tables": (
        lambda: LennardJones(np.ones((2, 2)), np.ones((3, 2))).of(0, 0),
        r"LennardJones has tables of shapes \(2, 2\) and \(3, 2\)",
    ),
    "nan": (lambda: Morse(np.nan, 1.0, 1.0), "depth of Morse = nan; it must be finite"),
    "width": (lambda: Morse(1.0, 0.0, 1.0), "width of Morse = 0; it must be positive"),
    "screening": (
        lambda: ScreenedCoulomb(1.0, -1.0),
        "screening of ScreenedCoulomb = -1; it must not be neg",
    ),
    "radius": (lambda: Cutoff(LJ, 0.0), "radius of Cutoff = 0; it must be positive"),
    "negative radius": (lambda: Cutoff(LJ, -2.0), "radius of Cutoff = -2; it must be positive"),
    "smooth": (lambda: Cutoff(LJ, 1.0, smooth=0), "smooth of Cutoff = 0; it must be a whole number"),
    "no pair": (lambda: Cutoff(cast(Any, len), 1.0), "pair of Cutoff = .*must be a pair such as"),
    "not a function": (
        lambda: PairFunction(cast(Any, 3.0)),
        r"v of PairFunction = 3.0.*of \(s\) or \(s, par",
    ),
    "time": (lambda: PairFunction(lambda t, s: s), "v of PairFunction = .*must be a function"),
    "three arguments": (lambda: PairFunction(lambda s, p, q: s), "v of PairFunction = .*must be a function"),
    "two numbers": (
        lambda: PairFunction(lambda s: jnp.stack([s, s])),
        r"v of PairFunction returns float64 of shape \(2,\); an energy must be one floating-point number",
    ),
    "nothing": (
        lambda: PairFunction(lambda s: None),
        "^v of PairFunction returns None; it must return numbers",
    ),
    "wrong inside": (lambda: PairFunction(lambda s: s[0]), "v of PairFunction cannot be evaluated: "),
    "parameters": (lambda: PairFunction(lambda s, p: s), r"takes parameters; give them as params=\.\.\."),
    "no parameters": (lambda: PairFunction(lambda s: s, 1.0), "takes no parameters, but params are given"),
    "words": (lambda: PairFunction(lambda s, p: s, "a"), "params of PairFunction = 'a'; it must be numbers"),
    "three axes": (
        lambda: PairFunction(lambda s, p: s, np.ones((2, 2, 2))),
        r"an array of shape \(2, 2, 2\); it may have two axes at most",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
