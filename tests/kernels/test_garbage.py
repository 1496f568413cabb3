"""Garbage is left where it is while functions are traced, and looked for afterwards as before."""

import gc

import pytest

from poinsot._garbage import kept
from poinsot.kernels import alone


def test_it_is_looked_for_again_after_the_block():
    assert gc.isenabled()
    with kept():
        assert not gc.isenabled()
        with kept():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_looked_for_again_after_an_error():
    with pytest.raises(ZeroDivisionError), kept():
        _ = 1 / 0
    assert gc.isenabled()


def test_who_switched_it_off_keeps_it_off():
    gc.disable()
    try:
        with kept():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_trace_for_native_code_leaves_it():
    seen = []

    def function(x):
        seen.append(gc.isenabled())
        return 2.0 * x

    assert float(alone(function)(1.5)) == 3.0
    assert seen and not any(seen) and gc.isenabled()
