"""`dataclass` and `replace` of the standard library, which make frozen records with slots in half the time.

The constructor of a frozen dataclass looks up each field by name; this one writes to the slots directly.  Models make
some ten records in each step, so that constructors were a quarter of the time of a search.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import MISSING, fields
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "replace"]

_PUTS: dict[type, dict[str, Any]] = {}
"""The quick classes: what writes the slot of each field."""

_REPLACED: dict[type, Any] = {}
"""How records of these classes are copied with changes, once one was."""

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def dataclass(cls: Any = None, /, **options: Any) -> Any:
        """Return what the decorator of the standard library returns, with a quicker constructor where that is safe."""
        if cls is None:
            return lambda given: dataclass(given, **options)
        made = dataclasses.dataclass(**options)(cls)
        if options.get("frozen") and options.get("slots") and not hasattr(made, "__post_init__"):
            _quicken(made)
        return made

    def replace(record: Any, /, **changes: Any) -> Any:
        """Return the record with some fields changed."""
        kind = type(record)
        copied = _REPLACED.get(kind)
        if copied is None:
            if kind not in _PUTS:
                return dataclasses.replace(record, **changes)
            put = (
                f"_{name}(made, changes[{name!r}] if {name!r} in changes else record.{name})" for name in _PUTS[kind]
            )
            copied = _REPLACED[kind] = _written(kind, "record, made, changes", put)
        if not changes.keys() <= _PUTS[kind].keys():
            return dataclasses.replace(record, **changes)  # which says what is wrong
        made = object.__new__(kind)
        copied(record, made, changes)
        return made


def _quicken(kind: Any) -> None:
    """Replace the constructor that the decorator wrote by one with the same signature."""
    usual: Any = kind.__dict__.get("__init__")
    puts: dict[str, Any] = {entry.name: getattr(kind, entry.name, None) for entry in fields(kind)}
    code = getattr(usual, "__code__", None)
    if code is None or not code.co_qualname.startswith("__create_fn__") or kind.__new__ is not object.__new__:
        return
    given = code.co_varnames[1 : code.co_argcount] == tuple(puts)
    made_here = any(entry.default_factory is not MISSING for entry in fields(kind))
    clash = puts.keys() & {"self", *(f"_{name}" for name in puts)}  # names that `_written` uses
    elsewhere = any(type(slot) is not MemberDescriptorType for slot in puts.values())
    if not puts or not given or made_here or clash or elsewhere:
        return
    _PUTS[kind] = {name: slot.__set__ for name, slot in puts.items()}
    quick = _written(kind, ", ".join(("self", *puts)), (f"_{name}(self, {name})" for name in puts))
    quick.__defaults__ = usual.__defaults__
    for name in ("__annotations__", "__qualname__", "__module__"):
        setattr(quick, name, getattr(usual, name))
    kind.__init__ = quick


def _written(kind: Any, takes: str, lines: Iterable[str]) -> Any:
    """A function of these arguments and lines, in which `_name` writes the slot of a field."""
    body = "".join(f"  {line}\n" for line in lines)
    module = compile(f"def __init__({takes}):\n{body}", "<string>", "exec")
    code = next(one for one in module.co_consts if isinstance(one, CodeType))
    return FunctionType(code, {f"_{name}": put for name, put in _PUTS[kind].items()})
