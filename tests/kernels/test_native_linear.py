"""Linear algebra of small matrices in native code, beside that of LAPACK; loops of rows; shortcuts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from poinsot.integrators.adaptive._inverse import inverse
from poinsot.kernels import Kernel
from poinsot.kernels.native import NativeProgram, NotNative, _linear
from poinsot.rotation import sincos

RANDOM = np.random.default_rng(5)


def native(function, *runs, width=1):
    """Values by native code; with lanes, of many runs."""
    one = runs if width == 1 else tuple(run[0] for run in runs)
    program = NativeProgram.of(
        lambda model, grid, runs: function(*runs), (), (), one, width=width, fast=False
    )
    return program.bound([])((), runs) if width == 1 else program(program.block((), ()), runs)


def both(function, *runs, width=1):
    """Values by native code and by JAX."""
    return native(function, *runs, width=width), (function if width == 1 else jax.vmap(function))(*runs)


def close(got, wanted, tolerance=1e-12):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("size", [1, 3, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("width", [1, 4])
def test_solutions_inverses_and_factors(size, width):
    def function(a, b):
        spd = a @ a.T + jnp.eye(size)
        slope = jax.grad(lambda a: jnp.sum(jnp.linalg.solve(a, b) ** 2))(a)
        return (
            jnp.linalg.solve(a, b),
            jnp.linalg.inv(a),
            jnp.linalg.cholesky(spd),
            jnp.linalg.slogdet(a),
            slope,
        )

    shape = () if width == 1 else (8,)
    a = RANDOM.normal(size=(*shape, size, size))
    close(*both(function, a, RANDOM.normal(size=(*shape, size)), width=width), 1e-9)


def test_pivots_where_the_diagonal_vanishes():
    a = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 0.0]])
    got, wanted = both(lambda a: jax.lax.linalg.lu(a), a)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)
    assert not np.array_equal(got[2], np.arange(3)), "rows change places"


@pytest.mark.parametrize("size", [1, 4, 7])
def test_the_inverse_of_a_loop_is_written_out(size):
    """A zero on the diagonal at every turn: without exchanges nothing finite would come out."""
    a = RANDOM.normal(size=(size, size))
    a = a if size == 1 else np.roll(np.tril(a, -1) + np.eye(size), 1, axis=1)
    got, looped = both(inverse, a)
    close(got, np.linalg.inv(a), 1e-11)
    close(got, looped, 1e-11)
    program = NativeProgram.of(lambda model, grid, a: inverse(a), (), (), a, width=1, fast=False)
    assert "phi" not in program.text.split("tile:")[1].split("phi", 1)[1]


def with_pivots(size: int, *more: int) -> np.ndarray:
    """Matrices, with further axes in front, whose pivots stand off the diagonal."""
    return RANDOM.normal(size=(*more, size, size)) + 9.0 * np.roll(np.eye(size), 1, axis=0)


@pytest.mark.parametrize("size", [16, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("width", [1, 4])
def test_elimination_of_larger_matrices_in_loops(size, width):
    def function(a, b):
        factors, pivots, order = jax.lax.linalg.lu(a)
        return jnp.linalg.solve(a, b), jnp.linalg.solve(a.T, b), factors, pivots, order

    more = () if width == 1 else (8,)
    a = with_pivots(size, *more)
    close(*both(function, a, RANDOM.normal(size=(*more, size, 2)), width=width), 1e-11)


@pytest.mark.parametrize("width", [1, 4])
def test_loops_have_the_bits_of_what_is_written_out(width):
    def function(a):
        return _linear.factorised_written(a), _linear.factorised_in_loops(a)

    more = () if width == 1 else (8,)
    written, looped = native(function, with_pivots(7, *more), width=width)
    for one, other in zip(written, looped, strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.any(written[1] != np.arange(7)), "rows change places"


@pytest.mark.slow
def test_code_of_elimination_does_not_grow():
    sizes = {}
    for size in (15, 16, 32):
        program = NativeProgram.of(
            lambda model, grid, a: jnp.linalg.solve(a, jnp.ones(a.shape[0])),
            (),
            (),
            np.eye(size),
            width=1,
            fast=False,
        )
        sizes[size] = program.text.count("\n")
    assert sizes[32] < 2 * sizes[16] < sizes[15], sizes


def test_very_large_matrices_are_left_to_lapack():
    a = np.eye(70)
    with pytest.raises(NotNative, match=r"\(70, 70\)"):
        both(lambda a: jnp.linalg.inv(a), a)
    kernel = Kernel("auto")
    close(kernel(lambda model, grid, a: jnp.linalg.inv(a), (), (), a), np.eye(70))
    assert kernel.description.startswith("plain") and "(70, 70)" in kernel.description


@pytest.mark.parametrize("width", [1, 8])
def test_remainders_and_cumulated_sums(width):
    def function(x, y):
        return x % y, jnp.cumsum(x), jnp.cumprod(x)[::-1], jax.lax.cummax(x, reverse=True), jnp.fmod(x, y)

    shape = () if width == 1 else (16,)
    x, y = RANDOM.normal(size=(*shape, 5)) * 1e3, RANDOM.normal(size=(*shape, 5))
    close(*both(function, x, y, width=width), 1e-14)


@pytest.mark.parametrize("width", [1, 4])
def test_loops_with_a_condition_for_each_row(width):
    """What `vmap` makes of a loop: rows that are done keep their values."""

    def halved(x):
        return jax.lax.while_loop(lambda z: z[0] > 1.0, lambda z: (0.5 * z[0], z[1] + 1.0), (x, 0.0 * x))

    shape = () if width == 1 else (8,)
    x = np.exp(RANDOM.uniform(0.0, 6.0, size=(*shape, 5)))
    got, wanted = both(lambda x: jax.vmap(halved)(x), x, width=width)
    close(got, wanted, 0.0)
    assert len(np.unique(got[1])) > 2, "rows end at different turns"


def test_the_shortcut_for_small_angles_has_the_bits_of_the_reduction():
    """One run branches at an angle below pi/4, lanes do not."""
    edge = 0.785
    near = [edge, np.nextafter(edge, 1.0), np.nextafter(edge, 0.0), np.pi / 4, 0.0, -0.0, 1e-300, 1.0, 3e4]
    angles = np.array([*near, *(-x for x in near[:4]), np.inf, np.nan, 1e13, *RANDOM.normal(size=32)])
    angles = np.concatenate([angles, np.zeros(-len(angles) % 8)])
    one = NativeProgram.of(lambda m, g, x: sincos(x), (), (), angles[0], width=1, fast=False)
    lanes = NativeProgram.of(lambda m, g, x: sincos(x), (), (), angles[0], width=8, fast=False)
    assert "label %branch" in one.text and "label %branch" not in lanes.text
    alone = np.array([one.bound([])((), x) for x in angles]).T
    for got, wanted in zip(alone, lanes(lanes.block((), ()), angles), strict=True):
        np.testing.assert_array_equal(
            got.view(np.int64)[~np.isnan(got)], wanted.view(np.int64)[~np.isnan(wanted)]
        )
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
