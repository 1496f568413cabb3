"""Every table and figure in its quick variant: it completes, judges something, agrees, and is drawn.

The long suite runs them all; it is one of the tests that a change must pass before it lands.
"""

import json

import pytest

from long_suite import of_the_long_suite
from poinsot.papers import catalogue, reproduce

SHORT = {"chaurasia2012/figure-2.1", "chaurasia2012/figure-2.14"}
"""Those of the short suite."""
WITHOUT_PICTURE = {"chaurasia2012/table-2.1", "lang2010/table-2"}


@pytest.mark.parametrize("identifier", of_the_long_suite([name for name, _ in catalogue()], SHORT))
def test_quick_item_agrees_and_is_drawn(identifier, tmp_path):
    made = reproduce(identifier, quick=True, out=tmp_path, progress=False)
    assert made.agrees, made.verdict
    assert any(number.agrees for number in made.numbers), "at least one number is judged"
    assert made.remarks
    *pictures, record = made.files
    assert bool(pictures) == (identifier not in WITHOUT_PICTURE)
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000
    assert json.loads(record.read_text()) == json.loads(json.dumps(made.to_dict()))


def test_times_are_not_in_quick_items(made_quickly):
    """Wall times of runs this short are noise."""
    told = [number.name for number in made_quickly.numbers]
    assert not [name for name in told if "seconds" in name or "[s]" in name or "[µs]" in name]


def test_no_bound_is_vacuous(made_quickly):
    """A power of the size, by theory, and not merely that the largest takes more than the smallest."""
    (judged,) = [number for number in made_quickly.numbers if number.basis]
    assert judged.basis == "theory" and judged.ours == pytest.approx(1.0, abs=0.1)


@pytest.fixture(scope="module")
def made_quickly():
    return reproduce("chaurasia2012/figure-3.8", quick=True, progress=False)
