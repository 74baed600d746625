"""Encode model values as JSON and decode them, so that a run can be saved and replayed elsewhere.

JSON has fewer kinds of value than a model.  Each other kind is an object with one tag that starts with a dollar sign,
which no field of a dataclass can:

    Submit(agent="a1", writes=("x",))   {"$": "Submit", "agent": "a1", "writes": ["x"]}
    Outcome.EXECUTED                    {"$enum": "Outcome", "name": "EXECUTED"}
    frozenset({2, 1})                   {"$set": [1, 2]}
    Fraction(1, 3)                      {"$fraction": "1/3"}
    2**60                               {"$int": "1152921504606846976"}
    Scope(agents=2)                     {"$scope": {"agents": 2}}

Tuples are arrays; None, booleans, text and integers below 2**53 stand for themselves.  Every value has exactly one
encoding: `encode(decode(data, …)) == data` for all data that `decode` accepts.

Files are untrusted.  `decode` builds only the classes it is given: it imports no name, evaluates no text, and checks
each field against the class's annotations.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any, TypeGuard, cast

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.canonical import EXACT, MAX_DEPTH, Json, canonical_bytes
from evenhand.core.system import Scope

_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_FRACTION = re.compile(r"(?:0|-?[1-9][0-9]*)(?:/[1-9][0-9]*)?", re.ASCII)
_OWN: tuple[type, ...] = (Atom, Opaque)


def encode(value: Any) -> Json:
    """Return the JSON form of a model value (see the module's docstring).

    Takes None, bool, int, str, Fraction, Enum members, tuples, frozensets, `Scope` and frozen dataclasses of these.
    Raises ValueError that names the place for anything else (a float, a list, a mutable dataclass, a subclass of
    tuple), for text that is not Unicode and for nesting beyond `MAX_DEPTH`.
    """
    return _encode(value, "$", 1)


def decode(data: Json, *types: type) -> Any:
    """Return the model value that `data` encodes, building only classes in `types` (and `Scope`, `Atom`, `Opaque`).

    Raises ValueError that names the place for an unknown class or tag, a missing or extra field, a field that its
    annotation does not allow, a value that its class refuses, an encoding that `encode` does not give, and nesting
    beyond `MAX_DEPTH`.  Raises TypeError unless `types` holds frozen dataclasses and Enums of distinct names.
    """
    return _decode(data, classes_by_name((*_OWN, *types)), "$", 1)


# Encoding


def _encode(value: Any, path: str, level: int) -> Json:
    _bounded(path, level)
    kind = _class_of(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return _text(value, path)
    if kind is int:
        return value if -EXACT < value < EXACT else {"$int": _digits(value, path)}
    if kind is tuple:
        return [_encode(item, f"{path}[{i}]", level + 1) for i, item in enumerate(value)]
    if kind is frozenset:
        _bounded(path, level + 1)
        return {"$set": sorted((_encode(item, f"{path}{{}}", level + 2) for item in value), key=canonical_bytes)}
    if kind is Fraction:
        _bounded(path, level + 1)
        return {"$fraction": _digits(value, path)}
    if kind is Scope:
        return {"$scope": _encode_scope(value, path, level + 1)}
    if isinstance(value, Enum):
        if kind.__members__.get(value.name) is not value:
            raise ValueError(f"{path}: {value!r} is a combination without a name of its own")
        return {"$enum": kind.__name__, "name": value.name}
    if _is_frozen(kind):
        made: dict[str, Json] = {"$": kind.__name__}
        for name in field_hints(kind):
            made[name] = _encode(getattr(value, name), f"{path}.{name}", level + 1)
        return made
    raise ValueError(f"{path}: {kind.__name__} has no encoding; use frozen dataclasses, tuples and frozensets")


def _encode_scope(scope: Scope, path: str, level: int) -> Json:
    _bounded(path, level + 1)
    for name, size in scope.items():
        if type(size) is not int or not 0 <= size < EXACT:
            raise ValueError(f"{path}: scope field {name!r} is {size!r}, not an integer from 0 to 2**53")
        _text(name, path)
    return dict(scope)


def _digits(value: int | Fraction, path: str) -> str:
    try:
        return str(value)
    except ValueError as error:  # Python refuses to print thousands of digits
        raise ValueError(f"{path}: {error}") from error


# Decoding


def _decode(data: Json, known: Mapping[str, type], path: str, level: int) -> Any:
    _bounded(path, level)
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, str):
        return _text(data, path)
    if isinstance(data, int):
        if not -EXACT < data < EXACT:
            raise ValueError(f'{path}: an integer beyond 2**53 is written {{"$int": "…"}}')
        return data
    if _is_array(data):
        return tuple(_decode(item, known, f"{path}[{i}]", level + 1) for i, item in enumerate(data))
    if _is_object(data):
        return _decode_object(data, known, path, level)
    raise ValueError(f"{path}: {type(data).__name__} encodes nothing; there are no floats in a model")


def _decode_object(data: dict[str, Json], known: Mapping[str, type], path: str, level: int) -> Any:
    keys = set(data)
    if "$" in keys:
        return _decode_record(data, known, path, level)
    if keys == {"$enum", "name"}:
        return _decode_member(data, known, path)
    if keys == {"$set"}:
        return _decode_set(data["$set"], known, path, level + 1)
    if keys == {"$scope"}:
        return _decode_scope(data["$scope"], path)
    if keys == {"$int"}:
        number = int(_matched(data["$int"], _INTEGER, "an integer", path))
        if -EXACT < number < EXACT:
            raise ValueError(f"{path}: {number} is written as a plain number")
        return number
    if keys == {"$fraction"}:
        text = _matched(data["$fraction"], _FRACTION, "a fraction p/q", path)
        fraction = Fraction(text)
        if str(fraction) != text:
            raise ValueError(f"{path}: the fraction {text} is not in lowest terms")
        return fraction
    raise ValueError(f"{path}: no tag among the keys {sorted(map(str, keys))}; expected $, $enum, $set, …")


def _decode_record(data: dict[str, Json], known: Mapping[str, type], path: str, level: int) -> Any:
    kind = _known(data["$"], known, path, is_dataclass, "dataclass")
    hints = field_hints(kind)
    given = data.keys() - {"$"}
    if missing := [name for name in hints if name not in given]:
        raise ValueError(f"{path}: {kind.__name__} lacks {', '.join(missing)}")
    if more := sorted(given - hints.keys()):
        raise ValueError(
            f"{path}: {kind.__name__} has no field {', '.join(more)}; it has: {', '.join(hints) or 'none'}"
        )
    values: dict[str, Any] = {}
    for name, hint in hints.items():
        value = _decode(data[name], known, f"{path}.{name}", level + 1)
        if not fits(value, hint):
            raise ValueError(f"{path}.{name}: {kind.__name__}.{name} is {_shown(hint)}, not {value!r:.60}")
        values[name] = value
    return _built(kind, values, path)


def _built(kind: type, values: dict[str, Any], path: str) -> Any:
    """Build an instance of `kind`; its fields must equal the given values, so that its encoding is unique."""
    try:
        made = kind(**values)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {kind.__name__} refuses these values: {error}") from error
    for name, value in values.items():
        if getattr(made, name) != value:
            raise ValueError(f"{path}.{name}: {kind.__name__} turns {value!r:.60} into something else")
    return made


def _decode_member(data: dict[str, Json], known: Mapping[str, type], path: str) -> Any:
    kind = cast("type[Enum]", _known(data["$enum"], known, path, _is_enum, "Enum"))
    name = data["name"]
    member = kind.__members__.get(name) if isinstance(name, str) else None
    if member is None or member.name != name:  # an alias would be a second encoding
        raise ValueError(
            f"{path}: {kind.__name__} has no member {name!r:.60}; it has: {', '.join(m.name for m in kind)}"
        )
    return member


def _decode_set(data: Json, known: Mapping[str, type], path: str, level: int) -> frozenset[Any]:
    if not _is_array(data):
        raise ValueError(f"{path}: a set is written as an array, not as {type(data).__name__}")
    made = frozenset(_hashable(_decode(item, known, f"{path}{{{i}}}", level + 1), path) for i, item in enumerate(data))
    keys = [canonical_bytes(item) for item in data]
    if len(made) != len(data) or keys != sorted(keys):
        raise ValueError(f"{path}: the members of a set are written once each, in order of their canonical bytes")
    return made


def _decode_scope(data: Json, path: str) -> Scope:
    if not _is_object(data):
        raise ValueError(f"{path}: a scope is written as an object, not as {type(data).__name__}")
    for name, size in data.items():
        _text(name, path)
        if type(size) is not int or not 0 <= size < EXACT:
            raise ValueError(f"{path}: scope field {name!r:.60} is {size!r:.60}, not an integer from 0 to 2**53")
    return Scope(data)


# Checks shared by both directions


def _class_of(value: object) -> Any:
    return type(value)


def _is_array(data: Json) -> TypeGuard[list[Json]]:
    return isinstance(data, list)


def _is_object(data: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(data, dict)


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _is_set(value: Any) -> TypeGuard[frozenset[Any]]:
    return isinstance(value, frozenset)


def _bounded(path: str, level: int) -> None:
    if level > MAX_DEPTH:
        raise ValueError(f"{path:.80}: nested deeper than {MAX_DEPTH} levels")


def _text(value: str, path: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{path}: half a surrogate pair is no Unicode text") from error
    return value


def _matched(data: Json, pattern: re.Pattern[str], what: str, path: str) -> str:
    # `int` and `Fraction` take "1_0", " 1" and "1e999999999", which `encode` never writes
    if not isinstance(data, str) or not pattern.fullmatch(data):
        raise ValueError(f"{path}: expected {what} as text, not {data!r:.60}")
    if len(data) > 4000:  # below the length at which Python refuses to convert
        raise ValueError(f"{path}: {what} of {len(data)} characters is too long")
    return data


def _hashable(value: Any, path: str) -> Any:
    try:
        hash(value)
    except TypeError as error:
        raise ValueError(f"{path}: a set cannot hold {value!r:.60}") from error
    return value


def _is_frozen(kind: type) -> bool:
    return is_dataclass(kind) and bool(cast("Any", kind).__dataclass_params__.frozen)


def _is_enum(kind: type) -> bool:
    return issubclass(kind, Enum)


@cache
def classes_by_name(classes: tuple[type, ...]) -> Mapping[str, type]:
    """Return the classes that may be decoded, by name.  Raises TypeError for two of one name, and for other classes."""
    known: dict[str, type] = {}
    for kind in classes:
        if not isinstance(kind, type) or not (_is_frozen(kind) or _is_enum(kind)):
            raise TypeError(f"{kind!r} is neither a frozen dataclass nor an Enum, so nothing decodes to it")
        if known.setdefault(kind.__name__, kind) is not kind:
            raise TypeError(f"two classes are called {kind.__name__}: {known[kind.__name__]!r} and {kind!r}")
    return known


def _known(name: Json, known: Mapping[str, type], path: str, fits: Callable[[type], bool], what: str) -> type:
    kind = known.get(name) if isinstance(name, str) else None
    if kind is None or not fits(kind):
        there = ", ".join(sorted(other for other, one in known.items() if fits(one)))
        raise ValueError(f"{path}: unknown {what} {name!r:.60}; this model has: {there or 'none'}")
    return kind


@cache
def field_hints(kind: type) -> Mapping[str, Any]:
    """Annotation of each field that the constructor takes; `Any` if the class's module does not resolve it."""
    try:
        hints = typing.get_type_hints(kind)
    except (AttributeError, NameError, TypeError):  # classes made inside functions, imports for checkers only
        hints = {}
    return {entry.name: hints.get(entry.name, Any) for entry in fields(kind) if entry.init}


def _shown(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def fits(value: Any, hint: Any) -> bool:
    """Whether the annotation `hint` allows `value`; True for forms of annotation unknown here."""
    if hint is str or hint is int or hint is bool:  # most are, and taking others apart takes long
        return type(value) is hint
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object:
        return True
    if hint is None or hint is types.NoneType:
        return value is None
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is typing.Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin is typing.Annotated:
        return fits(value, inner[0])
    if origin is tuple and _is_tuple(value):
        if len(inner) == 2 and inner[1] is Ellipsis:
            return all(fits(item, inner[0]) for item in value)
        return len(value) == len(inner) and all(map(fits, value, inner))
    if origin is frozenset and _is_set(value):
        return all(fits(item, inner[0]) for item in value)
    bare: Any = origin or getattr(hint, "__supertype__", hint)  # a generic class, a NewType, or the class itself
    if bare is not hint and origin is None:
        return fits(value, bare)
    if bare in (bool, int, str):  # True is an int to Python, and an Enum may be a str
        return type(value) is bare
    return isinstance(value, bare) if _checkable(bare) else True


def _checkable(hint: Any) -> bool:
    """Whether `isinstance` works: structural interfaces refuse it or compare names only."""
    return isinstance(hint, type) and not getattr(cast("Any", hint), "_is_protocol", False)
