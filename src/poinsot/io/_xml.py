"""XML that is safe to read: no document types, no entities, no more than a file of this kind needs."""

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat
from xml.parsers.expat import errors

from poinsot.core import InputError, quoted, read_regular

MOST = 2000
"""Links or bodies of a robot: so many take ten seconds to build."""
DEEPEST = 64
"""Elements within each other."""
REMEDY = "save the file as UTF-8, and declare that or nothing"


def read_xml(path: str | Path) -> Element:
    """The root element of a file.

    Raises:
        InputError: it cannot be read, is too large, is not XML, or has a document type or entities.
    """
    place = Path(path)
    try:
        data = read_regular(place)
    except OSError as error:
        raise InputError(f"{place}: {error.strerror or error}; give the path of a file") from None
    return parsed(data, str(place))


def check_number(root: Element, tag: str, file: str) -> None:
    """Refuse more elements than a robot has."""
    count = sum(1 for _ in root.iter(tag))
    if count > MOST:
        raise InputError(f"{file} has {count} elements <{tag}>; at most {MOST} are read")


def parsed(data: bytes, name: str) -> Element:
    """The root element of some XML; `name` says in messages what it is."""
    builder, parser = TreeBuilder(), expat.ParserCreate()
    depth, declared = 0, "utf-8"

    def declare(version: str, encoding: str | None, standalone: int) -> None:
        nonlocal declared
        declared = encoding or declared

    def refuse(*_: Any) -> Any:
        raise InputError(
            f"{name}, line {parser.CurrentLineNumber}: document types and entities are not read; leave out "
            "<!DOCTYPE ...>"
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise InputError(f"{name}, line {parser.CurrentLineNumber}: elements are nested too deeply")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser.XmlDeclHandler = declare
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
        return builder.close()
    except expat.ExpatError as error:
        reason = quoted(expat.ErrorString(error.code))
        if error.code == errors.codes[errors.XML_ERROR_INCORRECT_ENCODING] or not _decodes(data, declared):
            reason = f"its bytes are not of the encoding {quoted(declared)}; {REMEDY}"
        raise InputError(f"{name}, line {error.lineno}: not XML, {reason}") from None
    except InputError:
        raise
    except (LookupError, ValueError):
        # Of Python's codecs, which expat asks for encodings that it does not know.
        raise InputError(f"{name}: the encoding {quoted(declared)} is not read; {REMEDY}") from None


def _decodes(data: bytes, encoding: str) -> bool:
    """Whether bytes are of an encoding."""
    try:
        data.decode(encoding)
    except (LookupError, ValueError):
        return False
    return True
