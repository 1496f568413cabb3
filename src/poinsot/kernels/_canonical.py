"""Structures as bytes that mean the same in every process, so that programs can be found by them.

What is written follows from types, names and values alone: never from addresses, `repr` or bytecode. So two
things with the same form are the same to every function of this package. What has no such form, an object of
a class from elsewhere or a function that is defined elsewhere, raises `NoForm`.
"""

import dataclasses
import enum
import functools
import hashlib
import sys
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer
from jax.extend import core as jex

from poinsot.core import Calls
from poinsot.kernels._components import of_users

PACKAGE = "poinsot"
KNOWN = (PACKAGE, "jax", "jaxlib", "equinox", "numpy", "functools", "builtins", "operator", "math", "mpmath")
"""Packages whose names mean the same code in each process, as their versions are part of every key."""
STRUCTURE = type(jax.tree.structure(0))
MISSING = object()


class _Empty(eqx.Module):
    pass


NOTHING = jax.tree.structure(_Empty()).node_data()[1][0]
"""What stands in the structure of a module for what it does not have."""


class NoForm(Exception):
    """There is no form that tells a thing from others in every process."""


def digest(*things: Any) -> str:
    """The SHA-256 of the forms of things, in hexadecimal digits.

    Raises:
        NoForm: one of them has none.
    """
    writer = _Writer()
    for thing in things:
        writer.write(thing)
    return writer.digest


@cache
def sources() -> str:
    """The SHA-256 of all sources of the package, and the versions of what its traces depend on."""
    total = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        content = path.read_bytes()
        total.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        total.update(content)
    for name in ("jax", "jaxlib", "equinox", "numpy", "llvmlite"):
        total.update(f"{name} {_version(name)}\n".encode())
    total.update(sys.version.encode())
    return total.hexdigest()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


def is_known(thing: Any) -> bool:
    """Whether a class or function is one of a known package, to be found there by its name."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module.partition(".")[0] not in KNOWN:
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, MISSING)
    return found is thing


def named(thing: Any) -> str:
    """Module and name of a class or function of a known package.

    Raises:
        NoForm: it is not to be found there.
    """
    if not is_known(thing):
        raise NoForm(f"{getattr(thing, '__qualname__', type(thing).__name__)} is not a name of this package")
    return f"{thing.__module__}:{thing.__qualname__}"


class _Writer:
    """Writes forms into a hash. Each part follows its tag and its length, so that no two have one text."""

    def __init__(self):
        self._texts: list[str] = []
        self._within: set[int] = set()

    @property
    def digest(self) -> str:
        """The SHA-256 of what has been written."""
        return hashlib.sha256("".join(self._texts).encode("utf-8", "surrogatepass")).hexdigest()

    def tag(self, tag: str, *parts: str | int) -> None:
        """A tag and some parts, each with its length."""
        texts = self._texts
        texts.append(tag)
        for part in parts:
            text = part if type(part) is str else str(part)
            texts.append(f"{len(text)}:{text}")

    def write(self, thing: Any) -> None:
        """The form of a thing, and of all that is in it."""
        kind = type(thing)
        simple = _SIMPLE.get(kind)
        if simple is not None:
            simple(self, thing)
            return
        if id(thing) in self._within:
            raise NoForm("it contains itself")
        self._within.add(id(thing))
        try:
            self._compound(thing, kind)
        finally:
            self._within.discard(id(thing))

    def all(self, tag: str, things: Any) -> None:
        """A sequence."""
        things = list(things)
        self.tag(tag, len(things))
        for one in things:
            self.write(one)

    def _compound(self, thing: Any, kind: type) -> None:
        own = _COMPOUND.get(kind)
        if own is not None:
            own(self, thing)
        elif isinstance(thing, np.ndarray | np.generic | jax.Array):
            self._array(thing)
        elif isinstance(thing, np.dtype):
            self.tag("dtype", thing.str)
        elif isinstance(thing, enum.Enum):
            self.tag("enum", named(kind), thing.name)
        elif isinstance(thing, type) or is_known(thing):
            self.tag("name", named(thing))
        elif isinstance(thing, types.FunctionType):
            self._function(thing)
        elif isinstance(thing, tuple):
            self.tag("tuple of", named(kind))
            self.all("(", thing)
        elif isinstance(thing, int | float | str):
            self.tag("value of", named(kind), str(thing))
        elif dataclasses.is_dataclass(thing):
            self.tag("object", named(kind))
            self.all("(", (getattr(thing, one.name, None) for one in dataclasses.fields(thing)))
        elif hasattr(thing, "__wrapped__") and kind.__module__.partition(".")[0] in KNOWN:
            self.tag("wrapped", kind.__module__, kind.__qualname__)
            self.write(thing.__wrapped__)
        elif hasattr(thing, "__dict__") and kind.__module__.partition(".")[0] == PACKAGE:
            self.tag("object", named(kind))
            self.write({name: value for name, value in vars(thing).items() if not _is_cached(kind, name)})
        elif kind.__module__.partition(".")[0] in ("jax", "jaxlib") and " at 0x" not in repr(thing):
            self.tag("shown", f"{kind.__module__}:{kind.__qualname__}", repr(thing))
        else:
            raise NoForm(f"{kind.__module__}.{kind.__qualname__} is not a class of this package")

    def _array(self, array: Any) -> None:
        if isinstance(array, Tracer):
            raise NoForm("it is traced")
        numbers = np.asarray(array)
        if numbers.dtype == object:
            self.tag("objects", str(numbers.shape))
            self.all("(", numbers.ravel().tolist())
            return
        content = (
            hashlib.sha256(numbers.tobytes()).hexdigest() if numbers.nbytes > 64 else numbers.tobytes().hex()
        )
        self.tag("array", numbers.dtype.str, str(numbers.shape), content)

    def _function(self, function: types.FunctionType) -> None:
        """A function made within another one of this package: its place there and what it closes over."""
        if function.__module__.partition(".")[0] not in (PACKAGE, "jax", "equinox"):
            raise NoForm(f"{function.__qualname__} is defined elsewhere")
        code = function.__code__
        positions = tuple(code.co_positions())
        self.tag("function", function.__module__, code.co_qualname, str(positions[:1] + positions[-1:]))
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        self.all("(", [function.__defaults__, function.__kwdefaults__, *cells])

    def _structure(self, structure: Any) -> None:
        node = structure.node_data()
        if node is None:
            self.tag("leaf" if structure.num_nodes == 1 and structure.num_leaves else "no leaf")
            return
        kind, rest = node
        self.tag("node", "none" if kind is type(None) else named(kind))
        if isinstance(rest, tuple) and len(rest) and _is_wrapping(rest[0]):
            # Modules say here whether they hold more than their fields, such as cached properties.
            rest = rest[1:]
        self.write(rest)
        children = structure.children()
        self.tag("children", len(children))
        for child in children:
            self._structure(child)

    def _jaxpr(self, jaxpr: Any) -> None:
        numbers: dict[Any, int] = {}

        def defined(variables: Any) -> None:
            self.tag("variables", len(variables))
            for one in variables:
                numbers[one] = len(numbers)
                self.tag("of", str(one.aval.dtype), str(one.aval.shape))

        def used(atoms: Any) -> None:
            self.tag("atoms", len(atoms))
            for one in atoms:
                if isinstance(one, jex.Literal):
                    self.tag("literal", str(one.aval))
                    self._array(np.asarray(one.val))
                else:
                    self.tag("variable", numbers[one])

        defined(jaxpr.constvars)
        defined(jaxpr.invars)
        for equation in jaxpr.eqns:
            self.tag("equation", equation.primitive.name, int(of_users(equation)))
            used(equation.invars)
            defined(equation.outvars)
            for name in sorted(equation.params):
                if name not in RULES:
                    self.tag("parameter", name)
                    self.write(equation.params[name])
        used(jaxpr.outvars)


RULES = frozenset(("jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd", "debug_info"))
"""Parameters of equations that say how to differentiate them, which a trace has used already."""


def _is_cached(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), functools.cached_property)


def _is_wrapping(part: Any) -> bool:
    """Whether a part of the structure of a module tells of what it wraps, and that is nothing."""
    return part is NOTHING or (isinstance(part, tuple) and part != () and all(one is NOTHING for one in part))


def _dictionary(writer: _Writer, thing: dict) -> None:
    writer.tag("dictionary", len(thing))
    for name, value in thing.items():
        writer.write(name)
        writer.write(value)


def _set(writer: _Writer, thing: Any) -> None:
    writer.tag("set", *sorted(digest(one) for one in thing))


def _method(writer: _Writer, thing: types.MethodType) -> None:
    writer.tag("method", thing.__name__)
    writer.write(thing.__self__)


def _partial(writer: _Writer, thing: functools.partial) -> None:
    writer.tag("partial")
    writer.all("(", [thing.func, thing.args, thing.keywords])


def _closed(writer: _Writer, thing: Any) -> None:
    writer.tag("closed")
    writer.write(thing.jaxpr)
    writer.all("(", thing.consts)


_SIMPLE: dict[type, Callable[[_Writer, Any], None]] = {
    type(None): lambda writer, thing: writer.tag("none"),
    type(...): lambda writer, thing: writer.tag("..."),
    bool: lambda writer, thing: writer.tag("bool", int(thing)),
    int: lambda writer, thing: writer.tag("int", thing),
    float: lambda writer, thing: writer.tag("float", thing.hex()),
    complex: lambda writer, thing: writer.tag("complex", thing.real.hex(), thing.imag.hex()),
    str: lambda writer, thing: writer.tag("text", thing),
    bytes: lambda writer, thing: writer.tag("bytes", thing.hex()),
    slice: lambda writer, thing: writer.tag("slice", str(thing)),
    range: lambda writer, thing: writer.tag("range", str(thing)),
    Fraction: lambda writer, thing: writer.tag("fraction", str(thing)),
    Decimal: lambda writer, thing: writer.tag("decimal", str(thing)),
}

_COMPOUND: dict[type, Callable[[_Writer, Any], None]] = {
    tuple: lambda writer, thing: writer.all("tuple", thing),
    list: lambda writer, thing: writer.all("list", thing),
    dict: _dictionary,
    set: _set,
    frozenset: _set,
    functools.partial: _partial,
    types.MethodType: _method,
    types.MappingProxyType: _dictionary,
    STRUCTURE: lambda writer, thing: writer._structure(thing),
    jex.Jaxpr: lambda writer, thing: writer._jaxpr(thing),
    jex.ClosedJaxpr: _closed,
    type(NOTHING): lambda writer, thing: writer.tag("nothing"),
    Calls: lambda writer, thing: writer.tag("calls"),
}
