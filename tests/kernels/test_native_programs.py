"""Native programs as a whole: functions of the code, numbers that are part of it, sharing, refusals."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from native_cases import LANES, check, random, wide_program

from poinsot import InputError
from poinsot.kernels import Kernel, _programs, each_state
from poinsot.kernels.native import NativeProgram, NotNative, _emitter, _program


def test_function_called_often_becomes_a_function_of_the_code(monkeypatch):
    """A large function under `jax.jit` is written once, also where lanes are masked."""

    @jax.jit
    def large(x, a):
        for _ in range(8):
            x = jnp.sin(x) * a + jnp.roll(x, 1) * x
        return x, x[0] > a

    def function(x, a, limit):
        y, first = large(x, a)
        z, second = large(y, 0.5 * a)

        def body(c):
            n, x, flag = c
            x, flag = large(x, a)
            return n + 1, x, flag

        return y, z, first, second, lax.while_loop(lambda c: c[0] < limit, body, (jnp.int64(0), z, first))

    operands = random(6, LANES, 6) * 0.5, random(7, LANES) * 0.5, np.array([0, 1, 2, 3, 0, 1, 5, 2])
    assert "call void @f" not in wide_program(function, operands).text
    check(function, *operands, rtol=1e-11, atol=1e-13)
    monkeypatch.setattr(_emitter, "WRITTEN_OUT", 0)
    assert "call void @f" in wide_program(function, operands).text
    # Another function for the kernel, which remembers the programs that it has made.
    check(lambda *given: function(*given), *operands, rtol=1e-11, atol=1e-13)


def transform(model, grid, run):
    matrix, scale = model
    return scale * (matrix @ run) + grid


def text_of(matrix, scale) -> str:
    return NativeProgram.of(
        transform, (matrix, np.float64(scale)), np.float64(0.5), np.ones(3), width=1, fast=False
    ).text


def test_zeros_of_arrays_are_part_of_the_code_and_parameters_are_not():
    full = random(1, 3, 3)
    sparse = full.copy()
    sparse[0, 1] = sparse[2, 2] = 0.0
    assert text_of(full, 2.0) == text_of(2.0 * full, 0.0) == text_of(full, 1.0)
    assert len(text_of(sparse, 2.0)) < len(text_of(full, 2.0))
    unit = np.eye(3)
    assert len(text_of(unit, 2.0)) < len(text_of(2.0 * unit, 2.0))


def test_models_that_differ_in_numbers_share_a_program(monkeypatch):
    """Zeros in the same places are the same program, others another; the results are right all the same."""
    monkeypatch.setattr(_programs, "_native", _programs.Remembered())
    kernel, run = Kernel("native"), np.array([1.0, -2.0, 3.0])
    sparse, full = random(1, 3, 3), random(2, 3, 3)
    sparse[0, 1] = 0.0

    def result(matrix, scale):
        found = kernel(transform, (matrix, np.float64(scale)), np.float64(0.5), run)
        np.testing.assert_allclose(found, scale * (matrix @ run) + 0.5, rtol=1e-14)
        return len(_programs._native)

    counts = [
        result(*one)
        for one in [(full, 2.0), (3.0 * full, 0.0), (full, 1.0), (sparse, 1.0), (2 * sparse, 7.0)]
    ]
    assert counts == [1, 1, 1, 2, 2]


def test_fast_code_may_contract_and_is_another_program():
    function = lambda model, grid, run: run[0] * run[1] + run[2]  # noqa: E731
    texts = [
        NativeProgram.of(function, (), (), np.ones(3), width=1, fast=fast).text for fast in (False, True)
    ]
    assert texts[0] != texts[1]


# Refusals.


def with_sort(model, grid, run):
    return jnp.sort(run) * 2.0


def with_callback(model, grid, run):
    jax.debug.callback(lambda x: None, run)
    return run * 2.0


def with_many(model, grid, run):
    total = run
    for k in range(200):
        total = total + run * (k + 0.5)
    return total


@pytest.mark.parametrize(
    ("function", "reason"),
    [(with_sort, "sort"), (with_callback, "calls back into Python"), (with_many, "operations on numbers")],
)
def test_what_has_no_native_form_is_refused(function, reason, monkeypatch):
    """As a program, when native is asked for; otherwise the plain kernel runs and says why."""
    monkeypatch.setattr(_program, "HEAVIEST", 30_000)
    run = random(1, 100)
    with pytest.raises(NotNative, match=reason):
        NativeProgram.of(function, (), (), run, width=1, fast=False)
    kernel = Kernel("auto")
    assert kernel.native
    np.testing.assert_allclose(kernel(function, (), (), run), function((), (), jnp.asarray(run)), rtol=1e-10)
    assert kernel.description.startswith("plain: ") and reason in kernel.description
    with pytest.raises(InputError, match=reason):
        Kernel("native")(function, (), (), run)


@pytest.mark.parametrize("limit", ["LONGEST", "LONGEST_FUNCTION"])
def test_long_code_is_made_without_effort_at_first_and_has_the_same_bits(limit, monkeypatch):
    efforts, compile_ = [], _program.object_code
    monkeypatch.setattr(_program, "object_code", lambda *given: efforts.append(given[-1]) or compile_(*given))
    run = random(1, 100)

    def made():
        return NativeProgram.of(with_many, (), (), run, width=1, fast=False).bound([])

    thorough = made()
    thorough.improve()
    monkeypatch.setattr(_program, limit, 100)
    quick = made()
    np.testing.assert_array_equal(quick((), run), thorough((), run))
    assert efforts == [2, 0], "short code is as good as it gets"
    before = quick.program.bound([])
    quick.improve()
    for one in (quick, before, quick.program.bound([])):
        np.testing.assert_array_equal(one((), run), thorough((), run))
    assert efforts == [2, 0, 1]


def test_long_code_takes_many_states_one_after_the_other(monkeypatch):
    times, states = np.linspace(0.0, 1.0, 5), random(2, 5, 100)
    widths, bound = [], NativeProgram.bound
    monkeypatch.setattr(NativeProgram, "bound", lambda self, m: widths.append(self.width) or bound(self, m))

    model = 1.5, np.full(100, 2.0)

    def found():
        monkeypatch.setattr(_programs, "_native", _programs.Remembered())

        def scaled(model, grid, run):
            return grid * run[0], model[1] * run[1]

        return each_state(scaled, model, times, states, np.float64(0.5))

    together = found()
    assert together is not None and not widths
    monkeypatch.setattr(_program, "LIGHT", 0)
    monkeypatch.setattr(_program, "LONGEST", 10)
    one_by_one = found()
    assert one_by_one is not None and widths == [1]
    for these, those in zip(one_by_one, together, strict=True):
        np.testing.assert_array_equal(these, those)
    np.testing.assert_array_equal(together[0], 0.5 * times)
    np.testing.assert_array_equal(together[1], 2.0 * states)


@pytest.mark.parametrize(("width", "places"), [(1, "5.."), (4, "1...")])
def test_code_that_would_fill_the_stack_is_refused(width, places, monkeypatch):
    monkeypatch.setattr(_program, "LONGEST", 100)
    monkeypatch.setattr(_program, "MOST_PLACES", 400)
    with pytest.raises(NotNative, match=f"the code of the trace holds {places} numbers, more than 400"):
        NativeProgram.of(lambda model, grid, run: run * 2.0, (), (), random(1, 100), width=width, fast=False)


def test_a_known_index_outside_is_that_of_jax_or_refused():
    """A run with `auto` never fails by the choice of its kernel."""

    def function(model, grid, run):
        return run.at[9].set(1.0), run.at[jnp.array([7])].get(mode="fill", fill_value=5.0)

    run = random(1, 4)
    found = Kernel("auto")(function, (), (), run)
    np.testing.assert_array_equal(found[0], run)
    np.testing.assert_array_equal(found[1], [5.0])


def test_choices(monkeypatch):
    monkeypatch.delenv("POINSOT_KERNEL", raising=False)
    nonsense: Any = "nonsense"
    with pytest.raises(InputError, match="nonsense"):
        Kernel(nonsense)
    assert Kernel().description == "native"
    assert Kernel(fast=True).description == "native, fast"
    monkeypatch.setenv("POINSOT_KERNEL", "plain")
    assert Kernel().description == "plain: asked for"
    assert Kernel("native").native
    monkeypatch.setenv("POINSOT_KERNEL", "nonsense")
    with pytest.raises(InputError, match="POINSOT_KERNEL"):
        Kernel()
