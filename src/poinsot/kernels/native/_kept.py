"""What is known of a native program beside its machine code, as plain data that is kept between processes."""

import json
from base64 import b64decode, b64encode
from importlib import import_module
from typing import Any

import jax
import numpy as np
from jax.tree_util import PyTreeDef, default_registry

from poinsot.kernels._canonical import KNOWN, NOTHING, STRUCTURE, NoForm, named
from poinsot.kernels.native._cache import CodeCache


def put(key: str, entry: dict[str, Any]) -> None:
    """Keep an entry of plain data, types and structures of trees; one of anything else is not kept."""
    try:
        text = json.dumps(_written(entry))
    except (NoForm, TypeError, ValueError):
        return
    CodeCache().put(key, text.encode())


def get(key: str) -> dict[str, Any] | None:
    """The entry kept under a key, or None."""
    data = CodeCache().get(key)
    try:
        return None if data is None else _read(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _written(thing: Any) -> Any:
    """A thing in terms of JSON: what is no number or text becomes a list of what it is and its parts."""
    if thing is None or isinstance(thing, bool | int | str):
        return thing
    if isinstance(thing, float):
        return ["float", thing.hex()]
    if isinstance(thing, bytes):
        return ["bytes", b64encode(thing).decode()]
    if type(thing) in (tuple, list):
        return [type(thing).__name__, *map(_written, thing)]
    if type(thing) is dict:
        return ["dict", *([_written(key), _written(value)] for key, value in thing.items())]
    if isinstance(thing, np.dtype):
        return ["dtype", thing.str]
    if isinstance(thing, STRUCTURE):
        return _structure(thing)
    if isinstance(thing, type):
        return ["type", named(thing)]
    if thing is NOTHING:
        return ["nothing"]
    raise NoForm(f"{thing!r} is no plain data")


def _structure(structure: Any) -> Any:
    node = structure.node_data()
    if node is None:
        return ["leaf"]
    kind, rest = node
    name = "none" if kind is type(None) else named(kind)
    return ["node", name, _written(rest), *map(_structure, structure.children())]


def _read(told: Any) -> Any:
    if not isinstance(told, list):
        return told
    kind, *parts = told
    if kind == "float":
        return float.fromhex(parts[0])
    if kind == "bytes":
        return b64decode(parts[0])
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(map(_read, parts))
    if kind == "dict":
        return {_read(key): _read(value) for key, value in parts}
    if kind == "dtype":
        return np.dtype(parts[0])
    if kind == "type":
        return _class(parts[0])
    if kind == "nothing":
        return NOTHING
    if kind == "leaf":
        return jax.tree.structure(0)
    if kind == "node":
        name, rest, *children = parts
        of = type(None) if name == "none" else _class(name)
        make: Any = getattr(PyTreeDef, "from_node_data_and_children", None)
        make = make or PyTreeDef.make_from_node_data_and_children
        return make(default_registry, (of, _read(rest)), [_read(one) for one in children])
    raise ValueError(f"{kind} is nothing that is kept")


def _class(name: str) -> type:
    """A class of a known package."""
    module, _, path = name.partition(":")
    if module.partition(".")[0] not in KNOWN:
        raise ValueError(f"{module} is no known package")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not isinstance(found, type):
        raise TypeError(f"{name} is no class")
    return found
