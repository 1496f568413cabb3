"""What is wrong with a scenario, in one line: the place, the value, what is expected."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from poinsot.core import InputError, did_you_mean, quoted, shortened
from poinsot.io._toml import line_of

_EXPECTED = {
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": 'a text in quotes, "..."',
    "string_pattern_mismatch": 'a component such as "q[0]", or "position[0,2]" of bodies',
    "string_too_short": "a text that is not empty",
    "list_type": "a list of numbers, [...]",
    "model_type": "a table of keys",
    "dict_type": "a table of keys",
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "too_short": "a list of {min_length}",
    "too_long": "a list of {max_length}",
}


class Fault(InputError):
    """Something wrong at a place of a scenario, in one line."""

    def __init__(self, message: str, place: tuple[str, ...]):
        super().__init__(message)
        self.place = place


@contextmanager
def located(*place: str) -> Iterator[None]:
    """Say of wrong input met within where it stands in the file; a place further inside stays.

    Args:
        place: names of tables and key; after the name of an array of tables its number may stand.
    """
    try:
        yield
    except Fault:
        raise
    except InputError as error:
        where, message = ".".join(name for name in place if not name.isdigit()), str(error)
        table = f"[[{where}]]" if place[-1].isdigit() else f"[{where}]"
        raise Fault(message if message.startswith("[") else f"{table} {message}", place) from None


def explain(error: ValidationError, model: type[BaseModel], text: str) -> str:
    """The first thing that is wrong, to follow the name of the file.

    An unknown key goes first: it is likely the misspelling of one that is missing.
    """
    first = _first(error)
    fault = first.get("ctx", {}).get("error")
    place = fault.place if isinstance(fault, Fault) else tuple(map(str, first["loc"]))
    line = line_of(text, place)
    return f"{'' if line is None else f', line {line}'}: {_sentence(first, (), model)}"


def first_fault(error: ValidationError, model: type[BaseModel], table: tuple[str, ...]) -> str:
    """The first thing that is wrong with a table inside another one."""
    return _sentence(_first(error), table, model)


def _first(error: ValidationError) -> Any:
    return min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")


def _sentence(item: Any, table: tuple[str, ...], model: type[BaseModel]) -> str:
    place = tuple(map(str, item["loc"]))
    names = [name for name in place if not name.isdigit()]
    if item["type"] == "value_error" and isinstance(item["ctx"]["error"], Fault):
        return str(item["ctx"]["error"])
    if item["type"] == "value_error":
        where = ".".join((*table, *names))
        return f"{f'[{where}] ' if where else ''}{item['ctx']['error']}"
    if not names:
        return f"{'.'.join(table)} = {_as_toml(item['input'])}; {_wanted(item)}"
    *sections, key = names
    section = f"[{'.'.join((*table, *sections))}]" if (*table, *sections) else "the file"
    match item["type"]:
        case "extra_forbidden":
            return f"{section} has no key {quoted(key)}; {_suggestion(key, tuple(sections), model)}"
        case "missing":
            return f"{section} needs {key}" if sections else f"the file needs a section [{key}]"
    # Numbers after the key count the items of a list; those before it count tables of one name.
    last = len(place) - 1 - place[::-1].index(key)
    indices = "".join(f"[{name}]" for name in place[last + 1 :])
    return f"{section} {key}{indices} = {_as_toml(item['input'])}; {_wanted(item)}"


def _wanted(item: Any) -> str:
    expected = _EXPECTED.get(item["type"])
    return item["msg"] if expected is None else f"it must be {expected.format(**item.get('ctx', {}))}"


def _suggestion(key: str, sections: tuple[str, ...], model: type[BaseModel]) -> str:
    """The nearest key of this section, else the section that has such a key, else all keys."""
    tables = _keys(model)
    here = tables.get(sections, [])
    near = did_you_mean(key, here, "")
    if near:
        return near
    # A file with a [system] of the library has no bodies of its own.
    others = [table for table in tables if table and not (sections == ("system",) and table[0] == "bodies")]
    elsewhere = ["[" + ".".join(table) + "]" for table in others if key in tables[table]]
    if elsewhere:
        return f"it belongs in {elsewhere[0]}"
    if "parameters" in here:
        return f"if it is a parameter of the {sections[-1]}, write parameters = {{ {shortened(key)} = ... }}"
    return f"it may have {', '.join(here)}"


def _keys(model: type[BaseModel], table: tuple[str, ...] = ()) -> dict[tuple[str, ...], list[str]]:
    """The keys of every table, by the table's name."""
    found: dict[tuple[str, ...], list[str]] = {table: []}
    for name, field in model.model_fields.items():
        key = field.alias or name
        found[table].append(key)
        for kind in _kinds(field.annotation):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found |= _keys(kind, (*table, key))
    return found


def _kinds(annotation: Any) -> list[Any]:
    """The types in an annotation such as `list[Section] | None`."""
    inner = get_args(annotation)
    return [kind for part in inner for kind in _kinds(part)] if inner else [annotation]


def _as_toml(value: Any) -> str:
    """A value as it stands in the file, cut short if long."""
    return str(value).lower() if isinstance(value, bool) else quoted(value, 60)
