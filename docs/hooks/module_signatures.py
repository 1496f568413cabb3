"""Shows how to build an `equinox.Module`: its constructor is generated, so it is not found in the source."""

import dataclasses
import importlib

import equinox as eqx
import griffe

_EITHER = griffe.ParameterKind.positional_or_keyword


class ModuleSignatures(griffe.Extension):
    """Gives every module class of a package the constructor made of its fields."""

    def on_package(self, *, pkg: griffe.Module, **_) -> None:
        """Called by griffe once a package is read."""
        for class_ in _classes(pkg):
            built = getattr(importlib.import_module(class_.module.path), class_.name)
            if isinstance(built, type) and issubclass(built, eqx.Module) and "__init__" not in class_.members:
                class_.set_member("__init__", _constructor(class_, built))


def _classes(module: griffe.Module):
    for member in list(module.members.values()):
        if isinstance(member, griffe.Module):
            yield from _classes(member)
        elif isinstance(member, griffe.Class):
            yield member


def _constructor(class_: griffe.Class, built: type[eqx.Module]) -> griffe.Function:
    fields = (field for field in dataclasses.fields(built) if field.init)
    parameters = griffe.Parameters(
        griffe.Parameter("self", kind=_EITHER), *(_parameter(class_, field) for field in fields)
    )
    return griffe.Function("__init__", parameters=parameters, parent=class_)


def _parameter(class_: griffe.Class, field: dataclasses.Field) -> griffe.Parameter:
    source = class_.members.get(field.name)
    annotation = source.annotation if isinstance(source, griffe.Attribute) else None
    default = None if field.default is dataclasses.MISSING else repr(field.default)
    return griffe.Parameter(field.name, annotation=annotation, kind=_EITHER, default=default)
