"""The code in the documentation runs as it stands, and prints what the pages say."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import pytest

import poinsot as pt
from long_suite import of_the_long_suite

ROOT = Path(__file__).parents[2]
PAGES = (
    "docs/tutorial.md",
    "docs/bodies.md",
    "docs/chains.md",
    "docs/mechanisms.md",
    "docs/robots.md",
    "docs/modes.md",
    "docs/native.md",
    "docs/index.md",
    "README.md",
)
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
ROUND_OFF = 1e-9
"""Numbers below are round-off, and differ from machine to machine."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # What a page registers is known to it alone.
    monkeypatch.setattr(pt.joints.REGISTRY, "_entries", dict(pt.joints.REGISTRY))
    matplotlib.use("Agg")


def blocks(page: str) -> Iterator[tuple[str, str | None]]:
    """Code and printed output of each block, the code on the lines of its page so that errors point there."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield "\n" * text.count("\n", 0, found.start(1)) + found[1], found[2]


def run(page: str) -> Iterator[tuple[str, str]]:
    """Execute a page and yield what it says is printed, and what is."""
    namespace: dict = {"__name__": "__main__"}
    for code, shown in blocks(page):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, str(ROOT / page), "exec"), namespace)
        yield shown or "", printed.getvalue()


def agree(shown: str, printed: str) -> bool:
    """Whether two outputs have the same words, and numbers that differ by round-off or in the last digit."""
    shown, printed = (re.sub(r"^wall time.*\n", "", text, flags=re.MULTILINE) for text in (shown, printed))
    if _words(shown) != _words(printed):
        return False
    numbers = (map(_value, NUMBER.findall(text)) for text in (shown, printed))
    return all(
        abs(a - b) <= 0.02 * abs(a) or max(abs(a), abs(b)) < ROUND_OFF for a, b in zip(*numbers, strict=True)
    )


def _words(text: str) -> list[str]:
    return re.sub(r"-{3,}", "", NUMBER.sub(" # ", text)).split()


def _value(number: str) -> float:
    return float(number.replace(",", ""))


@pytest.mark.parametrize("page", of_the_long_suite(PAGES, {"docs/tutorial.md", "docs/index.md"}))
def test_code_of_the_page_prints_what_the_page_says(page):
    outputs = list(run(page))
    assert outputs, "the page has no code"
    for shown, printed in outputs:
        assert agree(shown, printed), f"the page says\n{shown}\nand the code prints\n{printed}"


def test_outputs_that_differ_are_told_apart():
    line = "energy  -0.5  1.76e-08  below 1e-14  bounded\n"
    assert agree(line, "energy    -0.5   1.77e-08  below 3e-14  bounded\n")
    assert not agree(line, line.replace("bounded", "drifting"))
    assert not agree(line, line.replace("1.76e-08", "1.76e-07"))
    assert not agree(line, line.replace("1e-14", "1e-04"))
    assert not agree("True", "")
