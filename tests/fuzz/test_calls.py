"""Calls with arguments that nobody means: refused in one line, in time, or taken for what they are."""

import numpy as np
import pytest
from nasty import NASTY, outcome
from valid_calls import VALID

import poinsot as pt

SEED = 36


def calls(seed: int, count: int):
    """So many calls, each with one or two arguments that are nasty, and what they are called."""
    draw = np.random.default_rng(seed)
    names = list(VALID)
    for _ in range(count):
        name = names[draw.integers(len(names))]
        function, given = VALID[name]
        keys = list(given)
        changed = {
            keys[draw.integers(len(keys))]: NASTY[draw.integers(len(NASTY))]
            for _ in range(1 + draw.integers(2))
        }
        yield (
            name,
            changed,
            lambda function=function, given=given, changed=changed: function(**given | changed),
        )


def wrong(seed: int, count: int) -> list[str]:
    """The calls that end otherwise than they may."""
    found = []
    for name, changed, call in calls(seed, count):
        said = outcome(call)
        if said is not None:
            shown = ", ".join(f"{key}={pt.core.quoted(value, 60)}" for key, value in changed.items())
            found.append(f"{name}({shown}): {said}")
    return found


@pytest.mark.parametrize("name", VALID)
def test_valid_calls(name):
    """What the others are changed from; these refuse because there is no such file, or name."""
    function, given = VALID[name]
    refused = ("load", "load_scenario", "read_urdf", "read_mjcf")
    if name in refused:
        with pytest.raises(pt.InputError):
            function(**given)
    else:
        function(**given)


def test_some_senseless_calls():
    assert wrong(SEED, 250) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_senseless_calls(seed):
    assert wrong(1000 * SEED + seed, 1000) == []
