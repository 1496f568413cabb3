"""Files with mistakes in them: read, or refused in one line and in time."""

import random
import re
from pathlib import Path

import pytest
from nasty import outcome

import poinsot as pt

SEED = 36
ROOT = Path(__file__).parents[2]
READERS = {".toml": pt.io.load_scenario, ".urdf": pt.io.read_urdf, ".xml": pt.io.read_mjcf}
FILES = sorted([*(ROOT / "examples").glob("*.toml"), *(ROOT / "tests" / "io" / "robots").glob("*.*[fl]")])
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
WORD = re.compile(r"[A-Za-z_][\w-]*")
NUMBERS = (
    "0", "-1", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "1e999", "2.5", "true",
    '"x"', "[]", "[1.0, 2.0]",
    "9" * 30, "9" * 5000, "{}", "", "0x10", "1_000", "1979-05-27", "''", "[[1]]", "1e155",
)  # fmt: skip
WORDS = (
    "",
    "ground",
    "body",
    "rk4",
    "none",
    "nan",
    "a b",
    "\u00e4",
    "true",
    "mass",
    "name",
    "x" * 300,
    "..",
    "[[x]]",
)


def mutated(text: str, draw: random.Random) -> str:
    """The text with one to three changes: of a number, a word, a line, or a stretch of characters."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        kind = draw.randrange(8)
        lines = text.splitlines(keepends=True)
        if kind < 3 and (found := list(NUMBER.finditer(text))):
            one = draw.choice(found)
            text = text[: one.start()] + draw.choice(NUMBERS) + text[one.end() :]
        elif kind == 3 and (found := list(WORD.finditer(text))):
            one, other = draw.choice(found), draw.choice(found)
            word = draw.choice((*WORDS, other[0], other[0]))
            text = text[: one.start()] + word + text[one.end() :]
        elif kind == 4:
            del lines[draw.randrange(len(lines))]
            text = "".join(lines)
        elif kind == 5:
            lines.insert(draw.randrange(len(lines)), draw.choice(lines) * draw.choice((1, 1, 2, 50)))
            text = "".join(lines)
        elif kind == 6:
            place = draw.randrange(len(text))
            text = (
                text[:place]
                + chr(draw.choice((0, 9, 34, 39, 91, 93, 123, 60, 62, 127, 8364)))
                + text[place + 1 :]
            )
        else:
            begin = draw.randrange(len(text))
            text = text[:begin] + text[begin + draw.randrange(1, 40) :]
        if not text:
            return text
    return text


def wrong(seed: int, count: int, folder: Path) -> list[str]:
    """Mutated files that end otherwise than they may, with the seeds that make them."""
    found = []
    for number in range(seed, seed + count):
        draw = random.Random(number)
        source = draw.choice(FILES)
        for beside in source.parent.iterdir():
            if beside.suffix != source.suffix and not (folder / beside.name).exists():
                (folder / beside.name).symlink_to(beside)
        file = folder / f"mutated{source.suffix}"
        file.write_text(mutated(source.read_text(), draw), encoding="utf-8")
        said = outcome(lambda file=file, suffix=source.suffix: READERS[suffix](file))
        if said is not None:
            found.append(f"{number} ({source.name}): {said}")
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_files_are_read(file):
    assert outcome(lambda: READERS[file.suffix](file)) is None


def test_some_mutated_files(tmp_path):
    assert wrong(1000 * SEED, 60, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_many_mutated_files(part, tmp_path):
    assert wrong(10**6 * SEED + 1000 * part, 1000, tmp_path) == []
