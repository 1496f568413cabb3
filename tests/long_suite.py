"""Which cases of a test are in the default suite; the others are in the long one (`-m slow`)."""

from collections.abc import Collection, Iterable

import pytest


def of_the_long_suite(cases, short: Collection[str]) -> list:
    """Cases for `parametrize`, by their names: those not among `short` are marked slow.

    Args:
        cases: names, or a mapping from names to the arguments of the test.
        short: names of the cases in the default suite.
    """
    named: Iterable = cases.items() if isinstance(cases, dict) else ((name, (name,)) for name in cases)
    missing = set(short) - set(cases)
    assert not missing, f"no such cases: {missing}"
    return [
        pytest.param(*arguments, id=name, marks=() if name in short else pytest.mark.slow)
        for name, arguments in named
    ]
