"""The classes whose instances are records: frozen dataclasses, and named tuples that are plain tuples beside."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from evenhand.source.refusal import refuse

_OF_TUPLES = ("__eq__", "__ne__", "__hash__", "__iter__", "__getitem__", "__getattribute__", "__contains__")


def is_named_tuple(cls: type) -> bool:
    """Return whether a class is a named tuple that compares, and gives its fields, as tuples do."""
    plain = cls.__bases__ == (tuple,) and hasattr(cls, "_fields")
    return plain and all(getattr(cls, one) is getattr(tuple, one) for one in _OF_TUPLES)


def is_record(made: Any) -> bool:
    """Return whether this is a dataclass or such a named tuple, and no instance of one."""
    return isinstance(made, type) and (is_named_tuple(made) or "__dataclass_fields__" in dir(made))


def frozen(cls: type) -> bool:
    """Return whether instances of a class are records that never change."""
    made: Any = cls
    return is_named_tuple(cls) or (is_dataclass(cls) and made.__dataclass_params__.frozen)


def plainly_compared(cls: type) -> bool:
    """Return whether `==` of a dataclass is the one that dataclasses make: field by field."""
    made = cls.__dict__.get("__eq__")
    return made is not None and made.__code__.co_filename == "<string>"


def names_of(cls: Any) -> tuple[str, ...]:
    """Return the names of the fields of a record's class."""
    return tuple(one.name for one in fields(cls)) if is_dataclass(cls) else tuple(cls._fields)


def types_of(cls: Any) -> Mapping[str, Any]:
    """Return the type that is written for each field.  Raises Unreadable where one has none."""
    hints = typing.get_type_hints(cls, include_extras=True)
    for name in names_of(cls):
        if name not in hints:
            raise refuse(f"{cls.__name__}.{name} has no type", "write a class of NamedTuple with its types")
    return hints


def bound(made: Any, given: tuple[Any, ...], more: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments by field with which a record is made.  Raises Unreadable for a class of another kind."""
    if not frozen(made) or "__post_init__" in dir(made):
        raise refuse(f"{made.__name__} is not frozen, or does more when it is made", "make it a plain frozen dataclass")
    if not is_named_tuple(made) and made.__init__.__code__.co_filename != "<string>":
        raise refuse(f"{made.__name__} has an `__init__` of its own", "make it a plain frozen dataclass")
    try:
        return inspect.signature(made).bind(*given, **more).arguments
    except TypeError as error:
        raise refuse(f"{made.__name__}: {error}", "give every field a value") from None


def default(cls: Any, name: str) -> Any:
    """Return the default of a field.  Raises Unreadable for one that is made anew, unless it is empty and frozen."""
    if is_named_tuple(cls):
        return cls._field_defaults[name]
    one = next(one for one in fields(cls) if one.name == name)
    if one.default is not MISSING:
        return one.default
    if one.default_factory is frozenset or one.default_factory is tuple:
        return one.default_factory()
    raise refuse(f"the default of {cls.__name__}.{name}", "give the field a value")


def place_of(cls: type, name: str) -> tuple[str, int, str]:
    """Return the file, the line and the text of a field; the line of its class if the field's is not seen."""
    try:
        lines, first = inspect.getsourcelines(cls)
        file = Path(inspect.getsourcefile(cls) or "").name
    except (OSError, TypeError):
        return "", 0, f"{cls.__name__}.{name}"
    found = [at for at, line in enumerate(lines) if line.strip().partition(":")[0] == name]
    line = found[0] if found else 0
    return file, first + line, lines[line].partition("#")[0].strip()
