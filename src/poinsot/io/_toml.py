"""Reading TOML so that whatever is wrong with the file is one line."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poinsot.core import InputError, read_regular, shortened

_TABLE = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""^\s*([\w."'-]+(?:\s*\.\s*[\w."'-]+)*)\s*=""")


def read_toml(path: str | Path) -> tuple[str, dict[str, Any]]:
    """Text and content of a TOML file; a byte order mark at its start does not count.

    Raises:
        InputError: if it cannot be read or is not TOML.
    """
    try:
        text = read_regular(path).decode("utf-8-sig")
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InputError(f"{path}: cannot be read: {reason}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a TOML file: byte {error.start} is not UTF-8 text") from None
    try:
        return text, tomllib.loads(text)
    except ValueError as error:
        # Also of a number with thousands of digits.
        raise InputError(f"{path}: not a TOML file: {shortened(str(error))}") from None
    except RecursionError:
        raise InputError(f"{path}: not a scenario: its values are nested too deeply") from None


def inline(value: Any) -> str:
    """A value as TOML writes it on one line."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case list() | tuple():
            return f"[{', '.join(map(inline, value))}]"
        case dict():
            return f"{{ {', '.join(f'{key} = {inline(one)}' for key, one in value.items())} }}"
    return str(value)


def line_of(text: str, place: Sequence[str]) -> int | None:
    """Line of a key, or of the nearest table around it.

    Args:
        text: of the file.
        place: path of table and key names; after the name of an array of tables its number may stand.
    """
    table: list[str] = []
    count: dict[tuple[str, ...], int] = {}
    found: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = _names(header[2])
            if header[1] == "[[":
                count[tuple(table)] = count.get(tuple(table), -1) + 1
            names = table
        elif key := _KEY.match(line):
            names = [*table, *_names(key[1])]
        else:
            continue
        found.setdefault(tuple(names), number)
        found.setdefault(_numbered(names, count), number)
    candidates = (tuple(place[:length]) for length in range(len(place), 0, -1))
    return next((found[name] for name in candidates if name in found), None)


def _numbered(names: Sequence[str], count: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """The path with the number of the table after each array of tables."""
    path: list[str] = []
    for end, name in enumerate(names, start=1):
        path.append(name)
        if tuple(names[:end]) in count:
            path.append(str(count[tuple(names[:end])]))
    return tuple(path)


def _names(dotted: str) -> list[str]:
    return [name.strip().strip("\"'") for name in dotted.split(".")]
