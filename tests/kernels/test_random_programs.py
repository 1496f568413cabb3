"""Random programs: native code computes what JAX computes, in lanes and in single runs."""

import warnings

import numpy as np
import pytest
import random_programs
from random_steps import KINDS, random_program

PROGRAMS = 100
MANY = 2000


def wrong(kind: str, seeds: range) -> dict[int, list[str]]:
    """What differs, by the seed of the program."""
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # JAX converts single constants with NumPy, which warns of NaN.
        warnings.simplefilter("ignore", RuntimeWarning)
        for seed in seeds:
            differences = random_program(kind, seed).wrong(lanes=seed % 2 == 0)
            if differences:
                found[seed] = differences
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_random_programs_compute_what_jax_computes(kind):
    """NaN, infinities, signs of zero, integers at their limits, indices outside."""
    assert wrong(kind, range(PROGRAMS)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_programs_compute_what_jax_computes(kind):
    """The same of other programs."""
    assert wrong(kind, range(PROGRAMS, PROGRAMS + MANY)) == {}


def test_a_difference_is_found(monkeypatch):
    """The negative control: outside of users' functions zeros that are known hide NaN."""
    monkeypatch.setattr(random_programs, "users", lambda function: function)
    assert wrong("real", range(30))
